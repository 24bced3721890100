//! Values are checked before anyone is asked and before wg-easy sees any of them.

use super::{GUARDED, WAYS, for_each, with_dialog};
use crate::support::{Answer, Asked, Era, Server, refusal, with_clients};
use serde_json::{Value, json};

/// Names that are refused, wherever a name can be given.
fn bad_names() -> Vec<Value> {
    vec![
        json!(""),
        json!("   "),
        json!("\u{3000}"),
        json!("x".repeat(256)),
        json!("Ж".repeat(256)),
        json!("a\nb"),
        json!("a\u{0}b"),
        json!("a\u{1b}[2Jb"),
        json!("a\u{7f}b"),
        json!("a\u{85}b"),
        json!("\u{202e}a"),
        json!("a\u{200f}"),
        json!("a\u{2066}b\u{2069}"),
        json!("a\u{2028}b"),
        json!("a\u{e0041}"),
        json!("\u{feff}a"),
        json!("lap\u{200b}top"),
        json!("lap\u{ad}top"),
        json!("laptop\u{fe0f}"),
        json!("lap\u{e0101}top"),
        json!("a  b"),
        json!("a\u{3000}b"),
        json!(5),
        json!(true),
        json!(null),
        json!(["a"]),
        json!({"a": 1}),
    ]
}

/// Expiries that are refused; wg-easy takes each for never, or for what its host makes of it.
fn bad_expiries() -> Vec<Value> {
    vec![
        json!(""),
        json!("never"),
        json!("tomorrow"),
        json!("2026-02-30"),
        json!("2026-13-01"),
        json!("31.12.2026"),
        json!("12/31/2026"),
        json!("2026-12-31T18:00:00"),
        json!("2026-12-31 18:00:00Z"),
        json!("2026-12-31T25:00:00Z"),
        json!("2026-12-31T18:00:00Z\n"),
        json!(" 2026-12-31"),
        json!("20261231"),
        json!("2026-12-31T18:00:00+25:00"),
        json!("1767139200"),
        json!(1_767_139_200),
        json!(true),
        json!(["2026-12-31"]),
    ]
}

/// Values of the other fields of an update.
fn bad_fields() -> Vec<(&'static str, Vec<Value>)> {
    let networks = |more: Vec<Value>| {
        let mut all = vec![
            json!("10.0.0.0/8"),
            json!(true),
            json!({}),
            json!([""]),
            json!([null]),
            json!([1]),
            json!(["not-a-cidr"]),
            json!(["10.0.0.0/33"]),
            json!(["10.0.0.0/8", "::/129"]),
            json!(["10.0.0.0/8, 10.1.0.0/16"]),
            json!(["10.0.0.0/8\n"]),
            json!([" 10.0.0.1"]),
            json!(["10.0.0"]),
            json!(["010.0.0.1"]),
            json!(["0.0.0.0/0; rm -rf /"]),
            json!(["fe80::1%eth0"]),
            json!([["10.0.0.1"]]),
            json!(vec!["10.0.0.1"; 65]),
        ];
        all.extend(more);
        all
    };
    let integers = |least: i64, most: i64| {
        vec![
            json!(least - 1),
            json!(most + 1),
            json!(-5),
            json!(f64::from(1420) + 0.5),
            json!(1420.0),
            json!("1420"),
            json!(true),
            json!(null),
            json!([1420]),
            json!(u64::MAX),
        ]
    };
    vec![
        (
            "enabled",
            vec![
                json!("true"),
                json!(1),
                json!(0),
                json!(null),
                json!([true]),
            ],
        ),
        (
            "ipv4Address",
            vec![
                json!(""),
                json!("10.8.0"),
                json!("10.8.0.256"),
                json!("10.8.0.5/24"),
                json!("010.8.0.5"),
                json!(" 10.8.0.5"),
                json!("fd00::5"),
                json!("vpn.example.com"),
                json!(null),
                json!(168_296_453),
            ],
        ),
        (
            "ipv6Address",
            vec![
                json!(""),
                json!("10.8.0.5"),
                json!("fd00::5/64"),
                json!("fd00::5%eth0"),
                json!("[fd00::5]"),
                json!("fd00:::5"),
                json!(null),
            ],
        ),
        ("allowedIps", networks(vec![json!([])])),
        ("serverAllowedIps", networks(vec![json!(null)])),
        (
            "dns",
            vec![
                json!("1.1.1.1"),
                json!(5),
                json!([""]),
                json!([null]),
                json!(["1.1.1"]),
                json!(["1.1.1.256"]),
                json!(["-a.example"]),
                json!(["a..example"]),
                json!(["dns.example\nPostUp = reboot"]),
                json!(["dns server"]),
                json!(["a_b.example"]),
                json!(vec!["1.1.1.1"; 65]),
            ],
        ),
        ("mtu", integers(1024, 9000)),
        ("persistentKeepalive", integers(0, 65_535)),
    ]
}

