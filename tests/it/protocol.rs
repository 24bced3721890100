//! Every request gets an answer, and nothing that a client sends ends the session.

use crate::support::{
    Capabilities, Era, Server, error, in_each_era, is_error, structured, text, with_clients,
};
use serde_json::{Value, json};
use wg_easy_sim::Matcher;

/// Sees that the session goes on.
fn assert_alive(server: &mut Server) {
    let result = server.call("list_clients", json!({}));
    assert!(!is_error(&result), "{result}");
}

/// A request whose parameters lack nothing but what `part` replaces: `text` stands in the line once.
fn line(server: &mut Server, method: &str, params: Value, text: &str, part: &str) -> String {
    let line = server.request_line(method, params);
    assert_eq!(line.matches(text).count(), 1, "{line}");
    line.replace(text, part)
}

#[test]
fn parameters_of_the_wrong_shape_are_invalid_params_of_a_known_method() {
    let sim = with_clients(1);
    in_each_era(|era| {
        let mut server = Server::of(&sim).era(era).start();
        for params in [
            json!({}),
            json!({"name": 5}),
            json!({"name": null, "arguments": {}}),
            json!({"arguments": {"clientId": 1}}),
            json!({"name": "list_clients", "arguments": "x"}),
            json!({"name": "list_clients", "arguments": [1]}),
            json!({"name": "list_clients", "arguments": 7}),
        ] {
            let id = server.request("tools/call", params.clone());
            assert_eq!(server.error(id).0, -32602, "{params}");
        }
        for (id, method) in [("a", "tools/call"), ("b", "tools/list")] {
            for params in [json!([1]), json!(7), json!("x")] {
                server
                    .send(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}));
                let answer = server.answer_to(id);
                assert_eq!(error(&answer).0, -32602, "{method} {params}: {answer}");
            }
        }
        assert_alive(&mut server);
        server.assert_silent();
    });
}

#[test]
fn an_unknown_method_is_method_not_found() {
    let sim = with_clients(1);
    in_each_era(|era| {
        let mut server = Server::of(&sim).era(era).start();
        for method in [
            "nothing/like/this",
            "",
            "tools/Call",
            "resources/list",
            "resources/read",
            "prompts/list",
            "logging/setLevel",
            "completion/complete",
        ] {
            let id = server.request(method, json!({"level": "debug", "uri": "x"}));
            assert_eq!(server.error(id).0, -32601, "{method}");
        }
        assert_alive(&mut server);
    });
}

#[test]
fn an_unknown_tool_is_an_error_that_does_not_repeat_its_name() {
    let sim = with_clients(1);
    in_each_era(|era| {
        let mut server = Server::of(&sim).era(era).start();
        for name in [
            "",
            "list_client",
            "LIST_CLIENTS",
            "list_clients ",
            "x\u{202e}y",
        ] {
            let id = server.begin_call(name, json!({}));
            let (code, message) = server.error(id);
            assert_eq!(code, -32602);
            assert_eq!(message, "Unknown tool; tools/list has the names");
        }
        assert_alive(&mut server);
    });
}

#[test]
fn a_line_that_is_not_json_is_a_parse_error() {
    let sim = with_clients(1);
    in_each_era(|era| {
        let mut server = Server::of(&sim).era(era).start();
        let deep = format!(
            "{{\"jsonrpc\":{}{}}}",
            "[".repeat(100_000),
            "]".repeat(100_000 - 1)
        );
        for line in ["{", "nonsense", "{\"jsonrpc\":\"2.0\",\"id\":1,", &deep] {
            server.send_line(line);
            let answer = server.next_message();
            assert_eq!(error(&answer).0, -32700, "{answer}");
            assert_eq!(answer.get("id"), None);
        }
        server.send_bytes(b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"\xff\"}\n");
        assert_eq!(error(&server.next_message()).0, -32700);
        assert_alive(&mut server);
    });
}

#[test]
fn lines_that_are_refused_among_lines_that_are_not_are_all_answered() {
    in_each_era(|era| {
        let mut server = Server::unconfigured().era(era).start();
        for _ in 0..300 {
            let line = server.request_line("tools/call", json!({"name": "list_clients"}));
            server.send_line(&format!("{line}\nnonsense"));
        }
        let mut refused = 0;
        for _ in 0..600 {
            let answer = server.next_message();
            refused += usize::from(answer["error"]["code"] == -32700);
        }
        assert_eq!(refused, 300);
        server.assert_silent();
    });
}

