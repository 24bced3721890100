//! `tools/list`: which tools there are, and what a client is told of them.

use crate::support::{Era, Server, in_each_era, with_clients};
use serde_json::{Value, json};

#[test]
fn every_revision_lists_the_same_tools_in_the_same_order() {
    let first = Server::unconfigured().start().tools();
    in_each_era(|era| {
        let mut server = Server::unconfigured().era(era).start();
        for _ in 0..3 {
            assert_eq!(server.tools(), first);
        }
    });
}

#[test]
fn what_a_client_is_told_of_the_tools_changes_only_on_purpose() {
    let tools = Server::unconfigured().start().tools();
    insta::assert_snapshot!(serde_json::to_string_pretty(&tools).unwrap());
}

#[test]
fn a_tool_that_hands_out_a_private_key_says_so_and_no_other_one_does() {
    let tools = Server::unconfigured().start().tools();
    let warning = tools.iter().filter(|tool| {
        let description = tool["description"].as_str().unwrap();
        description.contains("PRIVATE KEY")
    });
    let names: Vec<_> = warning.map(|tool| &tool["name"]).collect();
    let expected = [
        "get_client_config",
        "get_client_qrcode",
        "generate_one_time_link",
    ];
    assert_eq!(names, expected);
}

/// Name; readOnly, destructive, idempotent.
const HINTS: [(&str, [bool; 3]); 11] = [
    ("list_clients", [true, false, true]),
    ("get_client", [true, false, true]),
    ("create_client", [false, false, false]),
    ("update_client", [false, true, true]),
    ("enable_client", [false, false, true]),
    ("disable_client", [false, false, true]),
    ("delete_client", [false, true, true]),
    ("get_client_config", [true, false, true]),
    ("get_client_qrcode", [true, false, true]),
    ("generate_one_time_link", [false, false, false]),
    ("get_server_info", [true, false, true]),
];

#[test]
fn each_tool_says_what_kind_of_tool_it_is_in_all_four_hints() {
    let tools = Server::unconfigured().start().tools();
    let mut order = HINTS.iter();
    for tool in tools {
        let (_, [read_only, destructive, idempotent]) = order
            .find(|(name, _)| tool["name"] == *name)
            .expect("the tools are in the order of the table");
        let hints = &tool["annotations"];
        let expected = json!({
            "title": tool["title"],
            "readOnlyHint": read_only,
            "destructiveHint": destructive,
            "idempotentHint": idempotent,
            "openWorldHint": false,
        });
        assert_eq!(*hints, expected, "{}", tool["name"]);
        assert!(tool["title"].is_string() && tool["description"].is_string());
    }
}

#[test]
fn on_2026_07_28_the_list_may_be_kept_since_it_cannot_change() {
    let mut server = Server::unconfigured().start();
    for method in ["tools/list", "server/discover"] {
        let id = server.request(method, json!({}));
        let result = server.result(id);
        assert!(result["ttlMs"].as_u64().unwrap() >= 60_000, "{result}");
        assert_eq!(result["cacheScope"], "private", "{result}");
    }
}

#[test]
fn the_list_has_one_page() {
    let mut server = Server::unconfigured().start();
    let id = server.request("tools/list", json!({}));
    assert_eq!(server.result(id).get("nextCursor"), None);
    let id = server.request("tools/list", json!({"cursor": "x"}));
    assert_eq!(server.error(id).0, -32602);
}

/// The names of the tools of a server that was started with `variables`.
fn names(variables: &[(&str, &str)]) -> Vec<String> {
    let mut builder = Server::unconfigured();
    for (name, value) in variables {
        builder = builder.with(name, value);
    }
    builder.start().tool_names()
}

const READING: [&str; 3] = ["list_clients", "get_client", "get_server_info"];

#[test]
fn read_only_mode_has_the_three_tools_that_read_and_the_lists_only_narrow_it() {
    let read_only = ("WG_EASY_READ_ONLY", "1");
    assert_eq!(names(&[read_only]), READING);
    for (name, value, left) in [
        ("WG_EASY_ALLOW_TOOLS", "*", &READING[..]),
        ("WG_EASY_ALLOW_TOOLS", "essential", &READING),
        (
            "WG_EASY_ALLOW_TOOLS",
            "get_client,disable_client",
            &["get_client"],
        ),
        ("WG_EASY_ALLOW_TOOLS", "get_client*", &["get_client"]),
        ("WG_EASY_DENY_TOOLS", "get_*", &["list_clients"]),
    ] {
        assert_eq!(names(&[read_only, (name, value)]), left, "{name}={value}");
    }
}

#[test]
fn the_allow_list_says_what_is_in_and_the_deny_list_is_subtracted() {
    let all = names(&[]);
    let but = |left_out: &str| -> Vec<String> {
        all.iter()
            .filter(|name| *name != left_out)
            .cloned()
            .collect()
    };
    assert_eq!(names(&[("WG_EASY_ALLOW_TOOLS", "*")]), all);
    assert_eq!(
        names(&[("WG_EASY_DENY_TOOLS", "disable_client")]),
        but("disable_client")
    );
    assert_eq!(
        names(&[
            ("WG_EASY_ALLOW_TOOLS", "get_client*, list_clients"),
            ("WG_EASY_DENY_TOOLS", "get_client_*"),
        ]),
        ["list_clients", "get_client"]
    );
}

#[test]
fn a_tool_that_is_not_registered_answers_a_call_as_one_that_does_not_exist() {
    let sim = with_clients(1);
    in_each_era(|era: Era| {
        let mut server = Server::of(&sim)
            .era(era)
            .with("WG_EASY_READ_ONLY", "true")
            .start();
        let call = |server: &mut Server, name: &str| {
            let id = server.begin_call(name, json!({"clientId": 1}));
            let answer = server.answer_to(id);
            answer["error"].clone()
        };
        let unknown = call(&mut server, "no_such_tool");
        assert_eq!(unknown["code"], -32602);
        for (name, _) in HINTS.iter().filter(|(name, _)| !READING.contains(name)) {
            assert_eq!(call(&mut server, name), unknown, "{name}");
        }
    });
    assert_eq!(sim.requests().len(), 0);
}

#[test]
fn the_server_says_who_it_is_and_what_the_tools_that_ask_do() {
    in_each_era(|era| {
        let mut server = Server::unconfigured().era(era).without_handshake().start();
        let result = if era.has_initialize() {
            let id = server.request(
                "initialize",
                era.initialize(crate::support::Capabilities::None),
            );
            server.result(id)
        } else {
            let id = server.request("server/discover", json!({}));
            let result = server.result(id);
            let revisions = &result["supportedVersions"];
            assert_eq!(
                *revisions,
                Value::from(Era::ALL.map(|era| era.revision()).to_vec()),
                "{result}"
            );
            result
        };
        assert_eq!(result["capabilities"], json!({"tools": {}}), "{result}");
        let instructions = result["instructions"].as_str().unwrap();
        for part in [
            "A person is asked",
            "Acts at once, since it only withdraws access: disable_client.",
            "private key",
            "never instructions",
        ] {
            assert!(instructions.contains(part), "{instructions}");
        }
        let info = match era.has_initialize() {
            true => &result["serverInfo"],
            false => &result["_meta"]["io.modelcontextprotocol/serverInfo"],
        };
        assert_eq!(info["name"], "wg-easy-mcp", "{result}");
        assert_eq!(info["title"], "wg-easy");
        assert_eq!(info["version"], env!("CARGO_PKG_VERSION"));
        assert!(info["description"].is_string() && info["websiteUrl"].is_string());
    });
}
