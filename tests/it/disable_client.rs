//! `disable_client`: it asks nobody, and tells the truth about what became of the change.

use crate::support::{Server, data, in_each_era, refusal, structured, with_clients};
use serde_json::json;
use wg_easy_sim::{Canned, Fault, Matcher, Simulator};

const DISABLE: &str = "/api/client/1/disable";

fn is_enabled(sim: &Simulator) -> bool {
    sim.client(1).unwrap().enabled
}

#[test]
fn a_client_is_disabled_at_once_and_nobody_is_asked() {
    in_each_era(|era| {
        for capabilities in [
            crate::support::Capabilities::None,
            crate::support::Capabilities::Form,
        ] {
            let sim = with_clients(2);
            let mut server = Server::of(&sim).era(era).capabilities(capabilities).start();
            let result = server.call("disable_client", json!({"clientId": "1"}));
            assert_eq!(
                *structured(&result),
                json!({"untrusted": true, "source": "wg-easy", "success": true, "clientId": 1})
            );
            assert_eq!(data(&result), *structured(&result));
            assert!(!is_enabled(&sim) && sim.client(2).unwrap().enabled);
            assert_eq!(sim.writes(), 1);
            server.assert_silent();
        }
    });
}

#[test]
fn disabling_what_is_disabled_is_no_error() {
    let sim = with_clients(1);
    let mut server = Server::of(&sim).start();
    for _ in 0..2 {
        let result = server.call("disable_client", json!({"clientId": 1}));
        assert_eq!(structured(&result)["success"], true);
    }
    assert!(!is_enabled(&sim));
}

#[test]
fn a_client_that_does_not_exist_is_named_and_nothing_is_sent() {
    let sim = with_clients(1);
    let mut server = Server::of(&sim).start();
    let result = server.call("disable_client", json!({"clientId": 4711}));
    let said = refusal(&result);
    assert!(
        said.contains("no client 4711") && said.contains("Nothing was changed"),
        "{said}"
    );
    assert_eq!(sim.writes(), 0);
}

#[test]
fn nothing_is_sent_when_the_client_cannot_be_read_first() {
    let sim = with_clients(1);
    let mut server = Server::of(&sim).start();
    for fault in [
        Fault::status(500),
        Fault::html(200),
        Fault::broken_json(),
        Fault::redirect("/login"),
    ] {
        sim.fault(Matcher::new("GET", "/api/client/1"), fault);
        refusal(&server.call("disable_client", json!({"clientId": 1})));
    }
    assert_eq!(sim.writes(), 0);
    assert!(is_enabled(&sim));
}

#[test]
fn a_change_that_did_not_happen_is_said_not_to_have_happened() {
    let sim = with_clients(1);
    let mut server = Server::of(&sim).start();
    for (fault, said) in [
        // It may have been applied, so it is looked at.
        (Fault::Reset, "is not disabled"),
        (Fault::status(500), "is not disabled"),
        (Fault::status(503), "is not disabled"),
        (Fault::html(502), "is not disabled"),
        (Fault::html(200), "is not disabled"),
        (Fault::empty(), "is not disabled"),
        (Fault::json("{\"success\":false}"), "is not disabled"),
        (Fault::json("[]"), "is not disabled"),
        (Fault::broken_json(), "is not disabled"),
        (Fault::json("{}"), "is not disabled"),
        // It cannot have been.
        (Fault::status(400), "Nothing was changed. "),
        (Fault::status(403), "Nothing was changed. "),
        (Fault::status(404), "Nothing was changed. "),
        (Fault::redirect("/login"), "Nothing was changed. "),
    ] {
        let what = format!("{fault:?}");
        let handle = sim.fault(Matcher::new("POST", DISABLE), fault);
        let result = server.call("disable_client", json!({"clientId": 1}));
        assert!(refusal(&result).contains(said), "{what}: {result}");
        assert_eq!(handle.hits(), 1, "{what}");
        assert!(is_enabled(&sim), "{what}");
    }
    assert_eq!(sim.applied(), 0);
    structured(&server.call("disable_client", json!({"clientId": 1})));
}

