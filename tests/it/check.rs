//! `wg-easy-mcp check`: each way in which a set-up can be wrong is told apart from the others.

use crate::support::{PASSWORD, USERNAME, simulator};
use rustix::pty::{OpenptFlags, openpt, ptsname, unlockpt};
use rustix::termios::{Winsize, tcsetwinsize};
use serde_json::Value;
use std::fs::File;
use std::io::Read as _;
use std::path::PathBuf;
use std::process::{Command, Output, Stdio};
use std::time::Duration;
use wg_easy_sim::{Account, Canned, Era, Fault, Matcher, Role, Settings, Simulator, Tls};

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
fn a_host_without_an_address_is_a_matter_of_dns() {
    let checked = Checked::at("https://nowhere.invalid", &[]);
    checked.assert_fails("dns", "nowhere.invalid:443");
    checked.assert_skipped(&["tcp", "tls", "pins", "version", "login"]);
}

#[test]
fn a_port_where_nothing_listens_is_a_matter_of_tcp() {
    let gone = simulator(Settings::default());
    let url = gone.url();
    gone.stop();
    let checked = Checked::at(&url, &[]);
    checked.assert_fails("tcp", "nothing listens there");
    checked.assert_skipped(&["tls", "version", "login"]);
}

#[test]
fn each_fault_of_a_certificate_has_its_own_words_and_shows_the_pins_that_were_seen() {
    for (tls, words) in [
        (Tls::Expired, "expired on"),
        (Tls::NotYetValid, "is not valid before"),
        (Tls::WrongName, "is for another host"),
        (Tls::UnknownIssuer, "no trusted authority"),
        (Tls::SelfSigned, "no trusted authority"),
    ] {
        let (simulator, roots) = encrypted(tls);
        let trusted = [("WG_EASY_CA_FILE", roots.path())];
        let trusted = if tls == Tls::SelfSigned {
            &[][..]
        } else {
            &trusted
        };
        let checked = Checked::of(&simulator, trusted);
        checked.assert_fails("tls", words);
        checked.assert_skipped(&["version", "login"]);
        let pins = checked.check("pins");
        assert_eq!(pins["status"], "warn");
        assert!(
            pins["detail"]
                .as_str()
                .unwrap()
                .contains(simulator.leaf_pin()),
            "{pins}"
        );
        assert_eq!(simulator.requests().len(), 0, "nothing was sent");
    }
}

#[test]
fn a_pin_that_does_not_match_is_a_matter_of_tls() {
    let (simulator, roots) = encrypted(Tls::Valid);
    let (other, _roots) = encrypted(Tls::Valid);
    let variables = [
        ("WG_EASY_CA_FILE", roots.path()),
        ("WG_EASY_TLS_PINS", other.leaf_pin()),
    ];
    Checked::of(&simulator, &variables).assert_fails("tls", "no key matches WG_EASY_TLS_PINS");
    let variables = [
        ("WG_EASY_INSECURE_TLS", "true"),
        ("WG_EASY_TLS_PINS", other.leaf_pin()),
    ];
    Checked::of(&simulator, &variables).assert_fails("tls", "no key matches WG_EASY_TLS_PINS");
    assert_eq!(simulator.requests().len(), 0, "nothing was sent");
}

#[test]
fn validation_that_is_off_works_with_warnings() {
    let (simulator, _roots) = encrypted(Tls::SelfSigned);
    let checked = Checked::of(&simulator, &[("WG_EASY_INSECURE_TLS", "true")]);
    assert_eq!(checked.json["ok"], true);
    assert_eq!(checked.status("tls"), "warn");
    let warned = checked
        .all("configuration")
        .iter()
        .any(|check| check["status"] == "warn");
    assert!(warned, "{}", checked.json);
}

#[test]
fn plain_http_where_tls_is_expected_is_a_matter_of_tls() {
    let simulator = simulator(Settings::default());
    let url = format!("https://127.0.0.1:{}", simulator.port());
    let checked = Checked::at(&url, &[]);
    checked.assert_fails("tls", "does not speak TLS");
    checked.assert_skipped(&["pins", "version", "login"]);
}

