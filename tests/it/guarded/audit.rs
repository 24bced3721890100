//! The audit trail: one line a decision, without any name, value or secret.

use super::{GUARDED, Open, WAYS, dialogs, for_each};
use crate::support::{Answer, Asked, Capabilities, Era, Server, is_error, with_clients};
use serde_json::{Value, json};
use wg_easy_sim::Fault;

/// The fields of a line in text form, save the time, which is checked.
fn fields(line: &str) -> Vec<&str> {
    let rest = line.strip_prefix("wg-easy-mcp: audit: ").unwrap();
    let (time, rest) = rest.split_once(' ').unwrap();
    assert!(time.parse::<jiff::Timestamp>().is_ok(), "{line}");
    rest.split(' ').collect()
}

fn expected(tool: &str, how: &str, decision: &str, outcome: &str) -> Vec<String> {
    let mut fields = vec![format!("tool={tool}")];
    if tool != "create_client" {
        fields.push("client=2".to_owned());
    }
    fields.push(format!("how={how}"));
    fields.push(format!("decision={decision}"));
    fields.push(format!("outcome={outcome}"));
    fields
}

#[test]
fn each_decision_is_one_line() {
    for_each(&WAYS, |mut case| {
        let (tool, how) = (case.guarded.tool, case.way.how());
        let open = case.open(2);
        if how != "dialog-pushed" {
            // A question that is returned, or a token, decides nothing.
            case.open(2);
        }
        let mut decisions = Vec::new();
        if let Open::Dialog(question) = &open {
            for no in [Answer::Decline, Answer::Cancel, Answer::Unconfirmed] {
                let other = case.server.question(tool, question.arguments.clone());
                case.server.answer(&other, no).result();
                decisions.push(expected(tool, how, "declined", "not-applied"));
            }
        }
        // wg-easy refuses it.
        let refused = case.open(2);
        case.sim
            .fault(case.guarded.write_matcher(2), Fault::status(403));
        assert!(is_error(&case.yes(&refused, 2).result()));
        decisions.push(expected(tool, how, "approved", "failed"));

        case.yes(&open, 2).result();
        let mut applied = expected(tool, how, "approved", "applied");
        if tool == "create_client" {
            // The call names no client, and now there is one.
            applied.insert(1, format!("client={}", case.sim.client_count()));
        }
        decisions.push(applied);
        let lines = case.server.wait_for_audit(decisions.len());
        let (_, stderr) = case.server.finish();
        let lines: Vec<_> = lines.iter().map(|line| fields(line)).collect();
        assert_eq!(lines, decisions);
        // Nothing else is said at all, save what is in force.
        assert_eq!(stderr.lines().count(), 1 + decisions.len(), "{stderr}");
        for value in [
            "laptop", "client-2", "10.20", "2099", "renamed", "1300", "/api/",
        ] {
            assert!(!stderr.contains(value), "{stderr}");
        }
        let link = case.sim.client(2).and_then(|client| client.one_time_link);
        assert!(link.is_none_or(|link| !stderr.contains(&link.token)));
    });
}

#[test]
fn the_trail_is_kept_whatever_the_level_is_and_in_either_form() {
    for level in ["error", "warn", "info", "debug"] {
        for_each(&dialogs()[2..], |case| {
            let super::Case { guarded, sim, .. } = case;
            let mut server = Server::of(&sim)
                .capabilities(Capabilities::Form)
                .with("WG_EASY_LOG", level)
                .with("WG_EASY_LOG_FORMAT", "json")
                .start();
            let question = server.question(guarded.tool, (guarded.arguments)(2));
            server.answer(&question, Answer::Decline).result();
            server.call_and_confirm(guarded.tool, (guarded.arguments)(2));
            let lines = server.wait_for_audit(2);
            assert_eq!(lines.len(), 2);
            for (line, (decision, outcome)) in lines
                .iter()
                .zip([("declined", "not-applied"), ("approved", "applied")])
            {
                let mut line: Value = serde_json::from_str(line).unwrap();
                let time = line["time"].take();
                assert!(time.as_str().unwrap().parse::<jiff::Timestamp>().is_ok());
                let client = match (guarded.tool, outcome) {
                    ("create_client", "applied") => json!(sim.client_count()),
                    ("create_client", _) => Value::Null,
                    _ => json!(2),
                };
                assert_eq!(
                    line,
                    json!({
                        "time": null, "level": "audit", "tool": guarded.tool, "client": client,
                        "how": "dialog-returned", "decision": decision, "outcome": outcome,
                    })
                );
            }
        });
    }
}

#[test]
fn what_is_refused_without_asking_is_a_decision_too() {
    for era in Era::ALL {
        let sim = with_clients(3);
        let mut server = Server::of(&sim)
            .era(*era)
            .with("WG_EASY_REQUIRE_DIALOG", "yes")
            .start();
        let mut decisions = Vec::new();
        for guarded in &GUARDED {
            server.call(guarded.tool, (guarded.arguments)(2));
            decisions.push(expected(
                guarded.tool,
                "not-asked",
                "refused",
                "not-applied",
            ));
        }
        let lines = server.wait_for_audit(decisions.len());
        let lines: Vec<_> = lines.iter().map(|line| fields(line)).collect();
        assert_eq!(lines, decisions);
    }
}

#[test]
fn an_error_instead_of_an_answer_is_a_refusal() {
    let sim = with_clients(3);
    let mut server = Server::of(&sim)
        .era(Era::V2025_11_25)
        .capabilities(Capabilities::Form)
        .start();
    let question = server.question("delete_client", json!({"clientId": 2}));
    let crate::support::Way::Pushed { request, call } = &question.way else {
        panic!("not pushed");
    };
    server.send(&json!({"jsonrpc": "2.0", "id": request, "error": {"code": -1, "message": "no"}}));
    server.finish_call(*call, "delete_client");
    let lines = server.wait_for_audit(1);
    assert_eq!(
        fields(&lines[0]),
        expected("delete_client", "dialog-pushed", "refused", "not-applied")
    );
}

#[test]
fn a_call_that_is_wrong_or_about_nobody_decides_nothing() {
    for_each(&WAYS, |mut case| {
        let tool = case.guarded.tool;
        let mut unknown = (case.guarded.arguments)(2);
        unknown["clientId"] = 4711.into();
        let mut wrong = (case.guarded.arguments)(2);
        wrong["confirm_token"] = 5.into();
        for arguments in [json!({}), unknown, wrong] {
            assert!(matches!(case.server.ask(tool, arguments), Asked::Result(_)));
        }
        let open = case.open(2);
        case.yes(&open, 2).result();
        assert_eq!(case.server.wait_for_audit(1).len(), 1);
        let (_, stderr) = case.server.finish();
        // What is in force, and the decision.
        assert_eq!(stderr.lines().count(), 2, "{stderr}");
    });
}