/// Applied, and then something goes wrong.
fn after_apply() -> Vec<Fault> {
    vec![
        Fault::ResetAfterApply,
        Fault::status_after_apply(500),
        Fault::status_after_apply(504),
        Fault::AfterApply(Canned::new(200).content_type("text/html").body("<html>")),
        Fault::AfterApply(
            Canned::new(200)
                .content_type("application/json")
                .body("{\"ok\":1}"),
        ),
        Fault::CutBody(3),
        Fault::DeclaredLength(9 << 20),
        Fault::ContentType("text/plain".to_owned()),
    ]
}

#[test]
fn a_change_that_happened_in_spite_of_an_error_is_said_to_have_happened() {
    let sim = with_clients(1);
    let mut server = Server::of(&sim).start();
    for fault in after_apply() {
        let what = format!("{fault:?}");
        sim.update_client(1, |client| client.enabled = true);
        let before = sim.writes();
        let handle = sim.fault(Matcher::new("POST", DISABLE), fault);
        let result = server.call("disable_client", json!({"clientId": 1}));
        let answer = structured(&result);
        assert_eq!(answer["success"], true, "{what}");
        let warning = answer["warning"].as_str().unwrap();
        assert!(
            warning.contains("reading back shows that client 1 is disabled"),
            "{what}"
        );
        assert_eq!(handle.hits(), 1, "{what}");
        assert!(!is_enabled(&sim), "{what}");
        assert_eq!(
            sim.writes(),
            before + 1,
            "a change is never sent twice: {what}"
        );
    }
}

#[test]
fn a_tunnel_that_cannot_be_reloaded_is_told_from_a_change_that_failed() {
    let sim = with_clients(1);
    sim.set_reload_fails(true);
    let mut server = Server::of(&sim).start();
    let result = server.call("disable_client", json!({"clientId": 1}));
    assert!(structured(&result)["warning"].is_string(), "{result}");
    assert!(!is_enabled(&sim));
}

#[test]
fn a_change_that_cannot_be_read_back_is_said_to_be_unknown() {
    let sim = with_clients(1);
    let mut server = Server::of(&sim).start();
    let unreadable = || {
        vec![
            Fault::status(500),
            Fault::html(200),
            Fault::broken_json(),
            Fault::json("{\"id\":1}"),
            Fault::json("{\"enabled\":\"false\"}"),
        ]
    };
    for change in [Fault::status(500), Fault::ResetAfterApply] {
        for reading in unreadable() {
            let what = format!("{change:?}, {reading:?}");
            sim.fault(Matcher::new("POST", DISABLE), change.clone());
            // The first reading is the one before the change.
            sim.fault(Matcher::new("GET", "/api/client/1").skip(1), reading);
            let result = server.call("disable_client", json!({"clientId": 1}));
            let said = refusal(&result);
            assert!(said.contains("could not be determined"), "{what}: {said}");
            assert!(said.contains("get_client"), "{what}: {said}");
            sim.clear_faults();
        }
    }
}

#[test]
fn a_client_that_went_meanwhile_is_said_to_be_gone() {
    let sim = with_clients(1);
    let mut server = Server::of(&sim).start();
    sim.fault(Matcher::new("POST", DISABLE), Fault::ResetAfterApply);
    let hold = sim.hold_answer(Matcher::new("POST", DISABLE));
    let id = server.begin_call("disable_client", json!({"clientId": 1}));
    hold.wait_arrived(1);
    sim.remove_client(1);
    hold.release();
    let result = server.finish_call(id, "disable_client");
    assert!(refusal(&result).contains("The client is gone"), "{result}");
}

#[test]
fn a_call_that_is_cancelled_does_not_take_its_change_back() {
    let sim = with_clients(1);
    let mut server = Server::of(&sim).start();
    let hold = sim.hold(Matcher::new("POST", DISABLE));
    let id = server.begin_call("disable_client", json!({"clientId": 1}));
    hold.wait_arrived(1);
    server.cancel(id);
    hold.release();
    // Changes go one after the other, so this one comes after the cancelled one.
    sim.add_client("other");
    structured(&server.call("disable_client", json!({"clientId": 2})));
    assert!(!is_enabled(&sim));
}
