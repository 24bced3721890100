//! The exchange with wg-easy alone: a request and its answer on a kept connection, and nothing else.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::json;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use wg_easy_sim::Simulator;

/// A connection, and the header of its login.
pub(crate) struct Bare {
    stream: BufReader<TcpStream>,
    login: String,
}

impl Bare {
    pub(crate) fn new(sim: &Simulator, auth: &str) -> Self {
        let stream = TcpStream::connect(("127.0.0.1", sim.port())).unwrap();
        stream.set_nodelay(true).unwrap();
        let account = sim.account();
        let (name, password) = (account.username, account.password);
        let mut bare = Self {
            stream: BufReader::new(stream),
            login: format!(
                "authorization: Basic {}",
                STANDARD.encode(format!("{name}:{password}"))
            ),
        };
        if auth == "session" {
            let body = json!({"username": name, "password": password, "remember": false});
            let body = body.to_string();
            let (head, _) = bare.exchange(&format!(
                "POST /api/auth/password HTTP/1.1\r\nhost: sim\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n{body}",
                body.len()
            ));
            let cookie = head.split("set-cookie: ").nth(1).unwrap();
            bare.login = format!("cookie: {}", cookie.split(';').next().unwrap());
        }
        bare
    }

    /// The body of the answer to a GET.
    pub(crate) fn get(&mut self, path: &str) -> Vec<u8> {
        let request = format!(
            "GET {path} HTTP/1.1\r\nhost: sim\r\naccept: application/json\r\n{}\r\n\r\n",
            self.login
        );
        self.exchange(&request).1
    }

    fn exchange(&mut self, request: &str) -> (String, Vec<u8>) {
        self.stream.get_mut().write_all(request.as_bytes()).unwrap();
        let mut head = String::new();
        while !head.ends_with("\r\n\r\n") {
            assert!(self.stream.read_line(&mut head).unwrap() > 0, "{head}");
        }
        assert!(head.starts_with("HTTP/1.1 200 "), "{head}");
        let length = head.split("content-length: ").nth(1).unwrap();
        let length = length.lines().next().unwrap().parse().unwrap();
        let mut body = vec![0; length];
        self.stream.read_exact(&mut body).unwrap();
        (head, body)
    }
}
