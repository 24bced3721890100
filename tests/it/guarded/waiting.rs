//! While a person thinks: the call that waits for a pushed question, and everybody else.

use super::{Case, GUARDED, Open, Path, for_each, with_dialog};
use crate::support::{
    Answer, Capabilities, Era, Question, Server, Way, is_error, refusal, with_clients,
};
use serde_json::json;
use std::time::Duration;
use wg_easy_sim::Simulator;

/// The ways on which a call waits.
const PUSHED: [Path; 2] = [
    Path::Dialog(Era::V2025_06_18),
    Path::Dialog(Era::V2025_11_25),
];

/// How long the process may take to end.
const END: Duration = Duration::from_secs(2);

fn question(case: &mut Case, id: u64) -> Question {
    match case.open(id) {
        Open::Dialog(question) => *question,
        Open::Token(text, _) => panic!("{case:?}: no dialog: {text}"),
    }
}

fn ids(question: &Question) -> (serde_json::Value, i64) {
    match &question.way {
        Way::Pushed { request, call } => (request.clone(), *call),
        Way::Returned { .. } => panic!("not pushed"),
    }
}

#[test]
fn a_client_that_gave_a_progress_token_hears_within_a_minute_that_its_call_waits() {
    let sim = with_clients(1);
    let waiting = |era: Era, token: Option<&str>| {
        let mut server = Path::Dialog(era).builder(&sim).start();
        let arguments = json!({"clientId": 1});
        let mut params = json!({"name": "delete_client", "arguments": arguments});
        if let Some(token) = token {
            params["_meta"] = json!({"progressToken": token});
        }
        let call = server.request("tools/call", params);
        let question = server.asked(call, "delete_client", arguments).question();
        (server, question)
    };
    let (mut told, question) = waiting(Era::V2025_06_18, Some("tick"));
    let (mut newer, newer_question) = waiting(Era::V2025_11_25, Some("tock"));
    let (mut untold, untold_question) = waiting(Era::V2025_11_25, None);
    for (server, token) in [(&mut told, "tick"), (&mut newer, "tock")] {
        let progress = server.take(|message| message["method"] == "notifications/progress");
        let params = &progress["params"];
        assert_eq!(params["progressToken"], token);
        assert_eq!(params["progress"].as_f64(), Some(1.0));
        assert!(params["message"].as_str().unwrap().contains("person"));
    }
    // The wait went on as long for the one without a token, which has heard nothing.
    untold.assert_silent();
    for (server, question) in [
        (&mut told, question),
        (&mut newer, newer_question),
        (&mut untold, untold_question),
    ] {
        refusal(&server.answer(&question, Answer::Decline).result());
    }
    assert_eq!(sim.writes(), 0);
}

#[test]
fn a_cancelled_call_withdraws_its_question_and_changes_nothing() {
    for_each(&PUSHED, |mut case| {
        let before = case.sim.clients();
        let question = question(&mut case, 2);
        let (request, call) = ids(&question);
        // To a client in JavaScript 0 may be no id at all, and then it keeps the question.
        assert_eq!(request, 1);
        case.server.cancel(call);
        let withdrawn = case
            .server
            .take(|message| message["method"] == "notifications/cancelled");
        assert_eq!(withdrawn["params"]["requestId"], request);
        // A yes that was under way.
        let yes = Answer::Yes.to_value();
        case.server
            .send(&json!({"jsonrpc": "2.0", "id": request, "result": yes}));
        case.server.assert_silent();
        case.assert_untouched(&before, "cancelled");
        let audit = case.server.wait_for_audit(1);
        assert!(audit[0].ends_with("decision=no-answer outcome=not-applied"));
    });
}

#[test]
fn a_call_that_is_cancelled_while_the_client_is_read_again_changes_nothing() {
    for_each(&PUSHED, |mut case| {
        let before = case.sim.clients();
        let question = question(&mut case, 2);
        let hold = case
            .sim
            .hold(wg_easy_sim::Matcher::new("GET", "/api/client*"));
        let (request, call) = ids(&question);
        let yes = Answer::Yes.to_value();
        case.server
            .send(&json!({"jsonrpc": "2.0", "id": request, "result": yes}));
        hold.wait_arrived(1);
        case.server.cancel(call);
        case.server.wait_for_audit(1);
        hold.release();
        case.server.assert_silent();
        case.assert_untouched(&before, "cancelled");
    });
}