fn assert_refused(server: &mut Server, tool: &str, field: &str, arguments: &Value) {
    let Asked::Result(result) = server.ask(tool, arguments.clone()) else {
        panic!("{tool} asked about {arguments}");
    };
    let said = refusal(&result);
    assert!(said.starts_with(field), "{arguments}: {said}");
    assert!(said.len() < 400, "{said}");
    for leak in ["rm -rf", "PostUp", "not-a-cidr", "tomorrow", "dns server"] {
        assert!(!said.contains(leak), "{said}");
    }
}

#[test]
fn a_bad_value_of_any_field_is_refused_before_anything_is_sent() {
    let sim = with_clients(2);
    for (_, way) in Era::ALL
        .iter()
        .zip(WAYS)
        .chain([(&&Era::V2026_07_28, WAYS[5])])
    {
        let mut server = way.builder(&sim).start();
        for name in bad_names() {
            assert_refused(
                &mut server,
                "create_client",
                "name ",
                &json!({"name": name}),
            );
            let update = json!({"clientId": 1, "mtu": 1400, "name": name});
            assert_refused(&mut server, "update_client", "name ", &update);
        }
        for expiry in bad_expiries() {
            let create = json!({"name": "x", "expiresAt": expiry});
            assert_refused(&mut server, "create_client", "expiresAt ", &create);
        }
        for expiry in bad_expiries() {
            let update = json!({"clientId": 1, "mtu": 1400, "expiresAt": expiry});
            assert_refused(&mut server, "update_client", "expiresAt ", &update);
        }
        for (field, values) in bad_fields() {
            for value in values {
                let mut update = json!({"clientId": 1, "name": "fine"});
                update[field] = value;
                assert_refused(&mut server, "update_client", &format!("{field} "), &update);
            }
        }
        let missing = server.ask("create_client", json!({})).result();
        assert_eq!(
            refusal(&missing),
            "name is missing, and this tool cannot do without it."
        );
    }
    assert_eq!(sim.requests().len(), 0);
}

#[test]
fn an_id_is_an_integer_or_its_digits_and_nothing_that_wg_easy_would_make_one_of() {
    for_each(&WAYS[2..3], |mut case| {
        if case.guarded.tool == "create_client" {
            return;
        }
        let line = |server: &mut Server, tool: &str, arguments: &Value, raw: &str| {
            let mut arguments = arguments.clone();
            arguments["clientId"] = "@id@".into();
            let params = json!({"name": tool, "arguments": arguments});
            let line = server.request_line("tools/call", params);
            let id: Value = serde_json::from_str(&line).unwrap();
            server.send_line(&line.replace("\"@id@\"", raw));
            let call = id["id"].as_i64().unwrap();
            server.finish_call(call, tool)
        };
        let arguments = (case.guarded.arguments)(2);
        for raw in [
            "0",
            "-1",
            "1.0",
            "1e0",
            "1.5",
            "true",
            "null",
            "[2]",
            "[\"2\"]",
            "{}",
            "\"0x2\"",
            "\" 2\"",
            "\"2 \"",
            "\"02\"",
            "\"2.0\"",
            "\"2e0\"",
            "\"+2\"",
            "\"\"",
            "\"２\"",
            "\"2/enable\"",
            "\"2?x\"",
            "9007199254740992",
            "\"9007199254740992\"",
        ] {
            let result = line(&mut case.server, case.guarded.tool, &arguments, raw);
            let said = refusal(&result);
            assert!(said.starts_with("clientId has to be "), "{raw}: {said}");
        }
        let mut missing = arguments.clone();
        missing.as_object_mut().unwrap().remove("clientId");
        let result = case.server.ask(case.guarded.tool, missing).result();
        assert!(refusal(&result).starts_with("clientId is missing"));
        assert_eq!(case.sim.requests().len(), 0);

        let mut digits = arguments;
        digits["clientId"] = "2".into();
        let question = case.server.question(case.guarded.tool, digits);
        case.server.answer(&question, Answer::Yes).result();
        assert!(case.is_in_place(2));
    });
}

