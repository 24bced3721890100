//! Whatever is not a yes.

use super::{Case, GUARDED, Open, dialogs, for_each};
use crate::support::{Answer, Asked, Era, Question, Way, refusal};
use serde_json::{Value, json};

/// Answers that are not a yes, some of which look like one.
fn noes() -> Vec<Value> {
    vec![
        Answer::Decline.to_value(),
        Answer::Cancel.to_value(),
        Answer::Unconfirmed.to_value(),
        json!({"action": "accept"}),
        json!({"action": "accept", "content": null}),
        json!({"action": "accept", "content": {}}),
        json!({"action": "accept", "content": {"confirm": "true"}}),
        json!({"action": "accept", "content": {"confirm": 1}}),
        json!({"action": "accept", "content": {"confirm": [true]}}),
        json!({"action": "accept", "content": {"Confirm": true}}),
        json!({"action": "decline", "content": {"confirm": true}}),
        json!({"action": "cancel", "content": {"confirm": true}}),
        json!({"action": "ACCEPT", "content": {"confirm": true}}),
        json!({"content": {"confirm": true}}),
        json!({}),
    ]
}

fn question(case: &mut Case, id: u64) -> Question {
    match case.open(id) {
        Open::Dialog(question) => *question,
        Open::Token(text, _) => panic!("{case:?}: no dialog: {text}"),
    }
}

#[test]
fn anything_but_a_yes_changes_nothing_and_says_so() {
    for_each(dialogs(), |mut case| {
        let before = case.sim.clients();
        for no in noes() {
            let question = question(&mut case, 2);
            let result = case.server.answer_with(&question, no.clone()).result();
            let said = refusal(&result);
            assert!(said.starts_with("Nothing was changed: "), "{no}: {said}");
            assert!(
                said.contains("Some clients answer without showing the dialog"),
                "{no}: {said}"
            );
            case.assert_untouched(&before, &no.to_string());
        }
        // And a no is not held against a later yes.
        let open = case.open(2);
        case.yes(&open, 2).result();
        assert!(case.is_in_place(2), "{case:?}");
        assert_eq!(case.sim.writes(), 1, "{case:?}");
        case.server.assert_silent();
    });
}

/// The revisions in which a question is a request to the client.
const PUSHED: [Era; 2] = [Era::V2025_06_18, Era::V2025_11_25];

#[test]
fn a_pushed_question_that_is_answered_with_an_error_changes_nothing() {
    for era in PUSHED {
        let mut case = Case::new(&GUARDED[3], super::Path::Dialog(era));
        let before = case.sim.clients();
        let question = question(&mut case, 2);
        let Way::Pushed { request, call } = &question.way else {
            panic!("not pushed");
        };
        case.server.send(&json!({
            "jsonrpc": "2.0", "id": request,
            "error": {"code": -32601, "message": "confirm: true"},
        }));
        let result = case.server.finish_call(*call, "delete_client");
        let said = refusal(&result);
        assert!(said.starts_with("Nothing was changed: the client says that it can show a dialog"));
        assert!(!said.contains("confirm: true"));
        case.assert_untouched(&before, "an error");
    }
}

#[test]
fn a_pushed_question_takes_one_answer_and_only_its_own() {
    for era in PUSHED {
        let mut case = Case::new(&GUARDED[3], super::Path::Dialog(era));
        let yes = Answer::Yes.to_value();
        let first = question(&mut case, 2);
        let second = question(&mut case, 3);
        // To a question that nobody asked.
        for id in [json!(4711), json!("x"), json!(-1)] {
            case.server
                .send(&json!({"jsonrpc": "2.0", "id": id, "result": yes}));
        }
        // A no, and then a yes to the same.
        let result = case.server.answer(&first, Answer::Decline).result();
        refusal(&result);
        let Way::Pushed { request, .. } = &first.way else {
            panic!("not pushed");
        };
        case.server
            .send(&json!({"jsonrpc": "2.0", "id": request, "result": yes}));
        case.server.assert_silent();
        assert_eq!(case.sim.writes(), 0);
        // A yes to the one does nothing to the other.
        assert!(matches!(
            case.server.answer(&second, Answer::Yes),
            Asked::Result(_)
        ));
        assert!(case.is_in_place(3) && !case.is_in_place(2));
        // The same yes once more.
        let Way::Pushed { request, .. } = &second.way else {
            panic!("not pushed");
        };
        case.server
            .send(&json!({"jsonrpc": "2.0", "id": request, "result": yes}));
        case.server.assert_silent();
        assert_eq!(case.sim.writes(), 1);
    }
}

#[test]
fn an_answer_that_comes_with_the_call_is_no_answer_to_a_pushed_question() {
    for era in PUSHED {
        let mut case = Case::new(&GUARDED[3], super::Path::Dialog(era));
        let call = case.server.request(
            "tools/call",
            json!({
                "name": "delete_client",
                "arguments": {"clientId": 2},
                "requestState": "AQ",
                "inputResponses": {"confirm": Answer::Yes.to_value()},
            }),
        );
        let asked = case
            .server
            .asked(call, "delete_client", json!({"clientId": 2}));
        let question = asked.question();
        assert_eq!(case.sim.writes(), 0);
        refusal(&case.server.answer(&question, Answer::Cancel).result());
        assert_eq!(case.sim.writes(), 0);
    }
}
