//! The state of a question that was returned: it opens once, for its own call, in the process that
//! made it.

use super::{Case, GUARDED, Guarded, Open, Path, with_dialog};
use crate::support::{Answer, Era, Question, Server, Way, refusal, with_clients};
use serde_json::{Value, json};

fn each(test: impl Fn(&'static Guarded, Case)) {
    for guarded in &GUARDED {
        test(guarded, Case::new(guarded, Path::Dialog(Era::V2026_07_28)));
    }
}

fn question(case: &mut Case, id: u64) -> Question {
    match case.open(id) {
        Open::Dialog(question) => *question,
        Open::Token(text, _) => panic!("no dialog: {text}"),
    }
}

fn state(question: &Question) -> &str {
    match &question.way {
        Way::Returned { state, .. } => state,
        Way::Pushed { .. } => panic!("pushed"),
    }
}

/// A call with parameters as somebody might make them up. It has to lead to a question.
fn asks_again(server: &mut Server, tool: &str, arguments: &Value, more: Value) -> Question {
    let mut params = json!({"name": tool, "arguments": arguments});
    for (name, value) in more.as_object().unwrap() {
        params[name] = value.clone();
    }
    let call = server.request("tools/call", params);
    server.asked(call, tool, arguments.clone()).question()
}

fn yes(state: &str) -> Value {
    json!({"requestState": state, "inputResponses": {"confirm": Answer::Yes.to_value()}})
}

#[test]
fn a_state_that_this_process_did_not_make_counts_as_no_answer() {
    each(|guarded, mut case| {
        let before = case.sim.clients();
        let arguments = (guarded.arguments)(2);
        let genuine = state(&question(&mut case, 2)).to_owned();
        let elsewhere = {
            let mut other = with_dialog(&case.sim);
            let question = other.question(guarded.tool, arguments.clone());
            state(&question).to_owned()
        };
        let mut altered = genuine.clone().into_bytes();
        let last = altered.len() / 2;
        altered[last] = if altered[last] == b'A' { b'B' } else { b'A' };
        let altered = String::from_utf8(altered).unwrap();
        let shorter = genuine[..genuine.len() - 1].to_owned();
        for made_up in [
            String::new(),
            "true".to_owned(),
            "A".repeat(76),
            elsewhere,
            altered,
            shorter,
            format!("{genuine}="),
            format!("{genuine}{genuine}"),
            "x".repeat(100_000),
        ] {
            let again = asks_again(&mut case.server, guarded.tool, &arguments, yes(&made_up));
            assert_ne!(state(&again), genuine);
            assert!(again.message.starts_with("This will "), "{}", again.message);
            case.assert_untouched(&before, &made_up);
        }
        // None of this has spent the genuine one.
        let call = case.server.request("tools/call", {
            let mut params = yes(&genuine);
            params["name"] = guarded.tool.into();
            params["arguments"] = arguments.clone();
            params
        });
        case.server.asked(call, guarded.tool, arguments).result();
        assert!(case.is_in_place(2));
        assert_eq!(case.sim.writes(), 1);
    });
}

#[test]
fn a_state_is_spent_by_its_first_answer() {
    each(|guarded, mut case| {
        let arguments = (guarded.arguments)(2);
        // By a no, by an answer that is none, and by coming back without one.
        for first in [
            json!({"confirm": Answer::Decline.to_value()}),
            json!({"confirm": {"rubbish": true}}),
            json!({"other": Answer::Yes.to_value()}),
            json!({}),
        ] {
            let used = state(&question(&mut case, 2)).to_owned();
            let call = case.server.request(
                "tools/call",
                json!({"name": guarded.tool, "arguments": arguments, "requestState": used, "inputResponses": first}),
            );
            case.server.asked(call, guarded.tool, arguments.clone());
            asks_again(&mut case.server, guarded.tool, &arguments, yes(&used));
            assert_eq!(case.sim.writes(), 0, "{}: {first}", guarded.tool);
        }
        // By a yes. A client that was deleted cannot even be asked about any more.
        let open = question(&mut case, 2);
        case.server.answer(&open, Answer::Yes).result();
        assert_eq!(case.sim.writes(), 1);
        let again = case.server.answer(&open, Answer::Yes);
        if guarded.tool == "delete_client" {
            assert!(refusal(&again.result()).contains("no client 2"));
        } else {
            assert_ne!(state(&again.question()), state(&open));
        }
        assert_eq!(case.sim.writes(), 1, "{}", guarded.tool);
    });
}

#[test]
fn a_state_is_good_for_no_other_call() {
    for guarded in &GUARDED {
        let sim = with_clients(10);
        for each in &GUARDED {
            for id in 1..=10 {
                (each.set_up)(&sim, id);
            }
        }
        let before = sim.clients();
        let mut server = with_dialog(&sim);
        let arguments = (guarded.arguments)(2);
        // Other arguments, spelled as differently as can be.
        let mut others = vec![(guarded.tool, (guarded.arguments)(3))];
        if guarded.tool == "create_client" {
            others.push((guarded.tool, json!({"name": "laptop-2"})));
        } else {
            let mut text = arguments.clone();
            text["clientId"] = "2".into();
            others.push((guarded.tool, text));
        }
        others.extend(
            GUARDED
                .iter()
                .filter(|other| other.tool != guarded.tool)
                .map(|other| (other.tool, (other.arguments)(2))),
        );
        for (tool, other) in others {
            let question = server.question(guarded.tool, arguments.clone());
            asks_again(&mut server, tool, &other, yes(state(&question)));
            // Whoever holds a state and tries it elsewhere has spent it.
            asks_again(&mut server, guarded.tool, &arguments, yes(state(&question)));
            assert_eq!(sim.writes(), 0, "{} for {tool}", guarded.tool);
        }
        assert_eq!(sim.clients(), before);
    }
}

#[test]
fn a_yes_without_a_state_counts_as_no_answer() {
    each(|guarded, mut case| {
        let before = case.sim.clients();
        let arguments = (guarded.arguments)(2);
        let responses = json!({"inputResponses": {"confirm": Answer::Yes.to_value()}});
        asks_again(&mut case.server, guarded.tool, &arguments, responses);
        case.assert_untouched(&before, "no state");
    });
}

#[test]
fn the_order_of_arguments_and_a_stray_token_do_not_make_another_call() {
    let sim = with_clients(3);
    let mut server = with_dialog(&sim);
    let first: Value =
        serde_json::from_str(r#"{"clientId":2,"mtu":1300,"dns":["1.1.1.1","9.9.9.9"]}"#).unwrap();
    let again: Value = serde_json::from_str(
        r#"{"dns":["1.1.1.1","9.9.9.9"],"confirm_token":"00","mtu":1300,"clientId":2}"#,
    )
    .unwrap();
    let question = server.question("update_client", first);
    let mut params = yes(state(&question));
    params["name"] = "update_client".into();
    params["arguments"] = again.clone();
    let call = server.request("tools/call", params);
    server.asked(call, "update_client", again).result();
    assert_eq!(sim.client(2).unwrap().mtu, 1300.0);
    assert_eq!(sim.writes(), 1);
}
