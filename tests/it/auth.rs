//! How the program logs in: each case against a simulator, and what came of it on both sides.

use crate::support::{PASSWORD, Server, USERNAME, refusal, simulator, structured, with_clients};
use serde_json::{Value, json};
use std::time::Duration;
use wg_easy_sim::{Account, Canned, Era, Fault, Login, Matcher, Settings, Simulator};

/// The secret of the accounts with a second factor, and another one.
const SECRET: &str = "JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP";
const OTHER_SECRET: &str = "KRSXG5CTMVRXEZLUKRSXG5CTMVRXEZLU";

const SESSIONS: [&str; 2] = ["auto", "session"];

fn of(era: Era) -> Simulator {
    simulator(Settings {
        era,
        clients: 2,
        ..Settings::default()
    })
}

fn with_second_factor(era: Era) -> Simulator {
    let sim = of(era);
    sim.update_account(|account| account.totp_secret = Some(SECRET.to_owned()));
    sim
}

fn server(sim: &Simulator, auth: &str) -> Server {
    Server::of(sim).with("WG_EASY_AUTH", auth).start()
}

fn list(server: &mut Server) -> Value {
    server.call("list_clients", json!({}))
}

/// Two calls that succeed.
fn assert_in(server: &mut Server) {
    for _ in 0..2 {
        assert_eq!(structured(&list(server))["total"], 2);
    }
}

/// A call that is refused with words that hold each of `parts`.
#[track_caller]
fn assert_refused(server: &mut Server, parts: &[&str]) -> String {
    let result = list(server);
    let said = refusal(&result);
    assert!(parts.iter().all(|part| said.contains(part)), "{said}");
    said.to_owned()
}

/// How the calls that were answered with data were known: all of them in the same way.
fn known_by(sim: &Simulator) -> Login {
    let requests = sim.requests();
    let mut known = requests
        .iter()
        .filter(|request| request.path.starts_with("/api/client") && request.status == Some(200))
        .map(|request| {
            let by = request.authenticated.unwrap();
            // One of the two goes along, and never both.
            let carries = |name| request.header(name).is_some();
            assert_eq!(carries("cookie"), by == Login::Cookie);
            assert_eq!(carries("authorization"), by == Login::Basic);
            by
        });
    let first = known.next().expect("a call was answered");
    assert!(known.all(|by| by == first));
    first
}

/// Ends a server and sees that nothing it said holds a secret of its login or its sessions.
fn assert_discreet(sim: &Simulator, server: Server) {
    let (stdout, stderr) = server.finish();
    let mut secrets = vec![
        PASSWORD.to_owned(),
        SECRET.to_owned(),
        OTHER_SECRET.to_owned(),
    ];
    for request in sim.requests() {
        secrets.extend(
            request
                .header("cookie")
                .map(|cookie| cookie["wg-easy=".len()..].to_owned()),
        );
        secrets.extend(
            request.json()["totpCode"]
                .as_str()
                .map(|code| format!("\"{code}\"")),
        );
    }
    for secret in secrets {
        assert!(!stdout.contains(&secret), "on stdout: {stdout}");
        assert!(!stderr.contains(&secret), "on stderr: {stderr}");
    }
}

#[test]
fn a_session_is_begun_once_and_used_from_then_on() {
    for era in [Era::Current, Era::SessionRoute] {
        for auth in SESSIONS {
            let sim = of(era);
            let mut server = server(&sim, auth);
            assert_eq!(sim.requests().len(), 0, "nothing before the first call");
            assert_in(&mut server);
            assert_eq!(known_by(&sim), Login::Cookie);
            assert_eq!((sim.logins(), sim.password_checks()), (1, 1));
            let login = sim
                .requests()
                .into_iter()
                .find(|r| r.status == Some(200))
                .unwrap();
            assert_eq!(
                login.json(),
                json!({"username": USERNAME, "password": PASSWORD, "remember": false})
            );
            assert_discreet(&sim, server);
        }
    }
}

#[test]
fn basic_alone_uses_no_login_route() {
    for era in [Era::Current, Era::SessionRoute, Era::BasicOnly] {
        let sim = of(era);
        let mut server = server(&sim, "basic");
        assert_in(&mut server);
        assert_eq!(known_by(&sim), Login::Basic);
        assert_eq!((sim.requests().len(), sim.password_checks()), (2, 2));
        assert_discreet(&sim, server);
    }
}

