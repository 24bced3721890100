//! The two calls that stand in for a dialog where the client can show none.

use super::{Case, GUARDED, Open, for_each, tokens};
use crate::support::{Asked, Server, refusal, token, with_clients};
use serde_json::{Value, json};

/// The text and the token of a call that did nothing.
fn nothing(asked: Asked) -> (String, String) {
    match Open::of(asked) {
        Open::Token(text, token) => (text, token),
        Open::Dialog(question) => panic!("a dialog: {question:?}"),
    }
}

fn open(case: &mut Case, id: u64) -> (String, String) {
    match case.open(id) {
        Open::Token(text, token) => (text, token),
        Open::Dialog(question) => panic!("a dialog: {question:?}"),
    }
}

const MISFIT: &str = "The confirm_token of this call did not fit";

#[test]
fn the_first_call_says_what_would_have_been_asked_and_that_nobody_was() {
    for_each(tokens(), |mut case| {
        let tool = case.guarded.tool;
        let (text, token) = open(&mut case, 2);
        for part in [
            "Nothing was changed, and nobody has been asked, because this client cannot show a dialog.",
            "This is what a person would have been asked:",
            "This will ",
            "Values below were supplied by the caller or by wg-easy, not by this server:",
            &format!("call {tool} again with exactly the same arguments"),
            &format!("confirm_token: {token}"),
            "five minutes and for one call",
            "It proves that the call was made twice with the same arguments, and nothing more",
        ] {
            assert!(text.contains(part), "{part:?}: {text}");
        }
        assert!(!text.contains(MISFIT), "{text}");
        assert!(!text.contains("ELICITATION"), "{text}");
    });
}

#[test]
fn a_token_that_was_not_given_for_exactly_this_changes_nothing() {
    for_each(tokens(), |mut case| {
        let before = case.sim.clients();
        let (_, good) = open(&mut case, 2);
        let (_, elsewhere) = open(&mut case, 3);
        let flipped = if good.starts_with('0') { "1" } else { "0" };
        for wrong in [
            String::new(),
            "0".repeat(32),
            "yes".to_owned(),
            elsewhere,
            good[..31].to_owned(),
            format!("{good}0"),
            format!(" {good}"),
            format!("{flipped}{}", &good[1..]),
            "9".repeat(10_000),
        ] {
            let (text, fresh) = nothing(case.with_token(&wrong, 2));
            assert!(text.contains(MISFIT), "{wrong:.40}: {text}");
            assert_ne!(fresh, good);
            assert_ne!(fresh, wrong);
            case.assert_untouched(&before, "a wrong token");
        }
        // Wrong ones have not spent it.
        case.with_token(&good, 2).result();
        assert!(case.is_in_place(2), "{case:?}");
        assert_eq!(case.sim.writes(), 1, "{case:?}");
    });
}

#[test]
fn a_token_acts_once() {
    for_each(tokens(), |mut case| {
        let (_, token) = open(&mut case, 2);
        case.with_token(&token, 2).result();
        assert!(case.is_in_place(2), "{case:?}");
        let again = case.with_token(&token, 2).result();
        if case.guarded.tool == "delete_client" {
            assert!(refusal(&again).contains("no client 2"));
        } else {
            assert!(refusal(&again).contains(MISFIT), "{again}");
        }
        assert_eq!(case.sim.writes(), 1, "{case:?}");
    });
}

#[test]
fn a_token_that_was_tried_on_something_else_is_spent() {
    for_each(tokens(), |mut case| {
        let before = case.sim.clients();
        let (_, token) = open(&mut case, 2);
        let (text, _) = nothing(case.with_token(&token, 3));
        assert!(text.contains(MISFIT));
        let (text, _) = nothing(case.with_token(&token, 2));
        assert!(text.contains(MISFIT));
        case.assert_untouched(&before, "other arguments");
    });
}

#[test]
fn a_token_of_one_tool_is_none_for_another() {
    let sim = with_clients(3);
    for guarded in &GUARDED {
        (guarded.set_up)(&sim, 2);
    }
    let mut server = Server::of(&sim).start();
    for from in &GUARDED {
        for to in GUARDED.iter().filter(|to| to.tool != from.tool) {
            let first = server.call(from.tool, (from.arguments)(2));
            let mut arguments = (to.arguments)(2);
            arguments["confirm_token"] = token(&first).into();
            let second = server.call(to.tool, arguments);
            assert!(refusal(&second).contains(MISFIT), "{second}");
        }
    }
    assert_eq!(sim.writes(), 0);
}

#[test]
fn a_token_that_is_no_text_is_refused_before_anything_is_sent() {
    for_each(&tokens()[2..], |mut case| {
        for wrong in [json!(null), json!(true), json!(1), json!(["a"]), json!({})] {
            let mut arguments = (case.guarded.arguments)(2);
            arguments["confirm_token"] = wrong;
            let result = case.server.ask(case.guarded.tool, arguments).result();
            assert_eq!(refusal(&result), "confirm_token has to be a string.");
        }
        assert_eq!(case.sim.requests().len(), 0);
    });
}

#[test]
fn of_more_than_a_hundred_open_tokens_the_oldest_is_worthless() {
    let sim = with_clients(1);
    let mut server = Server::of(&sim).start();
    let call = |server: &mut Server, arguments: Value| server.call("delete_client", arguments);
    let tokens: Vec<_> = (0..=100)
        .map(|_| token(&call(&mut server, json!({"clientId": 1}))).to_owned())
        .collect();
    let with = |token: &str| json!({"clientId": 1, "confirm_token": token});
    let oldest = call(&mut server, with(&tokens[0]));
    assert!(refusal(&oldest).contains(MISFIT));
    assert_eq!(sim.writes(), 0);
    let latest = call(&mut server, with(&tokens[100]));
    assert_eq!(latest["structuredContent"], json!({"deleted": 1}));
}
