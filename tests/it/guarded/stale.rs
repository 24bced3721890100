//! What was shown is what happens: an answer to a question that is no longer true is no answer.

use super::{Open, WAYS, for_each, with_dialog};
use crate::support::{Answer, refusal, with_clients};
use serde_json::json;

#[test]
fn an_answer_to_what_has_changed_meanwhile_brings_the_new_question() {
    for_each(&WAYS, |mut case| {
        let old = case.open(2);
        let shows = case.guarded.then_shows;
        assert!(!old.text().contains(shows));
        (case.guarded.disturb)(&case.sim, 2);
        let before = case.sim.clients();
        let new = Open::of(case.yes(&old, 2));
        case.assert_untouched(&before, "the question had changed");
        assert!(new.text().contains(shows), "{case:?}: {}", new.text());
        match &new {
            Open::Dialog(question) => assert!(
                question.message.starts_with("Nothing has been done yet: "),
                "{}",
                question.message
            ),
            Open::Token(text, _) => assert!(text.contains("a question that has changed"), "{text}"),
        }
        // The old one is of no use any more; the new one is good for one yes.
        case.yes(&new, 2).result();
        assert!(case.is_in_place(2), "{case:?}");
        assert_eq!(case.sim.writes(), 1, "{case:?}");
    });
}

#[test]
fn a_no_to_the_new_question_changes_nothing() {
    for_each(super::dialogs(), |mut case| {
        let old = case.open(2);
        (case.guarded.disturb)(&case.sim, 2);
        let before = case.sim.clients();
        let Open::Dialog(new) = Open::of(case.yes(&old, 2)) else {
            panic!("{case:?}: no dialog");
        };
        refusal(&case.server.answer(&new, Answer::Decline).result());
        case.assert_untouched(&before, "declined");
    });
}

#[test]
fn a_client_that_is_gone_when_the_yes_comes_is_said_to_be_gone() {
    for_each(&WAYS, |mut case| {
        if case.guarded.tool == "create_client" {
            return;
        }
        let open = case.open(2);
        assert!(case.sim.remove_client(2));
        let result = case.yes(&open, 2).result();
        let said = refusal(&result);
        assert!(
            said.starts_with("There is no client 2. Nothing was changed."),
            "{said}"
        );
        assert_eq!(case.sim.writes(), 0);
        // Somebody said yes, and that is kept; a token that comes to nothing decides nothing.
        if let Open::Dialog(_) = open {
            let audit = case.server.wait_for_audit(1);
            assert!(audit[0].ends_with("decision=approved outcome=not-applied"));
        }
    });
}

#[test]
fn a_question_that_somebody_else_has_settled_is_asked_anew() {
    let sim = with_clients(2);
    sim.update_client(1, |client| client.enabled = false);
    let mut server = with_dialog(&sim);
    let question = server.question("enable_client", json!({"clientId": 1}));
    sim.update_client(1, |client| client.enabled = true);
    let again = server.answer(&question, Answer::Yes).question();
    assert!(
        again.message.contains("is enabled already"),
        "{}",
        again.message
    );

    let question = server.question("update_client", json!({"clientId": 1, "mtu": 1300}));
    sim.update_client(1, |client| client.mtu = 1300.0);
    let again = server.answer(&question, Answer::Yes).question();
    assert!(
        again.message.contains("this changes nothing"),
        "{}",
        again.message
    );

    let question = server.question("generate_one_time_link", json!({"clientId": 1}));
    let elsewhere = {
        let mut other = with_dialog(&sim);
        other.call_and_confirm("generate_one_time_link", json!({"clientId": 1}))
    };
    assert_eq!(elsewhere["structuredContent"]["created"], true);
    let again = server.answer(&question, Answer::Yes).question();
    assert!(again.message.contains("live already"), "{}", again.message);
    assert_eq!(sim.writes(), 1);
}

#[test]
fn what_the_question_does_not_show_is_kept_as_it_is_when_the_yes_comes() {
    let sim = with_clients(2);
    let mut server = with_dialog(&sim);
    let question = server.question("update_client", json!({"clientId": 1, "mtu": 1300}));
    sim.update_client(1, |client| {
        client.dns = Some(vec!["9.9.9.9".to_owned()]);
        client.pre_up = "ip route add 10.0.0.0/8 dev wg0".to_owned();
    });
    server.answer(&question, Answer::Yes).result();
    let client = sim.client(1).unwrap();
    assert_eq!(client.mtu, 1300.0);
    assert_eq!(client.dns, Some(vec!["9.9.9.9".to_owned()]));
    assert_eq!(client.pre_up, "ip route add 10.0.0.0/8 dev wg0");
}
