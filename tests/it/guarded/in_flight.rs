//! A change that has been sent is carried to its end, whoever leaves meanwhile.

use super::{Case, Open, Path, WAYS, for_each};
use crate::support::{Answer, Asked, Way};
use serde_json::{Value, json};
use std::time::Duration;
use wg_easy_sim::Hold;

/// How long the process may take to end.
const END: Duration = Duration::from_secs(2);

/// Says yes and gives the id of the call that waits for it, once the change has arrived at wg-easy.
fn held(case: &mut Case, id: u64) -> (i64, Hold) {
    let open = case.open(id);
    let hold = case.sim.hold(case.guarded.write_matcher(id));
    let arguments = (case.guarded.arguments)(id);
    let call = match &open {
        Open::Token(_, token) => {
            let mut arguments = arguments;
            arguments["confirm_token"] = token.as_str().into();
            case.server.begin_call(case.guarded.tool, arguments)
        }
        Open::Dialog(question) => {
            let yes = Answer::Yes.to_value();
            match &question.way {
                Way::Pushed { request, call } => {
                    case.server
                        .send(&json!({"jsonrpc": "2.0", "id": request, "result": yes}));
                    *call
                }
                Way::Returned { key, state } => case.server.request(
                    "tools/call",
                    json!({
                        "name": case.guarded.tool, "arguments": arguments,
                        "requestState": state, "inputResponses": {key: yes},
                    }),
                ),
            }
        }
    };
    hold.wait_arrived(1);
    (call, hold)
}

/// A success. A link cannot be read back any more at the end; it is said to be there all the same.
fn assert_answered(result: &Value) {
    let answer = crate::support::structured(result);
    let unread = answer["created"] == true && answer.get("oneTimeLink").is_none();
    assert_eq!(answer.get("warning").is_some(), unread, "{result}");
}

fn assert_done(case: &Case) {
    let audit = case.server.wait_for_audit(1);
    assert!(
        audit[0].ends_with("decision=approved outcome=applied"),
        "{case:?}: {}",
        audit[0]
    );
    assert!(case.is_in_place(2), "{case:?}");
    assert_eq!((case.sim.writes(), case.sim.applied()), (1, 1), "{case:?}");
}

#[test]
fn a_call_that_is_cancelled_after_the_yes_does_not_take_the_change_back() {
    for_each(&WAYS, |mut case| {
        let (call, hold) = held(&mut case, 2);
        case.server.cancel(call);
        // The cancellation has been read when what was sent after it has been answered.
        let ping = case.server.request("ping", json!({}));
        case.server.answer_to(ping);
        hold.release();
        assert_done(&case);
        case.server.assert_silent();
    });
}

/// Waits until the server has noticed that it is to end: from then on calls are turned away.
fn wait_until_ending(case: &mut Case) {
    loop {
        let result = case.server.call("list_clients", json!({}));
        if result["isError"] == true {
            return;
        }
    }
}

#[test]
fn a_signal_waits_for_the_change_and_its_answer_still_comes() {
    for_each(&[WAYS[0], WAYS[2], WAYS[5]], |mut case| {
        let (call, hold) = held(&mut case, 2);
        case.server
            .signal(if case.way == WAYS[0] { "INT" } else { "TERM" });
        wait_until_ending(&mut case);
        assert!(!case.server.has_ended());
        hold.release();
        let result = case.server.finish_call(call, case.guarded.tool);
        assert_answered(&result);
        assert_eq!(case.server.expect_exit(END).code(), Some(0));
        assert_done(&case);
    });
}

#[test]
fn the_end_of_the_input_waits_for_the_change() {
    for_each(&[WAYS[1], WAYS[2], WAYS[4]], |mut case| {
        let (call, hold) = held(&mut case, 2);
        case.server.close_stdin();
        hold.release();
        let result = case.server.finish_call(call, case.guarded.tool);
        assert_answered(&result);
        assert_eq!(case.server.expect_exit(END).code(), Some(0));
        assert_done(&case);
    });
}

#[test]
fn changes_are_sent_one_at_a_time_and_what_was_not_sent_at_the_end_is_not_sent_any_more() {
    let mut case = Case::new(
        &super::GUARDED[2],
        Path::Dialog(crate::support::Era::V2025_11_25),
    );
    let Open::Dialog(second) = case.open(3) else {
        panic!("no dialog");
    };
    let (first_call, hold) = held(&mut case, 2);
    let Way::Pushed { request, call } = &second.way else {
        panic!("not pushed");
    };
    let yes: Value = Answer::Yes.to_value();
    case.server
        .send(&json!({"jsonrpc": "2.0", "id": request, "result": yes}));
    // The second has been approved, and waits for its turn to look at the client for the last time.
    case.server.signal("TERM");
    wait_until_ending(&mut case);
    hold.release();
    super::assert_success(&case.server.finish_call(first_call, "enable_client"));
    let said = case.server.finish_call(*call, "enable_client");
    assert!(crate::support::refusal(&said).contains("stopp"), "{said}");
    assert_eq!(case.server.expect_exit(END).code(), Some(0));
    assert_eq!(case.sim.writes(), 1);
    assert!(case.is_in_place(2) && !case.is_in_place(3));
    let audit = case.server.wait_for_audit(2).join("\n");
    assert!(audit.contains("client=2 how=dialog-pushed decision=approved outcome=applied"));
    assert!(!audit.contains("client=3 how=dialog-pushed decision=approved outcome=applied"));
}

#[test]
fn a_later_call_is_answered_while_a_change_is_held() {
    for_each(&WAYS[1..3], |mut case| {
        let (call, hold) = held(&mut case, 2);
        assert_eq!(
            case.server.call("get_client", json!({"clientId": 3}))["isError"],
            false
        );
        assert!(matches!(case.open(4), Open::Dialog(_)));
        hold.release();
        let result = case.server.finish_call(call, case.guarded.tool);
        super::assert_success(&result);
        let Asked::Result(listed) = case.server.ask("list_clients", json!({})) else {
            panic!("asked");
        };
        assert_eq!(listed["isError"], false);
    });
}

#[test]
fn an_approved_rename_does_not_undo_a_disabling_that_was_under_way() {
    let sim = crate::support::with_clients(1);
    let mut server = crate::support::Server::of(&sim)
        .capabilities(crate::support::Capabilities::Form)
        .start();
    let rename = json!({"clientId": 1, "name": "renamed"});
    let question = server.question("update_client", rename);
    let hold = sim.hold(wg_easy_sim::Matcher::new("POST", "/api/client/1/disable"));
    let disabling = server.begin_call("disable_client", json!({"clientId": 1}));
    hold.wait_arrived(1);
    // The yes comes while the disabling is under way. Whatever is read for it then says enabled, and a
    // client is sent back as a whole.
    let release = std::thread::spawn(move || {
        std::thread::sleep(Duration::from_millis(300));
        hold.release();
    });
    let renamed = server.answer(&question, Answer::Yes).result();
    release.join().unwrap();
    super::assert_success(&renamed);
    super::assert_success(&server.finish_call(disabling, "disable_client"));
    let client = sim.client(1).unwrap();
    assert_eq!(client.name, "renamed");
    assert!(!client.enabled);
}
