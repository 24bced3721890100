//! Every fault, seen by a client that hides nothing.
#![allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "tests")]

mod support;

use std::{
    io::{ErrorKind, Read as _},
    time::{Duration, Instant},
};

use support::{admin, ask, authorization, connect, read_chunk};
use wg_easy_sim::{Canned, Edit, Fault, Matcher, Settings, Simulator};

fn sim() -> Simulator {
    Simulator::start(Settings {
        clients: 3,
        ..Settings::default()
    })
}

fn list() -> Matcher {
    Matcher::new("GET", "/api/client")
}

fn disable() -> Matcher {
    Matcher::new("POST", "/api/client/1/disable")
}

/// Sends a request and expects the exchange to break.
fn broken(sim: &Simulator, method: &str, target: &str) -> ErrorKind {
    ask(
        sim,
        method,
        target,
        &[("Authorization", &authorization(sim))],
        "",
    )
    .unwrap_err()
    .kind()
}

/// Sends a request and reads only the head of the answer.
fn head_of(sim: &Simulator, target: &str) -> (std::net::TcpStream, support::Answer) {
    let mut stream = connect(sim);
    let login = authorization(sim);
    let request =
        format!("GET {target} HTTP/1.1\r\nHost: sim.test\r\nAuthorization: {login}\r\n\r\n");
    std::io::Write::write_all(&mut stream, request.as_bytes()).unwrap();
    let answer = support::read_answer(&mut stream, true).unwrap();
    (stream, answer)
}

#[test]
fn matchers_count_skip_and_stop() {
    let sim = sim();
    let twice = sim.fault(list().skip(1).times(2), Fault::status(503));
    let seen: Vec<u16> = (0..4)
        .map(|_| admin(&sim, "GET", "/api/client", "").status)
        .collect();
    assert_eq!(seen, [200, 503, 503, 200]);
    assert_eq!(twice.hits(), 2);
    let always = sim.fault(Matcher::new("*", "/api/*").always(), Fault::status(502));
    assert_eq!(admin(&sim, "GET", "/api/client/1", "").status, 502);
    always.remove();
    assert_eq!(admin(&sim, "GET", "/api/client/1", "").status, 200);
    sim.fault(Matcher::any(), Fault::status(500));
    sim.clear_faults();
    assert_eq!(admin(&sim, "GET", "/api/client", "").status, 200);
}

#[test]
fn planned_faults_strike_one_after_the_other() {
    let sim = sim();
    for status in [500, 429] {
        sim.fault(list(), Fault::status(status));
    }
    let seen: Vec<u16> = (0..3)
        .map(|_| admin(&sim, "GET", "/api/client", "").status)
        .collect();
    assert_eq!(seen, [500, 429, 200]);
}

#[test]
fn canned_answers_come_as_written() {
    let sim = sim();
    let canned = Canned::new(418)
        .reason("Short and stout")
        .header("x-pot", "yes")
        .content_type("text/x-tea")
        .body("tea");
    sim.fault(list(), Fault::Instead(canned));
    let answer = admin(&sim, "GET", "/api/client", "");
    assert_eq!(
        (
            answer.status,
            answer.reason.as_str(),
            answer.text().as_str()
        ),
        (418, "Short and stout", "tea")
    );
    assert_eq!(
        (answer.header("x-pot"), answer.header("content-type")),
        (Some("yes"), Some("text/x-tea"))
    );
    sim.fault(list(), Fault::redirect("https://elsewhere.test/"));
    let answer = admin(&sim, "GET", "/api/client", "");
    assert_eq!(
        (answer.status, answer.header("location")),
        (302, Some("https://elsewhere.test/"))
    );
    sim.fault(list(), Fault::html(200));
    assert!(
        admin(&sim, "GET", "/api/client", "")
            .text()
            .contains("<form")
    );
    sim.fault(list(), Fault::broken_json());
    assert!(
        serde_json::from_slice::<serde_json::Value>(&admin(&sim, "GET", "/api/client", "").body)
            .is_err()
    );
    sim.fault(list(), Fault::empty());
    assert_eq!(admin(&sim, "GET", "/api/client", "").body, b"");
}

#[test]
fn a_fault_before_or_after_applying() {
    let sim = sim();
    let enabled = || sim.client(1).unwrap().enabled;
    sim.fault(disable(), Fault::status(500));
    assert_eq!(admin(&sim, "POST", "/api/client/1/disable", "").status, 500);
    sim.fault(disable(), Fault::Reset);
    assert_eq!(
        broken(&sim, "POST", "/api/client/1/disable"),
        ErrorKind::ConnectionReset
    );
    assert!(enabled());
    assert_eq!((sim.writes(), sim.applied()), (2, 0));
    sim.fault(disable(), Fault::status_after_apply(500));
    assert_eq!(admin(&sim, "POST", "/api/client/1/disable", "").status, 500);
    assert!(!enabled());
    assert!(sim.update_client(1, |client| client.enabled = true));
    sim.fault(disable(), Fault::ResetAfterApply);
    assert_eq!(
        broken(&sim, "POST", "/api/client/1/disable"),
        ErrorKind::ConnectionReset
    );
    assert!(!enabled());
    assert_eq!((sim.writes(), sim.applied()), (4, 2));
}

