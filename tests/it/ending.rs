//! What ends the process, and that it ends soon, with exit code 0, and not before a change that was
//! sent has been answered.

use crate::support::{Builder, Era, Server, in_each_era, refusal, structured, with_clients};
use serde_json::json;
use std::time::Duration;
use wg_easy_sim::{Fault, Matcher, Simulator};

/// In which the process has to end.
const SOON: Duration = Duration::from_secs(2);

/// What ends a server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum End {
    Input,
    Output,
    Terminate,
    Interrupt,
}

impl End {
    const ALL: [Self; 4] = [Self::Input, Self::Output, Self::Terminate, Self::Interrupt];

    fn bring_to(self, server: &mut Server) {
        match self {
            Self::Input => server.close_stdin(),
            Self::Output => server.close_stdout(),
            Self::Terminate => server.signal("TERM"),
            Self::Interrupt => server.signal("INT"),
        }
    }
}

fn assert_ends(server: &mut Server, what: &str) {
    let status = server.expect_exit(SOON);
    assert_eq!(status.code(), Some(0), "{what}: {status}");
    let said = server.stderr();
    // The lines about the protections, and about a set-up that is missing, are the only ones.
    let expected = |line: &&str| !line.contains("in force") && !line.contains("is not set up");
    let mut others = said.lines().filter(expected);
    assert_eq!(others.next(), None, "{what}");
}

/// Runs `test` for every end in every revision.
fn each(test: impl Fn(End, Era) + Sync) {
    in_each_era(|era| {
        for end in End::ALL {
            test(end, era);
        }
    });
}

fn of(sim: &Simulator, era: Era) -> Builder {
    Server::of(sim).era(era).read_on_demand()
}

#[test]
fn an_idle_server_ends() {
    let sim = with_clients(1);
    each(|end, era| {
        let mut server = of(&sim, era).start();
        structured(&server.call("list_clients", json!({})));
        end.bring_to(&mut server);
        assert_ends(&mut server, &format!("{end:?}"));
    });
}

#[test]
fn a_server_that_nobody_has_spoken_to_ends() {
    let sim = with_clients(1);
    for end in End::ALL {
        let mut server = of(&sim, Era::V2025_06_18)
            .without_handshake()
            .with("WG_EASY_INSECURE_TLS", "no")
            .start();
        // A warning says that it runs; its signal handlers come a moment later.
        server.wait_for_stderr("WG_EASY_INSECURE_TLS");
        wait_for_handlers(&server);
        end.bring_to(&mut server);
        assert_eq!(server.expect_exit(SOON).code(), Some(0), "{end:?}");
    }
}

/// Waits until SIGTERM and SIGINT are caught.
fn wait_for_handlers(server: &Server) {
    let caught = || {
        let status = std::fs::read_to_string(format!("/proc/{}/status", server.pid())).unwrap();
        let mask = status
            .lines()
            .find_map(|line| line.strip_prefix("SigCgt:"))
            .unwrap();
        let mask = u64::from_str_radix(mask.trim(), 16).unwrap();
        [2, 15].iter().all(|signal| mask >> (signal - 1) & 1 == 1)
    };
    let start = std::time::Instant::now();
    while !caught() {
        assert!(start.elapsed() < crate::support::PATIENCE, "no handlers");
        std::thread::sleep(Duration::from_millis(2));
    }
}

#[test]
fn a_server_ends_while_a_read_hangs() {
    each(|end, era| {
        let sim = with_clients(1);
        let mut server = of(&sim, era).start();
        let hold = sim.hold(Matcher::new("GET", "/api/client/1"));
        let call = server.begin_call("get_client", json!({"clientId": 1}));
        hold.wait_arrived(1);
        end.bring_to(&mut server);
        if end != End::Output {
            let result = server.finish_call(call, "get_client");
            assert!(refusal(&result).contains("stopped"), "{end:?}: {result}");
        }
        assert_ends(&mut server, &format!("{end:?}"));
    });
}

#[test]
fn a_server_ends_with_calls_in_every_queue() {
    each(|end, era| {
        let sim = with_clients(1);
        let mut server = of(&sim, era).start();
        let hold = sim.hold(Matcher::any().always());
        for _ in 0..30 {
            server.begin_call("get_client", json!({"clientId": 1}));
            server.begin_call("disable_client", json!({"clientId": 1}));
        }
        hold.wait_arrived(1);
        end.bring_to(&mut server);
        assert_ends(&mut server, &format!("{end:?}"));
        drop(hold);
        assert_eq!(sim.writes(), 0);
    });
}

