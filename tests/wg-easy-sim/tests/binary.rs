//! The simulator as a program.
#![allow(clippy::unwrap_used, reason = "a test")]

use std::{
    io::{BufRead as _, BufReader, Read as _, Write as _},
    net::TcpStream,
    process::{Command, Stdio},
};

#[test]
fn it_says_where_it_is_and_ends_with_its_input() {
    let ca_file = std::env::temp_dir().join(format!("wg-easy-sim-ca-{}.pem", std::process::id()));
    let mut child = Command::new(env!("CARGO_BIN_EXE_wg-easy-sim"))
        .args([
            "--clients",
            "2",
            "--tls",
            "--auth-cost-ms",
            "1",
            "--ca-file",
        ])
        .arg(&ca_file)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let output = BufReader::new(child.stdout.take().unwrap());
    let lines: Vec<String> = output.lines().take(4).map(Result::unwrap).collect();
    let port = lines
        .first()
        .and_then(|line| line.strip_prefix("URL       https://localhost:"))
        .unwrap();
    assert!(TcpStream::connect(("127.0.0.1", port.parse().unwrap())).is_ok());
    assert_eq!(lines.get(1).unwrap(), "user name admin");
    assert!(
        std::fs::read_to_string(&ca_file)
            .unwrap()
            .starts_with("-----BEGIN CERTIFICATE-----")
    );
    drop(child.stdin.take());
    assert!(child.wait().unwrap().success());
    std::fs::remove_file(&ca_file).unwrap();
}

#[test]
fn it_refuses_what_it_does_not_know() {
    let output = Command::new(env!("CARGO_BIN_EXE_wg-easy-sim"))
        .arg("--nonsense")
        .output()
        .unwrap();
    assert!(!output.status.success());
    assert!(String::from_utf8(output.stderr).unwrap().contains("--port"));
    for option in ["--certificate", "--user"] {
        let mut command = Command::new(env!("CARGO_BIN_EXE_wg-easy-sim"));
        let output = command.args([option, "nonsense"]).output().unwrap();
        assert!(!output.status.success(), "{option}");
    }
}

#[test]
fn what_can_be_wrong_with_an_instance_can_be_asked_for() {
    let mut child = Command::new(env!("CARGO_BIN_EXE_wg-easy-sim"))
        .args([
            "--prefix",
            "/vpn",
            "--release",
            "v14.0.1",
            "--user",
            "disabled",
        ])
        .args([
            "--totp",
            "GEZDGNBVGY3TQOJQ",
            "--clock-ahead",
            "3600",
            "--no-passwords",
        ])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut line = String::new();
    let mut output = BufReader::new(child.stdout.take().unwrap());
    output.read_line(&mut line).unwrap();
    let address = line.trim().strip_prefix("URL       http://").unwrap();
    let (address, prefix) = address.split_at(address.find('/').unwrap());
    let mut stream = TcpStream::connect(address).unwrap();
    write!(
        stream,
        "GET {prefix}/api/information HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n"
    )
    .unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    assert!(answer.contains("v14.0.1"), "{answer}");
    let date = answer.lines().find_map(|line| line.strip_prefix("date: "));
    let date = jiff::fmt::rfc2822::DateTimeParser::new().parse_timestamp(date.unwrap());
    let ahead = date.unwrap().duration_since(jiff::Timestamp::now());
    assert!((3500..=3600).contains(&ahead.as_secs()), "{ahead}");
    drop(child.stdin.take());
    assert!(child.wait().unwrap().success());
}

#[test]
fn without_tls_it_speaks_http() {
    let mut child = Command::new(env!("CARGO_BIN_EXE_wg-easy-sim"))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut output = BufReader::new(child.stdout.take().unwrap());
    let mut line = String::new();
    output.read_line(&mut line).unwrap();
    let port = line
        .trim()
        .strip_prefix("URL       http://127.0.0.1:")
        .unwrap();
    let mut stream = TcpStream::connect(("127.0.0.1", port.parse().unwrap())).unwrap();
    stream
        .write_all(b"GET /api/information HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n")
        .unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    assert!(answer.starts_with("HTTP/1.1 200 OK"));
    drop(child.stdin.take());
    assert!(child.wait().unwrap().success());
}
