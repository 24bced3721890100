//! Logins, of both eras.
#![allow(clippy::unwrap_used, reason = "tests")]

mod support;

use std::time::{Duration, Instant};

use support::{Answer, admin, ask, basic};
use wg_easy_sim::{Account, Era, Settings, Simulator, totp_code};

const SECRET: &str = "GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ";

fn with(change: impl FnOnce(&mut Settings)) -> Simulator {
    let mut settings = Settings {
        clients: 1,
        ..Settings::default()
    };
    change(&mut settings);
    Simulator::start(settings)
}

fn post(sim: &Simulator, target: &str, cookie: Option<&str>, body: &str) -> Answer {
    let mut headers = vec![
        ("Content-Type", "application/json"),
        ("Accept", "application/json"),
    ];
    headers.extend(cookie.map(|cookie| ("Cookie", cookie)));
    ask(sim, "POST", target, &headers, body).unwrap()
}

fn log_in(sim: &Simulator, target: &str, more: &str) -> Answer {
    let Account {
        username, password, ..
    } = sim.account();
    let body =
        format!(r#"{{"username":"{username}","password":"{password}","remember":false{more}}}"#);
    post(sim, target, None, &body)
}

fn list_with(sim: &Simulator, cookie: &str) -> u16 {
    ask(sim, "GET", "/api/client", &[("Cookie", cookie)], "")
        .unwrap()
        .status
}

fn wrong_code(sim: &Simulator) -> String {
    let right = sim.totp_code().unwrap();
    if right.starts_with('0') {
        right.replacen('0', "1", 1)
    } else {
        format!("0{}", &right[1..])
    }
}

#[test]
fn a_second_factor_takes_two_steps() {
    let sim = with(|settings| settings.account.totp_secret = Some(SECRET.to_owned()));
    let answer = log_in(&sim, "/api/auth/password", "");
    assert_eq!(answer.text(), r#"{"status":"TOTP_REQUIRED"}"#);
    let pending = answer.cookie().unwrap();
    assert_eq!(list_with(&sim, &pending), 401);
    let wrong = format!(r#"{{"totpCode":"{}"}}"#, wrong_code(&sim));
    assert_eq!(
        post(&sim, "/api/auth/verify-2fa", Some(&pending), &wrong).text(),
        r#"{"status":"INVALID_TOTP_CODE"}"#
    );
    // A code that people could have computed themselves.
    let code = totp_code(SECRET, sim.now().as_second()).unwrap();
    let right = format!(r#"{{"totpCode":"{code}"}}"#);
    let answer = post(&sim, "/api/auth/verify-2fa", Some(&pending), &right);
    assert_eq!(answer.text(), r#"{"status":"success"}"#);
    assert_eq!(list_with(&sim, &answer.cookie().unwrap()), 200);
    assert_eq!(post(&sim, "/api/auth/verify-2fa", None, &right).status, 401);
    assert_eq!(sim.logins(), 4);
    sim.advance_clock(Duration::from_secs(301));
    assert_eq!(
        post(&sim, "/api/auth/verify-2fa", Some(&pending), &right).reason,
        "No pending authentication"
    );
    let answer = admin(&sim, "GET", "/api/client", "");
    assert_eq!(
        (answer.status, answer.reason.as_str()),
        (401, "Session failed"),
        "Basic cannot bring a code"
    );
}

#[test]
fn the_older_route_takes_the_code_along() {
    let sim = with(|settings| {
        settings.era = Era::SessionRoute;
        settings.account.totp_secret = Some(SECRET.to_owned());
    });
    assert_eq!(log_in(&sim, "/api/auth/password", "").status, 404);
    assert_eq!(
        ask(&sim, "GET", "/api/auth/methods", &[], "")
            .unwrap()
            .status,
        404
    );
    assert_eq!(
        log_in(&sim, "/api/session", "").text(),
        r#"{"status":"TOTP_REQUIRED"}"#
    );
    let wrong = format!(r#","totpCode":"{}""#, wrong_code(&sim));
    assert_eq!(
        log_in(&sim, "/api/session", &wrong).text(),
        r#"{"status":"INVALID_TOTP_CODE"}"#
    );
    let right = format!(r#","totpCode":"{}""#, sim.totp_code().unwrap());
    let answer = log_in(&sim, "/api/session", &right);
    assert_eq!(answer.text(), r#"{"status":"success"}"#);
    assert_eq!(list_with(&sim, &answer.cookie().unwrap()), 200);
}

#[test]
fn without_login_routes_only_basic_is_left() {
    let sim = with(|settings| settings.era = Era::BasicOnly);
    for target in ["/api/auth/password", "/api/auth/verify-2fa", "/api/session"] {
        assert_eq!(log_in(&sim, target, "").status, 404, "{target}");
    }
    assert_eq!(admin(&sim, "GET", "/api/client", "").status, 200);
}

#[test]
fn the_routes_disagree_about_disabled_accounts() {
    let sim = with(|settings| settings.account.disabled = true);
    let answer = admin(&sim, "GET", "/api/client", "");
    assert_eq!(
        (answer.status, answer.reason.as_str()),
        (403, "User is disabled")
    );
    let wrong = ask(
        &sim,
        "GET",
        "/api/client",
        &[("Authorization", &basic("admin", "wrong"))],
        "",
    )
    .unwrap();
    assert_eq!(
        (wrong.status, wrong.reason.as_str()),
        (401, "Session failed")
    );
    let answer = log_in(&sim, "/api/auth/password", "");
    assert_eq!(
        (answer.status, answer.reason.as_str()),
        (401, "User disabled")
    );
}

#[test]
fn a_switched_off_password_login_is_403_everywhere() {
    let sim = with(|settings| settings.password_login_disabled = true);
    for answer in [
        admin(&sim, "GET", "/api/client", ""),
        log_in(&sim, "/api/auth/password", ""),
    ] {
        assert_eq!(
            (answer.status, answer.reason.as_str()),
            (403, "Password authentication is disabled")
        );
    }
    sim.set_password_login_disabled(false);
    assert_eq!(admin(&sim, "GET", "/api/client", "").status, 200);
}

#[test]
fn short_names_and_passwords_work_with_basic_only() {
    let sim = with(|settings| {
        (settings.account.username, settings.account.password) =
            ("x".to_owned(), "short".to_owned())
    });
    assert_eq!(log_in(&sim, "/api/auth/password", "").status, 400);
    assert_eq!(admin(&sim, "GET", "/api/client", "").status, 200);
}

#[test]
fn the_login_route_counts_characters() {
    for (name, password, status) in [
        ("ab", "twelve-chars", 200),
        ("ab", "eleven-char", 400),
        ("a", "twelve-chars", 400),
    ] {
        let sim = with(|settings| {
            (settings.account.username, settings.account.password) =
                (name.to_owned(), password.to_owned())
        });
        assert_eq!(
            log_in(&sim, "/api/auth/password", "").status,
            status,
            "{name} {password}"
        );
    }
}

#[test]
fn passwords_may_hold_colons_and_any_letter() {
    let sim = with(|settings| settings.account.password = "a:b:pässwörd-日本".to_owned());
    assert_eq!(admin(&sim, "GET", "/api/client", "").status, 200);
    assert_eq!(log_in(&sim, "/api/auth/password", "").status, 200);
}

#[test]
fn cookies_live_until_the_secret_changes() {
    let sim = with(|settings| settings.insecure = Some(false));
    let answer = log_in(&sim, "/api/auth/password", "");
    assert!(
        answer
            .header("set-cookie")
            .unwrap()
            .ends_with("; Path=/; HttpOnly; Secure")
    );
    let cookie = answer.cookie().unwrap();
    sim.update_account(|account| account.password = "another-password".to_owned());
    assert_eq!(list_with(&sim, &cookie), 200);
    assert_eq!(list_with(&sim, &format!("{cookie}x")), 401);
    sim.invalidate_cookies();
    assert_eq!(list_with(&sim, &cookie), 401);
}

#[test]
fn checking_a_password_can_cost_time() {
    let cost = Duration::from_millis(60);
    let sim = with(|settings| settings.auth_cost = cost);
    let timed = |send: &dyn Fn() -> Answer| {
        let start = Instant::now();
        let answer = send();
        (answer, start.elapsed())
    };
    let (answer, login) = timed(&|| log_in(&sim, "/api/auth/password", ""));
    let (_, with_basic) = timed(&|| admin(&sim, "GET", "/api/client", ""));
    assert!(login >= cost && with_basic >= cost);
    assert_eq!(sim.password_checks(), 2);
    assert_eq!(list_with(&sim, &answer.cookie().unwrap()), 200);
    assert_eq!(sim.password_checks(), 2, "a cookie needs no check");
}