#[test]
fn tls_where_plain_http_is_expected_is_named() {
    let (simulator, _roots) = encrypted(Tls::Valid);
    let url = format!("http://127.0.0.1:{}", simulator.port());
    let checked = Checked::at(&url, &[]);
    checked.assert_fails("version", "speaks TLS");
    checked.assert_fails("version", "begin with https:");
    checked.assert_skipped(&["tls", "pins", "login"]);
    assert_eq!(simulator.requests().len(), 0, "nothing was sent");
    // The same answer as of a web server that wants TLS, from one that has none.
    let sim = self::simulator(Settings::default());
    let refused = Matcher::new("GET", "/api/information").always();
    sim.fault(refused, Fault::status(400));
    Checked::of(&sim, &[]).assert_fails("version", "HTTP 400");
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

#[test]
fn people_get_words_and_no_signs_where_there_is_no_terminal() {
    let sim = with_account(Account {
        disabled: true,
        ..Account::default()
    });
    let url = sim.url();
    let variables = [
        ("WG_EASY_URL", url.as_str()),
        ("WG_EASY_USERNAME", USERNAME),
        ("WG_EASY_PASSWORD", PASSWORD),
    ];
    let output = run(&["check"], variables.into_iter());
    assert_eq!(output.status.code(), Some(1));
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(
        text.lines().any(|line| line.starts_with("ok       tcp ")),
        "{text}"
    );
    assert!(
        text.lines().any(|line| line.starts_with("FAIL     login ")),
        "{text}"
    );
    assert!(text.contains("what to do: Enable the user"), "{text}");
    assert!(text.ends_with("One check failed: login.\n"), "{text}");
    assert!(text.is_ascii(), "{text}");
    assert!(
        !text.contains(PASSWORD) && !text.contains(USERNAME),
        "{text}"
    );
}

/// What a terminal of so many columns shows of a check.
fn on_a_terminal<'a>(
    columns: u16,
    variables: impl Iterator<Item = (&'a str, &'a str)>,
) -> (Option<i32>, String) {
    let terminal = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
    unlockpt(&terminal).unwrap();
    let size = Winsize {
        ws_row: 24,
        ws_col: columns,
        ws_xpixel: 0,
        ws_ypixel: 0,
    };
    tcsetwinsize(&terminal, size).unwrap();
    let name = ptsname(&terminal, Vec::new()).unwrap();
    let other_end = File::options().write(true).open(name.to_str().unwrap());
    let mut command = Command::new(env!("CARGO_BIN_EXE_wg-easy-mcp"));
    command.arg("check").env_clear().envs(variables);
    command.stdin(Stdio::null()).stdout(other_end.unwrap());
    let mut child = command.spawn().unwrap();
    // The last one to hold the other end is then the child.
    drop(command);
    let mut shown = Vec::new();
    // A terminal whose other end is closed gives an error, and what was written before it.
    let _ = File::from(terminal).read_to_end(&mut shown);
    let shown = String::from_utf8(shown).unwrap().replace("\r\n", "\n");
    (child.wait().unwrap().code(), shown)
}

#[test]
fn people_at_a_terminal_get_signs_and_lines_that_fit() {
    let (sim, roots) = encrypted(Tls::WithIntermediate);
    let url = sim.url();
    let variables = [
        ("WG_EASY_URL", url.as_str()),
        ("WG_EASY_USERNAME", USERNAME),
        ("WG_EASY_PASSWORD", "something-else-entirely"),
        ("WG_EASY_CA_FILE", roots.path()),
    ];
    for columns in [80, 132] {
        let (code, shown) = on_a_terminal(columns, variables.into_iter());
        assert_eq!(code, Some(1));
        let widest = shown.lines().map(|line| line.chars().count()).max();
        assert!(widest <= Some(columns.into()), "{shown}");
        assert!(shown.contains("\n✓  tls "), "{shown}");
        assert!(shown.contains("\n✗  login "), "{shown}");
        assert!(shown.contains(" → It is not two-factor"), "{shown}");
    }
    // One that does not know how wide it is.
    let (_, shown) = on_a_terminal(0, variables.into_iter());
    assert!(
        shown.lines().all(|line| line.chars().count() <= 80),
        "{shown}"
    );
}
