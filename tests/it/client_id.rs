//! What is not the id of a client is refused before anything is sent: wg-easy coerces what it gets.

use crate::support::{Server, refusal, structured, with_clients};
use serde_json::{Value, json};

const TOOLS: [&str; 4] = [
    "get_client",
    "get_client_config",
    "get_client_qrcode",
    "disable_client",
];

/// Calls a tool with `raw` as the id, exactly as it is spelled here.
fn call(server: &mut Server, tool: &str, raw: &str) -> Value {
    let params = json!({"name": tool, "arguments": {"clientId": "@"}});
    let line = server.request_line("tools/call", params);
    let id = serde_json::from_str::<Value>(&line).unwrap()["id"].clone();
    server.send_line(&line.replace("\"@\"", raw));
    let answer = server.answer_to(id);
    answer["result"].clone()
}

#[test]
fn only_an_integer_or_its_digits_are_an_id() {
    let sim = with_clients(3);
    let mut server = Server::of(&sim).start();
    for raw in [
        "0",
        "-1",
        "1.0",
        "1e0",
        "1.5",
        "3E0",
        "true",
        "null",
        "[3]",
        "[\"3\"]",
        "{}",
        "{\"id\":3}",
        "\"\"",
        "\"0\"",
        "\"-1\"",
        "\"+1\"",
        "\"01\"",
        "\"1.0\"",
        "\"1e0\"",
        "\"0x1\"",
        "\" 1\"",
        "\"1 \"",
        "\"1\\n\"",
        "\"１\"",
        "\"1/../2\"",
        "\"1?x\"",
        "\"%31\"",
        "9007199254740992",
        "\"9007199254740992\"",
        "\"99999999999999999999999\"",
        "18446744073709551617",
    ] {
        for tool in TOOLS {
            let result = call(&mut server, tool, raw);
            let said = refusal(&result);
            assert!(
                said.contains("an integer from 1 to 9007199254740991"),
                "{tool} {raw}: {said}"
            );
        }
    }
    for tool in TOOLS {
        let result = server.call(tool, json!({}));
        assert!(refusal(&result).contains("clientId is missing"), "{result}");
    }
    assert_eq!(sim.requests().len(), 0);
}

#[test]
fn the_largest_id_is_sent_exactly() {
    let sim = with_clients(1);
    let mut server = Server::of(&sim).start();
    for raw in ["9007199254740991", "\"9007199254740991\""] {
        let result = call(&mut server, "get_client", raw);
        assert!(
            refusal(&result).contains("no client 9007199254740991"),
            "{result}"
        );
    }
    assert_eq!(sim.count("GET", "/api/client/9007199254740991"), 2);
    structured(&call(&mut server, "get_client", "\"1\""));
}
