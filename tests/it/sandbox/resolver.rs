//! Name resolution goes on when what it reads is replaced under a running server.
//!
//! The server gets an `/etc` of its own by a mount that only it sees, which takes root; elsewhere this
//! says that it did not run.

use std::net::UdpSocket;
use std::os::unix::fs::{MetadataExt as _, symlink};
use std::path::Path;
use std::process::Command;

use serde_json::json;
use wg_easy_sim::{Settings, Simulator};

use super::{Directory, Session, not_tested};

const NAME: &str = "wg-easy.example.test";

/// An address of this machine on which nothing else listens.
fn nameserver_address() -> String {
    let id = std::process::id();
    format!("127.77.{}.{}", id / 256 % 256, id % 254 + 1)
}

/// Answers every question for an IPv4 address with this machine, and all others with nothing.
fn serve_names(address: &str) {
    let socket = UdpSocket::bind((address, 53)).unwrap();
    std::thread::spawn(move || {
        let mut query = [0; 512];
        while let Ok((length, client)) = socket.recv_from(&mut query) {
            let mut answer = query[..length].to_vec();
            // The question ends with its type and class, and begins after twelve bytes.
            let end = 12 + answer[12..].iter().position(|&byte| byte == 0).unwrap() + 5;
            answer.truncate(end);
            let is_ipv4 = answer[end - 4..end - 2] == [0, 1];
            // An answer, recursion available, no error; one question, and one record or none.
            answer[2..4].copy_from_slice(&[0x81, 0x80]);
            answer[4..12].copy_from_slice(&[0, 1, 0, u8::from(is_ipv4), 0, 0, 0, 0]);
            if is_ipv4 {
                // The name of the question; IPv4, internet, for no time; four bytes.
                answer.extend([0xc0, 12, 0, 1, 0, 1, 0, 0, 0, 0, 0, 4, 127, 0, 0, 1]);
            }
            let _ = socket.send_to(&answer, client);
        }
    });
}

/// The program with `etc` in the place of `/etc`, and `elsewhere` in the place of `/usr/local`.
fn program(sim: &Simulator, etc: &Path, elsewhere: &Path) -> Command {
    let mut command = Command::new("unshare");
    command
        .args(["--mount", "sh", "-c"])
        .arg(r#"mount --bind "$0" /etc && mount --bind "$1" /usr/local && exec "$2""#)
        .args([etc, elsewhere])
        .arg(env!("CARGO_BIN_EXE_wg-easy-mcp"))
        .env_clear()
        .env("PATH", "/usr/sbin:/usr/bin:/sbin:/bin")
        .env("WG_EASY_URL", format!("http://{NAME}:{}", sim.port()))
        .env("WG_EASY_USERNAME", "admin")
        .env("WG_EASY_PASSWORD", "correct-horse-battery");
    command
}

/// Puts a new file in the place of the old one, as resolvers do.
fn replace(path: &Path, content: &str) {
    let new = path.with_extension("new");
    std::fs::write(&new, content).unwrap();
    std::fs::rename(new, path).unwrap();
}

#[test]
fn names_are_resolved_after_the_files_behind_it_were_replaced() {
    let is_root = std::fs::metadata("/proc/self").unwrap().uid() == 0;
    let probe = Command::new("unshare").args(["--mount", "true"]).output();
    if !is_root || !probe.is_ok_and(|output| output.status.success()) {
        return not_tested("a mount of its own");
    }
    let sim = Simulator::start(Settings::default());
    let address = nameserver_address();
    serve_names(&address);
    let (etc, elsewhere) = (Directory::new("etc"), Directory::new("elsewhere"));
    etc.file("nsswitch.conf", "hosts: files dns\n");
    let hosts = etc.file("hosts", "127.0.0.1 localhost\n");
    // Nobody listens there, which is known at once.
    let silent = elsewhere.file("resolv.conf", "nameserver 127.78.0.1\n");
    symlink("/usr/local/resolv.conf", etc.0.join("resolv.conf")).unwrap();

    let mut session = Session::start(program(&sim, &etc.0, &elsewhere.0));
    let mut call = || session.call("list_clients", json!({}));
    let refused = call();
    let text = refused["content"][0]["text"].as_str().unwrap();
    assert!(text.contains("has no address"), "{text}");

    // A file outside of `/etc`, to which a link in it points.
    replace(&silent, &format!("nameserver {address}\n"));
    let answer = call();
    assert_eq!(answer["structuredContent"]["count"], 0, "{answer}");

    // The link itself, by a file; and the name server is gone.
    let moved = etc.0.join("resolv.conf");
    replace(&moved, "nameserver 127.78.0.1\n");
    replace(&hosts, &format!("127.0.0.1 {NAME}\n"));
    sim.wait_open_connections(0);
    let answer = call();
    assert_eq!(answer["structuredContent"]["count"], 0, "{answer}");
    session.end();
}
