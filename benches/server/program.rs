//! The built program, spoken to over its pipes with as little as possible on this side.

use serde_json::{Value, json};
use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use wg_easy_sim::Simulator;

/// A running program whose session has begun.
pub(crate) struct Program {
    child: Child,
    stdin: Option<ChildStdin>,
    stdout: BufReader<ChildStdout>,
    line: String,
    last_id: u64,
}

impl Program {
    pub(crate) fn start(sim: &Simulator, auth: &str) -> Self {
        let account = sim.account();
        let mut child = Command::new(env!("CARGO_BIN_EXE_wg-easy-mcp"))
            .env_clear()
            .env("WG_EASY_URL", sim.url())
            .env("WG_EASY_USERNAME", account.username)
            .env("WG_EASY_PASSWORD", account.password)
            .env("WG_EASY_AUTH", auth)
            .env("WG_EASY_LOG", "error")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut program = Self {
            stdin: child.stdin.take(),
            stdout: BufReader::new(child.stdout.take().unwrap()),
            child,
            line: String::new(),
            last_id: 0,
        };
        program.send(
            "initialize",
            &json!({
                "protocolVersion": "2025-11-25",
                "capabilities": {},
                "clientInfo": {"name": "benchmark", "version": "1"},
            }),
        );
        program.receive();
        program.write(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}));
        program
    }

    /// Calls a tool, and waits for its answer to be complete.
    pub(crate) fn call(&mut self, tool: &str, arguments: &Value) {
        self.send_call(tool, arguments);
        self.receive();
    }

    pub(crate) fn send_call(&mut self, tool: &str, arguments: &Value) {
        self.send("tools/call", &json!({"name": tool, "arguments": arguments}));
    }

    /// Waits for the next answer, which has to be a good one.
    pub(crate) fn receive(&mut self) {
        self.line.clear();
        self.stdout.read_line(&mut self.line).unwrap();
        let is_good = self.line.contains("\"result\"") && !self.line.contains("\"isError\":true");
        assert!(is_good, "{}", self.line);
    }

    fn send(&mut self, method: &str, params: &Value) {
        self.last_id += 1;
        let id = self.last_id;
        self.write(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}));
    }

    fn write(&mut self, message: &Value) {
        let stdin = self.stdin.as_mut().unwrap();
        stdin.write_all(format!("{message}\n").as_bytes()).unwrap();
    }

    /// A line of the kernel's account of the process, in KiB.
    pub(crate) fn memory(&self, name: &str) -> usize {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.child.id())).unwrap();
        let line = status.lines().find(|line| line.starts_with(name)).unwrap();
        line.split_whitespace().nth(1).unwrap().parse().unwrap()
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        drop(self.stdin.take());
        let _ = self.child.wait();
    }
}
