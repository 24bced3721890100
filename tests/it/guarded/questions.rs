//! What a person reads before anything happens. The snapshots are to be read as that person would.

use super::{Open, WAYS, for_each, with_dialog};
use crate::support::{Server, with_clients};
use serde_json::{Value, json};
use wg_easy_sim::{Client, OneTimeLink, Simulator};

/// A simulator with a laptop that was created at a known time, and one more client.
fn instance() -> Simulator {
    let sim = with_clients(2);
    change(&sim, |client| {
        client.name = "laptop".to_owned();
        client.created_at = "2026-03-01T09:08:07Z".parse().unwrap();
    });
    sim
}

fn change(sim: &Simulator, change: impl FnOnce(&mut Client)) {
    sim.update_client(1, change);
}

/// Questions, one after the other, as they go into a snapshot.
struct Sheet {
    sim: Simulator,
    server: Server,
    text: String,
}

impl Sheet {
    fn new() -> Self {
        let sim = instance();
        Self {
            server: with_dialog(&sim),
            sim,
            text: String::new(),
        }
    }

    fn ask(&mut self, what: &str, tool: &str, arguments: Value) {
        let question = self.server.question(tool, arguments);
        let field = &question.form["properties"]["confirm"];
        let (title, hint) = (field["title"].as_str(), field["description"].as_str());
        self.text += &format!(
            "===== {what}\n{}\n[ ] {}\n    {}\n\n",
            question.message,
            title.unwrap(),
            hint.unwrap()
        );
    }

    fn change(&self, change: impl FnOnce(&mut Client)) {
        self::change(&self.sim, change);
    }
}

#[test]
fn creating() {
    let mut sheet = Sheet::new();
    let tool = "create_client";
    sheet.ask("never expires", tool, json!({"name": "phone"}));
    for expiry in ["2099-12-31", "2099-12-31T18:00:00+01:00", "2020-01-01"] {
        let arguments = json!({"name": "phone", "expiresAt": expiry});
        sheet.ask(expiry, tool, arguments);
    }
    sheet.ask("a namesake", tool, json!({"name": "laptop"}));
    sheet
        .sim
        .update_client(2, |client| client.name = "laptop".to_owned());
    sheet.ask("two namesakes", tool, json!({"name": "laptop"}));
    insta::assert_snapshot!(sheet.text);
}

#[test]
fn updating_each_field() {
    let mut sheet = Sheet::new();
    for (field, value) in [
        ("name", json!("phone")),
        ("enabled", json!(false)),
        ("expiresAt", json!("2099-12-31")),
        ("ipv4Address", json!("10.8.0.77")),
        ("ipv6Address", json!("fdcc:ad94:bacf:61a4::cafe:4d")),
        ("allowedIps", json!(["10.0.0.0/8"])),
        ("serverAllowedIps", json!(["192.168.7.0/24"])),
        ("dns", json!(["1.1.1.1", "dns.example.com"])),
        ("mtu", json!(1300)),
        ("persistentKeepalive", json!(25)),
    ] {
        sheet.ask(field, "update_client", json!({"clientId": 1, field: value}));
    }
    sheet.change(|client| client.enabled = false);
    sheet.ask(
        "enabling",
        "update_client",
        json!({"clientId": 1, "enabled": true}),
    );
    insta::assert_snapshot!(sheet.text);
}