#[test]
fn messages_that_are_no_requests_are_refused_or_passed_over() {
    let sim = with_clients(1);
    in_each_era(|era| {
        let mut server = Server::of(&sim).era(era).start();
        for line in [
            "[]",
            "[{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}]",
            "{\"jsonrpc\":\"2.0\",\"id\":null,\"method\":\"ping\"}",
            "{\"jsonrpc\":\"2.0\",\"id\":1.5,\"method\":\"ping\"}",
            "{\"jsonrpc\":\"2.0\",\"id\":{},\"method\":\"ping\"}",
        ] {
            server.send_line(line);
            let answer = server.next_message();
            assert_eq!(error(&answer).0, -32600, "{line}: {answer}");
        }
        for line in [
            "",
            "  \t ",
            "\r",
            "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/nonsense\",\"params\":[1]}",
            "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\",\"params\":{\"requestId\":12345}}",
            "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\",\"params\":7}",
            "{\"jsonrpc\":\"2.0\",\"id\":77,\"result\":{}}",
            "{\"jsonrpc\":\"2.0\",\"id\":77,\"result\":{\"action\":\"accept\",\"content\":{\"confirm\":true}}}",
            "{\"jsonrpc\":\"2.0\",\"id\":78,\"error\":{\"code\":1,\"message\":\"x\"}}",
        ] {
            server.send_line(line);
        }
        assert_alive(&mut server);
        server.assert_silent();
    });
}

#[test]
fn a_line_longer_than_a_mebibyte_is_refused_and_the_session_lives() {
    let sim = with_clients(1);
    in_each_era(|era| {
        let mut server = Server::of(&sim).era(era).start();
        for length in [(1 << 20) + 1, 5 << 20] {
            let long = "x".repeat(length);
            server.send_line(&format!(
                "{{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"{long}\"}}"
            ));
            let answer = server.next_message();
            assert_eq!(error(&answer).0, -32600);
            assert!(error(&answer).1.contains("1 MiB"), "{answer}");
        }
        // What is long but not too long is read.
        let filter = "x".repeat(1_000_000);
        let result = server.call("list_clients", json!({"filter": filter}));
        assert_eq!(structured(&result)["total"], 0);
        assert_alive(&mut server);
        server.assert_silent();
    });
}

#[test]
fn numbers_and_texts_that_json_readers_fail_on_are_answered() {
    let sim = with_clients(1);
    in_each_era(|era| {
        let mut server = Server::of(&sim).era(era).start();
        let deep = format!("{}{}", "[".repeat(10_000), "]".repeat(10_000));
        for part in ["1e400", "-1e400", "\"\\ud800\"", &deep] {
            let params = json!({"name": "get_client", "arguments": {"clientId": "@"}});
            let line = line(&mut server, "tools/call", params, "\"@\"", part);
            server.send_line(&line);
            let id: Value = serde_json::from_str::<Value>(&line.replace(part, "0")).unwrap();
            let answer = server.answer_to(id["id"].clone());
            assert_eq!(error(&answer).0, -32602, "{part:.20}: {answer}");
        }
        assert_alive(&mut server);
    });
    assert!(
        sim.requests()
            .iter()
            .all(|request| ["/api/client", "/api/auth/password"].contains(&request.path.as_str()))
    );
}

#[test]
fn what_comes_before_the_first_request_does_not_end_the_session() {
    let sim = with_clients(1);
    in_each_era(|era| {
        let mut server = Server::of(&sim).era(era).without_handshake().start();
        server.notify("notifications/initialized", json!({}));
        server.notify("notifications/cancelled", json!({"requestId": 1}));
        server.send(&json!({"jsonrpc": "2.0", "id": 9, "result": {}}));
        server.send_line("");
        server.send_line("nonsense");
        assert_eq!(error(&server.next_message()).0, -32700);
        if era.has_initialize() {
            let id = server.request("initialize", era.initialize(Capabilities::None));
            assert_eq!(server.result(id)["protocolVersion"], era.revision());
            server.notify("notifications/initialized", json!({}));
        }
        assert_alive(&mut server);
        server.assert_silent();
    });
}

#[test]
fn a_ping_is_answered_at_any_time() {
    in_each_era(|era| {
        let sim = with_clients(1);
        let mut server = Server::of(&sim).era(era).start();
        let hold = sim.hold(Matcher::new("GET", "/api/client/1"));
        let call = server.begin_call("get_client", json!({"clientId": 1}));
        hold.wait_arrived(1);
        let id = server.request("ping", json!({}));
        if era.has_initialize() {
            server.result(id);
        } else {
            // The newest revision does not have it any more.
            assert_eq!(server.error(id).0, -32601);
        }
        hold.release();
        structured(&server.finish_call(call, "get_client"));
    });
}

#[test]
fn an_id_may_be_any_text_or_integer_and_comes_back_as_it_was() {
    let sim = with_clients(1);
    in_each_era(|era| {
        let mut server = Server::of(&sim).era(era).start();
        for id in [
            json!("a"),
            json!("1"),
            json!(0),
            json!(-5),
            json!(9_007_199_254_740_991_u64),
            json!("ü\u{0}\""),
        ] {
            let line = server.request_line("tools/list", json!({}));
            let mut request: Value = serde_json::from_str(&line).unwrap();
            request["id"] = id.clone();
            server.send(&request);
            assert!(server.answer_to(id).get("result").is_some());
        }
    });
}

