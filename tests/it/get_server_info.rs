//! `get_server_info`: three sections, each by itself.

use crate::support::{Server, in_each_era, structured, with_clients};
use serde_json::{Value, json};
use wg_easy_sim::{Edit, Fault, Matcher};

const SECTIONS: [(&str, &str); 3] = [
    ("information", "/api/information"),
    ("general", "/api/admin/general"),
    ("interface", "/api/admin/interface"),
];

#[test]
fn the_sections_are_what_wg_easy_says_of_itself() {
    let sim = with_clients(0);
    in_each_era(|era| {
        let mut server = Server::of(&sim).era(era).start();
        let result = server.call("get_server_info", json!({}));
        let answer = structured(&result);
        assert_eq!(answer["information"]["currentRelease"], "v15.4.0");
        assert_eq!(answer["general"]["sessionTimeout"], 3600);
        assert_eq!(answer["interface"]["publicKey"], sim.server_public_key());
    });
}

#[test]
fn a_section_that_fails_says_why_in_its_own_place() {
    let sim = with_clients(0);
    let mut server = Server::of(&sim).start();
    for (failing, path) in SECTIONS {
        for fault in [
            Fault::status(500),
            Fault::status(404),
            Fault::html(200),
            Fault::json("[1]"),
            Fault::broken_json(),
            Fault::redirect("/login"),
            Fault::CutBody(5),
        ] {
            let what = format!("{failing}: {fault:?}");
            sim.fault(Matcher::new("GET", path), fault);
            let result = server.call("get_server_info", json!({}));
            for (name, _) in SECTIONS {
                let section = structured(&result)[name].as_object().unwrap();
                let error = section.get("error").and_then(Value::as_str);
                assert_eq!(error.is_some(), name == failing, "{what}: {result}");
                assert_eq!(section.len() == 1, name == failing, "{what}: {result}");
                assert!(
                    error.is_none_or(|error| error.contains("heck")),
                    "{what}: {result}"
                );
            }
        }
    }
}

#[test]
fn the_sections_are_fetched_at_the_same_time() {
    let sim = with_clients(0);
    let mut server = Server::of(&sim).start();
    // The first call finds out whether the login is good; the sections wait for it.
    server.call("get_server_info", json!({}));
    let hold = sim.hold(Matcher::any().times(3));
    let id = server.begin_call("get_server_info", json!({}));
    hold.wait_arrived(3);
    hold.release();
    structured(&server.finish_call(id, "get_server_info"));
}

#[test]
fn the_release_is_shown_also_where_the_login_is_refused() {
    let sim = with_clients(0);
    sim.update_account(|account| account.password = "another one".to_owned());
    let mut server = Server::of(&sim).start();
    let result = server.call("get_server_info", json!({}));
    let answer = structured(&result);
    assert_eq!(answer["information"]["currentRelease"], "v15.4.0");
    for name in ["general", "interface"] {
        let error = answer[name]["error"].as_str().unwrap();
        assert!(error.contains("HTTP 401"), "{error}");
    }
}

#[test]
fn the_password_of_the_metrics_is_redacted_and_an_absent_one_stays_absent() {
    let sim = with_clients(0);
    let mut server = Server::of(&sim).start();
    let result = server.call("get_server_info", json!({}));
    assert_eq!(
        structured(&result)["general"]["metricsPassword"],
        Value::Null
    );
    sim.fault(
        Matcher::new("GET", "/api/admin/general"),
        Fault::Edit(Edit::field("metricsPassword", "\"$argon2id$v=19$hash\"")),
    );
    sim.fault(
        Matcher::new("GET", "/api/admin/interface"),
        Fault::Edit(Edit::field("privateKey", "\"sEcReT+key=\"")),
    );
    let result = server.call("get_server_info", json!({}));
    assert_eq!(
        structured(&result)["general"]["metricsPassword"],
        "[redacted]"
    );
    assert_eq!(structured(&result)["interface"]["privateKey"], "[redacted]");
    assert!(!result.to_string().contains("argon2"));
    assert!(!result.to_string().contains("sEcReT"));
}

#[test]
fn a_long_changelog_is_shortened_and_the_answer_says_so() {
    let sim = with_clients(0);
    let mut server = Server::of(&sim).start();
    let changelog = serde_json::to_string(&"ÄÖ".repeat(60_000)).unwrap();
    sim.fault(
        Matcher::new("GET", "/api/information"),
        Fault::Edit(Edit::field("latestRelease.changelog", &changelog)),
    );
    let result = server.call("get_server_info", json!({}));
    assert!(crate::support::text(&result).chars().count() <= 60_000);
    let answer = structured(&result);
    let cut = &answer["truncated"];
    assert_eq!(cut.as_array().unwrap().len(), 1, "{cut}");
    assert_eq!(cut[0]["field"], "information.latestRelease.changelog");
    assert_eq!(cut[0]["total"], 120_000);
    let kept = answer["information"]["latestRelease"]["changelog"]
        .as_str()
        .unwrap();
    assert_eq!(cut[0]["kept"], kept.chars().count());
    assert!(kept.chars().count() > 50_000);
}