#[test]
fn hanging_before_and_after_applying() {
    let sim = sim();
    for (fault, applied) in [(Fault::Hang, 0), (Fault::HangAfterApply, 1)] {
        sim.reset_log();
        sim.fault(disable(), fault);
        let mut stream = connect(&sim);
        let login = authorization(&sim);
        let request = format!(
            "POST /api/client/1/disable HTTP/1.1\r\nHost: h\r\nAuthorization: {login}\r\n\r\n"
        );
        std::io::Write::write_all(&mut stream, request.as_bytes()).unwrap();
        sim.wait_count("POST", "/api/client/1/disable", 1);
        // Long enough to notice an answer; there is none to wait for.
        stream
            .set_read_timeout(Some(Duration::from_millis(100)))
            .unwrap();
        assert_eq!(
            stream.read(&mut [0]).unwrap_err().kind(),
            ErrorKind::WouldBlock
        );
        assert_eq!(sim.applied(), applied);
    }
}

#[test]
fn bodies_that_do_not_keep_their_word() {
    let sim = sim();
    sim.fault(list(), Fault::CutBody(10));
    let (mut stream, answer) = head_of(&sim, "/api/client");
    let declared: usize = answer.header("content-length").unwrap().parse().unwrap();
    let mut got = Vec::new();
    let _ = stream.read_to_end(&mut got);
    assert_eq!(got.len(), 10);
    assert!(declared > 1000);

    sim.fault(list(), Fault::DeclaredLength(1 << 40));
    let (_stream, answer) = head_of(&sim, "/api/client");
    assert_eq!(answer.header("content-length"), Some("1099511627776"));

    sim.fault(list(), Fault::EndlessBody);
    let (mut stream, answer) = head_of(&sim, "/api/client");
    assert_eq!(answer.header("transfer-encoding"), Some("chunked"));
    let mut total = 0;
    while total < 1 << 20 {
        total += read_chunk(&mut stream).unwrap().unwrap().len();
    }

    sim.fault(list(), Fault::HangBody);
    let (mut stream, answer) = head_of(&sim, "/api/client");
    assert_eq!(answer.status, 200);
    stream
        .set_read_timeout(Some(Duration::from_millis(100)))
        .unwrap();
    assert_eq!(
        stream.read(&mut [0]).unwrap_err().kind(),
        ErrorKind::WouldBlock
    );

    let small = Canned::new(200).body("abc");
    let drip = Fault::Several(vec![
        Fault::Instead(small),
        Fault::DripBody(Duration::from_millis(1)),
    ]);
    sim.fault(list(), drip);
    assert_eq!(admin(&sim, "GET", "/api/client", "").text(), "abc");
}

#[test]
fn ordinary_answers_with_changes() {
    let sim = sim();
    let changed = Fault::Several(vec![
        Fault::Edit(Edit::row(0, "transferRx", "1e999")),
        Fault::Edit(Edit::row(1, "name", r#""\ud800""#)),
        Fault::Edit(Edit::row(2, "deep", &Edit::deep(500))),
        Fault::Edit(Edit::non_object_rows()),
        Fault::ContentType("text/plain".to_owned()),
        Fault::Reason("Fine".to_owned()),
        Fault::Header("x-more".to_owned(), "1".to_owned()),
        Fault::DropSetCookie,
    ]);
    sim.fault(list(), changed);
    let answer = admin(&sim, "GET", "/api/client", "");
    let text = answer.text();
    assert!(text.starts_with(r#"[null,5,"x",[],true,{"id":1,"#));
    assert!(text.contains(r#""transferRx":1e999"#) && text.contains(r#""name":"\ud800""#));
    assert!(text.contains(&Edit::deep(500)));
    assert_eq!(
        (answer.reason.as_str(), answer.header("content-type")),
        ("Fine", Some("text/plain"))
    );
    assert_eq!(
        (answer.header("x-more"), answer.header("set-cookie")),
        (Some("1"), None)
    );
}

#[test]
fn a_delay_comes_before_the_answer() {
    let sim = sim();
    let time = Duration::from_millis(50);
    sim.fault(list(), Fault::Delay(time));
    let start = Instant::now();
    assert_eq!(admin(&sim, "GET", "/api/client", "").status, 200);
    assert!(start.elapsed() >= time);
}
