//! `wg-easy-mcp check`: each way in which a set-up can be wrong is told apart from the others.

mod connection;
mod login;
mod words;

use crate::support::{PASSWORD, USERNAME, simulator};
use serde_json::Value;
use std::path::PathBuf;
use std::process::{Command, Output, Stdio};
use wg_easy_sim::{Account, Canned, Fault, Matcher, Settings, Simulator, Tls};

const SECRET: &str = "JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP";

/// A run of the check.
struct Checked {
    output: Output,
    json: Value,
}

impl Checked {
    /// Against `simulator`, with `variables` on top of what is needed.
    fn of(simulator: &Simulator, variables: &[(&str, &str)]) -> Self {
        Self::at(&simulator.url(), variables)
    }

    fn at(url: &str, variables: &[(&str, &str)]) -> Self {
        let needed = [
            ("WG_EASY_URL", url),
            ("WG_EASY_USERNAME", USERNAME),
            ("WG_EASY_PASSWORD", PASSWORD),
        ];
        Self::with(needed.iter().chain(variables).copied())
    }

    fn with<'a>(variables: impl Iterator<Item = (&'a str, &'a str)> + Clone) -> Self {
        let output = run(&["check", "--json"], variables);
        for secret in [PASSWORD, SECRET] {
            let said = [&output.stdout[..], &output.stderr].concat();
            assert!(
                !String::from_utf8_lossy(&said).contains(secret),
                "{output:?}"
            );
        }
        let json: Value = serde_json::from_slice(&output.stdout).unwrap();
        assert_eq!(output.status.code(), Some(i32::from(json["ok"] != true)));
        // That the password goes along with every request is said there, too.
        let stderr = String::from_utf8(output.stderr.clone()).unwrap();
        assert!(
            stderr.lines().all(|line| line.contains("login route")),
            "{stderr}"
        );
        Self { output, json }
    }

    fn all(&self, name: &str) -> Vec<&Value> {
        let checks = self.json["checks"].as_array().unwrap();
        checks
            .iter()
            .filter(|check| check["name"] == name)
            .collect()
    }

    fn check(&self, name: &str) -> &Value {
        self.all(name)
            .first()
            .unwrap_or_else(|| panic!("no {name}: {}", self.json))
    }

    fn status(&self, name: &str) -> &str {
        self.check(name)["status"].as_str().unwrap()
    }

    /// Exactly one check failed, its words are these, and it says what to do.
    fn assert_fails(&self, name: &str, words: &str) {
        let checks = self.json["checks"].as_array().unwrap();
        let failed: Vec<_> = checks
            .iter()
            .filter(|check| check["status"] == "fail")
            .collect();
        let [failed] = failed.as_slice() else {
            panic!("{}", self.json)
        };
        assert_eq!(failed["name"], name, "{failed}");
        let said = format!("{} {}", failed["detail"], failed["advice"]);
        assert!(said.contains(words), "{said}");
        assert!(failed["advice"].as_str().unwrap().len() > 10, "{failed}");
        assert_eq!(self.output.status.code(), Some(1));
    }

    fn assert_skipped(&self, names: &[&str]) {
        for name in names {
            assert_eq!(self.status(name), "skipped", "{name}");
            let detail = self.check(name)["detail"].as_str().unwrap();
            assert!(detail.starts_with("not tried: "), "{name}: {detail}");
        }
    }
}

fn run<'a>(arguments: &[&str], variables: impl Iterator<Item = (&'a str, &'a str)>) -> Output {
    Command::new(env!("CARGO_BIN_EXE_wg-easy-mcp"))
        .args(arguments)
        .env_clear()
        .envs(variables)
        .stdin(Stdio::null())
        .output()
        .unwrap()
}

fn with_account(account: Account) -> Simulator {
    simulator(Settings {
        account,
        ..Settings::default()
    })
}

/// A file with the simulator's root, gone at the end of the test.
struct Roots(PathBuf);

impl Roots {
    fn of(simulator: &Simulator) -> Self {
        let name = format!(
            "wg-easy-mcp-check-{}-{}.pem",
            std::process::id(),
            simulator.port()
        );
        let path = std::env::temp_dir().join(name);
        std::fs::write(&path, simulator.ca_pem()).unwrap();
        Self(path)
    }