#[test]
fn a_release_without_a_login_route_is_served_with_basic_where_that_is_allowed() {
    let sim = of(Era::BasicOnly);
    let mut auto = server(&sim, "auto");
    assert_in(&mut auto);
    assert_eq!(known_by(&sim), Login::Basic);
    assert_eq!(
        (
            sim.count("POST", "/api/auth/password"),
            sim.count("POST", "/api/session")
        ),
        (1, 1)
    );
    auto.wait_for_stderr("the password goes along with every request");
    assert_discreet(&sim, auto);

    sim.reset_log();
    assert_refused(
        &mut server(&sim, "session"),
        &["no login route", "WG_EASY_AUTH=session"],
    );
    assert_eq!(sim.password_checks(), 0);
}

#[test]
fn a_short_password_is_served_with_basic_where_that_is_allowed() {
    let sim = Simulator::start(Settings {
        clients: 2,
        account: Account {
            username: USERNAME.to_owned(),
            password: "short-9Xw2".to_owned(),
            ..Account::default()
        },
        ..Settings::default()
    });
    let start = |auth: &str| {
        let server = Server::of(&sim).with("WG_EASY_PASSWORD", "short-9Xw2");
        server.with("WG_EASY_AUTH", auth).start()
    };
    assert_in(&mut start("auto"));
    assert_eq!(known_by(&sim), Login::Basic);
    assert_refused(&mut start("session"), &["HTTP 400", "12 characters"]);
}

#[test]
fn a_proxy_that_drops_cookies_is_served_with_basic_where_that_is_allowed() {
    for era in [Era::Current, Era::SessionRoute] {
        let sim = of(era);
        sim.fault(Matcher::new("POST", "*").always(), Fault::DropSetCookie);
        let mut auto = server(&sim, "auto");
        assert_in(&mut auto);
        assert_eq!(known_by(&sim), Login::Basic);
        assert_eq!(sim.logins(), 1);
        assert_discreet(&sim, auto);

        let mut session = server(&sim, "session");
        assert_refused(&mut session, &["cookie did not come through", "proxy"]);
        // Each try costs wg-easy a login, so this is remembered too.
        assert_refused(
            &mut session,
            &["cookie did not come through", "nothing was sent"],
        );
        assert_eq!(sim.logins(), 2);
    }
}

#[test]
fn a_cookie_that_is_not_accepted_at_once_gives_way_to_basic_where_that_is_allowed() {
    let swallowed = || Fault::Instead(Canned::new(401));
    let sim = of(Era::Current);
    sim.fault(Matcher::new("GET", "/api/client"), swallowed());
    assert_in(&mut server(&sim, "auto"));
    assert_eq!(known_by(&sim), Login::Basic);
    assert_eq!((sim.logins(), sim.count("GET", "/api/client")), (1, 3));

    sim.reset_log();
    sim.fault(Matcher::new("GET", "/api/client"), swallowed());
    let mut server = server(&sim, "session");
    assert_refused(&mut server, &["cookie did not come through"]);
    assert_refused(
        &mut server,
        &["cookie did not come through", "nothing was sent"],
    );
    assert_eq!((sim.logins(), sim.count("GET", "/api/client")), (1, 1));
}

#[test]
fn a_second_factor_is_answered_with_a_code() {
    for era in [Era::Current, Era::SessionRoute] {
        for auth in SESSIONS {
            let sim = with_second_factor(era);
            let server = Server::of(&sim).with("WG_EASY_AUTH", auth);
            let mut server = server
                .with(
                    "WG_EASY_TOTP_SECRET",
                    "jbsw y3dp ehpk 3pxp jbsw y3dp ehpk 3pxp",
                )
                .start();
            assert_in(&mut server);
            assert_eq!(known_by(&sim), Login::Cookie);
            assert_eq!(sim.logins(), 2, "the password, then the code");
            assert_discreet(&sim, server);
        }
    }
}

#[test]
fn a_second_factor_without_a_secret_is_named() {
    for era in [Era::Current, Era::SessionRoute] {
        for auth in SESSIONS {
            let sim = with_second_factor(era);
            let mut server = server(&sim, auth);
            assert_refused(
                &mut server,
                &[
                    "accepted the password",
                    "second factor",
                    "WG_EASY_TOTP_SECRET",
                ],
            );
            assert_eq!(sim.logins(), 1);
            assert_discreet(&sim, server);
        }
    }
    // Basic cannot tell it from a wrong password, and says so.
    let sim = with_second_factor(Era::Current);
    assert_refused(
        &mut server(&sim, "basic"),
        &["wrong, or the account has two-factor"],
    );
}