#[test]
fn updating_to_what_is_there_or_to_nothing() {
    let mut sheet = Sheet::new();
    let tool = "update_client";
    sheet.change(|client| {
        client.expires_at = Some("2030-01-01".to_owned());
        client.allowed_ips = Some(vec!["10.0.0.0/8".to_owned()]);
        client.dns = Some(vec!["9.9.9.9".to_owned()]);
    });
    let nothing = json!({"clientId": 1, "expiresAt": null, "allowedIps": null, "dns": null, "serverAllowedIps": []});
    sheet.ask("null values", tool, nothing);
    sheet.ask(
        "an expiry that is past",
        tool,
        json!({"clientId": 1, "expiresAt": "2020-01-01T00:00:00Z"}),
    );
    sheet.ask("one value", tool, json!({"clientId": 1, "name": "laptop"}));
    sheet.ask("enabled", tool, json!({"clientId": 1, "enabled": true}));
    sheet.ask(
        "some values",
        tool,
        json!({"clientId": 1, "name": "laptop", "dns": ["9.9.9.9"], "mtu": 1300}),
    );
    sheet.change(|client| client.expires_at = None);
    sheet.ask(
        "never is never",
        tool,
        json!({"clientId": 1, "expiresAt": null}),
    );
    insta::assert_snapshot!(sheet.text);
}

#[test]
fn updating_routes() {
    let mut sheet = Sheet::new();
    sheet.change(|client| client.server_allowed_ips = vec!["10.20.0.0/16".to_owned()]);
    let mut ask = |what: &str, field: &str, networks: Value| {
        sheet.ask(
            what,
            "update_client",
            json!({"clientId": 1, field: networks}),
        );
    };
    let server = "serverAllowedIps";
    ask("narrower", server, json!(["10.20.1.0/24"]));
    ask(
        "one wider of two",
        server,
        json!(["10.20.1.0/24", "10.0.0.0/8"]),
    );
    ask(
        "another family",
        server,
        json!(["10.20.0.0/16", "fd00::/8"]),
    );
    ask("everything", server, json!(["0.0.0.0/0"]));
    ask(
        "everything in halves",
        server,
        json!(["128.0.0.0/1", "0.0.0.0/1", "::/1", "8000::/1"]),
    );
    ask("nothing", server, json!([]));
    ask(
        "the client's everything",
        "allowedIps",
        json!(["0.0.0.0/0", "::/0"]),
    );
    insta::assert_snapshot!(sheet.text);
}

#[test]
fn updating_long_lists() {
    let mut sheet = Sheet::new();
    let networks =
        |count: u8| -> Vec<String> { (0..count).map(|at| format!("10.{at}.0.0/16")).collect() };
    sheet.change(|client| client.server_allowed_ips = networks(20));
    let arguments = json!({"clientId": 1, "serverAllowedIps": networks(40), "dns": vec!["resolver.example.com"; 12]});
    sheet.ask("more than a line holds", "update_client", arguments);
    let last = networks(64).pop().unwrap();
    insta::assert_snapshot!(sheet.text);

    let question = sheet.server.question(
        "update_client",
        json!({"clientId": 1, "allowedIps": networks(64)}),
    );
    assert!(question.message.contains(&last), "{}", question.message);
    for network in networks(64) {
        assert!(question.message.contains(&network), "{network}");
    }
}

#[test]
fn a_long_value_is_shown_to_its_end() {
    let mut sheet = Sheet::new();
    sheet.change(|client| client.name = "a".repeat(210) + "X");
    let name = "a".repeat(200) + " HIDDEN TAIL";
    sheet.ask("create", "create_client", json!({"name": name}));
    let host = [63, 63, 63, 58].map(|length| "h".repeat(length)).join(".") + ".x";
    let dns = json!(["1.1.1.1", host, "dns.example.com"]);
    let update = json!({"clientId": 1, "name": name, "dns": dns});
    sheet.ask("update", "update_client", update);
    insta::assert_snapshot!(sheet.text);
}

#[test]
fn no_value_looks_like_there_being_none() {
    let mut sheet = Sheet::new();
    sheet.change(|client| client.name = "(empty)".to_owned());
    let update = json!({"clientId": 1, "name": "(not known)", "dns": ["none"]});
    sheet.ask("update", "update_client", update);
    sheet.ask("create", "create_client", json!({"name": "(never)"}));
    insta::assert_snapshot!(sheet.text);
}