#[test]
fn an_id_may_be_used_again_once_it_was_answered() {
    let sim = with_clients(1);
    in_each_era(|era| {
        let mut server = Server::of(&sim).era(era).start();
        let params = json!({"name": "get_client", "arguments": {"clientId": 1}});
        let line = server.request_line("tools/call", params);
        let id = serde_json::from_str::<Value>(&line).unwrap()["id"].clone();
        for _ in 0..3 {
            server.send_line(&line);
            let answer = server.answer_to(id.clone());
            structured(&answer["result"]);
        }
    });
}

#[test]
fn lines_may_end_as_on_windows_and_begin_with_a_byte_order_mark() {
    let sim = with_clients(1);
    let mut server = Server::of(&sim).start();
    let line = server.request_line(
        "tools/call",
        json!({"name": "list_clients", "arguments": {}}),
    );
    server.send_bytes(format!("\u{feff}{line}\r\n").as_bytes());
    assert!(text(&server.result(1)).contains("client-1"));
}

#[test]
fn a_call_without_arguments_is_a_call_with_none() {
    let sim = with_clients(1);
    in_each_era(|era| {
        let mut server = Server::of(&sim).era(era).start();
        let id = server.request("tools/call", json!({"name": "list_clients"}));
        structured(&server.finish_call(id, "list_clients"));
    });
}

#[test]
fn unknown_arguments_are_refused_by_name() {
    let sim = with_clients(1);
    let mut server = Server::of(&sim).start();
    for tool in [
        "get_client",
        "get_client_config",
        "get_client_qrcode",
        "disable_client",
    ] {
        let result = server.call(tool, json!({"clientId": 1, "force": "SECRET", "x\ny": 1}));
        let said = crate::support::refusal(&result);
        assert!(
            said.contains("force") && said.contains("a name of 3 characters"),
            "{said}"
        );
        assert!(!said.contains("SECRET"));
    }
    let result = server.call("get_server_info", json!({"section": "general"}));
    assert!(
        crate::support::refusal(&result).contains("takes no arguments"),
        "{result}"
    );
    assert_eq!(sim.requests().len(), 0);
}

#[test]
fn a_cancelled_read_is_not_answered_and_gives_its_place_back() {
    in_each_era(|era| {
        let sim = with_clients(1);
        let mut server = Server::of(&sim).era(era).start();
        structured(&server.call("list_clients", json!({})));
        // More than may be read at a time: those that are cancelled must make room.
        let hold = sim.hold(Matcher::new("GET", "/api/client/1").times(4));
        let calls: Vec<_> = (0..4)
            .map(|_| server.begin_call("get_client", json!({"clientId": 1})))
            .collect();
        hold.wait_arrived(4);
        for call in calls {
            server.cancel(call);
        }
        assert_alive(&mut server);
        drop(hold);
        server.assert_silent();
    });
}

#[test]
fn a_revision_that_is_not_spoken_is_answered_with_those_that_are() {
    let mut server = Server::unconfigured().without_handshake().start();
    let mut params = Era::V2025_11_25.initialize(Capabilities::None);
    params["protocolVersion"] = "1999-01-01".into();
    let id = server.request("initialize", params);
    let answered = server.result(id)["protocolVersion"].clone();
    assert!(
        Era::ALL.iter().any(|era| answered == era.revision()),
        "{answered}"
    );

    let mut server = Server::unconfigured().start();
    let line = server
        .request_line("tools/list", json!({}))
        .replace("2026-07-28", "2099-01-01");
    server.send_line(&line);
    let answer = server.answer_to(1);
    error(&answer);
    for era in Era::ALL {
        assert!(answer.to_string().contains(era.revision()), "{answer}");
    }
    assert!(!server.tools().is_empty());
}

#[test]
fn both_ways_to_begin_are_served_one_after_the_other() {
    // Some clients look with server/discover first, and then speak an older revision.
    let sim = with_clients(1);
    for era in [Era::V2025_06_18, Era::V2025_11_25] {
        let mut server = Server::of(&sim).era(era).without_handshake().start();
        let mut params = serde_json::Map::new();
        Era::V2026_07_28.complete(&mut params, Capabilities::None);
        server.send(
            &json!({"jsonrpc": "2.0", "id": "d", "method": "server/discover", "params": params}),
        );
        assert!(server.answer_to("d")["result"]["supportedVersions"].is_array());
        let id = server.request("initialize", era.initialize(Capabilities::None));
        assert_eq!(server.result(id)["protocolVersion"], era.revision());
        server.notify("notifications/initialized", json!({}));
        assert_alive(&mut server);
    }
}
