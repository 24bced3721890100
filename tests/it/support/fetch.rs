//! Asking a simulator itself, past the server.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use std::io::{Read, Write};
use std::net::TcpStream;
use wg_easy_sim::Simulator;

use super::{PASSWORD, USERNAME};

/// What a simulator answers to a GET, byte for byte.
pub fn fetch(sim: &Simulator, path: &str) -> Vec<u8> {
    let login = STANDARD.encode(format!("{USERNAME}:{PASSWORD}"));
    let request = format!(
        "GET {path} HTTP/1.1\r\nhost: 127.0.0.1\r\nauthorization: Basic {login}\r\naccept: application/json\r\nconnection: close\r\n\r\n"
    );
    let mut stream = TcpStream::connect(("127.0.0.1", sim.port())).unwrap();
    stream.write_all(request.as_bytes()).unwrap();
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer).unwrap();
    assert!(answer.starts_with(b"HTTP/1.1 200 "));
    let head = answer
        .windows(4)
        .position(|window| window == b"\r\n\r\n")
        .unwrap();
    answer.split_off(head + 4)
}
