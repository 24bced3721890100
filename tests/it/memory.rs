//! How many copies of each secret a running server holds, counted in its memory, and how many are left
//! when it ends.
//!
//! Only root can read the memory of a process that cannot be dumped; elsewhere these tests say that
//! they did not run.

mod ending;
mod image;
mod sealing_key;

use image::Image;

use crate::support::{Era, PASSWORD, Server, USERNAME, simulator, structured};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::json;
use std::io::Write as _;
use wg_easy_sim::{Settings, Simulator, Tls};

/// Copies of what lets somebody in.
#[derive(Debug)]
struct Copies {
    password: usize,
    /// The value of the `Authorization` header.
    encoded: usize,
    /// The cookies of all sessions together.
    cookies: usize,
}

impl Copies {
    fn of(server: &Server, sim: &Simulator) -> Option<Self> {
        let Some(image) = Image::of(server.pid()) else {
            not_tested();
            return None;
        };
        let encoded = STANDARD.encode(format!("{USERNAME}:{PASSWORD}"));
        Some(Self {
            password: image.count(PASSWORD),
            encoded: image.count(encoded.trim_end_matches('=')),
            cookies: cookies(sim).iter().map(|cookie| image.count(cookie)).sum(),
        })
    }
}

/// The cookies that the instance was sent, each once, in order.
fn cookies(sim: &Simulator) -> Vec<String> {
    let mut cookies = Vec::new();
    for request in sim.requests() {
        let cookie = request.headers.iter().find(|(name, _)| name == "cookie");
        let Some((_, cookie)) = cookie else { continue };
        if !cookies.contains(cookie) {
            cookies.push(cookie.clone());
        }
    }
    cookies
}

fn not_tested() {
    let line = b"not tested: only root can count secrets in the memory of the server\n";
    std::io::stderr().write_all(line).unwrap();
}

fn started(sim: &Simulator, auth: &str) -> Server {
    Server::of(sim)
        .era(Era::V2025_11_25)
        .with("WG_EASY_INSECURE_TLS", "true")
        .with("WG_EASY_AUTH", auth)
        .start()
}

#[test]
fn before_a_call_the_password_is_in_memory_once_and_the_header_is_not() {
    let sim = simulator(Settings::default());
    let server = started(&sim, "auto");
    if let Some(copies) = Copies::of(&server, &sim) {
        assert!(copies.password <= 1, "{copies:?}");
        assert_eq!(copies.encoded, 0, "{copies:?}");
    }
}

#[test]
fn a_password_from_a_file_is_in_memory_once_as_well() {
    let sim = simulator(Settings::default());
    let name = format!("wg-easy-mcp-memory-{}", std::process::id());
    let path = std::env::temp_dir().join(name);
    std::fs::write(&path, PASSWORD).unwrap();
    let server = Server::unconfigured()
        .era(Era::V2025_11_25)
        .with("WG_EASY_URL", &sim.url())
        .with("WG_EASY_USERNAME", USERNAME)
        .with("WG_EASY_PASSWORD_FILE", path.to_str().unwrap())
        .start();
    let copies = Copies::of(&server, &sim);
    std::fs::remove_file(path).unwrap();
    if let Some(copies) = copies {
        assert!(copies.password <= 1, "{copies:?}");
        assert_eq!(copies.encoded, 0, "{copies:?}");
    }
}

#[test]
fn calls_do_not_pile_up_copies_of_the_login() {
    for (tls, auth) in [
        (Tls::Off, "auto"),
        (Tls::Valid, "auto"),
        (Tls::Off, "basic"),
        (Tls::Valid, "basic"),
    ] {
        let sim = simulator(Settings {
            tls,
            clients: 3,
            ..Settings::default()
        });
        let mut server = started(&sim, auth);
        let mut call = |times: usize| {
            for _ in 0..times {
                structured(&server.call("list_clients", json!({})));
                structured(&server.call("get_client_config", json!({"clientId": 1})));
                structured(&server.call("disable_client", json!({"clientId": 1})));
            }
            Copies::of(&server, &sim)
        };
        let (Some(few), Some(many)) = (call(1), call(10)) else {
            return;
        };
        // Of all the requests that carried the login one is left, in the buffer of the HTTP library,
        // or pieces of two. A session leaves none.
        let most = if auth == "basic" { 2 } else { 0 };
        for copies in [&few, &many] {
            assert!(copies.password <= 1, "{tls:?}, {auth}: {copies:?}");
            assert!(copies.encoded <= most, "{tls:?}, {auth}: {copies:?}");
            // The server's own, and what the HTTP library last wrote and read.
            let most = if auth == "basic" { 0 } else { 4 };
            assert!(copies.cookies <= most, "{tls:?}, {auth}: {copies:?}");
        }
    }
}

/// What goes through this process on its way to the client is in the buffers of several libraries,
/// which do not wipe them.
#[test]
fn a_private_key_that_was_asked_for_does_not_pile_up_without_end() {
    let sim = simulator(Settings {
        tls: Tls::Valid,
        clients: 3,
        ..Settings::default()
    });
    let mut server = started(&sim, "auto");
    for times in [1, 160] {
        let mut key = String::new();
        for _ in 0..times {
            let answer = server.call("get_client_config", json!({"clientId": 1}));
            let configuration = structured(&answer)["configuration"].as_str().unwrap();
            let found = configuration
                .lines()
                .find_map(|line| line.strip_prefix("PrivateKey = "));
            key = found.unwrap().trim_end_matches('=').to_owned();
        }
        let Some(image) = Image::of(server.pid()) else {
            return not_tested();
        };
        let copies = image.count(&key);
        assert!((1..=100).contains(&copies), "{copies} after {times} calls");
    }
}
