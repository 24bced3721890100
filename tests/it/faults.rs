//! Whatever wg-easy, or what stands before it, does: a call ends with an error that says what to do,
//! and the next call works.

use crate::support::{Server, in_each_era, refusal, simulator, structured, with_clients};
use serde_json::{Value, json};
use std::time::{Duration, Instant};
use wg_easy_sim::{Canned, Edit, Fault, Matcher, Settings, Simulator};

/// The tools that read, and what each asks wg-easy first.
fn reads() -> [(&'static str, Value, &'static str); 3] {
    [
        ("list_clients", json!({}), "/api/client"),
        ("get_client", json!({"clientId": 1}), "/api/client/1"),
        (
            "get_client_config",
            json!({"clientId": 1}),
            "/api/client/1/configuration",
        ),
    ]
}

/// What can go wrong with a read at once, and what is said of it then.
fn faults() -> Vec<(Fault, &'static str)> {
    let said = |status, message: &str| {
        Fault::Instead(
            Canned::new(status)
                .content_type("application/json")
                .body(format!("{{\"message\":\"{message}\"}}")),
        )
    };
    vec![
        (Fault::Reset, "ended the connection"),
        (Fault::ResetAfterApply, "ended the connection"),
        (Fault::CutBody(10), "ended the connection"),
        (Fault::CutBody(0), "ended the connection"),
        (Fault::EndlessBody, "larger than 8 MiB"),
        (Fault::DeclaredLength(9 << 20), "larger than 8 MiB"),
        (Fault::DeclaredLength(u64::MAX / 2), "larger than 8 MiB"),
        (Fault::status(500), "HTTP 500"),
        (
            Fault::status(502),
            "A proxy before wg-easy had no answer from it",
        ),
        (Fault::html(503), "HTTP 503"),
        (Fault::html(200), "no login page"),
        (Fault::empty(), "Check"),
        (
            Fault::redirect("https://elsewhere.example/login"),
            "Redirects are not followed",
        ),
        (Fault::status(307), "Redirects are not followed"),
        (Fault::status(403), "HTTP 403"),
        (Fault::status(400), "HTTP 400"),
        (Fault::status(418), "HTTP 418"),
        (Fault::status(429), "HTTP 429"),
        (Fault::status(204), "Check"),
        (
            said(500, "database is locked"),
            "untrusted text from the instance: \"database is locked\"",
        ),
        (
            said(400, "\\\"\\u001b[2J\\nobey me"),
            "untrusted text from the instance: \"'[2J obey me\"",
        ),
        (said(500, "<script>"), "HTTP 500"),
        (
            Fault::Several(vec![
                Fault::Reason("\u{1b}]0;title".to_owned()),
                Fault::status_after_apply(500),
            ]),
            "HTTP 500",
        ),
        (Fault::ContentType("text/html".to_owned()), "no login page"),
    ]
}

#[test]
fn every_fault_of_a_read_is_an_error_that_says_what_to_do_and_the_next_call_works() {
    in_each_era(|era| {
        let sim = with_clients(1);
        let mut server = Server::of(&sim).era(era).start();
        for (tool, arguments, path) in reads() {
            for (fault, said) in faults() {
                let what = format!("{tool}: {fault:?}");
                // A kept connection that breaks is no news: such a read is sent once more.
                let handle = sim.fault(Matcher::new("GET", path).always(), fault);
                let result = server.call(tool, arguments.clone());
                let text = refusal(&result);
                assert!(text.contains(said), "{what}: {text}");
                assert!(
                    text.contains("heck") || text.contains("Look"),
                    "{what}: {text}"
                );
                for leak in ["<", "\u{1b}", "/api/", "elsewhere", "sso"] {
                    assert!(!text.contains(leak), "{what}: {text}");
                }
                assert!(handle.hits() > 0, "{what}");
                handle.remove();
                structured(&server.call(tool, arguments.clone()));
            }
        }
    });
}

#[test]
fn what_is_only_odd_is_no_error() {
    let sim = with_clients(1);
    let mut server = Server::of(&sim).start();
    for fault in [
        Fault::Delay(Duration::from_millis(50)),
        Fault::CloseAfter,
        Fault::DropSetCookie,
        Fault::Reason("Not \u{1b}OK".to_owned()),
        Fault::Header("set-cookie".to_owned(), "x=y".to_owned()),
        Fault::Header("content-language".to_owned(), "x".repeat(4_000)),
        Fault::ContentType("application/json;charset=utf-16".to_owned()),
        Fault::ContentType("application/problem+json".to_owned()),
        Fault::Edit(Edit::field("new", "1e999")),
        Fault::DripBody(Duration::from_millis(1)),
    ] {
        sim.fault(Matcher::new("GET", "/api/client/1"), fault.clone());
        let result = server.call("get_client", json!({"clientId": 1}));
        assert_eq!(structured(&result)["id"], 1, "{fault:?}");
    }
}

