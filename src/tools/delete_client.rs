//! `delete_client`: destroys a client and its keys.

use super::change::{Change, Found, is_gone};
use super::get_client::{read, shown_name};
use super::{Answer, Arguments, Done, Failure, Hints, Prepared, Run, Tool, schema};
use crate::approval::{Approval, Question};
use crate::diagnostics::Outcome;
use crate::wg_easy::{ClientId, Turn, WgEasy};

pub(super) static TOOL: Tool = Tool {
    name: "delete_client",
    title: "Delete a client",
    description: "Deletes a WireGuard client for good: the peer loses access and its keys cannot be restored. A person \
        is asked first. disable_client is the reversible alternative.",
    essential: false,
    in_read_only_mode: false,
    hints: Hints {
        read_only: false,
        destructive: true,
        idempotent: true,
    },
    input: || {
        schema::arguments(
            &[
                ("clientId", schema::client_id()),
                ("confirm_token", schema::confirm_token()),
            ],
            &["clientId"],
        )
    },
    output: || {
        schema::object(
            &[
                (
                    "deleted",
                    schema::integer("The id of the client that was deleted"),
                ),
                (
                    "warning",
                    schema::text("What to know about it; absent when there is nothing"),
                ),
            ],
            &["deleted"],
        )
    },
    run: Run::Guarded(|arguments, wg_easy| Box::pin(prepare(arguments, wg_easy))),
};

async fn prepare(arguments: Arguments, wg_easy: WgEasy) -> Prepared {
    arguments.only(&["clientId", "confirm_token"])?;
    let id = arguments.client_id()?;
    let record = read(&wg_easy, id).await?;
    let question = Question::new(
        format!("Delete client {id}?"),
        format!("This will delete WireGuard client {id}."),
    )
    .cost(
        "Its key pair is destroyed and cannot be restored. Anyone using that configuration loses VPN access, and \
         re-creating the client gives them a different key they have to install.",
    )
    .hint("Tick to delete the client for good.")
    .value("Client", &shown_name(&record));
    Ok((
        question,
        Box::new(move |approval, turn| Box::pin(act(id, wg_easy, approval, turn))),
    ))
}

async fn act(id: ClientId, wg_easy: WgEasy, approval: Approval, turn: Turn) -> Done {
    // What is answered is the id that this server was given, so nothing of it came from wg-easy.
    let answer = move || Answer::of_our_own().with("deleted", id.as_u64());
    let Err(error) = wg_easy.delete(id, approval, &turn).await else {
        return Done::new(Outcome::Applied, Ok(answer()));
    };
    let change = Change {
        in_place: format!("client {id} is deleted"),
        not_in_place: format!("client {id} is still there"),
        look_with: "list_clients",
    };
    let read_back = async {
        match read(&wg_easy, id).await {
            Ok(record) if record.integer("id") == Some(id.as_u64()) => Found::NotInPlace,
            Err(Failure::NoSuchClient(_)) if is_gone(&wg_easy, id).await => Found::InPlace,
            Ok(_) | Err(_) => Found::Unknown,
        }
    };
    change
        .settle(error, read_back, |warning| {
            answer().with("warning", warning)
        })
        .await
}
