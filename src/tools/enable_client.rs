//! `enable_client`: re-arms a key pair that is already installed on a peer.

use super::change::{Change, Found, is_gone};
use super::get_client::{NOT_KNOWN, read, shown_name};
use super::values::Expiry;
use super::{Arguments, Done, Failure, Hints, Prepared, Run, Tool, schema};
use crate::approval::{Approval, Question};
use crate::diagnostics::Outcome;
use crate::untrusted::Line;
use crate::wg_easy::{ClientId, Turn, WgEasy};
use jiff::Timestamp;

pub(super) static TOOL: Tool = Tool {
    name: "enable_client",
    title: "Enable a client",
    description: "Lets a disabled WireGuard client connect again, with the keys it already has. A person is asked first. \
        A client whose expiry has passed cannot be enabled until update_client gives it a later one.",
    essential: true,
    in_read_only_mode: false,
    hints: Hints {
        read_only: false,
        destructive: false,
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
    output: super::changed_output,
    run: Run::Guarded(|arguments, wg_easy| Box::pin(prepare(arguments, wg_easy))),
};

/// What enabling costs, here and in an update that enables.
pub(super) const COST: &str = "The key pair is already installed on the peer, so nothing further has to be handed over: \
    from that moment it reaches every network behind this VPN.";

async fn prepare(arguments: Arguments, wg_easy: WgEasy) -> Prepared {
    arguments.only(&["clientId", "confirm_token"])?;
    let id = arguments.client_id()?;
    let record = read(&wg_easy, id).await?;
    let mut question = Question::new(
        format!("Enable client {id}?"),
        format!("This will let WireGuard client {id} connect again."),
    );
    if record.boolean("enabled") == Some(true) {
        question =
            question.cost("The client is enabled already, so as things are this changes nothing.");
    }
    question = question.cost(COST);
    let expires = match record.line("expiresAt") {
        Some(line) => {
            if let Ok(expiry) = Expiry::parse(line.as_str()) {
                question = question.cost(expiry.meaning_for_enabling(Timestamp::now()));
            }
            line
        }
        None if record.is_null("expiresAt") => Line::new("never"),
        None => Line::new(NOT_KNOWN),
    };
    let question = question
        .hint("Tick to let the client connect.")
        .value("Client", &shown_name(&record));
    let question = keys(question, record.line("createdAt").as_ref()).value("Expires", &expires);
    Ok((
        question,
        Box::new(move |approval, turn| Box::pin(act(id, wg_easy, approval, turn))),
    ))
}

/// Adds when the key pair was made that is let in, which wg-easy says in UTC.
pub(super) fn keys(question: Question, created: Option<&Line>) -> Question {
    let not_known = Line::new(NOT_KNOWN);
    question.value("Key pair created (UTC)", created.unwrap_or(&not_known))
}

async fn act(id: ClientId, wg_easy: WgEasy, approval: Approval, turn: Turn) -> Done {
    let Err(error) = wg_easy.enable(id, approval, &turn).await else {
        return Done::new(Outcome::Applied, Ok(super::changed(id)));
    };
    let change = Change {
        in_place: format!("client {id} is enabled"),
        not_in_place: format!("client {id} is not enabled"),
        look_with: "get_client",
    };
    let read_back = async {
        match read(&wg_easy, id)
            .await
            .map(|record| record.boolean("enabled"))
        {
            Ok(Some(true)) => Found::InPlace,
            Ok(Some(false)) => Found::NotInPlace,
            Err(Failure::NoSuchClient(_)) if is_gone(&wg_easy, id).await => Found::Gone,
            Ok(None) | Err(_) => Found::Unknown,
        }
    };
    change
        .settle(error, read_back, |warning| {
            super::changed(id).with("warning", warning)
        })
        .await
}
