//! `get_client_config`: a client's configuration file, private key and all.

use super::{Answer, Arguments, Failure, Hints, Run, Tool, schema};
use crate::untrusted::File;
use crate::wg_easy::{ClientId, Error, WgEasy};

pub(super) static TOOL: Tool = Tool {
    name: "get_client_config",
    title: "Get a client's configuration",
    description: "Returns the WireGuard .conf file of a client, exactly as it has to be installed. It CONTAINS THE \
        PRIVATE KEY in plain text: treat the answer as a credential, and call this only when the user asked for \
        the file. Disabled and expired clients have one too.",
    essential: false,
    in_read_only_mode: false,
    hints: Hints {
        read_only: true,
        destructive: false,
        idempotent: true,
    },
    input: || schema::arguments(&[("clientId", schema::client_id())], &["clientId"]),
    output: || {
        schema::answer(
            &[
                (
                    "configuration",
                    schema::text("The .conf file, byte for byte; it holds the private key"),
                ),
                (
                    "warning",
                    schema::text("What to know about the file; absent when there is nothing"),
                ),
            ],
            &["configuration"],
        )
    },
    run: Run::Read(|arguments, wg_easy| Box::pin(run(arguments, wg_easy))),
};

async fn run(arguments: Arguments, wg_easy: WgEasy) -> Result<Answer, Failure> {
    arguments.only(&["clientId"])?;
    let file = read(&wg_easy, arguments.client_id()?).await?;
    Ok(Answer::from_wg_easy().with_file("configuration", file))
}

/// Reads a client's configuration.
pub(super) async fn read(wg_easy: &WgEasy, id: ClientId) -> Result<File, Failure> {
    match wg_easy.configuration(id).await {
        Ok(body) => Ok(body.into_configuration()?),
        Err(Error::NotFound) => Err(Failure::NoSuchClient(id)),
        Err(error) => Err(error.into()),
    }
}
