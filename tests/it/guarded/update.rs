//! What an update sends: all that wg-easy wants, and nothing that was not there or asked for.

use super::with_dialog;
use crate::support::{Answer, refusal, simulator, structured, with_clients};
use serde_json::{Map, Value, json};
use wg_easy_sim::{Edit, Fault, Matcher, OneTimeLink, Settings, Simulator};

/// What wg-easy wants of every update.
const FIELDS: [&str; 24] = [
    "name",
    "enabled",
    "expiresAt",
    "ipv4Address",
    "ipv6Address",
    "preUp",
    "postUp",
    "preDown",
    "postDown",
    "allowedIps",
    "serverAllowedIps",
    "firewallIps",
    "mtu",
    "jC",
    "jMin",
    "jMax",
    "i1",
    "i2",
    "i3",
    "i4",
    "i5",
    "persistentKeepalive",
    "serverEndpoint",
    "dns",
];

/// A client of which every field has a value of its own.
fn distinct(sim: &Simulator) {
    let now = sim.now();
    sim.update_client(1, |client| {
        client.pre_up = "ip link set \"$1\"\n\techo\u{202e} hi".to_owned();
        client.post_up = "post up".to_owned();
        client.pre_down = "pre down".to_owned();
        client.post_down = "post down".to_owned();
        client.expires_at = Some("2099-01-01".to_owned());
        client.allowed_ips = Some(vec!["10.0.0.0/8".to_owned()]);
        client.server_allowed_ips = vec!["10.9.0.0/16".to_owned()];
        client.firewall_ips = Some(vec!["10.1.1.1".to_owned()]);
        client.persistent_keepalive = 25.0;
        client.mtu = 1380.0;
        client.j_c = Some(3.0);
        client.j_min = Some(11.0);
        client.j_max = None;
        client.i[0] = Some("<b 0x01>".to_owned());
        client.dns = Some(vec!["9.9.9.9".to_owned()]);
        client.server_endpoint = Some("vpn.example.test:51820".to_owned());
        client.one_time_link = Some(OneTimeLink {
            token: "cafe1234".to_owned(),
            expires_at: now,
            created_at: now,
            updated_at: now,
        });
    });
}

/// The body of the one update that was sent.
fn sent(sim: &Simulator) -> Map<String, Value> {
    let writes: Vec<_> = sim
        .requests()
        .into_iter()
        .filter(|r| r.is_write())
        .collect();
    assert_eq!(writes.len(), 1);
    match writes[0].json() {
        Value::Object(body) => body,
        other => panic!("no object: {other}"),
    }
}

#[test]
fn an_update_sends_the_twenty_four_fields_as_they_were_save_what_it_changes() {
    let sim = with_clients(1);
    distinct(&sim);
    let before = sim.client(1).unwrap();
    let mut server = with_dialog(&sim);
    server.call_and_confirm("update_client", json!({"clientId": 1, "mtu": 1300}));

    let body = sent(&sim);
    let mut names: Vec<_> = body.keys().map(String::as_str).collect();
    let mut fields = FIELDS.to_vec();
    names.sort_unstable();
    fields.sort_unstable();
    assert_eq!(names, fields);
    let text = Value::Object(body).to_string();
    for secret in [
        &before.private_key,
        &before.pre_shared_key,
        &before.public_key,
    ] {
        assert!(!text.contains(secret.as_str()));
    }
    assert!(!text.contains("cafe1234") && !text.contains("oneTimeLink"));

    let mut after = sim.client(1).unwrap();
    assert_eq!(after.mtu, 1300.0);
    after.mtu = before.mtu;
    after.updated_at = before.updated_at;
    assert_eq!(after, before);
}

#[test]
fn arguments_that_cannot_be_set_are_named_and_never_sent() {
    let sim = with_clients(1);
    distinct(&sim);
    let before = sim.client(1).unwrap();
    let mut server = with_dialog(&sim);
    let arguments = json!({
        "clientId": 1, "mtu": 1300, "preUp": "reboot", "postDown": "reboot", "privateKey": "AAAA",
        "preSharedKey": "AAAA", "publicKey": "AAAA", "id": 7, "userId": 7, "firewallIps": ["0.0.0.0/0"],
        "serverEndpoint": "evil.example:1", "oneTimeLink": "x", "jC": 1, "Name": "x", "expires_at": "x",
        "__proto__": {"enabled": false}, "a b": 1,
    });
    let question = server.question("update_client", arguments);
    assert!(!question.message.contains("reboot") && !question.message.contains("preUp"));
    let result = server.answer(&question, Answer::Yes).result();
    assert_eq!(
        structured(&result)["ignored"],
        json!([
            "preUp",
            "postDown",
            "privateKey",
            "preSharedKey",
            "publicKey",
            "id",
            "userId",
            "firewallIps",
            "serverEndpoint",
            "oneTimeLink",
            "jC",
            "Name",
            "expires_at",
            "__proto__",
            "(a name of 3 characters)",
        ])
    );
    assert_eq!(sent(&sim).len(), FIELDS.len());
    let mut after = sim.client(1).unwrap();
    assert_eq!(after.mtu, 1300.0);
    after.mtu = before.mtu;
    after.updated_at = before.updated_at;
    assert_eq!(after, before);
}