/// A server with an open question for each of its clients.
fn with_open_questions(sim: &Simulator, era: Era, questions: u64) -> (Server, Vec<Question>) {
    let mut server = Server::of(sim)
        .era(era)
        .capabilities(Capabilities::Form)
        .read_on_demand()
        .start();
    let open = (1..=questions)
        .map(|id| server.question("delete_client", json!({"clientId": id})))
        .collect();
    (server, open)
}

#[test]
fn the_end_does_not_wait_for_people() {
    type End = fn(&mut Server);
    let ends: [(&str, End); 4] = [
        ("end of input", Server::close_stdin),
        ("closed output", Server::close_stdout),
        ("SIGTERM", |server| server.signal("TERM")),
        ("SIGINT", |server| server.signal("INT")),
    ];
    let sim = with_clients(3);
    std::thread::scope(|scope| {
        for era in Era::ALL {
            let sim = &sim;
            scope.spawn(move || {
                for (name, end) in ends {
                    let (mut server, open) = with_open_questions(sim, *era, 3);
                    end(&mut server);
                    let status = server.expect_exit(END);
                    assert_eq!(status.code(), Some(0), "{name}, {era:?}");
                    let (_, stderr) = server.finish();
                    let audit = stderr.lines().filter(|line| line.contains(" audit: "));
                    // A question that was returned is nobody's call any more.
                    let waited = if era.has_initialize() { open.len() } else { 0 };
                    assert_eq!(audit.clone().count(), waited, "{name}: {stderr}");
                    for line in audit {
                        assert!(line.ends_with("decision=no-answer outcome=not-applied"));
                    }
                }
            });
        }
    });
    assert_eq!(sim.writes(), 0);
}

#[test]
fn other_calls_go_on_while_a_question_is_open() {
    for_each(&PUSHED, |mut case| {
        let first = question(&mut case, 2);
        let second = question(&mut case, 3);
        assert!(!is_error(&case.server.call("list_clients", json!({}))));
        assert!(!is_error(
            &case.server.call("get_client", json!({"clientId": 2}))
        ));
        assert!(!is_error(
            &case.server.call("disable_client", json!({"clientId": 9}))
        ));
        assert_eq!(case.server.tools().len(), 11);
        // Answered in the other order.
        assert!(!is_error(
            &case.server.answer(&second, Answer::Yes).result()
        ));
        assert!(case.is_in_place(3) && !case.is_in_place(2));
        assert!(!is_error(&case.server.answer(&first, Answer::Yes).result()));
        assert!(case.is_in_place(2));
    });
}

#[test]
fn sixty_four_wait_for_people_and_keep_nobody_else_out() {
    let sim = with_clients(70);
    for era in [Era::V2025_06_18, Era::V2025_11_25] {
        let mut server = Path::Dialog(era).builder(&sim).start();
        let arguments = |id: u64| json!({"clientId": id});
        let open: Vec<_> = (1..=64)
            .map(|id| server.question("delete_client", arguments(id)))
            .collect();
        // One more is refused; what asks nobody is not.
        for guarded in &GUARDED {
            let result = server.ask(guarded.tool, (guarded.arguments)(65)).result();
            let said = refusal(&result);
            assert!(
                said.starts_with("Nothing was changed: too many questions are waiting"),
                "{said}"
            );
        }
        let reads: Vec<_> = (1..=20)
            .map(|id| server.begin_call("get_client", arguments(id)))
            .collect();
        for read in reads {
            assert!(!is_error(&server.finish_call(read, "get_client")));
        }
        assert!(!is_error(&server.call("disable_client", arguments(70))));
        // One answer makes room for one question.
        refusal(&server.answer(&open[20], Answer::Decline).result());
        let next = server.question("delete_client", arguments(65));
        let result = server.ask("delete_client", arguments(66)).result();
        refusal(&result);
        refusal(&server.answer(&next, Answer::Decline).result());
        sim.update_client(70, |client| client.enabled = true);
    }
    assert_eq!(sim.count("POST", "/api/client/70/disable"), 2);
    assert_eq!(sim.writes(), 2);
}

#[test]
fn a_returned_question_keeps_no_call_open_however_many_there_are() {
    let sim = with_clients(100);
    let mut server = with_dialog(&sim);
    let open: Vec<_> = (1..=100)
        .map(|id| server.question("delete_client", json!({"clientId": id})))
        .collect();
    assert!(!is_error(&server.call("list_clients", json!({}))));
    assert!(!is_error(&server.answer(&open[0], Answer::Yes).result()));
    assert!(!is_error(&server.answer(&open[99], Answer::Yes).result()));
    assert_eq!(sim.client_count(), 98);
    server.assert_silent();
}