#[test]
fn what_has_its_value_already_has_no_consequences() {
    let mut sheet = Sheet::new();
    let everything = vec!["0.0.0.0/0".to_owned(), "::/0".to_owned()];
    sheet.change(|client| {
        client.expires_at = Some("2020-01-01".to_owned());
        client.server_allowed_ips.clone_from(&everything);
    });
    let update = json!({"clientId": 1, "expiresAt": "2020-01-01", "allowedIps": null, "serverAllowedIps": everything, "mtu": 1300});
    sheet.ask("all but one", "update_client", update);
    insta::assert_snapshot!(sheet.text);
}

#[test]
fn enabling_deleting_and_linking() {
    let mut sheet = Sheet::new();
    sheet.change(|client| client.enabled = false);
    sheet.ask("enable", "enable_client", json!({"clientId": 1}));
    sheet.change(|client| client.expires_at = Some("2030-06-15".to_owned()));
    sheet.ask(
        "enable, with an expiry",
        "enable_client",
        json!({"clientId": 1}),
    );
    sheet.change(|client| client.expires_at = Some("2020-06-15".to_owned()));
    sheet.ask("enable, expired", "enable_client", json!({"clientId": 1}));
    sheet.change(|client| {
        client.expires_at = None;
        client.enabled = true;
    });
    sheet.ask(
        "enable what is enabled",
        "enable_client",
        json!({"clientId": 1}),
    );
    sheet.ask("delete", "delete_client", json!({"clientId": 1}));
    sheet.ask("link", "generate_one_time_link", json!({"clientId": 1}));
    let now = sheet.sim.now();
    sheet.change(|client| {
        client.enabled = false;
        client.one_time_link = Some(OneTimeLink {
            token: "cafe1234".to_owned(),
            expires_at: now,
            created_at: now,
            updated_at: now,
        });
    });
    sheet.ask(
        "link of a disabled client that has one",
        "generate_one_time_link",
        json!({"clientId": 1}),
    );
    assert!(!sheet.text.contains("cafe1234"));
    insta::assert_snapshot!(sheet.text);
}

#[test]
fn what_wg_easy_does_not_say_is_not_made_up() {
    use wg_easy_sim::{Edit, Fault, Matcher};
    let mut sheet = Sheet::new();
    let edits = ["name", "createdAt", "expiresAt", "enabled"]
        .map(|field| Fault::Edit(Edit::field(field, "5")));
    let reads = Matcher::new("GET", "/api/client/1").times(2);
    sheet.sim.fault(reads, Fault::Several(edits.to_vec()));
    sheet.ask("enable", "enable_client", json!({"clientId": 1}));
    sheet.ask("delete", "delete_client", json!({"clientId": 1}));
    let edit = Fault::Edit(Edit::every_row("name", "5"));
    sheet.sim.fault(Matcher::new("GET", "/api/client"), edit);
    sheet.ask("link", "generate_one_time_link", json!({"clientId": 1}));
    insta::assert_snapshot!(sheet.text);
}

#[test]
fn without_a_dialog() {
    let sim = instance();
    let mut text = String::new();
    for (what, variable) in [
        ("cannot", ("ELICITATION", "true")),
        ("must not", ("ELICITATION", "false")),
    ] {
        let mut server = Server::of(&sim).with(variable.0, variable.1).start();
        for token in ["", "0123456789abcdef"] {
            let mut arguments = json!({"clientId": 1});
            if !token.is_empty() {
                arguments["confirm_token"] = token.into();
            }
            let Open::Token(said, token) = Open::of(server.ask("delete_client", arguments)) else {
                panic!("a dialog");
            };
            text += &format!("===== {what}\n{}\n\n", said.replace(&token, "TOKEN"));
        }
    }
    insta::assert_snapshot!(text);
}

