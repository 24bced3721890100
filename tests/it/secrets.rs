//! The login is nowhere to be seen. What the server says in all other tests is looked through by the
//! harness; here are the places where it would have to be looked for.

use crate::support::{
    PASSWORD, Server, USERNAME, in_each_era, is_error, refusal, structured, with_clients,
};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::json;
use wg_easy_sim::{Canned, Fault, Matcher};

#[test]
fn the_environment_of_a_running_server_shows_no_value() {
    let sim = with_clients(1);
    in_each_era(|era| {
        let mut server = Server::of(&sim)
            .era(era)
            .with("BYSTANDER", "stays")
            .with("WG_EASY_TOTP_SECRET", "")
            .start();
        for _ in 0..2 {
            // An answer shows that the program is past its start.
            structured(&server.call("list_clients", json!({})));
            let bytes = std::fs::read(format!("/proc/{}/environ", server.pid())).unwrap();
            let seen = String::from_utf8_lossy(&bytes);
            assert!(seen.contains("BYSTANDER=stays\0"), "{seen:?}");
            for value in [USERNAME, PASSWORD, &sim.url()] {
                assert!(!seen.contains(value), "{seen:?}");
            }
        }
    });
}

#[test]
fn the_command_line_shows_nothing() {
    let sim = with_clients(1);
    let mut server = Server::of(&sim).start();
    structured(&server.call("list_clients", json!({})));
    let bytes = std::fs::read(format!("/proc/{}/cmdline", server.pid())).unwrap();
    assert_eq!(bytes.iter().filter(|&&byte| byte == 0).count(), 1);
}

#[test]
fn an_instance_that_repeats_the_login_is_not_repeated() {
    let sim = with_clients(1);
    let mut server = Server::of(&sim)
        .with("WG_EASY_LOG", "debug")
        .with("WG_EASY_AUTH", "basic")
        .start();
    let pair = STANDARD.encode(format!("{USERNAME}:{PASSWORD}"));
    for status in [400, 500] {
        for echo in [
            PASSWORD.to_owned(),
            pair.clone(),
            format!("Basic {pair} is bad"),
        ] {
            let body = json!({"message": echo}).to_string();
            for content_type in ["application/json", "text/plain"] {
                let canned = Canned::new(status)
                    .content_type(content_type)
                    .body(body.clone());
                sim.fault(Matcher::any(), Fault::Instead(canned));
                let result = server.call("list_clients", json!({}));
                assert!(!refusal(&result).contains(&echo), "{result}");
            }
        }
    }
}

#[test]
fn the_log_says_nothing_of_what_is_called_and_answered_at_any_level() {
    let sim = with_clients(1);
    sim.update_client(1, |client| client.name = "NAME-OF-A-CLIENT".to_owned());
    for format in ["text", "json"] {
        let mut server = Server::of(&sim)
            .with("WG_EASY_LOG", "debug")
            .with("WG_EASY_LOG_FORMAT", format)
            .start();
        let key = sim.client(1).unwrap().private_key;
        for (tool, arguments) in [
            ("list_clients", json!({"filter": "NAME-OF"})),
            ("get_client", json!({"clientId": 1})),
            ("get_client_config", json!({"clientId": 1})),
            ("get_client_qrcode", json!({"clientId": 1})),
            ("disable_client", json!({"clientId": 1})),
            ("get_server_info", json!({})),
            ("get_client", json!({"clientId": "NAME-OF-A-CLIENT"})),
        ] {
            server.call(tool, arguments);
        }
        let (_, stderr) = server.finish();
        for value in ["NAME-OF", &key, "10.8.0", "clientId"] {
            assert!(!stderr.contains(value), "{stderr}");
        }
    }
}

#[test]
fn the_login_comes_from_files_as_well() {
    let sim = with_clients(1);
    let directory = std::env::temp_dir().join(format!("wg-easy-mcp-login-{}", std::process::id()));
    std::fs::create_dir_all(&directory).unwrap();
    let file = |name: &str, value: &str| {
        let path = directory.join(name);
        std::fs::write(&path, format!("{value}\n")).unwrap();
        path.to_str().unwrap().to_owned()
    };
    let mut server = Server::unconfigured()
        .with("WG_EASY_URL", &sim.url())
        .with("WG_EASY_USERNAME_FILE", &file("username", USERNAME))
        .with("WG_EASY_PASSWORD_FILE", &file("password", PASSWORD))
        .start();
    let result = server.call("list_clients", json!({}));
    std::fs::remove_dir_all(&directory).unwrap();
    assert!(!is_error(&result), "{result}");
    let (stdout, stderr) = server.finish();
    assert!(!stdout.contains(PASSWORD) && !stderr.contains(PASSWORD));
}
