//! Connections, parked requests and the log.
#![allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "tests")]

mod support;

use std::{
    io::{ErrorKind, Read as _, Write as _},
    thread,
    time::Duration,
};

use support::{admin, ask, authorization, connect, exchange};
use wg_easy_sim::{Fault, Matcher, Settings, Simulator};

fn sim() -> Simulator {
    Simulator::start(Settings {
        clients: 3,
        ..Settings::default()
    })
}

fn disable() -> Matcher {
    Matcher::new("POST", "/api/client/1/disable")
}

#[test]
fn connections_are_kept_closed_and_counted() {
    let sim = Simulator::start(Settings {
        keep_alive: Duration::from_millis(200),
        ..Settings::default()
    });
    let mut stream = connect(&sim);
    for _ in 0..2 {
        exchange(&mut stream, "GET", "/api/information", &[], "", false).unwrap();
    }
    assert_eq!(
        (sim.connections(), sim.count("GET", "/api/information")),
        (1, 2)
    );
    assert_eq!(
        stream.read(&mut [0]).unwrap(),
        0,
        "an idle connection is closed in the end"
    );
    let sim = Simulator::start(Settings::default());
    sim.fault(Matcher::any(), Fault::CloseAfter);
    let mut stream = connect(&sim);
    let answer = exchange(&mut stream, "GET", "/api/information", &[], "", false).unwrap();
    assert_eq!(answer.header("connection"), None, "it does not say so");
    assert_eq!(stream.read(&mut [0]).unwrap(), 0);
    sim.wait_open_connections(0);
}

#[test]
fn held_requests_wait_for_the_test() {
    let sim = sim();
    let before = sim.hold(disable());
    let after = sim.hold_answer(Matcher::new("DELETE", "/api/client/2"));
    thread::scope(|scope| {
        let disabling = scope.spawn(|| admin(&sim, "POST", "/api/client/1/disable", "").status);
        let deleting = scope.spawn(|| admin(&sim, "DELETE", "/api/client/2", "").status);
        before.wait_arrived(1);
        after.wait_arrived(1);
        assert!(sim.client(1).unwrap().enabled, "nothing is applied yet");
        assert!(sim.client(2).is_none(), "applied, not answered");
        assert!(!disabling.is_finished() && !deleting.is_finished());
        before.release_one();
        after.release();
        assert_eq!(
            (disabling.join().unwrap(), deleting.join().unwrap()),
            (200, 200)
        );
    });
    assert!(!sim.client(1).unwrap().enabled);
}

#[test]
fn the_log_shows_what_came() {
    let sim = sim();
    admin(
        &sim,
        "POST",
        "/api/client?x=1",
        r#"{"name":"new","expiresAt":null}"#,
    );
    ask(&sim, "GET", "/api/client", &[], "").unwrap();
    let requests = sim.requests();
    let first = &requests[0];
    assert_eq!(
        (
            first.method.as_str(),
            first.path.as_str(),
            first.query.as_str()
        ),
        ("POST", "/api/client", "x=1")
    );
    assert_eq!(first.json()["name"], "new");
    assert_eq!(
        first.header("authorization"),
        Some(authorization(&sim).as_str())
    );
    assert_eq!(
        (first.authenticated, first.status),
        (Some(wg_easy_sim::Login::Basic), Some(200))
    );
    assert_eq!(
        (requests[1].authenticated, requests[1].status),
        (None, Some(401))
    );
    assert_eq!(
        (
            sim.writes(),
            sim.applied(),
            sim.password_checks(),
            sim.logins()
        ),
        (1, 1, 1, 0)
    );
    sim.reset_log();
    assert_eq!(
        (
            sim.requests().len(),
            sim.writes(),
            sim.applied(),
            sim.connections()
        ),
        (0, 0, 0, 0)
    );
}

#[test]
fn a_stopped_simulator_refuses() {
    let sim = sim();
    let port = sim.port();
    sim.stop();
    assert_eq!(
        std::net::TcpStream::connect(("127.0.0.1", port))
            .unwrap_err()
            .kind(),
        ErrorKind::ConnectionRefused
    );
}

#[test]
fn a_request_is_carried_out_after_its_caller_hung_up() {
    let sim = sim();
    let hold = sim.hold(disable());
    let mut stream = connect(&sim);
    let login = authorization(&sim);
    let request =
        format!("POST /api/client/1/disable HTTP/1.1\r\nHost: h\r\nAuthorization: {login}\r\n\r\n");
    stream.write_all(request.as_bytes()).unwrap();
    hold.wait_arrived(1);
    drop(stream);
    sim.wait_open_connections(0);
    assert!(sim.client(1).unwrap().enabled);
    hold.release();
    sim.wait_until("the answer", |requests| requests[0].status == Some(200));
    assert!(!sim.client(1).unwrap().enabled);
}

#[test]
fn large_bodies_are_taken() {
    let sim = sim();
    let body = format!(r#"{{"name":"{}","expiresAt":null}}"#, "x".repeat(1_000_000));
    assert_eq!(admin(&sim, "POST", "/api/client", &body).status, 200);
    assert_eq!(sim.client(4).unwrap().name.len(), 1_000_000);
}
