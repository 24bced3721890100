//! How much happens at a time.

use crate::support::{Server, in_each_era, is_error, refusal, structured, with_clients};
use serde_json::json;
use std::time::Duration;
use wg_easy_sim::Matcher;

/// More memory than a server needs, in KiB.
const LITTLE: u64 = 64 << 10;

/// Time enough for what must not happen to happen, if it were to.
const A_WHILE: Duration = Duration::from_millis(150);

#[test]
fn wg_easy_sees_four_reads_at_a_time() {
    let sim = with_clients(1);
    let mut server = Server::of(&sim).start();
    structured(&server.call("list_clients", json!({})));
    let hold = sim.hold(Matcher::new("GET", "/api/client/1").always());
    let calls: Vec<_> = (0..20)
        .map(|_| server.begin_call("get_client", json!({"clientId": 1})))
        .collect();
    hold.wait_arrived(4);
    for more in 1..=3 {
        std::thread::sleep(A_WHILE);
        assert_eq!(hold.arrived(), 3 + more);
        hold.release_one();
        hold.wait_arrived(4 + more);
    }
    std::thread::sleep(A_WHILE);
    assert_eq!(hold.arrived(), 7);
    hold.release();
    for call in calls {
        structured(&server.finish_call(call, "get_client"));
    }
    assert!(sim.connections() <= 5, "kept connections are used again");
}

#[test]
fn wg_easy_sees_one_change_at_a_time() {
    let sim = with_clients(5);
    let mut server = Server::of(&sim).start();
    structured(&server.call("list_clients", json!({})));
    let hold = sim.hold(Matcher::new("POST", "/api/client/*").always());
    let calls: Vec<_> = (1..=5)
        .map(|id| server.begin_call("disable_client", json!({"clientId": id})))
        .collect();
    for arrived in 1..=5 {
        hold.wait_arrived(arrived);
        if arrived < 4 {
            std::thread::sleep(A_WHILE);
        }
        assert_eq!(hold.arrived(), arrived);
        hold.release_one();
    }
    for call in calls {
        structured(&server.finish_call(call, "disable_client"));
    }
    assert_eq!(sim.applied(), 5);
}

#[test]
fn a_read_does_not_wait_for_a_change_nor_a_change_for_a_read() {
    let sim = with_clients(2);
    let mut server = Server::of(&sim).start();
    structured(&server.call("list_clients", json!({})));
    let change = sim.hold(Matcher::new("POST", "/api/client/*"));
    let disabling = server.begin_call("disable_client", json!({"clientId": 1}));
    change.wait_arrived(1);
    structured(&server.call("get_client", json!({"clientId": 2})));
    change.release();
    structured(&server.finish_call(disabling, "disable_client"));

    let read = sim.hold(Matcher::new("GET", "/api/client/2"));
    let reading = server.begin_call("get_client", json!({"clientId": 2}));
    read.wait_arrived(1);
    structured(&server.call("disable_client", json!({"clientId": 1})));
    read.release();
    structured(&server.finish_call(reading, "get_client"));
}

#[test]
fn of_a_flood_of_calls_sixty_four_are_taken_and_each_is_answered() {
    in_each_era(|era| {
        let sim = with_clients(1);
        let mut server = Server::of(&sim).era(era).start();
        structured(&server.call("list_clients", json!({})));
        let hold = sim.hold(Matcher::new("GET", "/api/client/1").always());
        let calls: Vec<_> = (0..500)
            .map(|_| server.begin_call("get_client", json!({"clientId": 1})))
            .collect();
        // Those that are refused are answered while the others are still waiting.
        for _ in 0..500 - 64 {
            let answer = server.next_message();
            let said = refusal(&answer["result"]);
            assert!(said.contains("64 calls are in progress"), "{said}");
            assert!(calls.iter().any(|call| answer["id"] == *call));
        }
        hold.release();
        for _ in 0..64 {
            let answer = server.next_message();
            structured(&answer["result"]);
        }
        server.assert_silent();
        structured(&server.call("get_client", json!({"clientId": 1})));
        assert_eq!(sim.count("GET", "/api/client/1"), 65);
    });
}

