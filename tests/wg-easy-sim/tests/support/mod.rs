//! A small HTTP client that hides nothing: raw headers, reason phrases, broken answers.
#![allow(dead_code, reason = "each test file uses a part")]

use std::{
    io::{self, Read, Write},
    net::TcpStream,
    time::Duration,
};

use base64::{Engine as _, engine::general_purpose::STANDARD};
use wg_easy_sim::Simulator;

/// An answer, taken apart.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) reason: String,
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: Vec<u8>,
}

impl Answer {
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers
            .iter()
            .find(|(key, _)| key == name)
            .map(|(_, value)| value.as_str())
    }

    pub(crate) fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }

    pub(crate) fn json(&self) -> serde_json::Value {
        serde_json::from_slice(&self.body).unwrap()
    }

    /// The `wg-easy` cookie it sets, as a request would carry it.
    pub(crate) fn cookie(&self) -> Option<String> {
        let cookies = self.headers.iter().filter(|(key, _)| key == "set-cookie");
        cookies
            .filter_map(|(_, line)| line.split(';').next())
            .find(|pair| pair.starts_with("wg-easy="))
            .map(str::to_owned)
    }
}

/// One request on a connection of its own.
pub(crate) fn ask(
    sim: &Simulator,
    method: &str,
    target: &str,
    headers: &[(&str, &str)],
    body: &str,
) -> io::Result<Answer> {
    exchange(&mut connect(sim), method, target, headers, body, true)
}

/// A connection that gives up rather than hang a test.
pub(crate) fn connect(sim: &Simulator) -> TcpStream {
    let stream = TcpStream::connect(("127.0.0.1", sim.port())).unwrap();
    stream
        .set_read_timeout(Some(Duration::from_secs(20)))
        .unwrap();
    stream
}

/// As `ask`, with the right name and password and JSON.
pub(crate) fn admin(sim: &Simulator, method: &str, target: &str, body: &str) -> Answer {
    let login = authorization(sim);
    let mut headers = vec![("Authorization", login.as_str())];
    if !body.is_empty() {
        headers.push(("Content-Type", "application/json"));
    }
    ask(sim, method, target, &headers, body).unwrap()
}

/// The right Basic header.
pub(crate) fn authorization(sim: &Simulator) -> String {
    let account = sim.account();
    basic(&account.username, &account.password)
}

/// A Basic header.
pub(crate) fn basic(username: &str, password: &str) -> String {
    format!(
        "Basic {}",
        STANDARD.encode(format!("{username}:{password}"))
    )
}

/// One request and its answer over any stream.
pub(crate) fn exchange(
    stream: &mut (impl Read + Write),
    method: &str,
    target: &str,
    headers: &[(&str, &str)],
    body: &str,
    close: bool,
) -> io::Result<Answer> {
    let mut request = format!("{method} {target} HTTP/1.1\r\nHost: sim.test\r\n");
    for (name, value) in headers {
        request.push_str(&format!("{name}: {value}\r\n"));
    }
    if close {
        request.push_str("Connection: close\r\n");
    }
    if !body.is_empty() {
        request.push_str(&format!("Content-Length: {}\r\n", body.len()));
    }
    stream.write_all(format!("{request}\r\n{body}").as_bytes())?;
    read_answer(stream, method == "HEAD")
}

/// Reads one answer; an incomplete one is an error.
pub(crate) fn read_answer(stream: &mut impl Read, head_only: bool) -> io::Result<Answer> {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        let mut byte = [0];
        stream.read_exact(&mut byte)?;
        head.push(byte[0]);
    }
    let head = String::from_utf8_lossy(&head).into_owned();
    let mut lines = head.trim_end().split("\r\n");
    let mut start = lines.next().unwrap().splitn(3, ' ');
    let (_, status, reason) = (
        start.next(),
        start.next().unwrap(),
        start.next().unwrap_or_default(),
    );
    let headers = lines.filter_map(|line| line.split_once(':'));
    let headers = headers
        .map(|(name, value)| (name.to_ascii_lowercase(), value.trim().to_owned()))
        .collect();
    let mut answer = Answer {
        status: status.parse().unwrap(),
        reason: reason.to_owned(),
        headers,
        body: Vec::new(),
    };
    if head_only {
        return Ok(answer);
    }
    if answer.header("transfer-encoding") == Some("chunked") {
        while let Some(chunk) = read_chunk(stream)? {
            answer.body.extend(chunk);
        }
    } else {
        let length = answer
            .header("content-length")
            .map_or(0, |length| length.parse().unwrap());
        answer.body = vec![0; length];
        stream.read_exact(&mut answer.body)?;
    }
    Ok(answer)
}

/// The next chunk of a body; `None` at its end.
pub(crate) fn read_chunk(stream: &mut impl Read) -> io::Result<Option<Vec<u8>>> {
    let mut size = Vec::new();
    while !size.ends_with(b"\r\n") {
        let mut byte = [0];
        stream.read_exact(&mut byte)?;
        size.push(byte[0]);
    }
    let size = usize::from_str_radix(String::from_utf8_lossy(&size).trim(), 16).unwrap();
    let mut chunk = vec![0; size + 2];
    stream.read_exact(&mut chunk)?;
    chunk.truncate(size);
    Ok((size > 0).then_some(chunk))
}