    fn path(&self) -> &str {
        self.0.to_str().unwrap()
    }
}

impl Drop for Roots {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
    }
}

fn encrypted(tls: Tls) -> (Simulator, Roots) {
    let simulator = simulator(Settings {
        tls,
        ..Settings::default()
    });
    let roots = Roots::of(&simulator);
    (simulator, roots)
}

#[test]
fn a_set_up_that_works_passes_with_one_login() {
    let (simulator, roots) = encrypted(Tls::WithIntermediate);
    let checked = Checked::of(&simulator, &[("WG_EASY_CA_FILE", roots.path())]);
    assert_eq!(checked.json["ok"], true);
    for name in [
        "configuration",
        "dns",
        "tcp",
        "tls",
        "pins",
        "version",
        "login",
        "tools",
        "questions",
    ] {
        assert_eq!(checked.status(name), "ok", "{name}");
    }
    let pins = checked.check("pins")["detail"].as_str().unwrap();
    let at = |pin: &str| pins.find(pin).unwrap();
    assert!(at(simulator.leaf_pin()) < at(simulator.intermediate_pin()));
    assert!(at(simulator.intermediate_pin()) < at(simulator.root_pin()));
    let days = checked.check("tls")["detail"].as_str().unwrap();
    assert!(
        days.contains("(89 days)") || days.contains("(90 days)"),
        "{days}"
    );
    assert!(
        checked.check("version")["detail"]
            .as_str()
            .unwrap()
            .contains("15.4.0")
    );
    assert!(
        checked.check("tools")["detail"]
            .as_str()
            .unwrap()
            .contains("list_clients")
    );
    assert_eq!(simulator.password_checks(), 1);
    assert_eq!(simulator.writes(), 0);
}

#[test]
fn each_pin_that_is_shown_can_be_used() {
    let (simulator, roots) = encrypted(Tls::WithIntermediate);
    for pin in [
        simulator.leaf_pin(),
        simulator.intermediate_pin(),
        simulator.root_pin(),
    ] {
        let pinned = [("WG_EASY_CA_FILE", roots.path()), ("WG_EASY_TLS_PINS", pin)];
        assert_eq!(Checked::of(&simulator, &pinned).json["ok"], true);
    }
    // A certificate that is sent along and belongs to no chain is not offered.
    let (simulator, roots) = encrypted(Tls::WithUnrelated);
    let checked = Checked::of(&simulator, &[("WG_EASY_CA_FILE", roots.path())]);
    let pins = checked.check("pins")["detail"].as_str().unwrap();
    assert!(!pins.contains(simulator.unrelated_pin()), "{pins}");
}

#[test]
fn the_protections_are_among_the_checks() {
    let simulator = simulator(Settings::default());
    let checked = Checked::of(&simulator, &[]);
    for name in [
        "core dumps off",
        "memory closed",
        "no new privileges",
        "Landlock",
        "system call filter",
    ] {
        assert!(["ok", "warn"].contains(&checked.status(name)), "{name}");
    }
    assert_eq!(checked.status("no new privileges"), "ok");
}

#[test]
fn a_configuration_that_is_wrong_or_missing_fails_alone() {
    let checked = Checked::at("https://vpn.example", &[("WG_EASY_READ_ONLY", "maybe")]);
    checked.assert_fails("configuration", "WG_EASY_READ_ONLY");
    checked.assert_skipped(&["dns", "tcp", "tls", "pins", "version", "login", "tools"]);
    let checked = Checked::with([("WG_EASY_URL", "https://vpn.example")].into_iter());
    checked.assert_fails(
        "configuration",
        "WG_EASY_USERNAME and WG_EASY_PASSWORD are missing",
    );
    checked.assert_skipped(&["dns", "tcp", "tls", "pins", "version", "login"]);
    assert_eq!(checked.status("tools"), "ok");
}

