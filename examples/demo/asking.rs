//! What changes something, and is asked about unless it only takes access away.

use crate::Problem;
use crate::instance::{CONTRACTOR, NAS, PHONE, ROUTER};
use crate::screen::{Cell, Look};
use crate::stage::{Stage, is_error, text, value};
use crate::time;
use jiff::SignedDuration;
use serde_json::{Value, json};
use std::rc::Rc;

pub(crate) fn disable(stage: &mut Stage) -> Result<(), Problem> {
    stage.scene(
        "Taking access away",
        "In an emergency nobody should have to click first: disabling is the one change that is made \
         at once.",
    );
    let result = stage.call(
        "I lost my phone! Cut it off!",
        "disable_client",
        json!({"clientId": PHONE}),
    )?;
    stage.check(!is_error(&result), "the call succeeds")?;
    let enabled = stage.wg_easy.client(PHONE).map(|client| client.enabled);
    stage.prove(
        enabled == Some(false),
        "wg-easy has disabled client 2, anna-phone",
    )
}

pub(crate) fn create(stage: &mut Stage) -> Result<(), Problem> {
    stage.scene(
        "Giving access",
        "From here on you decide. The AI cannot answer for you: the question goes from the server to \
         the client's own dialog. (This client speaks MCP 2025-11-25: the question is pushed to it \
         while the call waits.)",
    );
    let until = stage.wg_easy.now() + SignedDuration::from_hours(7 * 24);
    let until = until.to_string().chars().take(10).collect::<String>();
    let before = stage.wg_easy.client_count();
    let (result, yes) = asked_once(
        stage,
        "My sister visits for a week; give her access.",
        "create_client",
        json!({"name": "sister-phone", "expiresAt": until}),
        true,
    )?;
    if !yes {
        return unchanged(stage, &result, stage.wg_easy.client_count() == before);
    }
    let id = value(&result, "/clientId")?.as_u64().unwrap_or_default();
    let created = stage.wg_easy.client(id);
    let expiry = created
        .filter(|client| client.name == "sister-phone")
        .and_then(|client| time::parsed(&client.expires_at?));
    let now = stage.wg_easy.now();
    let said = expiry.map(|at| time::relative(at, now)).unwrap_or_default();
    stage.prove(
        expiry.is_some() && stage.wg_easy.client_count() == before + 1,
        &format!("wg-easy has a new client {id}, sister-phone, which expires {said}"),
    )
}

pub(crate) fn update(stage: &mut Stage) -> Result<(), Problem> {
    stage.scene(
        "What is, and what would be",
        "The AI wants more than it says. The dialog shows each change as old → new, and says in the \
         server's own words what a change of routes means.",
    );
    let routes = vec!["0.0.0.0/0".to_owned()];
    let before = stage.wg_easy.client(NAS);
    let (result, yes) = asked_once(
        stage,
        "Rename the NAS to just nas.",
        "update_client",
        json!({"clientId": NAS, "name": "nas", "allowedIps": routes}),
        true,
    )?;
    let after = stage.wg_easy.client(NAS);
    if !yes {
        return unchanged(stage, &result, before == after);
    }
    stage.check(!is_error(&result), "the call succeeds")?;
    let after = after.ok_or("the client is gone")?;
    let kept = before.is_some_and(|before| {
        before.private_key == after.private_key && before.ipv4_address == after.ipv4_address
    });
    stage.prove(
        kept && after.name == "nas" && after.allowed_ips == Some(routes),
        "wg-easy has the new name and route; keys and addresses are as they were",
    )
}

pub(crate) fn refuse(stage: &mut Stage) -> Result<(), Problem> {
    stage.scene(
        "A no is a no",
        "The AI has misunderstood. (This client speaks MCP 2026-07-28: the question is the answer to \
         the call, sealed, and the client calls again with what you said.)",
    );
    let before = stage.wg_easy.client(ROUTER);
    let (result, yes) = asked_once(
        stage,
        "Clean up: delete what is no longer used.",
        "delete_client",
        json!({"clientId": ROUTER}),
        false,
    )?;
    if !yes {
        return unchanged(stage, &result, stage.wg_easy.client(ROUTER) == before);
    }
    deleted(stage, &result, ROUTER)
}

