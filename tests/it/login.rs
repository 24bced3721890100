//! What is said of a login that wg-easy refuses, and how often it is tried.

use crate::support::{Server, in_each_era, refusal, simulator, structured, with_clients};
use serde_json::json;
use wg_easy_sim::{Fault, Matcher, Role, Settings};

/// The seconds in which the next try is said to be possible.
fn next_try(said: &str) -> u64 {
    let (_, rest) = said.split_once("the next try is possible in ").unwrap();
    rest.split_once(" s").unwrap().0.parse().unwrap()
}

#[test]
fn twenty_calls_at_once_with_a_wrong_password_are_one_attempt() {
    in_each_era(|era| {
        let sim = with_clients(1);
        let mut server = Server::of(&sim)
            .era(era)
            .with("WG_EASY_PASSWORD", "a-wrong-password-1")
            .start();
        let hold = sim.hold(Matcher::any());
        let calls: Vec<_> = (0..20)
            .map(|n| match n % 3 {
                0 => ("list_clients", json!({})),
                1 => ("get_client", json!({"clientId": 1})),
                _ => ("disable_client", json!({"clientId": 1})),
            })
            .map(|(tool, arguments)| (tool, server.begin_call(tool, arguments)))
            .collect();
        hold.wait_arrived(1);
        hold.release();
        let mut remembered = 0;
        for (tool, id) in calls {
            let result = server.finish_call(id, tool);
            let said = refusal(&result);
            assert!(
                said.contains("HTTP 401") && said.contains("two-factor"),
                "{said}"
            );
            if said.contains("remembered") {
                remembered += 1;
                assert!((1..=10).contains(&next_try(said)), "{said}");
            }
        }
        assert_eq!(remembered, 19);
        assert_eq!((sim.requests().len(), sim.password_checks()), (1, 1));
        assert_eq!(sim.writes(), 0);
    });
}

#[test]
fn a_refusal_is_remembered_as_long_as_it_says_and_no_longer() {
    let sim = with_clients(1);
    let right = sim.account().password;
    sim.update_account(|account| account.password = "changed".to_owned());
    let mut server = Server::of(&sim).start();
    refusal(&server.call("list_clients", json!({})));
    sim.update_account(|account| account.password = right);
    let result = server.call("list_clients", json!({}));
    let wait = next_try(refusal(&result));
    assert_eq!(sim.requests().len(), 1);
    std::thread::sleep(std::time::Duration::from_secs(wait));
    structured(&server.call("list_clients", json!({})));
}

#[test]
fn only_a_refused_login_is_remembered() {
    let sim = with_clients(1);
    let mut server = Server::of(&sim).with("WG_EASY_AUTH", "basic").start();
    for status in [400, 403, 404, 422, 429, 500, 503] {
        sim.fault(Matcher::any(), Fault::status(status));
        refusal(&server.call("list_clients", json!({})));
        structured(&server.call("list_clients", json!({})));
    }
}

#[test]
fn an_account_that_may_not_is_told_from_a_wrong_password() {
    let sim = with_clients(1);
    let mut server = Server::of(&sim).with("WG_EASY_AUTH", "basic").start();
    let mut said = || refusal(&server.call("list_clients", json!({}))).to_owned();
    sim.update_account(|account| account.disabled = true);
    assert!(said().contains("the user is disabled"));
    sim.update_account(|account| account.disabled = false);
    sim.set_password_login_disabled(true);
    assert!(said().contains("password login"));
    sim.set_password_login_disabled(false);
    structured(&server.call("list_clients", json!({})));
    sim.update_account(|account| account.role = Role::Client);
    let result = server.call("get_server_info", json!({}));
    let error = structured(&result)["interface"]["error"].as_str().unwrap();
    assert!(error.contains("not an admin"), "{error}");
}

#[test]
fn a_second_factor_is_named_as_a_possible_cause() {
    let sim = with_clients(1);
    sim.update_account(|account| account.totp_secret = Some("JBSWY3DPEHPK3PXP".to_owned()));
    let mut server = Server::of(&sim).start();
    let result = server.call("list_clients", json!({}));
    assert!(
        refusal(&result).contains("two-factor authentication"),
        "{result}"
    );
}

#[test]
fn a_base_path_that_is_not_wg_easys_is_said_to_be_wrong() {
    let sim = with_clients(1);
    let mut server = Server::at(&format!("{}/elsewhere", sim.url())).start();
    let result = server.call("list_clients", json!({}));
    let said = refusal(&result);
    assert!(
        said.contains("path prefix") && !said.contains("elsewhere"),
        "{said}"
    );

    let sim = simulator(Settings {
        clients: 1,
        prefix: "/vpn".to_owned(),
        ..Settings::default()
    });
    let mut server = Server::at(&format!("{}///", sim.url())).start();
    structured(&server.call("list_clients", json!({})));
    let mut server = Server::at(&format!("http://127.0.0.1:{}", sim.port())).start();
    let result = server.call("list_clients", json!({}));
    assert!(refusal(&result).contains("HTTP 404"), "{result}");
}
