//! `generate_one_time_link`: mints a URL that hands out a configuration without a login.
//!
//! wg-easy answers `success` and no link; its value is in the list alone. From the moment the mint was
//! sent, no answer may suggest that there is no link.

use super::answer::Words;
use super::get_client::shown_name;
use super::{Answer, Arguments, Done, Failure, Hints, Prepared, Run, Tool, schema};
use crate::approval::{Approval, Question};
use crate::diagnostics::Outcome;
use crate::wg_easy::record::{ClientList, OneTimeLink};
use crate::wg_easy::{ClientId, Error, Turn, WgEasy};

pub(super) static TOOL: Tool = Tool {
    name: "generate_one_time_link",
    title: "Generate a one-time link",
    description: "Makes a link from which anyone who has it downloads a client's configuration once, PRIVATE KEY included, \
        without a login. A person is asked first. The link lives five minutes; wg-easy derives it from a checksum with \
        about a thousand variants a client, so it can in principle be guessed, and the link preview of a chat program \
        uses it up. Send it over a channel you trust.",
    essential: false,
    in_read_only_mode: false,
    hints: Hints {
        read_only: false,
        destructive: false,
        idempotent: false,
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
        schema::answer(
            &[
                (
                    "created",
                    schema::boolean(
                        "Always true: a link exists, whether or not it could be read back",
                    ),
                ),
                (
                    "oneTimeLink",
                    schema::text(
                        "The link's value; a credential. Absent when it could not be read back",
                    ),
                ),
                ("path", schema::text("The path below the web UI's address")),
                (
                    "url",
                    schema::text(
                        "The whole link, at the address this server uses; people may need another host name",
                    ),
                ),
                ("expiresAt", schema::text("Until when it works, UTC")),
                (
                    "warning",
                    schema::text("What to know about it; absent when there is nothing"),
                ),
            ],
            &["created"],
        )
    },
    run: Run::Guarded(|arguments, wg_easy| Box::pin(prepare(arguments, wg_easy))),
};

async fn prepare(arguments: Arguments, wg_easy: WgEasy) -> Prepared {
    arguments.only(&["clientId", "confirm_token"])?;
    let id = arguments.client_id()?;
    let list = ClientList::from_body(wg_easy.clients().await?)?;
    let record = list.client(id.as_u64()).ok_or(Failure::NoSuchClient(id))?;
    let before = record.one_time_link();
    let mut question = Question::new(
        format!("Make a one-time link for client {id}?"),
        format!("This will make a link that hands out the configuration of WireGuard client {id}."),
    )
    .cost(
        "Anyone who has the link downloads the client's whole configuration, private key included, without a login. \
         It works for five minutes and is used up by the first download, also by the link preview of a chat program.",
    )
    .cost(
        "wg-easy derives the link from a checksum with about a thousand variants a client, so while it lives it can in \
         principle be guessed.",
    );
    if before.is_some() {
        question = question.cost("A link for this client is live already; this keeps it and moves its end to five minutes from now.");
    }
    if record.boolean("enabled") == Some(false) {
        question = question
            .cost("The client is disabled, and the link hands out its configuration all the same.");
    }
    let question = question
        .hint("Tick to make the link.")
        .value("Client", &shown_name(&record));
    Ok((
        question,
        Box::new(move |approval, turn| Box::pin(act(id, before, wg_easy, approval, turn))),
    ))
}

async fn act(
    id: ClientId,
    before: Option<OneTimeLink>,
    wg_easy: WgEasy,
    approval: Approval,
    turn: Turn,
) -> Done {
    let minted = wg_easy.one_time_link(id, approval, &turn).await;
    if let Err(error) = &minted
        && !error.may_have_been_applied()
    {
        return Done::new(
            Outcome::Failed,
            Err(Failure::Change(format!(
                "wg-easy did not take the request for a link of client {id}. {error}"
            ))),
        );
    }
    let link = read_back(&wg_easy, id).await;
    match (minted, link) {
        (Ok(()), Some(link)) => Done::new(Outcome::Applied, Ok(answer(&wg_easy, &link))),
        (Ok(()), None) => Done::new(Outcome::Applied, Ok(Answer::from_wg_easy()
                .with("created", true)
                .with("warning", Words(format!(
                    "The link was made, and its value could not be read back: for the next five minutes it works for \
                     whoever has or guesses it. It is in the wg-easy web UI, at client {id}."
                ))))),
        // Its end moved, or it was not there before: this call made it.
        (Err(_), Some(link)) if before.as_ref() != Some(&link) => Done::new(Outcome::Applied, Ok(answer(&wg_easy, &link).with(
                "warning",
                "wg-easy did not answer as it should, but reading back shows the link.",
            ))),
        (Err(error), _) => Done::new(Outcome::Unknown, Err(not_determined(id, &error))),
    }
}

/// That no link is in the list now is no proof that none was made: it may have been used up already.
fn not_determined(id: ClientId, error: &Error) -> Failure {
    Failure::Change(format!(
        "Whether a link for client {id} was made could not be determined. Take it that one works for the next five \
         minutes, and look at the client in the wg-easy web UI before you try again. {error}"
    ))
}

async fn read_back(wg_easy: &WgEasy, id: ClientId) -> Option<OneTimeLink> {
    let list = ClientList::from_body(wg_easy.clients().await.ok()?).ok()?;
    list.client(id.as_u64())?.one_time_link()
}

fn answer(wg_easy: &WgEasy, link: &OneTimeLink) -> Answer {
    Answer::from_wg_easy()
        .with("created", true)
        .with("oneTimeLink", Words(link.token.as_str().to_owned()))
        .with("path", Words(WgEasy::link_path(&link.token)))
        .with("url", Words(wg_easy.link_url(&link.token)))
        .with_some("expiresAt", link.expires_at.clone().map(Words))
}