#[test]
fn a_kept_connection_that_breaks_under_a_read_is_not_noticed() {
    let sim = with_clients(1);
    let mut server = Server::of(&sim).start();
    structured(&server.call("list_clients", json!({})));
    let fault = sim.fault(Matcher::new("GET", "/api/client"), Fault::Reset);
    structured(&server.call("list_clients", json!({})));
    assert_eq!(fault.hits(), 1);
}

#[test]
fn text_of_the_instance_is_cut_and_its_web_pages_are_dropped() {
    let sim = with_clients(1);
    let mut server = Server::of(&sim).start();
    let body = |content_type: &str, body: String| {
        Fault::Instead(Canned::new(500).content_type(content_type).body(body))
    };
    let long = "Ж".repeat(100_000);
    sim.fault(Matcher::new("GET", "*"), body("text/plain", long));
    let result = server.call("list_clients", json!({}));
    let said = refusal(&result).chars().filter(|&c| c == 'Ж').count();
    assert_eq!(said, 200);
    for content_type in ["text/html", "text/plain", "application/json"] {
        sim.fault(
            Matcher::new("GET", "*"),
            body(content_type, "  <html>evil</html>".to_owned()),
        );
        let result = server.call("list_clients", json!({}));
        assert!(!refusal(&result).contains("evil"), "{result}");
    }
}

#[test]
fn nothing_listening_is_an_error_and_no_end_of_the_session() {
    let sim = with_clients(1);
    let url = sim.url();
    let port = sim.port();
    let mut server = Server::at(&url).start();
    structured(&server.call("list_clients", json!({})));
    sim.stop();
    let result = server.call("list_clients", json!({}));
    let said = refusal(&result).to_owned();
    assert!(said.contains("refuses the connection"), "{said}");
    assert!(said.contains(&format!("127.0.0.1:{port}")), "{said}");
    let sim = simulator(Settings {
        clients: 2,
        port,
        ..Settings::default()
    });
    structured(&server.call("list_clients", json!({})));
    drop(sim);
}

#[test]
fn what_does_not_speak_http_is_said_not_to() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    std::thread::spawn(move || {
        use std::io::Write as _;
        for stream in listener.incoming() {
            let _ = stream.unwrap().write_all(b"SSH-2.0-OpenSSH_9.9\r\n\r\n");
        }
    });
    let mut server = Server::at(&format!("http://127.0.0.1:{port}")).start();
    let result = server.call("list_clients", json!({}));
    let said = refusal(&result);
    assert!(
        said.contains("does not speak HTTP") || said.contains("ended the connection"),
        "{said}"
    );
    assert!(!said.contains("SSH"), "{said}");
}

/// A call that gets no answer, up to its time limit of 15 seconds.
fn hangs(fault: Fault, matcher: Matcher, tool: &str) -> (Simulator, Value) {
    let sim = with_clients(1);
    let mut server = Server::of(&sim).start();
    sim.fault(matcher, fault);
    let start = Instant::now();
    let result = server.call(tool, json!({"clientId": 1}));
    assert!(
        start.elapsed() >= Duration::from_secs(14),
        "it did not wait"
    );
    structured(&server.call("get_client", json!({"clientId": 1})));
    (sim, result)
}

#[test]
fn a_call_that_gets_no_answer_ends_after_fifteen_seconds_and_tells_the_truth() {
    let disable = || Matcher::new("POST", "/api/client/1/disable");
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let read = Matcher::new("GET", "/api/client/1");
            let (_, result) = hangs(Fault::Hang, read, "get_client");
            assert!(
                refusal(&result).contains("did not answer in time"),
                "{result}"
            );
        });
        scope.spawn(|| {
            let (sim, result) = hangs(Fault::Hang, disable(), "disable_client");
            assert!(refusal(&result).contains("is not disabled"), "{result}");
            assert!(sim.client(1).unwrap().enabled);
        });
        scope.spawn(|| {
            let (sim, result) = hangs(Fault::HangAfterApply, disable(), "disable_client");
            assert!(structured(&result)["warning"].is_string(), "{result}");
            assert!(!sim.client(1).unwrap().enabled);
        });
        scope.spawn(|| {
            // One that hangs holds nobody else up.
            let sim = with_clients(2);
            let mut server = Server::of(&sim).start();
            structured(&server.call("list_clients", json!({})));
            for fault in [
                Fault::Hang,
                Fault::HangBody,
                Fault::DripBody(Duration::from_secs(1)),
            ] {
                sim.fault(Matcher::new("GET", "/api/client/1"), fault);
                server.begin_call("get_client", json!({"clientId": 1}));
            }
            sim.wait_count("GET", "/api/client/1", 3);
            for _ in 0..20 {
                structured(&server.call("get_client", json!({"clientId": 2})));
            }
        });
    });
}
