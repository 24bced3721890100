//! The login, with each way for it to fail.

use super::*;
use std::time::Duration;
use wg_easy_sim::{Era, Role};

fn second_factor() -> Account {
    Account {
        totp_secret: Some(SECRET.to_owned()),
        ..Account::default()
    }
}

#[test]
fn every_way_for_a_login_to_fail_is_told_apart_with_one_attempt() {
    let wrong = with_account(Account::default());
    let checked = Checked::of(&wrong, &[("WG_EASY_PASSWORD", "something-else-entirely")]);
    checked.assert_fails("login", "the user name or the password is wrong");
    assert_eq!(wrong.password_checks(), 1);

    let disabled = with_account(Account {
        disabled: true,
        ..Account::default()
    });
    Checked::of(&disabled, &[]).assert_fails("login", "the user is disabled");
    assert_eq!(disabled.password_checks(), 1);

    let visitor = with_account(Account {
        role: Role::Client,
        ..Account::default()
    });
    Checked::of(&visitor, &[]).assert_fails("login", "the user is not an admin");
    assert_eq!(visitor.password_checks(), 1);

    let second = with_account(second_factor());
    Checked::of(&second, &[]).assert_fails("login", "two-factor authentication is on");
    assert_eq!(second.password_checks(), 1);
    let other = [("WG_EASY_TOTP_SECRET", "GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ")];
    Checked::of(&second, &other).assert_fails("login", "refused the code");
    assert_eq!(second.password_checks(), 2);
    let good = [("WG_EASY_TOTP_SECRET", SECRET)];
    assert_eq!(Checked::of(&second, &good).status("login"), "ok");
    assert_eq!(second.password_checks(), 3);
    second.advance_clock(Duration::from_secs(300));
    let checked = Checked::of(&second, &good);
    checked.assert_fails("login", "behind wg-easy's, so it is probably a clock");
    assert_eq!(second.password_checks(), 4);

    let off = simulator(Settings {
        password_login_disabled: true,
        ..Settings::default()
    });
    Checked::of(&off, &[]).assert_fails("login", "DISABLE_PASSWORD_AUTH");
    assert_eq!(off.password_checks(), 0);

    let failing = simulator(Settings::default());
    failing.fault(
        Matcher::new("POST", "/api/auth/password"),
        Fault::status(500),
    );
    Checked::of(&failing, &[]).assert_fails("login", "HTTP 500");
}

#[test]
fn with_basic_the_login_route_is_asked_only_about_a_refusal() {
    let basic = |sim: &Simulator, password: &str| {
        let variables = [("WG_EASY_AUTH", "basic"), ("WG_EASY_PASSWORD", password)];
        Checked::of(sim, &variables)
    };
    let good = with_account(Account::default());
    assert_eq!(basic(&good, PASSWORD).status("login"), "ok");
    assert_eq!((good.logins(), good.password_checks()), (0, 1));
    let checked = basic(&good, "something-else-entirely");
    checked.assert_fails("login", "It is not two-factor authentication");
    assert_eq!((good.logins(), good.password_checks()), (1, 3));

    let second = with_account(second_factor());
    basic(&second, PASSWORD).assert_fails("login", "WG_EASY_AUTH=basic has no place for");
    let disabled = with_account(Account {
        disabled: true,
        ..Account::default()
    });
    basic(&disabled, PASSWORD).assert_fails("login", "the user is disabled");
    assert_eq!(disabled.logins(), 0);
    let proxied = with_account(Account::default());
    proxied.fault(
        Matcher::new("GET", "/api/admin/general"),
        Fault::status(401),
    );
    basic(&proxied, PASSWORD).assert_fails("login", "Authorization header");
}

#[test]
fn releases_with_another_login_route_or_none_are_checked_as_well() {
    for era in [Era::SessionRoute, Era::BasicOnly] {
        let sim = |account: Account| {
            simulator(Settings {
                era,
                account,
                ..Settings::default()
            })
        };
        let good = sim(Account::default());
        assert_eq!(Checked::of(&good, &[]).status("login"), "ok", "{era:?}");
        assert_eq!(good.password_checks(), 1);
        let checked = Checked::of(&good, &[("WG_EASY_PASSWORD", "something-else-entirely")]);
        checked.assert_fails("login", "wrong");
        let disabled = sim(Account {
            disabled: true,
            ..Account::default()
        });
        Checked::of(&disabled, &[]).assert_fails("login", "the user is disabled");
        let visitor = sim(Account {
            role: Role::Client,
            ..Account::default()
        });
        Checked::of(&visitor, &[]).assert_fails("login", "not an admin");
        let second = sim(second_factor());
        Checked::of(&second, &[]).assert_fails("login", "two-factor authentication");
    }
}

#[test]
fn a_login_too_short_for_the_login_route_is_tried_on_a_request() {
    let sim = Simulator::start(Settings {
        account: Account {
            password: "short".to_owned(),
            ..Account::default()
        },
        ..Settings::default()
    });
    let url = sim.url();
    let variables = [("WG_EASY_URL", url.as_str()), ("WG_EASY_USERNAME", "admin")];
    let good = variables.into_iter().chain([("WG_EASY_PASSWORD", "short")]);
    assert_eq!(Checked::with(good).status("login"), "ok");
    assert_eq!(sim.password_checks(), 1);
    let bad = variables
        .into_iter()
        .chain([("WG_EASY_PASSWORD", "shorts")]);
    Checked::with(bad).assert_fails("login", "does not say which");
}