#[test]
fn a_change_that_was_sent_is_awaited_and_those_that_were_not_are_never_sent() {
    each(|end, era| {
        let sim = with_clients(3);
        let mut server = of(&sim, era).start();
        structured(&server.call("list_clients", json!({})));
        let hold = sim.hold(Matcher::new("POST", "/api/client/*"));
        let sent = server.begin_call("disable_client", json!({"clientId": 1}));
        hold.wait_arrived(1);
        let waiting = server.begin_call("disable_client", json!({"clientId": 2}));
        // It waits for its turn, and does not even look before.
        end.bring_to(&mut server);
        // Longer than what ends at once takes to end.
        std::thread::sleep(Duration::from_millis(300));
        assert!(!server.has_ended(), "{end:?}");
        hold.release();
        if end != End::Output {
            let result = server.finish_call(sent, "disable_client");
            assert_eq!(structured(&result)["success"], true, "{end:?}");
            let result = server.finish_call(waiting, "disable_client");
            assert!(refusal(&result).contains("stopping"), "{end:?}: {result}");
        }
        assert_ends(&mut server, &format!("{end:?}"));
        assert!(!sim.client(1).unwrap().enabled, "{end:?}");
        assert!(sim.client(2).unwrap().enabled, "{end:?}");
        assert_eq!(sim.writes(), 1, "{end:?}");
    });
}

#[test]
fn a_change_whose_answer_is_an_error_is_not_said_to_have_failed() {
    each(|end, era| {
        let sim = with_clients(1);
        let mut server = of(&sim, era).start();
        let change = Matcher::new("POST", "/api/client/*");
        sim.fault(change.clone(), Fault::status_after_apply(500));
        let hold = sim.hold_answer(change);
        let call = server.begin_call("disable_client", json!({"clientId": 1}));
        hold.wait_arrived(1);
        end.bring_to(&mut server);
        std::thread::sleep(Duration::from_millis(100));
        hold.release();
        if end != End::Output {
            // Nothing is sent any more, so it cannot be read back either.
            let result = server.finish_call(call, "disable_client");
            let said = refusal(&result);
            assert!(said.contains("could not be determined"), "{end:?}: {said}");
        }
        assert_ends(&mut server, &format!("{end:?}"));
    });
}

#[test]
fn a_second_signal_changes_nothing() {
    let sim = with_clients(1);
    let mut server = of(&sim, Era::V2025_11_25).start();
    structured(&server.call("list_clients", json!({})));
    let hold = sim.hold(Matcher::new("POST", "/api/client/*"));
    server.begin_call("disable_client", json!({"clientId": 1}));
    hold.wait_arrived(1);
    for name in ["TERM", "INT", "TERM"] {
        server.signal(name);
        std::thread::sleep(Duration::from_millis(50));
    }
    assert!(!server.has_ended());
    hold.release();
    assert_ends(&mut server, "signals");
    assert!(!sim.client(1).unwrap().enabled);
}

#[test]
fn a_client_that_stopped_reading_does_not_hold_up_the_end() {
    let sim = with_clients(100);
    for end in [End::Input, End::Terminate, End::Interrupt] {
        let mut server = of(&sim, Era::V2026_07_28).start();
        // Each answer is more than a pipe holds.
        for _ in 0..4 {
            server.begin_call("list_clients", json!({}));
        }
        sim.wait_until("four answers", |requests| {
            let lists = requests
                .iter()
                .filter(|request| request.path == "/api/client");
            lists.filter(|request| request.status.is_some()).count() == 4
        });
        sim.reset_log();
        end.bring_to(&mut server);
        assert_ends(&mut server, &format!("{end:?}"));
    }
}

#[test]
fn a_server_ends_with_more_input_than_it_has_room_for() {
    for end in End::ALL {
        let mut server = Server::unconfigured()
            .era(Era::V2025_06_18)
            .read_on_demand()
            .start();
        // More than may be under way, and no more than a pipe holds.
        for _ in 0..900 {
            server.request("tools/list", json!({}));
        }
        std::thread::sleep(Duration::from_secs(1));
        end.bring_to(&mut server);
        assert_ends(&mut server, &format!("{end:?}"));
    }
}

#[test]
fn a_server_whose_stderr_nobody_reads_ends() {
    for end in End::ALL {
        let sim = with_clients(1);
        let mut server = of(&sim, Era::V2026_07_28)
            .with("WG_EASY_REQUIRE_DIALOG", "1")
            .with("WG_EASY_LOG_FORMAT", "json")
            .stderr_unread()
            .start();
        // Each refusal is a line; together they are more than a pipe holds.
        for _ in 0..600 {
            refusal(&server.call("delete_client", json!({"clientId": 1})));
        }
        end.bring_to(&mut server);
        assert_eq!(server.expect_exit(SOON).code(), Some(0), "{end:?}");
    }
}

#[test]
fn what_was_asked_before_the_end_of_input_is_answered() {
    // As `printf '…' | wg-easy-mcp` does it.
    in_each_era(|era| {
        let mut server = Server::unconfigured().era(era).start();
        let id = server.request("tools/list", json!({}));
        server.close_stdin();
        assert!(server.result(id)["tools"].is_array());
        assert_eq!(server.expect_exit(SOON).code(), Some(0));
    });
}
