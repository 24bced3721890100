//! What the operator and the client's capabilities make of a question.

use super::{GUARDED, Open, Path, for_each};
use crate::support::{Answer, Asked, Capabilities, Era, Server, is_error, refusal, with_clients};
use wg_easy_sim::Simulator;

const FORMS: [Capabilities; 2] = [Capabilities::Form, Capabilities::Elicitation];
const NO_FORMS: [Capabilities; 2] = [Capabilities::None, Capabilities::Url];

/// A server with a variable for each revision and capability.
fn each(
    sim: &Simulator,
    capabilities: &[Capabilities],
    variable: (&str, &str),
    test: impl Fn(Server),
) {
    for era in Era::ALL {
        for capabilities in capabilities {
            let server = Server::of(sim)
                .era(*era)
                .capabilities(*capabilities)
                .with(variable.0, variable.1);
            test(server.start());
        }
    }
}

/// A simulator on which each of the five tools has something to change.
fn ready() -> Simulator {
    let sim = with_clients(3);
    for guarded in &GUARDED {
        (guarded.set_up)(&sim, 2);
    }
    sim
}

#[test]
fn forms_are_shown_to_whoever_can_show_them_and_a_web_page_is_no_form() {
    let sim = ready();
    each(&sim, &FORMS, ("ELICITATION", "true"), |mut server| {
        for guarded in &GUARDED {
            server.question(guarded.tool, (guarded.arguments)(2));
        }
    });
    each(&sim, &NO_FORMS, ("ELICITATION", "true"), |mut server| {
        for guarded in &GUARDED {
            let open = Open::of(server.ask(guarded.tool, (guarded.arguments)(2)));
            assert!(open.text().contains("this client cannot show a dialog"));
        }
    });
    assert_eq!(sim.writes(), 0);
}

#[test]
fn whoever_can_show_a_dialog_is_asked_by_dialog_whatever_token_it_brings() {
    for_each(super::dialogs(), |mut case| {
        let genuine = {
            let token = Path::Token(Era::V2026_07_28);
            let mut other = super::Case::new(case.guarded, token);
            match other.open(2) {
                Open::Token(_, token) => token,
                Open::Dialog(question) => panic!("a dialog: {question:?}"),
            }
        };
        for token in [genuine.as_str(), "", "00"] {
            match Open::of(case.with_token(token, 2)) {
                Open::Dialog(question) => assert!(!question.message.contains("confirm_token")),
                Open::Token(text, _) => panic!("{case:?}: {text}"),
            }
        }
        assert_eq!(case.sim.writes(), 0);
    });
}

#[test]
fn with_the_dialog_switched_off_everybody_gets_a_token_that_says_who_switched_it_off() {
    for value in ["false", " FALSE "] {
        let sim = ready();
        let capabilities = [Capabilities::Form, Capabilities::None];
        each(&sim, &capabilities, ("ELICITATION", value), |mut server| {
            let said = server.wait_for_stderr("ELICITATION=false");
            let about = said.lines().filter(|line| line.contains("ELICITATION"));
            assert_eq!(about.count(), 1, "{said}");
            let before = sim.writes();
            for guarded in &GUARDED {
                let open = Open::of(server.ask(guarded.tool, (guarded.arguments)(2)));
                let why = "because this server, wg-easy-mcp, was started with its dialog switched off \
                           (ELICITATION=false).";
                assert!(open.text().contains(why), "{}", open.text());
            }
            assert_eq!(sim.writes(), before);
            // And the token is good.
            let client = serde_json::json!({"clientId": 3});
            let Open::Token(_, token) = Open::of(server.ask("enable_client", client.clone()))
            else {
                panic!("a dialog");
            };
            let mut arguments = client;
            arguments["confirm_token"] = token.into();
            assert!(!is_error(&server.call("enable_client", arguments)));
            assert_eq!(sim.writes(), before + 1);
        });
    }
}

#[test]
fn where_a_dialog_is_required_there_is_no_token() {
    let sim = ready();
    let required = ("WG_EASY_REQUIRE_DIALOG", "1");
    each(&sim, &NO_FORMS, required, |mut server| {
        for guarded in &GUARDED {
            for token in [None, Some("00000000000000000000000000000000")] {
                let mut arguments = (guarded.arguments)(2);
                if let Some(token) = token {
                    arguments["confirm_token"] = token.into();
                }
                let result = server.ask(guarded.tool, arguments).result();
                let said = refusal(&result);
                assert!(
                    said.starts_with("Nothing was changed: this needs a yes from a person"),
                    "{said}"
                );
                assert!(said.contains("wg-easy-mcp, was started with WG_EASY_REQUIRE_DIALOG"));
                let hex = |word: &str| {
                    word.len() >= 16 && word.bytes().all(|byte| byte.is_ascii_hexdigit())
                };
                assert!(!said.split_whitespace().any(hex), "{said}");
            }
        }
        // Not even wg-easy was asked.
        assert_eq!(sim.requests().len(), 0);
    });
    for era in Era::ALL {
        for capabilities in FORMS {
            let sim = ready();
            let mut server = Server::of(&sim)
                .era(*era)
                .capabilities(capabilities)
                .with(required.0, required.1)
                .start();
            for guarded in GUARDED
                .iter()
                .filter(|guarded| guarded.tool != "delete_client")
            {
                let question = server.question(guarded.tool, (guarded.arguments)(2));
                let Asked::Result(result) = server.answer(&question, Answer::Yes) else {
                    panic!("asked again");
                };
                assert!(!is_error(&result), "{result}");
                assert!((guarded.in_place)(&sim, 2));
            }
        }
    }
}

#[test]
fn read_only_mode_has_nothing_to_ask_about() {
    let sim = ready();
    let forms = [Capabilities::Form, Capabilities::None];
    each(&sim, &forms, ("WG_EASY_READ_ONLY", "1"), |mut server| {
        for guarded in &GUARDED {
            let call = server.begin_call(guarded.tool, (guarded.arguments)(2));
            assert_eq!(server.error(call).0, -32602);
        }
    });
    assert_eq!(sim.requests().len(), 0);
}
