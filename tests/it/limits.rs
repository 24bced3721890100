//! How much happens at a time.

use crate::support::{Server, in_each_era, is_error, refusal, structured, with_clients};
use serde_json::json;
use std::time::Duration;
use wg_easy_sim::Matcher;

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
    std::thread::scope(|scope| {
        let (mut writer, server) = server.split();
        scope.spawn(move || {
            use std::io::Write as _;
            writer.write_all(lines.as_bytes()).unwrap();
        });
        std::thread::sleep(A_WHILE);
        let memory = resident(server.pid());
        assert!(memory < 64 << 10, "{memory} KiB");
        for _ in 0..20_000 {
            assert!(!is_error(&server.next_message()));
        }
    });
}

/// The resident memory of a process in KiB.
fn resident(pid: u32) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap();
    let line = status
        .lines()
        .find(|line| line.starts_with("VmRSS:"))
        .unwrap();
    line.split_whitespace().nth(1).unwrap().parse().unwrap()
}
