//! `disable_client`: withdraws access. It asks nobody, and is the only change that does not: an operator
//! who cuts a peer off should not have to answer a dialog first.

use super::get_client::read;
use super::{Answer, Arguments, Failure, Hints, Run, Tool, schema};
use crate::wg_easy::WgEasy;

pub(super) static TOOL: Tool = Tool {
    name: "disable_client",
    title: "Disable a client",
    description: "Blocks a WireGuard client at once. It keeps its configuration and keys but cannot connect \
        until it is enabled again: the reversible alternative to deleting it. Nobody is asked, since this only \
        withdraws access.",
    essential: true,
    in_read_only_mode: false,
    hints: Hints {
        read_only: false,
        destructive: false,
        idempotent: true,
    },
    input: || schema::arguments(&[("clientId", schema::client_id())], &["clientId"]),
    output: super::changed_output,
    run: Run::Withdraw(|arguments, wg_easy| Box::pin(run(arguments, wg_easy))),
};

async fn run(arguments: Arguments, wg_easy: WgEasy) -> Result<Answer, Failure> {
    arguments.only(&["clientId"])?;
    let id = arguments.client_id()?;
    read(&wg_easy, id).await?;
    let Err(error) = wg_easy.disable(id).await else {
        return Ok(super::changed(id, None));
    };
    if !error.may_have_been_applied() {
        return Err(Failure::Change(format!(
            "Client {} was not disabled. {error}",
            id.as_u64()
        )));
    }
    match read(&wg_easy, id)
        .await
        .map(|record| record.boolean("enabled"))
    {
        Ok(Some(false)) => Ok(super::changed(
            id,
            Some(
                "wg-easy answered with an error, but reading back shows that the client is disabled. An open \
                 connection may last until the tunnel is reloaded: check wg-easy's log.",
            ),
        )),
        Ok(Some(true)) => Err(Failure::Change(format!(
            "Client {} is not disabled: wg-easy answered with an error, and reading back shows that it is still \
             enabled. {error}",
            id.as_u64()
        ))),
        Err(Failure::NoSuchClient(_)) => Err(Failure::Change(format!(
            "Client {} is gone: it was there before, and reading back finds no such client. {error}",
            id.as_u64()
        ))),
        Ok(None) | Err(_) => Err(Failure::Change(format!(
            "Whether client {} is disabled could not be determined: the change was sent, wg-easy answered with an \
             error, and reading back failed too. Look with get_client before you try again. {error}",
            id.as_u64()
        ))),
    }
}
