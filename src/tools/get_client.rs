//! `get_client`: one client in full, its keys redacted.

use super::{Answer, Arguments, Failure, Hints, Run, Tool, schema};
use crate::untrusted::Line;
use crate::wg_easy::fields::CLIENT;
use crate::wg_easy::record::Record;
use crate::wg_easy::{ClientId, Error, WgEasy};

pub(super) static TOOL: Tool = Tool {
    name: "get_client",
    title: "Get a client",
    description: "Shows one WireGuard client in full: addresses, routes, DNS, expiry, hooks. The private key \
        and the pre-shared key are redacted. Traffic and the last handshake are in list_clients.",
    essential: true,
    in_read_only_mode: true,
    hints: Hints {
        read_only: true,
        destructive: false,
        idempotent: true,
    },
    input: || schema::arguments(&[("clientId", schema::client_id())], &["clientId"]),
    output: || schema::answer(&schema::properties(CLIENT), &[]),
    run: Run::Read(|arguments, wg_easy| Box::pin(run(arguments, wg_easy))),
};

async fn run(arguments: Arguments, wg_easy: WgEasy) -> Result<Answer, Failure> {
    arguments.only(&["clientId"])?;
    let record = read(&wg_easy, arguments.client_id()?).await?;
    Ok(Answer::from_wg_easy().with_record(record.shape()))
}

/// What a question shows in the place of a value that wg-easy did not give, or not as what it should be.
pub(super) const NOT_KNOWN: &str = "not known";

/// A client's name, as a question shows it.
pub(super) fn shown_name(record: &Record) -> Line {
    let not_known = || Line::in_place_of_a_value(NOT_KNOWN);
    record.line("name").unwrap_or_else(not_known)
}

/// Reads a client; that there is none is said with its id. Every change begins with this, since
/// wg-easy answers `success` to a change of a client that does not exist.
pub(super) async fn read(wg_easy: &WgEasy, id: ClientId) -> Result<Record, Failure> {
    match wg_easy.client(id).await {
        Ok(body) => Ok(Record::from_body(&body, CLIENT)?),
        Err(Error::NotFound) => Err(Failure::NoSuchClient(id)),
        Err(error) => Err(error.into()),
    }
}
