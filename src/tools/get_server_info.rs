//! `get_server_info`: wg-easy's release, settings and interface.

use super::answer::Words;
use super::{Answer, Arguments, Failure, Hints, Run, Tool, schema};
use crate::untrusted::Untrusted;
use crate::wg_easy::fields::{Field, GENERAL, INFORMATION, INTERFACE};
use crate::wg_easy::record::Record;
use crate::wg_easy::{Error, WgEasy};
use serde_json::Value;

pub(super) static TOOL: Tool = Tool {
    name: "get_server_info",
    title: "Get server information",
    description: "Shows wg-easy's release and update status, its general settings and its WireGuard interface. \
        Secrets are redacted. Each section is read by itself: one that fails holds an error and leaves the others.",
    essential: true,
    in_read_only_mode: true,
    hints: Hints {
        read_only: true,
        destructive: false,
        idempotent: true,
    },
    input: || schema::arguments(&[], &[]),
    output: || {
        schema::answer(
            &[
                (
                    "information",
                    section(INFORMATION, "The release, and whether a newer one is out"),
                ),
                ("general", section(GENERAL, "The general settings")),
                ("interface", section(INTERFACE, "The WireGuard interface")),
            ],
            &["information", "general", "interface"],
        )
    },
    run: Run::Read(|arguments, wg_easy| Box::pin(run(arguments, wg_easy))),
};

async fn run(arguments: Arguments, wg_easy: WgEasy) -> Result<Answer, Failure> {
    arguments.only(&[])?;
    let (information, general, interface) = tokio::join!(
        wg_easy.information(),
        wg_easy.general(),
        wg_easy.interface()
    );
    let answer = Answer::from_wg_easy();
    let answer = with_section(answer, "information", information, INFORMATION);
    let answer = with_section(answer, "general", general, GENERAL);
    Ok(with_section(answer, "interface", interface, INTERFACE))
}

fn with_section(
    answer: Answer,
    name: &'static str,
    body: Result<Untrusted<Vec<u8>>, Error>,
    table: &'static [Field],
) -> Answer {
    let record = body
        .map_err(Failure::from)
        .and_then(|body| Record::from_body(&body, table).map_err(Failure::from));
    match record {
        // An `error` of wg-easy's own would be taken for ours.
        Ok(record) => answer.with_upstream(name, record.shape().without("error")),
        Err(failure) => answer.with_failed_section(name, Words(failure.to_string())),
    }
}

fn section(table: &'static [Field], about: &str) -> Value {
    let mut properties = schema::properties(table);
    properties.push((
        "error",
        schema::text("Why this section could not be read; the others may be fine"),
    ));
    let mut schema = schema::object(&properties, &[]);
    schema.insert("description".to_owned(), about.into());
    Value::Object(schema)
}