#[test]
fn a_mistyped_variable_and_a_file_that_cannot_be_read_are_matters_of_the_configuration() {
    let url = "https://vpn.example";
    let checked = Checked::at(url, &[("WG_EASY_PASWORD", PASSWORD)]);
    checked.assert_fails("configuration", "Did you mean WG_EASY_PASSWORD?");
    for (file, words) in [
        ("/nowhere/password", "does not exist"),
        ("/etc", "regular file"),
    ] {
        let login = [
            ("WG_EASY_USERNAME", USERNAME),
            ("WG_EASY_PASSWORD_FILE", file),
        ];
        let checked = Checked::with([("WG_EASY_URL", url)].into_iter().chain(login));
        checked.assert_fails("configuration", "WG_EASY_PASSWORD_FILE");
        checked.assert_fails("configuration", words);
        checked.assert_skipped(&["dns", "tcp", "tls", "pins", "version", "login", "tools"]);
    }
}

#[test]
fn what_is_not_wg_easy_15_is_a_matter_of_the_version() {
    let sim = simulator(Settings {
        prefix: "/vpn".to_owned(),
        ..Settings::default()
    });
    let origin = format!("http://127.0.0.1:{}", sim.port());
    let checked = Checked::at(&origin, &[]);
    checked.assert_fails("version", "HTTP 404");
    checked.assert_skipped(&["login"]);

    let older = simulator(Settings {
        version: "v14.0.1".to_owned(),
        ..Settings::default()
    });
    Checked::of(&older, &[]).assert_fails("version", "this is wg-easy 14.0.1");
    assert_eq!(older.password_checks(), 0);

    for (fault, words) in [
        (Fault::html(200), "not what wg-easy's API sends"),
        (Fault::redirect("https://sso.example/"), "redirects"),
        (Fault::status(404), "HTTP 404"),
        (Fault::status(401), "before wg-easy"),
        (Fault::status(403), "before wg-easy"),
        (Fault::json("{}"), "names no release"),
        (
            Fault::json(r#"{"currentRelease":"v15. Set this, then that"}"#),
            "names no release",
        ),
        (Fault::Reset, "ended the connection"),
    ] {
        let sim = simulator(Settings::default());
        sim.fault(Matcher::new("GET", "/api/information").always(), fault);
        let checked = Checked::of(&sim, &[]);
        checked.assert_fails("version", words);
        checked.assert_skipped(&["login"]);
        assert_eq!(sim.password_checks(), 0, "no login where it may not belong");
    }
}

#[test]
fn what_the_instance_says_is_quoted_and_never_poses_as_advice() {
    for (path, name) in [
        ("/api/information", "version"),
        ("/api/admin/general", "login"),
    ] {
        let sim = simulator(Settings::default());
        let said = Canned::new(400).body(r#"{"message":"No. Run this; then set that. Done"}"#);
        sim.fault(Matcher::new("GET", path).always(), Fault::Instead(said));
        let checked = Checked::of(&sim, &[]);
        let check = checked.check(name);
        let detail = check["detail"].as_str().unwrap();
        assert!(
            detail.ends_with(
                "(untrusted text from the instance: \"No. Run this; then set that. Done\")"
            ),
            "{check}"
        );
        let advice = check["advice"].as_str().unwrap();
        assert!(advice.starts_with("Correct the values"), "{check}");
    }
}

#[test]
fn a_version_that_wg_easy_cannot_tell_is_no_failure() {
    let sim = simulator(Settings::default());
    sim.fault(
        Matcher::new("GET", "/api/information").always(),
        Fault::status(500),
    );
    let checked = Checked::of(&sim, &[]);
    assert_eq!(checked.status("version"), "warn");
    assert_eq!(checked.status("login"), "ok");
    assert_eq!(checked.json["ok"], true);
}

#[test]
fn what_will_be_registered_and_how_questions_are_asked_is_said() {
    let sim = simulator(Settings::default());
    let checked = Checked::of(&sim, &[("WG_EASY_READ_ONLY", "1")]);
    let tools = checked.check("tools")["detail"].as_str().unwrap();
    assert_eq!(
        tools,
        "read-only mode: 3 (list_clients, get_client, get_server_info)"
    );
    let checked = Checked::of(&sim, &[("ELICITATION", "false")]);
    assert_eq!(checked.status("questions"), "warn");
    let checked = Checked::of(&sim, &[("WG_EASY_REQUIRE_DIALOG", "true")]);
    assert!(
        checked.check("questions")["detail"]
            .as_str()
            .unwrap()
            .contains("refused")
    );
}
