//! `disable_client`: withdraws access. It asks nobody, and is the only change that does not: an operator
//! who cuts a peer off should not have to answer a dialog first.

use super::change::{Change, Found, is_gone};
use super::get_client::read;
use super::{Answer, Arguments, Failure, Hints, Run, Tool, schema};
use crate::wg_easy::{Turn, WgEasy};

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
    run: Run::Withdraw(|arguments, wg_easy, turn| Box::pin(run(arguments, wg_easy, turn))),
};

async fn run(arguments: Arguments, wg_easy: WgEasy, turn: Turn) -> Result<Answer, Failure> {
    arguments.only(&["clientId"])?;
    let id = arguments.client_id()?;
    read(&wg_easy, id).await?;
    let Err(error) = wg_easy.disable(id, &turn).await else {
        return Ok(super::changed(id));
    };
    let change = Change {
        in_place: format!("client {id} is disabled"),
        not_in_place: format!("client {id} is not disabled"),
        look_with: "get_client",
    };
    let read_back = async {
        match read(&wg_easy, id)
            .await
            .map(|record| record.boolean("enabled"))
        {
            Ok(Some(false)) => Found::InPlace,
            Ok(Some(true)) => Found::NotInPlace,
            Err(Failure::NoSuchClient(_)) if is_gone(&wg_easy, id).await => Found::Gone,
            Ok(None) | Err(_) => Found::Unknown,
        }
    };
    change
        .settle(error, read_back, |warning| {
            super::changed(id).with("warning", warning)
        })
        .await
        .answer
}
