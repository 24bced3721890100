//! `update_client`: changes the fields it is given and nothing else.
//!
//! wg-easy replaces a client as a whole, so the client is read, the changes are laid over it, and all of it
//! is sent back. What cannot be set here, the shell hooks above all, keeps its value.

mod changes;

use super::answer::Words;
use super::change::{Change, Found, is_gone};
use super::{Answer, Arguments, Done, Failure, Hints, Prepared, Run, Tool, schema};
use crate::approval::Approval;
use crate::diagnostics::Outcome;
use crate::wg_easy::updatable::{NotUpdatable, Updatable};
use crate::wg_easy::{ClientId, Error, Turn, WgEasy};
use changes::Changes;

pub(super) static TOOL: Tool = Tool {
    name: "update_client",
    title: "Change a client",
    description: "Changes the given fields of a WireGuard client, one at least; all others keep their value. A list takes the \
        place of the old one, so to add to it read it with get_client first; 64 entries at the most. A person is asked first \
        and sees each change as old → new. Hooks, keys and other fields cannot be set here: arguments that are not listed \
        are not sent and are named in `ignored`.",
    essential: false,
    in_read_only_mode: false,
    hints: Hints {
        read_only: false,
        destructive: true,
        idempotent: true,
    },
    input: changes::input,
    output: || {
        schema::answer(
            &[
                (
                    "success",
                    schema::boolean("Always true: what did not succeed is an error"),
                ),
                ("clientId", schema::integer("The client that was changed")),
                (
                    "ignored",
                    schema::list(
                        schema::text("The name of an argument"),
                        "Arguments that cannot be set through this server and were not sent; absent when there are none",
                    ),
                ),
                (
                    "warning",
                    schema::text("What to know about it; absent when there is nothing"),
                ),
            ],
            &["success", "clientId"],
        )
    },
    run: Run::Guarded(|arguments, wg_easy| Box::pin(prepare(arguments, wg_easy))),
};

/// What to change, and the client as it was when the question was put together: this, and no later
/// state that nobody has seen, is what the change is laid over.
struct Plan {
    id: ClientId,
    changes: Changes,
    body: serde_json::Map<String, serde_json::Value>,
    before: Updatable,
}

async fn prepare(arguments: Arguments, wg_easy: WgEasy) -> Prepared {
    let id = arguments.client_id()?;
    let changes = Changes::read(&arguments)?;
    let before = read(&wg_easy, id).await?;
    let body = before
        .with(changes.fields())
        .map_err(|why| not_updatable(id, why))?;
    let question = changes.question(id, &before);
    let plan = Plan {
        id,
        changes,
        body,
        before,
    };
    Ok((
        question,
        Box::new(move |approval, turn| Box::pin(plan.act(wg_easy, approval, turn))),
    ))
}

async fn read(wg_easy: &WgEasy, id: ClientId) -> Result<Updatable, Failure> {
    match wg_easy.client(id).await {
        Ok(body) => Updatable::from_body(&body).map_err(|why| not_updatable(id, why)),
        Err(Error::NotFound) => Err(Failure::NoSuchClient(id)),
        Err(error) => Err(error.into()),
    }
}

fn not_updatable(id: ClientId, why: NotUpdatable) -> Failure {
    match why {
        NotUpdatable::Malformed => Failure::Malformed,
        NotUpdatable::WrongType(field) => Failure::Change(format!(
            "Nothing was changed: wg-easy gives client {id} a {field} of the wrong type, and sending the rest back could \
             break it. Correct {field} in the wg-easy web UI, then try again."
        )),
        NotUpdatable::TooLong(field) => Failure::Change(format!(
            "Nothing was changed: wg-easy gives client {id} a {field} with more entries than this server sends back. \
             Shorten {field} in the wg-easy web UI, then try again."
        )),
        NotUpdatable::NoSuchField(field) => Failure::Change(format!(
            "Nothing was changed: this release of wg-easy gives client {id} no {field}, so it cannot be set. Leave it out, \
             or update wg-easy."
        )),
    }
}

impl Plan {
    async fn act(self, wg_easy: WgEasy, approval: Approval, turn: Turn) -> Done {
        let Self {
            id,
            changes,
            body,
            before,
        } = self;
        let answer = |ignored: &[String]| {
            let ignored = (!ignored.is_empty())
                .then(|| ignored.iter().cloned().map(Words).collect::<Vec<_>>());
            super::changed(id).with_some("ignored", ignored)
        };
        let Err(error) = wg_easy.update(id, body, approval, &turn).await else {
            return Done::new(Outcome::Applied, Ok(answer(changes.ignored())));
        };
        let change = Change {
            in_place: format!("every field of client {id} has the value it was given"),
            not_in_place: format!("none of these fields of client {id} has changed"),
            look_with: "get_client",
        };
        let read_back = async {
            let after = match read(&wg_easy, id).await {
                Ok(after) => after,
                Err(Failure::NoSuchClient(_)) if is_gone(&wg_easy, id).await => {
                    return Found::Gone;
                }
                Err(_) => return Found::Unknown,
            };
            let fields = changes.fields();
            let set =
                |client: &Updatable| fields.iter().all(|(name, value)| client.has(name, value));
            let as_before = fields.iter().all(|(name, _)| after.same(&before, name));
            match (set(&after), as_before) {
                (true, _) => Found::InPlace,
                (false, true) => Found::NotInPlace,
                // Some of it, or something else: somebody changed the client at the same time.
                (false, false) => Found::Unknown,
            }
        };
        let ignored = changes.ignored();
        change
            .settle(error, read_back, |warning| -> Answer {
                answer(ignored).with("warning", warning)
            })
            .await
    }
}
