//! The tools' schemas, and that arguments and answers keep to them.

use crate::support::{Server, in_each_era, is_error, with_clients};
use serde_json::{Value, json};
use wg_easy_mcp::tools::TOOLS;

/// Calls `visit` with every schema inside `schema`, and where it stands.
fn each_schema(schema: &Value, place: &str, visit: &mut impl FnMut(&str, &Value)) {
    visit(place, schema);
    for key in ["properties", "patternProperties", "$defs", "definitions"] {
        for (name, inner) in schema[key].as_object().into_iter().flatten() {
            each_schema(inner, &format!("{place}.{name}"), visit);
        }
    }
    for key in ["anyOf", "oneOf", "allOf", "prefixItems"] {
        for inner in schema[key].as_array().into_iter().flatten() {
            each_schema(inner, &format!("{place}.{key}"), visit);
        }
    }
    for key in ["items", "not", "if", "then", "else", "contains"] {
        if let Some(inner) = schema.get(key) {
            each_schema(inner, &format!("{place}[]"), visit);
        }
    }
}

#[test]
fn schemas_have_only_spellings_that_every_client_can_read() {
    for tool in Server::unconfigured().start().tools() {
        for kind in ["inputSchema", "outputSchema"] {
            let root = &tool[kind];
            assert_eq!(root["type"], "object", "{tool}");
            // What update_client does not know, it names in its answer instead of refusing it.
            let open = kind == "outputSchema" || tool["name"] == "update_client";
            assert_eq!(root["additionalProperties"], open, "{tool}");
            each_schema(
                root,
                &format!("{} {kind}", tool["name"]),
                &mut |place, schema| {
                    let fields = schema
                        .as_object()
                        .unwrap_or_else(|| panic!("{place} is {schema}"));
                    assert!(!fields.is_empty(), "{place} says nothing");
                    for unreadable in ["$ref", "$defs", "format", "nullable", "const"] {
                        assert!(!fields.contains_key(unreadable), "{place} has {unreadable}");
                    }
                    match fields.get("type") {
                        Some(kind) => assert!(kind.is_string(), "{place} has a list of types"),
                        None => assert!(fields.contains_key("anyOf"), "{place} has no type"),
                    }
                    if fields.get("type") == Some(&json!("array")) {
                        assert!(fields.contains_key("items"), "{place} does not say of what");
                    }
                },
            );
        }
    }
}

#[test]
fn an_upstream_record_may_lack_every_field_and_have_others() {
    let tools = Server::unconfigured().start().tools();
    let schema = |name: &str| {
        let tool = tools.iter().find(|tool| tool["name"] == name).unwrap();
        tool["outputSchema"].clone()
    };
    let info = schema("get_server_info");
    let records = [
        schema("list_clients")["properties"]["clients"]["items"].clone(),
        info["properties"]["information"].clone(),
        info["properties"]["general"].clone(),
        info["properties"]["interface"].clone(),
    ];
    for record in &records {
        assert_eq!(record.get("required"), None, "{record}");
        assert_eq!(record["additionalProperties"], true, "{record}");
    }
    let one = schema("get_client");
    assert_eq!(one["required"], json!(["untrusted", "source"]));
}

#[test]
fn every_tool_that_asks_nobody_answers_as_it_promises_in_every_revision() {
    let sim = with_clients(3);
    sim.update_client(2, |client| {
        client.enabled = false;
        client.dns = Some(vec!["1.1.1.1".to_owned()]);
        client.expires_at = Some("2031-01-01T00:00:00.000Z".to_owned());
    });
    in_each_era(|era| {
        let mut server = Server::of(&sim).era(era).start();
        for (tool, arguments) in [
            ("list_clients", json!({})),
            (
                "list_clients",
                json!({"filter": "client", "sort": "desc", "offset": 1, "limit": 1}),
            ),
            ("get_client", json!({"clientId": 1})),
            ("get_client", json!({"clientId": "2"})),
            ("get_client_config", json!({"clientId": 1})),
            ("get_client_qrcode", json!({"clientId": 2})),
            ("get_server_info", json!({})),
            ("disable_client", json!({"clientId": 3})),
        ] {
            // The harness holds every answer against the schema.
            let result = server.call(tool, arguments);
            assert!(!is_error(&result), "{tool}: {result}");
        }
        server.assert_silent();
    });
}

#[test]
fn the_schema_and_the_server_agree_on_which_arguments_are_right() {
    let sim = with_clients(3);
    let mut server = Server::of(&sim).start();
    let ids = [
        (json!(1), true),
        (json!("3"), true),
        (json!(0), false),
        (json!(-1), false),
        (json!(1.5), false),
        (json!(9_007_199_254_740_992_u64), false),
        (json!("0"), false),
        (json!("01"), false),
        (json!("0x1"), false),
        (json!(" 1"), false),
        (json!("1 "), false),
        (json!("1e0"), false),
        (json!(""), false),
        (json!(true), false),
        (json!(null), false),
        (json!(["3"]), false),
        (json!({}), false),
    ];
    let listings = [
        (json!({}), true),
        (json!({"filter": ""}), true),
        (json!({"filter": null}), false),
        (json!({"sort": "asc"}), true),
        (json!({"sort": "up"}), false),
        (json!({"limit": 1}), true),
        (json!({"limit": 1000}), true),
        (json!({"limit": 0}), false),
        (json!({"limit": 1001}), false),
        (json!({"offset": 0}), true),
        (json!({"offset": -1}), false),
        (json!({"offset": "1"}), false),
        (json!({"page": 1}), false),
    ];
    for tool in TOOLS.iter().filter(|tool| tool.hints.read_only) {
        let validator = jsonschema::validator_for(&Value::Object((tool.input)())).unwrap();
        let arguments: Vec<_> = match tool.name {
            "list_clients" => listings.to_vec(),
            "get_server_info" => vec![(json!({}), true), (json!({"x": 1}), false)],
            _ => ids
                .iter()
                .map(|(id, right)| (json!({"clientId": id}), *right))
                .chain([(json!({}), false), (json!({"clientId": 1, "id": 1}), false)])
                .collect(),
        };
        for (arguments, right) in arguments {
            assert_eq!(
                validator.is_valid(&arguments),
                right,
                "{} {arguments}",
                tool.name
            );
            let result = server.call(tool.name, arguments.clone());
            assert_eq!(
                !is_error(&result),
                right,
                "{} {arguments}: {result}",
                tool.name
            );
        }
    }
}
