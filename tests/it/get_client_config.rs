//! `get_client_config`: a file that has to work is byte for byte what wg-easy sent.

use crate::support::{Server, in_each_era, refusal, structured, with_clients};
use serde_json::json;
use wg_easy_sim::{Canned, Fault, Matcher};

const PATH: &str = "/api/client/1/configuration";

fn file(body: impl Into<Vec<u8>>) -> Fault {
    Fault::Instead(
        Canned::new(200)
            .content_type("application/octet-stream")
            .body(body),
    )
}

#[test]
fn a_configuration_comes_byte_for_byte_with_its_keys() {
    let sim = with_clients(2);
    sim.update_client(2, |client| {
        client.enabled = false;
        client.post_up = "iptables -A FORWARD;  echo 'ä\t\u{202e}\u{feff}\u{e0041}'".to_owned();
    });
    in_each_era(|era| {
        let mut server = Server::of(&sim).era(era).start();
        for id in [1, 2] {
            let result = server.call("get_client_config", json!({"clientId": id}));
            let answer = structured(&result);
            assert_eq!(answer["configuration"], sim.configuration(id).unwrap());
            let key = sim.client(id).unwrap().private_key;
            assert!(answer["configuration"].as_str().unwrap().contains(&key));
            assert_eq!(answer.get("warning"), None);
        }
    });
}

#[test]
fn line_ends_and_white_space_stay_as_they_are() {
    let sim = with_clients(1);
    let mut server = Server::of(&sim).start();
    for body in [
        "[Interface]\r\nPrivateKey = x\r\n\r\n[Peer]\r\n",
        "\n\n# a comment\n [Interface] \n\n\n",
        "[Interface]",
    ] {
        sim.fault(Matcher::new("GET", PATH), file(body));
        let result = server.call("get_client_config", json!({"clientId": 1}));
        assert_eq!(structured(&result)["configuration"], body);
    }
}

#[test]
fn a_control_character_is_left_in_and_reported() {
    let sim = with_clients(1);
    sim.update_client(1, |client| {
        client.pre_up = "echo \u{1b}[2J\u{7}\u{9b}".to_owned()
    });
    let mut server = Server::of(&sim).start();
    let result = server.call("get_client_config", json!({"clientId": 1}));
    let answer = structured(&result);
    assert_eq!(answer["configuration"], sim.configuration(1).unwrap());
    assert!(
        answer["warning"]
            .as_str()
            .unwrap()
            .contains("control characters")
    );
    let result = server.call("get_client_qrcode", json!({"clientId": 1}));
    assert!(
        structured(&result)["warning"]
            .as_str()
            .unwrap()
            .contains("control characters")
    );
}

#[test]
fn what_is_not_a_configuration_is_an_error_and_not_passed_on() {
    let sim = with_clients(1);
    let mut server = Server::of(&sim).start();
    for fault in [
        file(""),
        file(" \r\n\t"),
        file("{\"leaked\":\"\n[Interface]\n\"}"),
        file("[\"leaked\"]"),
        file("<html>leaked\n[Interface]\n</html>"),
        file("leaked"),
        file(b"[Interface]\nleaked\xff".to_vec()),
        Fault::json("{\"leaked\":true}"),
        Fault::html(200),
        Fault::ContentType("text/html".to_owned()),
        Fault::ContentType("application/json".to_owned()),
        Fault::CutBody(100),
    ] {
        let what = format!("{fault:?}");
        sim.fault(Matcher::new("GET", PATH), fault);
        let result = server.call("get_client_config", json!({"clientId": 1}));
        let said = refusal(&result);
        for leak in ["leaked", "PrivateKey", "sso"] {
            assert!(!said.contains(leak), "{what}: {said}");
        }
        assert!(said.contains("Check"), "{what}: {said}");
    }
    let result = server.call("get_client_config", json!({"clientId": 1}));
    structured(&result);
}

#[test]
fn a_file_that_fits_no_answer_is_an_error_and_never_cut() {
    let sim = with_clients(1);
    let mut server = Server::of(&sim).start();
    let body = format!("[Interface]\n{}", "#".repeat(60_000));
    sim.fault(Matcher::new("GET", PATH), file(body));
    let result = server.call("get_client_config", json!({"clientId": 1}));
    let said = refusal(&result);
    assert!(
        said.contains("60000") && !said.contains("[Interface]"),
        "{said}"
    );
}

#[test]
fn a_client_that_does_not_exist_is_named() {
    let sim = with_clients(1);
    let mut server = Server::of(&sim).start();
    let result = server.call("get_client_config", json!({"clientId": 77}));
    assert!(refusal(&result).contains("no client 77"), "{result}");
}