#[test]
fn an_update_of_nothing_asks_nobody() {
    let sim = with_clients(1);
    let mut server = with_dialog(&sim);
    for (arguments, named) in [
        (json!({"clientId": 1}), ""),
        (json!({"clientId": 1, "confirm_token": "00"}), ""),
        (
            json!({"clientId": 1, "preUp": "reboot", "privateKey": "AAAA"}),
            "not to be set through this server: preUp, privateKey.",
        ),
    ] {
        let result = server.ask("update_client", arguments).result();
        let said = refusal(&result);
        assert!(said.starts_with("There is nothing to change"), "{said}");
        assert!(
            said.contains(named) && said.contains("persistentKeepalive"),
            "{said}"
        );
        assert!(!said.contains("reboot"));
    }
    assert_eq!(sim.requests().len(), 0);
}

#[test]
fn a_field_that_an_older_release_does_not_have_is_not_made_up() {
    let missing = [
        "firewallIps",
        "jC",
        "jMin",
        "jMax",
        "i1",
        "i2",
        "i3",
        "i4",
        "i5",
        "dns",
    ];
    let sim = simulator(Settings {
        clients: 1,
        missing_fields: missing.map(str::to_owned).to_vec(),
        ..Settings::default()
    });
    let mut server = with_dialog(&sim);
    server.call_and_confirm("update_client", json!({"clientId": 1, "mtu": 1300}));
    let body = sent(&sim);
    assert_eq!(body.len(), FIELDS.len() - missing.len());
    assert!(missing.iter().all(|field| !body.contains_key(*field)));
    assert_eq!(sim.client(1).unwrap().mtu, 1300.0);

    // One that is asked for is not dropped without a word either.
    sim.reset_log();
    let arguments = json!({"clientId": 1, "mtu": 1400, "dns": ["1.1.1.1"]});
    let result = server.ask("update_client", arguments).result();
    let said = refusal(&result);
    assert!(
        said.starts_with("Nothing was changed: ") && said.contains("no dns"),
        "{said}"
    );
    assert_eq!(sim.writes(), 0);
}

#[test]
fn a_field_of_the_wrong_type_stops_the_update_by_its_name() {
    let sim = with_clients(1);
    let mut server = with_dialog(&sim);
    for field in FIELDS {
        let raws: &[&str] = match field {
            "enabled" => &["1", "\"true\"", "null"],
            "mtu" | "persistentKeepalive" => &["\"1420\"", "1e999", "null", "[]"],
            "jC" | "jMin" | "jMax" => &["\"7\"", "1e999", "{}"],
            "allowedIps" | "firewallIps" | "dns" => {
                &["\"10.0.0.0/8\"", "[1]", "[\"\\ud800\"]", "{}"]
            }
            "serverAllowedIps" => &["\"10.0.0.0/8\"", "[null]", "null", "{}"],
            "name" | "ipv4Address" | "ipv6Address" | "preUp" | "postUp" | "preDown"
            | "postDown" => &["5", "null", "\"\\ud800\"", "[\"x\"]"],
            _ => &["5", "true", "[\"x\"]", "\"\\udc00\""],
        };
        for raw in raws {
            let fault = sim.fault(
                Matcher::new("GET", "/api/client/1").always(),
                Fault::Edit(Edit::field(field, raw)),
            );
            // The field itself is to be changed, or another one.
            for arguments in [
                json!({"clientId": 1, "mtu": 1300}),
                json!({"clientId": 1, "name": "x"}),
            ] {
                let result = server.ask("update_client", arguments).result();
                let said = refusal(&result);
                assert!(
                    said.starts_with("Nothing was changed: ")
                        && said.contains(&format!(" {field} ")),
                    "{field}={raw}: {said}"
                );
            }
            fault.remove();
        }
    }
    assert_eq!(sim.writes(), 0);
}

#[test]
fn a_client_that_turns_wrong_after_the_yes_is_left_alone() {
    let sim = with_clients(1);
    let mut server = with_dialog(&sim);
    let question = server.question("update_client", json!({"clientId": 1, "mtu": 1300}));
    sim.fault(
        Matcher::new("GET", "/api/client/1"),
        Fault::Edit(Edit::field("dns", "5")),
    );
    let result = server.answer(&question, Answer::Yes).result();
    assert!(refusal(&result).starts_with("Nothing was changed: "));
    assert_eq!(sim.writes(), 0);
}

#[test]
fn what_wg_easy_itself_refuses_is_told_as_it_is() {
    let sim = with_clients(2);
    let mut server = with_dialog(&sim);
    // An address that another client has: 500, and nothing changes.
    let taken = sim.client(2).unwrap().ipv4_address;
    let result = server.call_and_confirm(
        "update_client",
        json!({"clientId": 1, "ipv4Address": taken}),
    );
    let said = refusal(&result);
    assert!(said.starts_with("The change is not in place: "), "{said}");
    // An expired client: 422.
    sim.update_client(1, |client| {
        client.enabled = false;
        client.expires_at = Some("2020-01-01".to_owned());
    });
    let result = server.call_and_confirm("enable_client", json!({"clientId": 1}));
    let said = refusal(&result);
    assert!(
        said.starts_with("Nothing was changed") && said.contains("expiry date has passed"),
        "{said}"
    );
    // One that has expired and is still enabled: nothing may be said that is not so.
    sim.update_client(1, |client| client.enabled = true);
    let result = server.call_and_confirm("enable_client", json!({"clientId": 1}));
    let said = refusal(&result);
    assert!(
        said.starts_with("Nothing was changed") && !said.contains("not enabled"),
        "{said}"
    );
    // A full pool.
    sim.set_ipv4_cidr("10.8.0.0/30");
    let result = server.call_and_confirm("create_client", json!({"name": "one too many"}));
    assert!(
        refusal(&result).starts_with("The change is not in place: "),
        "{result}"
    );
    assert_eq!(sim.client_count(), 2);
}
