//! Routing, error pages and who may call what.
#![allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "tests")]

mod support;

use support::{admin, ask};
use wg_easy_sim::{Account, Role, Settings, Simulator};

fn sim() -> Simulator {
    Simulator::start(Settings {
        clients: 3,
        ..Settings::default()
    })
}

#[test]
fn errors_are_pages_for_whoever_takes_html() {
    let sim = sim();
    let accept = ("Accept", "application/json, text/html");
    let answer = ask(&sim, "GET", "/api/client", &[accept], "").unwrap();
    assert_eq!(
        (answer.status, answer.reason.as_str()),
        (401, "Session failed. No Authorization")
    );
    assert_eq!(
        answer.header("content-type"),
        Some("text/html;charset=utf-8")
    );
    assert!(answer.body.len() > 10_000);
}

#[test]
fn error_urls_follow_the_proxy_headers() {
    let sim = sim();
    let headers = [
        ("X-Forwarded-Host", "vpn.example.test"),
        ("X-Forwarded-Proto", "https"),
    ];
    let answer = ask(&sim, "GET", "/api/client?sort=asc", &headers, "").unwrap();
    assert_eq!(
        answer.json()["url"],
        "https://vpn.example.test/api/client?sort=asc"
    );
}

#[test]
fn what_is_not_the_api_leads_to_the_login_page() {
    let sim = sim();
    for target in [
        "/",
        "//api/client",
        "/API/client",
        "/vpn/api/client",
        "/api",
    ] {
        let answer = ask(&sim, "GET", target, &[("Accept", "application/json")], "").unwrap();
        assert_eq!(
            (answer.status, answer.header("location")),
            (302, Some("/login")),
            "{target}"
        );
    }
    for method in ["PUT", "PATCH", "OPTIONS", "HEAD"] {
        assert_eq!(
            admin(&sim, method, "/api/client", "").status,
            404,
            "{method}"
        );
    }
}

#[test]
fn a_prefix_is_stripped_and_nothing_else_is_there() {
    let sim = Simulator::start(Settings {
        prefix: "/vpn".to_owned(),
        clients: 1,
        ..Settings::default()
    });
    assert!(sim.url().ends_with("/vpn"));
    assert_eq!(admin(&sim, "GET", "/vpn/api/client/1", "").status, 200);
    assert_eq!(
        sim.count("GET", "/api/client/1"),
        1,
        "logged without the prefix"
    );
    let answer = admin(&sim, "GET", "/api/client", "");
    assert_eq!(
        (answer.status, answer.header("content-type")),
        (404, Some("text/html"))
    );
    assert_eq!(admin(&sim, "GET", "/vpnx/api/client", "").status, 404);
}

#[test]
fn headers_above_sixteen_kilobytes_are_refused() {
    let sim = sim();
    let long = "x".repeat(17_000);
    assert_eq!(
        ask(&sim, "GET", "/api/client", &[("X-Long", &long)], "")
            .unwrap()
            .status,
        431
    );
}

#[test]
fn the_client_role_has_nothing_to_see() {
    let account = Account {
        role: Role::Client,
        ..Account::default()
    };
    let sim = Simulator::start(Settings {
        clients: 2,
        account,
        ..Settings::default()
    });
    assert_eq!(admin(&sim, "GET", "/api/client", "").text(), "[]");
    for (method, target) in [
        ("GET", "/api/client/1"),
        ("POST", "/api/client"),
        ("DELETE", "/api/client/1"),
        ("POST", "/api/client/1/enable"),
        ("POST", "/api/client/1/generateOneTimeLink"),
        ("GET", "/api/client/1/configuration"),
        ("GET", "/api/admin/general"),
    ] {
        let answer = admin(&sim, method, target, "");
        assert_eq!(
            (answer.status, answer.reason.as_str()),
            (403, "Permission denied"),
            "{method} {target}"
        );
    }
    sim.update_client(1, |client| client.user_id = 2);
    assert_eq!(admin(&sim, "GET", "/api/client", "").json()[0]["id"], 1);
    assert_eq!(admin(&sim, "POST", "/api/client/1/disable", "").status, 200);
}