#[test]
fn a_wrong_code_says_whether_it_is_the_secret_or_the_clock_and_is_not_sent_again() {
    let hour_ago = "Mon, 30 Nov 2020 12:00:00 GMT".to_owned();
    let clock = Fault::Header("date".to_owned(), hour_ago);
    for era in [Era::Current, Era::SessionRoute] {
        for (fault, words) in [
            (None, "probably the secret"),
            (Some(clock.clone()), "probably a clock"),
        ] {
            let sim = with_second_factor(era);
            if let Some(fault) = fault {
                sim.fault(Matcher::new("POST", "*").always(), fault);
            }
            let mut server = Server::of(&sim)
                .with("WG_EASY_TOTP_SECRET", OTHER_SECRET)
                .start();
            assert_refused(&mut server, &["refused the code", "clock", "secret", words]);
            assert_refused(
                &mut server,
                &[
                    "refused the code",
                    "nothing was sent",
                    "next try is possible",
                ],
            );
            assert_eq!(sim.logins(), 2, "one password and one code");
            assert_discreet(&sim, server);
        }
    }
}

#[test]
fn a_second_factor_behind_a_proxy_that_drops_cookies_has_no_way_in() {
    let sim = with_second_factor(Era::Current);
    sim.fault(Matcher::new("POST", "*").always(), Fault::DropSetCookie);
    let mut server = Server::of(&sim).with("WG_EASY_TOTP_SECRET", SECRET).start();
    assert_refused(&mut server, &["cookie did not come through"]);
    assert_eq!(
        sim.count("GET", "*"),
        0,
        "the password is not tried where it cannot do"
    );
}

#[test]
fn a_cookie_that_is_lost_at_the_second_step_is_named_and_basic_not_tried() {
    for fault in [Fault::DropSetCookie, Fault::status(401)] {
        let sim = with_second_factor(Era::Current);
        let second = Matcher::new("POST", "/api/auth/verify-2fa");
        sim.fault(second.always(), fault);
        let mut server = Server::of(&sim).with("WG_EASY_TOTP_SECRET", SECRET).start();
        assert_refused(&mut server, &["cookie did not come through"]);
        assert_eq!(sim.count("GET", "*"), 0);
    }
}

