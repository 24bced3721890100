//! How many copies of the login a running server holds, counted in its memory.
//!
//! Only root can read the memory of a process that cannot be dumped; elsewhere these tests say that
//! they did not run.

use crate::support::{Era, PASSWORD, Server, USERNAME, simulator, structured};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::json;
use std::fs::File;
use std::io::Write as _;
use std::os::unix::fs::FileExt as _;
use wg_easy_sim::{Settings, Simulator, Tls};

/// Everything that a process can write to, and so may have written a secret to.
struct Image(Vec<u8>);

impl Image {
    /// `None` where this user may not look.
    fn of(pid: u32) -> Option<Self> {
        let maps = std::fs::read_to_string(format!("/proc/{pid}/maps")).ok()?;
        let memory = File::open(format!("/proc/{pid}/mem")).ok()?;
        let mut image = Vec::new();
        for line in maps.lines() {
            let mut fields = line.split_whitespace();
            let (range, rights) = (fields.next()?, fields.next()?);
            if !rights.starts_with("rw") {
                continue;
            }
            let (start, end) = range.split_once('-')?;
            let number = |text| u64::from_str_radix(text, 16).unwrap();
            let (start, end) = (number(start), number(end));
            let mut region = vec![0; usize::try_from(end - start).unwrap()];
            // Some of the kernel's own regions cannot be read.
            if memory.read_exact_at(&mut region, start).is_ok() {
                image.extend(region);
            }
        }
        assert!(image.len() > 100_000, "is that all?");
        Some(Self(image))
    }

    /// Memory that was given back often loses its first bytes to the allocator, so the second half
    /// counts as the whole.
    fn count(&self, secret: &str) -> usize {
        let secret = &secret.as_bytes()[secret.len() / 2..];
        let mut found = 0;
        let mut rest = self.0.as_slice();
        while let Some(at) = rest
            .windows(secret.len())
            .position(|window| window == secret)
        {
            found += 1;
            rest = &rest[at + secret.len()..];
        }
        found
    }
}

/// Copies of the password and of the value of the `Authorization` header.
#[derive(Debug)]
struct Copies {
    password: usize,
    encoded: usize,
}

impl Copies {
    fn of(server: &Server) -> Option<Self> {
        let Some(image) = Image::of(server.pid()) else {
            let line = b"not tested: only root can count secrets in the memory of the server\n";
            std::io::stderr().write_all(line).unwrap();
            return None;
        };
        let encoded = STANDARD.encode(format!("{USERNAME}:{PASSWORD}"));
        Some(Self {
            password: image.count(PASSWORD),
            encoded: image.count(encoded.trim_end_matches('=')),
        })
    }
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
    if let Some(copies) = Copies::of(&server) {
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
    let copies = Copies::of(&server);
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
            Copies::of(&server)
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
        }
    }
}
