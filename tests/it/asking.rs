//! A person is asked before anything but `disable_client` changes something, however the client
//! speaks.

use crate::support::{
    Answer, Asked, Capabilities, Era, Server, in_each_era, is_error, refusal, token, with_clients,
};
use serde_json::{Value, json};
use wg_easy_mcp::tools::TOOLS;

/// The tools that change something and have to ask, with arguments that they take.
fn guarded() -> Vec<(&'static str, Value)> {
    let tools: Vec<_> = TOOLS
        .iter()
        .filter(|tool| !tool.hints.read_only && tool.name != "disable_client")
        .map(|tool| {
            let arguments = match tool.name {
                "create_client" => json!({"name": "new"}),
                "update_client" => json!({"clientId": 1, "name": "renamed"}),
                _ => json!({"clientId": 1}),
            };
            (tool.name, arguments)
        })
        .collect();
    assert_eq!(tools.len(), 5);
    tools
}

#[test]
fn no_tool_that_changes_something_does_so_without_a_question() {
    in_each_era(|era| {
        for capabilities in [
            Capabilities::None,
            Capabilities::Url,
            Capabilities::Elicitation,
            Capabilities::Form,
        ] {
            let sim = with_clients(1);
            let mut server = Server::of(&sim).era(era).capabilities(capabilities).start();
            let form = matches!(capabilities, Capabilities::Elicitation | Capabilities::Form);
            for (tool, arguments) in guarded() {
                match server.ask(tool, arguments) {
                    Asked::Question(question) => {
                        assert!(form, "{tool}: {question:?}");
                        let name = if tool == "create_client" {
                            "new"
                        } else {
                            "client-1"
                        };
                        assert!(question.message.contains(name), "{}", question.message);
                        assert_eq!(question.form["properties"]["confirm"]["type"], "boolean");
                    }
                    Asked::Result(result) => {
                        assert!(!form, "{tool}: {result}");
                        token(&result);
                    }
                }
            }
            assert_eq!(sim.writes(), 0);
        }
    });
}

#[test]
fn only_a_confirmed_form_is_a_yes() {
    in_each_era(|era| {
        let sim = with_clients(1);
        let mut server = Server::of(&sim)
            .era(era)
            .capabilities(Capabilities::Form)
            .start();
        for (tool, arguments) in guarded() {
            for no in [Answer::Unconfirmed, Answer::Decline, Answer::Cancel] {
                let question = server.question(tool, arguments.clone());
                let result = server.answer(&question, no).result();
                assert!(
                    refusal(&result).contains("othing was changed"),
                    "{tool} {no:?}: {result}"
                );
            }
        }
        assert_eq!(sim.writes(), 0);
        // In an order in which each has something to do.
        for (tool, arguments) in guarded().into_iter().rev() {
            if tool != "delete_client" {
                let result = server.call_and_confirm(tool, arguments);
                assert!(!is_error(&result), "{tool}: {result}");
            }
        }
        let result = server.call_and_confirm("delete_client", json!({"clientId": 1}));
        assert!(!is_error(&result), "{result}");
        assert_eq!(sim.applied(), 5);
        assert!(sim.client(1).is_none());
    });
}

#[test]
fn a_token_acts_once_and_for_the_same_arguments() {
    for era in [Era::V2025_06_18, Era::V2026_07_28] {
        let sim = with_clients(2);
        let mut server = Server::of(&sim).era(era).start();
        let mut delete = |id: u64, token: Option<&str>| {
            let mut arguments = json!({"clientId": id});
            if let Some(token) = token {
                arguments["confirm_token"] = token.into();
            }
            server.call("delete_client", arguments)
        };
        let first = token(&delete(1, None)).to_owned();
        let other = delete(2, Some(&first));
        assert!(refusal(&other).contains("did not fit"), "{other}");
        assert_ne!(token(&other), first);

        let second = token(&delete(1, None)).to_owned();
        let deleted = delete(1, Some(&second));
        assert!(!is_error(&deleted), "{deleted}");
        assert!(is_error(&delete(1, Some(&second))));
        assert_eq!((sim.writes(), sim.client_count()), (1, 1));
    }
}