#[test]
fn what_needs_no_wg_easy_is_answered_while_everything_else_waits() {
    let sim = with_clients(1);
    let mut server = Server::of(&sim).start();
    let hold = sim.hold(Matcher::any().always());
    for _ in 0..70 {
        server.begin_call("get_client", json!({"clientId": 1}));
    }
    assert!(!server.tools().is_empty());
    drop(hold);
}

#[test]
fn a_client_that_asks_and_does_not_read_is_not_read_either_until_it_does() {
    let sim = with_clients(1);
    let mut server = Server::of(&sim).read_on_demand().start();
    // Lines of pings are longer than what two pipes and the queue between them hold.
    let lines: String = (0..20_000)
        .map(|_| server.request_line("ping", json!({"_meta": {"x": "y".repeat(50)}})) + "\n")
        .collect();
    while_sending(&mut server, lines, |server| {
        std::thread::sleep(A_WHILE);
        let memory = server.memory("VmRSS");
        assert!(memory < LITTLE, "{memory} KiB");
        for _ in 0..20_000 {
            assert!(!is_error(&server.next_message()));
        }
    });
}

/// Sends all at once, and does something meanwhile. The input ends after both.
fn while_sending(server: &mut Server, lines: String, meanwhile: impl FnOnce(&mut Server)) {
    std::thread::scope(|scope| {
        let (mut writer, server) = server.split();
        let sending = scope.spawn(move || {
            use std::io::Write as _;
            writer.write_all(lines.as_bytes()).unwrap();
            writer
        });
        meanwhile(server);
        drop(sending.join());
    });
}

#[test]
fn a_flood_of_requests_that_are_answered_at_once_takes_little_memory() {
    for method in ["tools/list", "ping"] {
        let mut server = Server::unconfigured().start();
        let lines: String = (0..4000)
            .map(|_| server.request_line(method, json!({})) + "\n")
            .collect();
        while_sending(&mut server, lines, |server| {
            for _ in 0..4000 {
                assert!(!is_error(&server.next_message()));
            }
            let memory = server.memory("VmHWM");
            assert!(memory < LITTLE, "{method}: {memory} KiB");
        });
    }
}

#[test]
fn a_flood_of_calls_that_are_withdrawn_takes_little_memory() {
    let mut server = Server::unconfigured().start();
    let mut lines = String::new();
    let params = json!({"name": "list_clients", "arguments": {}});
    for id in 1..=20_000 {
        lines += &(server.request_line("tools/call", params.clone()) + "\n");
        let cancelled = json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": id}});
        lines += &format!("{cancelled}\n");
    }
    lines += &(server.request_line("ping", json!({})) + "\n");
    while_sending(&mut server, lines, |server| {
        server.answer_to(20_001);
        let memory = server.memory("VmHWM");
        assert!(memory < LITTLE, "{memory} KiB");
    });
}

#[test]
fn a_server_whose_stderr_nobody_reads_goes_on_and_says_later_what_is_missing() {
    let sim = with_clients(1);
    let mut server = Server::of(&sim)
        .with("WG_EASY_REQUIRE_DIALOG", "1")
        .stderr_unread()
        .start();
    // Each refusal is a line; together they are more than a pipe and the queue before it hold.
    for _ in 0..70 {
        let calls: Vec<_> = (0..50)
            .map(|_| server.begin_call("delete_client", json!({"clientId": 1})))
            .collect();
        for call in calls {
            refusal(&server.finish_call(call, "delete_client"));
        }
    }
    let memory = server.memory("VmHWM");
    assert!(memory < LITTLE, "{memory} KiB");
    server.read_stderr();
    let said = server.wait_for_stderr("lines are missing");
    let before = server.wait_for_audit(1).len();
    refusal(&server.call("delete_client", json!({"clientId": 1})));
    server.wait_for_audit(before + 1);
    let (_, after) = said.split_once("warning: here ").unwrap();
    let missing: usize = after.split(' ').next().unwrap().parse().unwrap();
    let (_, stderr) = server.finish();
    let written = stderr.lines().filter(|line| line.contains("audit: "));
    assert_eq!(written.count() + missing, 70 * 50 + 1, "{after}");
}
