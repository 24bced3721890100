//! `create_client`: issues a credential that reaches every network behind the VPN.

use super::change::{Change, Found};
use super::values::{self, Expiry};
use super::{Answer, Arguments, Done, Failure, Hints, Prepared, Run, Tool, schema};
use crate::approval::{Approval, Question};
use crate::diagnostics::Outcome;
use crate::untrusted::Line;
use crate::wg_easy::record::ClientList;
use crate::wg_easy::{Turn, WgEasy};
use jiff::Timestamp;
use serde_json::Value;
use std::collections::HashSet;

pub(super) static TOOL: Tool = Tool {
    name: "create_client",
    title: "Create a client",
    description: "Creates a WireGuard client. wg-easy makes its keys and picks its addresses; the answer has its id. A \
        person is asked first. The configuration is then in get_client_config and get_client_qrcode.",
    essential: true,
    in_read_only_mode: false,
    hints: Hints {
        read_only: false,
        destructive: false,
        idempotent: false,
    },
    input: || {
        schema::arguments(
            &[
                ("name", schema::text(values::NAME_RULE)),
                (
                    "expiresAt",
                    schema::nullable(schema::expiry(
                        "When wg-easy disables it; null, or leave it out, for never",
                    )),
                ),
                ("confirm_token", schema::confirm_token()),
            ],
            &["name"],
        )
    },
    output: || {
        schema::answer(
            &[
                (
                    "success",
                    schema::boolean("Always true: what did not succeed is an error"),
                ),
                (
                    "clientId",
                    schema::integer("The new client's id; absent when wg-easy did not say"),
                ),
                (
                    "warning",
                    schema::text("What to know about it; absent when there is nothing"),
                ),
            ],
            &["success"],
        )
    },
    run: Run::Guarded(|arguments, wg_easy| Box::pin(prepare(arguments, wg_easy))),
};

/// What to create, and which clients there were before.
struct Plan {
    name: String,
    expiry: Option<Expiry>,
    before: HashSet<u64>,
}

async fn prepare(arguments: Arguments, wg_easy: WgEasy) -> Prepared {
    arguments.only(&["name", "expiresAt", "confirm_token"])?;
    let name = values::name(arguments.required_text("name")?)?;
    let expiry = match arguments.value("expiresAt") {
        None | Some(Value::Null) => None,
        Some(_) => Some(Expiry::parse(arguments.required_text("expiresAt")?)?),
    };
    let list = ClientList::from_body(wg_easy.clients().await?)?;
    let records = || list.rows().filter_map(|row| row.record().ok());
    let namesakes = records()
        .filter(|record| record.is_text("name", &name))
        .count();

    let (first, rest) = Line::whole(&name);
    let mut question = Question::new("Create a client?", "This will create a WireGuard client.").cost(
        "It issues a new key pair that reaches every network behind this VPN. Deleting the client later does not \
         undo a connection it made in the meantime.",
    );
    question = question.cost(match &expiry {
        Some(expiry) => expiry.meaning(Timestamp::now()),
        None => "The client never expires.".to_owned(),
    });
    if namesakes > 0 {
        question = question.cost(format!(
            "There {} already {namesakes} client{} of exactly this name.",
            if namesakes == 1 { "is" } else { "are" },
            if namesakes == 1 { "" } else { "s" },
        ));
    }
    question = question
        .hint("Tick to create the client.")
        .value("Name", &first)
        .more(&rest);
    if let Some(expiry) = &expiry {
        question = question.value("Expires", &Line::new(expiry.as_str()));
    }
    let plan = Plan {
        name,
        expiry,
        before: records()
            .filter_map(|record| record.integer("id"))
            .collect(),
    };
    Ok((
        question,
        Box::new(move |approval, turn| Box::pin(act(plan, wg_easy, approval, turn))),
    ))
}

async fn act(plan: Plan, wg_easy: WgEasy, approval: Approval, turn: Turn) -> Done {
    let expires = plan.expiry.as_ref().map(Expiry::as_str);
    let error = match wg_easy.create(&plan.name, expires, approval, &turn).await {
        Ok(id) => {
            let created = match id {
                Some(id) => Some(id.as_u64()),
                None => plan.find(&wg_easy).await.ok().flatten(),
            };
            return Done {
                created,
                ..Done::new(Outcome::Applied, Ok(answer(created)))
            };
        }
        Err(error) => error,
    };
    let change = Change {
        in_place: "a client of this name is there that was not there before".to_owned(),
        not_in_place: "no client of this name has been added".to_owned(),
        look_with: "list_clients",
    };
    let mut found = None;
    let read_back = async {
        match plan.find(&wg_easy).await {
            Ok(Some(id)) => {
                found = Some(id);
                Found::InPlace
            }
            Ok(None) => Found::NotInPlace,
            Err(_) => Found::Unknown,
        }
    };
    // The id is known once the reading back is done, and settling does that first.
    let mut done = change
        .settle(error, read_back, |warning| {
            answer(None).with("warning", warning)
        })
        .await;
    done.created = found;
    done.answer = done
        .answer
        .map(|answer| answer.with_some("clientId", found));
    done
}

impl Plan {
    /// The client of this name that was not there before.
    async fn find(&self, wg_easy: &WgEasy) -> Result<Option<u64>, Failure> {
        let list = ClientList::from_body(wg_easy.clients().await?)?;
        Ok(list
            .rows()
            .filter_map(|row| row.record().ok())
            .filter(|record| record.is_text("name", &self.name))
            .filter_map(|record| record.integer("id"))
            .find(|id| !self.before.contains(id)))
    }
}

fn answer(id: Option<u64>) -> Answer {
    Answer::from_wg_easy()
        .with("success", true)
        .with_some("clientId", id)
}