pub(crate) fn outdated(stage: &mut Stage) -> Result<(), Problem> {
    stage.scene(
        "What you saw is what happens",
        "While you read the question, a colleague renames the client. Your yes was to something else, \
         so it does not count: you are asked anew.",
    );
    let new_name = "contractor-mike-acme";
    let (screen, person) = (stage.screen, stage.person);
    let wg_easy = Rc::clone(&stage.wg_easy);
    let mut answers = Vec::new();
    let result = stage.call_asking(
        "Then delete contractor-mike.",
        "delete_client",
        json!({"clientId": CONTRACTOR}),
        &mut |dialog| {
            screen.dialog(dialog);
            let yes = person.decide(screen, true);
            if answers.is_empty() {
                wg_easy.update_client(CONTRACTOR, |client| new_name.clone_into(&mut client.name));
                screen.text(
                    "(meanwhile, a colleague has renamed client 5 in wg-easy)",
                    Look::Dim,
                );
            }
            screen.gap();
            answers.push((yes, dialog.message.clone()));
            yes
        },
    )?;
    let first_yes = answers.first().is_some_and(|(yes, _)| *yes);
    if first_yes {
        let second = answers.get(1).map(|(_, message)| message.as_str());
        stage.prove(
            second.is_some_and(|message| message.contains(new_name)) && answers.len() == 2,
            "the first yes did nothing; the second question has the new name",
        )?;
    }
    if answers.last().is_some_and(|(yes, _)| *yes) {
        return deleted(stage, &result, CONTRACTOR);
    }
    let left = stage.wg_easy.client(CONTRACTOR).map(|client| client.name);
    unchanged(stage, &result, left.as_deref() == Some(new_name))
}

pub(crate) fn link(stage: &mut Stage) -> Result<(), Problem> {
    stage.scene(
        "A link to pass on",
        "Whoever opens a one-time link first gets the whole configuration. The dialog says what that \
         means before there is one.",
    );
    let (result, yes) = asked_once(
        stage,
        "Make me a link to set up the NAS with.",
        "generate_one_time_link",
        json!({"clientId": NAS}),
        true,
    )?;
    let made = stage
        .wg_easy
        .client(NAS)
        .and_then(|client| client.one_time_link);
    if !yes {
        return unchanged(stage, &result, made.is_none());
    }
    let made = made.ok_or("wg-easy has no link")?;
    stage.handed_out(&made.token);
    let shown = |pointer: &str| value(&result, pointer).map(|v| v.as_str().unwrap_or_default());
    let url = shown("/url")?;
    let expires = time::parsed(shown("/expiresAt")?).ok_or("the link has no end")?;
    let expires = time::relative(expires, stage.wg_easy.now());
    let rows: [Vec<Cell>; 2] = [
        vec![("link".to_owned(), Look::Dim), (url.to_owned(), Look::Bold)],
        vec![("expires".to_owned(), Look::Dim), (expires, Look::Plain)],
    ];
    stage.screen.table(&[], &rows);
    stage.screen.gap();
    stage.prove(
        url == format!("{}/cnf/{}", stage.wg_easy.url(), made.token),
        "wg-easy has this link, and no other",
    )
}

pub(crate) fn trail(stage: &mut Stage) -> Result<(), Problem> {
    stage.scene(
        "What is written down",
        "One line on stderr for each decision: which tool, which client, how it was decided, and what \
         came of it. No names, no values.",
    );
    let lines = stage.audit()?;
    let mut last = Vec::new();
    let rows: Vec<Vec<Cell>> = lines
        .iter()
        .map(|line| {
            let field = |name: &str| {
                let mut words = line.split(' ').filter_map(|word| word.split_once('='));
                let value = words
                    .find(|(field, _)| *field == name)
                    .map(|(_, value)| value);
                value.unwrap_or("–").to_owned()
            };
            let decision = field("decision");
            let look = if decision == "approved" {
                Look::Green
            } else {
                Look::Yellow
            };
            vec![
                (field("tool"), Look::Bold),
                (field("client"), Look::Dim),
                (field("how"), Look::Plain),
                (decision, look),
                (field("outcome"), Look::Plain),
            ]
        })
        .collect();
    stage
        .screen
        .table(&["tool", "client", "how", "decision", "outcome"], &rows);
    stage.screen.gap();
    for row in &rows {
        last.extend(row.first().map(|(tool, _)| tool.as_str()));
    }
    stage.check(
        last == [
            "create_client",
            "update_client",
            "delete_client",
            "delete_client",
            "generate_one_time_link",
        ],
        "there is a line for each of the five decisions",
    )
}

/// A call whose one question is shown and answered; with the answer.
fn asked_once(
    stage: &mut Stage,
    wish: &str,
    tool: &str,
    arguments: Value,
    suggested: bool,
) -> Result<(Value, bool), Problem> {
    let (screen, person) = (stage.screen, stage.person);
    let mut answers = Vec::new();
    let result = stage.call_asking(wish, tool, arguments, &mut |dialog| {
        screen.dialog(dialog);
        let yes = person.decide(screen, suggested);
        screen.gap();
        answers.push(yes);
        yes
    })?;
    match answers.as_slice() {
        [yes] => Ok((result, *yes)),
        _ => Err(format!("{tool} asked {} times: {}", answers.len(), text(&result)).into()),
    }
}

fn unchanged(stage: &Stage, result: &Value, holds: bool) -> Result<(), Problem> {
    stage.refused(result)?;
    stage.screen.gap();
    stage.prove(holds, "wg-easy is as it was")
}

fn deleted(stage: &Stage, result: &Value, id: u64) -> Result<(), Problem> {
    stage.check(!is_error(result), "the call succeeds")?;
    stage.prove(
        stage.wg_easy.client(id).is_none(),
        &format!("wg-easy has no client {id} any more"),
    )
}