#[test]
fn unknown_arguments_are_refused_by_name() {
    let sim = with_clients(2);
    let mut server = with_dialog(&sim);
    for guarded in GUARDED
        .iter()
        .filter(|guarded| guarded.tool != "update_client")
    {
        let mut arguments = (guarded.arguments)(1);
        arguments["preUp"] = "reboot".into();
        arguments["Name"] = "x".into();
        arguments["a\u{202e}\n\"b\""] = 1.into();
        let result = server.ask(guarded.tool, arguments).result();
        let said = refusal(&result);
        assert!(
            said.starts_with(
                "Unknown arguments: preUp, Name, (a name of 6 characters); this tool takes "
            ),
            "{said}"
        );
        assert!(!said.contains("reboot"));
    }
    assert_eq!(sim.requests().len(), 0);
}

#[test]
fn a_name_is_trimmed_before_it_is_shown_and_sent() {
    let sim = with_clients(1);
    let mut server = with_dialog(&sim);
    for (tool, mut arguments) in [
        ("create_client", json!({})),
        ("update_client", json!({"clientId": 1})),
    ] {
        arguments["name"] = " \u{a0}Anna's phone 📱 ".into();
        let question = server.question(tool, arguments);
        assert!(
            question.message.contains("Anna's phone 📱"),
            "{}",
            question.message
        );
        server.answer(&question, Answer::Yes).result();
    }
    assert_eq!(sim.client(1).unwrap().name, "Anna's phone 📱");
    assert_eq!(sim.client(2).unwrap().name, "Anna's phone 📱");
    let body = sim.requests().into_iter().find(|r| r.is_write()).unwrap();
    assert_eq!(
        body.json(),
        json!({"name": "Anna's phone 📱", "expiresAt": null})
    );
}

#[test]
fn a_client_without_an_expiry_is_asked_for_by_null_or_by_nothing() {
    let sim = with_clients(0);
    let mut server = with_dialog(&sim);
    let [null, nothing] = [
        json!({"name": "a", "expiresAt": null}),
        json!({"name": "a"}),
    ]
    .map(|arguments| server.question("create_client", arguments));
    assert_eq!(null.message, nothing.message);
    server.answer(&null, Answer::Yes).result();
    assert_eq!(sim.client(1).unwrap().expires_at, None);
}

#[test]
fn good_values_arrive_as_they_were_given() {
    let sim = with_clients(1);
    let mut server = with_dialog(&sim);
    let fields = [
        ("name", json!("x".repeat(255))),
        ("enabled", json!(false)),
        ("expiresAt", json!("2099-06-15T18:30:00.5+02:00")),
        ("expiresAt", json!("2099-06-15")),
        ("expiresAt", json!(null)),
        ("ipv4Address", json!("10.8.0.200")),
        ("ipv6Address", json!("fdcc:ad94:bacf:61a4::cafe:c8")),
        ("allowedIps", json!(["10.0.0.0/8", "fd00::/8", "1.2.3.4"])),
        ("allowedIps", json!(null)),
        ("serverAllowedIps", json!(["192.168.0.0/24", "fd12::1"])),
        ("serverAllowedIps", json!([])),
        (
            "dns",
            json!(["1.1.1.1", "2606:4700::1111", "dns.example.com"]),
        ),
        ("dns", json!([])),
        ("dns", json!(null)),
        ("mtu", json!(1024)),
        ("mtu", json!(9000)),
        ("persistentKeepalive", json!(0)),
        ("persistentKeepalive", json!(65_535)),
    ];
    for (field, value) in fields {
        sim.reset_log();
        let arguments = json!({"clientId": 1, field: value});
        let result = server.call_and_confirm("update_client", arguments);
        super::assert_success(&result);
        let sent = sim.requests().into_iter().find(|r| r.is_write()).unwrap();
        assert_eq!(sent.json()[field], value, "{field}");
    }
}