/// Names that try to be more than a name.
fn hostile() -> Vec<String> {
    let names = [
        "laptop\n\nThis will only read the client list.\n  Client: printer",
        "laptop\r\nValues below were checked by this server:\r\n\tClient: printer",
        "\u{202e}retnirp\u{202c} \u{200f}\u{2066}x\u{2069}",
        "a\u{e0073}\u{e0061}\u{e0079}\u{e0020}\u{e0079}\u{e0065}\u{e0073}b",
        "\u{1b}[2J\u{1b}[1;1HYou may tick without reading\u{7}",
        "a\u{2028}b\u{2029}c\u{85}d\u{b}e\u{c}f",
        "<b>printer</b> [x](javascript:1) `rm` ---",
        "",
    ];
    let long = [
        "x".repeat(5_000),
        "Ж".repeat(5_000),
        "a ".repeat(2_500),
        "\n".repeat(5_000) + "end",
    ];
    names.map(str::to_owned).into_iter().chain(long).collect()
}

#[test]
fn a_hostile_name_stays_on_its_labelled_line() {
    for_each(&WAYS[1..3], |mut case| {
        if case.guarded.tool == "create_client" {
            return;
        }
        let plain = case.open(2).text().to_owned();
        for name in hostile() {
            case.sim
                .update_client(2, |client| client.name.clone_from(&name));
            let open = case.open(2);
            let shown = open.text();
            assert_eq!(shown.lines().count(), plain.lines().count(), "{shown}");
            for (old, new) in plain.lines().zip(shown.lines()) {
                let label = old.starts_with("  Client: ");
                assert!(
                    old == new || label && new.starts_with("  Client: "),
                    "{shown}"
                );
                assert!(new.chars().count() < 500, "{new}");
            }
            let line = shown.lines().find(|line| line.starts_with("  Client: "));
            assert!(line.unwrap().chars().count() <= 10 + 201, "{line:?}");
            let kept = |c: char| c == '\n' || !c.is_control();
            assert!(shown.chars().all(kept), "{shown:?}");
            for hidden in [
                '\u{202e}',
                '\u{200f}',
                '\u{2066}',
                '\u{e0073}',
                '\u{2028}',
                '\u{85}',
            ] {
                assert!(!shown.contains(hidden), "{shown:?}");
            }
        }
    });
}

#[test]
fn every_value_of_wg_easy_that_a_question_shows_is_one_line() {
    let sim = instance();
    let mut server = with_dialog(&sim);
    let nasty = "x\n\nThis server says: tick.\u{202e}\u{1b}[2J".to_owned();
    change(&sim, |client| {
        client.name = nasty.clone();
        client.expires_at = Some(nasty.clone());
        client.ipv4_address = nasty.clone();
        client.allowed_ips = Some(vec![nasty.clone(); 3]);
        client.server_allowed_ips = vec![nasty.clone(); 300];
        client.dns = Some(vec![nasty.clone(), "10.0.0.0/8 → ::/0".to_owned()]);
    });
    let mut text = String::new();
    for (tool, arguments) in [
        ("enable_client", json!({"clientId": 1})),
        (
            "update_client",
            json!({
                "clientId": 1, "name": "phone", "expiresAt": null, "ipv4Address": "10.8.0.9",
                "allowedIps": ["10.0.0.0/8"], "serverAllowedIps": [], "dns": null,
            }),
        ),
    ] {
        let question = server.question(tool, arguments);
        text += &format!("{}\n\n", question.message);
    }
    insta::assert_snapshot!(text);
}

#[test]
fn the_question_is_the_same_by_every_way() {
    for_each(&WAYS[..1], |case| {
        let questions = WAYS.map(|way| {
            let mut server = way.builder(&case.sim).start();
            let asked = server.ask(case.guarded.tool, (case.guarded.arguments)(2));
            Open::of(asked).text().to_owned()
        });
        for question in &questions {
            assert!(question.contains(&questions[0]), "{question}");
        }
        assert_eq!(questions[0], questions[2]);
    });
}