#[test]
fn what_a_login_route_says_is_not_repeated() {
    for status in [429, 500] {
        let sim = with_clients(1);
        let said = Canned::new(status).body(r#"{"message":"something about the login"}"#);
        sim.fault(Matcher::new("POST", "*").always(), Fault::Instead(said));
        let mut server = Server::of(&sim).start();
        let result = server.call("list_clients", json!({}));
        let said = refusal(&result);
        assert!(said.contains(&format!("HTTP {status}")), "{said}");
        assert!(!said.contains("something about"), "{said}");
    }
}

#[test]
fn a_session_that_has_ended_is_renewed_once_and_the_call_repeated() {
    for era in [Era::Current, Era::SessionRoute] {
        for auth in SESSIONS {
            let sim = of(era);
            let mut server = server(&sim, auth);
            assert_in(&mut server);
            sim.invalidate_cookies();
            assert_in(&mut server);
            assert_eq!(sim.logins(), 2);

            sim.invalidate_cookies();
            let result = server.call("disable_client", json!({"clientId": 1}));
            assert_eq!(structured(&result)["success"], true);
            assert_eq!(sim.logins(), 3);
            assert_eq!(sim.applied(), 1, "what was refused was not done");
            assert_eq!(known_by(&sim), Login::Cookie);
            assert_discreet(&sim, server);
        }
    }
}

#[test]
fn a_session_that_cannot_be_renewed_says_why() {
    let sim = of(Era::Current);
    let mut server = server(&sim, "auto");
    assert_in(&mut server);
    sim.update_account(|account| account.password = "another-password-7Q".to_owned());
    sim.invalidate_cookies();
    assert_refused(&mut server, &["wrong", "It is not two-factor"]);
    assert_refused(&mut server, &["nothing was sent"]);
    assert_eq!(sim.logins(), 2);
}

#[test]
fn a_session_that_is_never_accepted_again_is_not_asked_for_ever() {
    let sim = of(Era::Current);
    let mut server = server(&sim, "session");
    assert_in(&mut server);
    sim.fault(
        Matcher::new("GET", "/api/client").always(),
        Fault::Instead(Canned::new(401)),
    );
    sim.reset_log();
    assert_refused(&mut server, &["cookie did not come through"]);
    assert_eq!((sim.logins(), sim.count("GET", "/api/client")), (1, 2));
}

#[test]
fn a_disabled_user_is_named() {
    for (era, auth) in [
        (Era::Current, "auto"),
        (Era::Current, "session"),
        (Era::Current, "basic"),
        (Era::SessionRoute, "auto"),
        (Era::BasicOnly, "auto"),
    ] {
        let sim = of(era);
        sim.update_account(|account| account.disabled = true);
        let mut server = server(&sim, auth);
        assert_refused(&mut server, &["the user is disabled", "admin panel"]);
        assert_discreet(&sim, server);
    }
}

#[test]
fn a_password_login_that_is_switched_off_is_named_and_not_remembered() {
    for (era, auth) in [
        (Era::Current, "auto"),
        (Era::Current, "session"),
        (Era::Current, "basic"),
        (Era::SessionRoute, "auto"),
    ] {
        let sim = of(era);
        sim.set_password_login_disabled(true);
        let mut server = server(&sim, auth);
        assert_refused(&mut server, &["password login is switched off"]);
        sim.set_password_login_disabled(false);
        assert_in(&mut server);
    }
}

#[test]
fn a_wrong_password_is_one_attempt_and_remembered() {
    for era in [Era::Current, Era::SessionRoute, Era::BasicOnly] {
        for auth in ["auto", "session", "basic"] {
            if (era, auth) == (Era::BasicOnly, "session") {
                continue;
            }
            let sim = of(era);
            sim.update_account(|account| account.password = "another-password-7Q".to_owned());
            let mut server = server(&sim, auth);
            let ids: Vec<_> = (0..20)
                .map(|n| match n % 2 {
                    0 => server.begin_call("list_clients", json!({})),
                    _ => server.begin_call("disable_client", json!({"clientId": 1})),
                })
                .collect();
            let basic = auth == "basic" || era == Era::BasicOnly;
            for (n, id) in ids.into_iter().enumerate() {
                let tool = ["list_clients", "disable_client"][n % 2];
                let result = server.finish_call(id, tool);
                let said = refusal(&result);
                assert!(
                    said.contains("HTTP 401") && said.contains("WG_EASY_PASSWORD"),
                    "{said}"
                );
                assert_eq!(said.contains("It is not two-factor"), !basic, "{said}");
            }
            assert_eq!(sim.password_checks(), 1, "{era:?} {auth}");
            assert_eq!(sim.applied(), 0);
            assert_discreet(&sim, server);
        }
    }
}

#[test]
fn twenty_first_calls_at_once_are_one_login() {
    for (era, second_factor) in [
        (Era::Current, false),
        (Era::Current, true),
        (Era::SessionRoute, true),
    ] {
        let sim = simulator(Settings {
            era,
            clients: 2,
            auth_cost: Duration::from_millis(120),
            ..Settings::default()
        });
        if second_factor {
            sim.update_account(|account| account.totp_secret = Some(SECRET.to_owned()));
        }
        let mut server = Server::of(&sim).with("WG_EASY_TOTP_SECRET", SECRET).start();
        let ids: Vec<_> = (0..20)
            .map(|_| server.begin_call("list_clients", json!({})))
            .collect();
        for id in ids {
            assert_eq!(
                structured(&server.finish_call(id, "list_clients"))["total"],
                2
            );
        }
        assert_eq!(sim.logins(), if second_factor { 2 } else { 1 });
        assert_eq!(known_by(&sim), Login::Cookie);
    }
}

#[test]
fn a_change_whose_login_comes_to_no_answer_says_that_it_was_not_sent() {
    for (fault, words) in [
        (Fault::status(500), "HTTP 500"),
        (Fault::Reset, "ended the connection"),
        (
            Fault::json(b"{\"status\":\"maybe\"}".to_vec()),
            "not what wg-easy's API sends",
        ),
    ] {
        let sim = of(Era::Current);
        sim.fault(Matcher::new("POST", "/api/auth/password"), fault);
        let mut server = server(&sim, "auto");
        let result = server.call("disable_client", json!({"clientId": 1}));
        let said = refusal(&result);
        assert!(
            said.contains("request itself was not sent") && said.contains(words),
            "{said}"
        );
        assert_eq!(sim.writes(), 0);
        assert_in(&mut server);
    }
}

#[test]
fn a_hundred_listings_are_one_login_on_one_connection() {
    let sim = simulator(Settings {
        clients: 2,
        auth_cost: Duration::from_millis(120),
        ..Settings::default()
    });
    let mut server = Server::of(&sim).start();
    for _ in 0..100 {
        list(&mut server);
    }
    // With the password on every call this would be a hundred looks at it.
    assert_eq!((sim.logins(), sim.password_checks()), (1, 1));
    assert_eq!(sim.connections(), 1);
    assert_eq!(sim.count("GET", "/api/client"), 100);
}

#[test]
fn the_cookie_of_a_request_with_basic_is_not_taken_for_a_session() {
    let sim = with_clients(2);
    let mut server = server(&sim, "basic");
    assert_in(&mut server);
    assert!(
        sim.requests()
            .iter()
            .all(|request| request.header("cookie").is_none())
    );
}
