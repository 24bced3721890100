//! The running program.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};
use std::collections::{BTreeMap, VecDeque};
use std::io::Write;
use std::process::{Child, ChildStdin, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};
use wg_easy_sim::Simulator;

use super::pipes::{Diagnostics, Messages};
use super::{Capabilities, Era, PASSWORD, PATIENCE, USERNAME, schema};

/// How a server is to be started.
#[derive(Clone)]
pub struct Builder {
    variables: BTreeMap<String, String>,
    era: Era,
    capabilities: Capabilities,
    handshake: bool,
    on_demand: bool,
    stderr_unread: bool,
}

impl Builder {
    /// Adds a variable to the environment, or replaces it.
    pub fn with(mut self, name: &str, value: &str) -> Self {
        self.variables.insert(name.to_owned(), value.to_owned());
        self
    }

    /// Which revision is spoken; the newest if this is not said.
    pub fn era(mut self, era: Era) -> Self {
        self.era = era;
        self
    }

    /// What the client can do; nothing if this is not said.
    pub fn capabilities(mut self, capabilities: Capabilities) -> Self {
        self.capabilities = capabilities;
        self
    }

    /// Sends nothing by itself, not even the handshake.
    pub fn without_handshake(mut self) -> Self {
        self.handshake = false;
        self
    }

    /// Reads of stdout only what the test waits for, so that [`Server::close_stdout`] works, and so
    /// that answers pile up.
    pub fn read_on_demand(mut self) -> Self {
        self.on_demand = true;
        self
    }

    /// Reads nothing of stderr before [`Server::read_stderr`].
    pub fn stderr_unread(mut self) -> Self {
        self.stderr_unread = true;
        self
    }

    /// Starts the program, and begins a session where the revision has a beginning.
    pub fn start(self) -> Server {
        let mut child = Command::new(env!("CARGO_BIN_EXE_wg-easy-mcp"))
            .env_clear()
            .envs(&self.variables)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut server = Server {
            stdin: child.stdin.take(),
            messages: Messages::of(child.stdout.take().unwrap(), self.on_demand),
            diagnostics: Diagnostics::of(child.stderr.take().unwrap(), self.stderr_unread),
            child,
            aside: VecDeque::new(),
            last_id: 0,
            era: self.era,
            capabilities: self.capabilities,
            secrets: secrets(&self.variables),
        };
        if self.handshake && self.era.has_initialize() {
            let id = server.request("initialize", self.era.initialize(self.capabilities));
            let result = server.result(id);
            assert_eq!(result["protocolVersion"], self.era.revision(), "{result}");
            server.notify("notifications/initialized", json!({}));
        }
        server
    }
}

/// The program, running. What it was started for ends with it: dropping this ends the process and
/// checks that none of what it said holds the login.
pub struct Server {
    child: Child,
    stdin: Option<ChildStdin>,
    messages: Messages,
    diagnostics: Diagnostics,
    /// Messages that were read while another was waited for.
    aside: VecDeque<Value>,
    last_id: i64,
    era: Era,
    capabilities: Capabilities,
    secrets: Vec<String>,
}

/// Starting.
impl Server {
    /// A server with no configuration at all.
    pub fn unconfigured() -> Builder {
        Builder {
            variables: BTreeMap::new(),
            era: Era::V2026_07_28,
            capabilities: Capabilities::None,
            handshake: true,
            on_demand: false,
            stderr_unread: false,
        }
    }

    /// A server of a simulator.
    pub fn of(sim: &Simulator) -> Builder {
        Self::at(&sim.url())
    }

    /// A server of whatever is at a URL.
    pub fn at(url: &str) -> Builder {
        Self::unconfigured()
            .with("WG_EASY_URL", url)
            .with("WG_EASY_USERNAME", USERNAME)
            .with("WG_EASY_PASSWORD", PASSWORD)
    }
}

/// Calling.
impl Server {
    /// Calls a tool and gives its result.
    pub fn call(&mut self, tool: &str, arguments: Value) -> Value {
        let id = self.begin_call(tool, arguments);
        self.finish_call(id, tool)
    }

    /// The result of a call that was begun. It has to be what the tool promises.
    pub fn finish_call(&mut self, id: i64, tool: &str) -> Value {
        let result = self.result(id);
        schema::check(tool, &result);
        result
    }

    /// Calls a tool; the result is for [`Server::finish_call`].
    pub fn begin_call(&mut self, tool: &str, arguments: Value) -> i64 {
        self.request("tools/call", json!({"name": tool, "arguments": arguments}))
    }

    /// The tools, as `tools/list` has them.
    pub fn tools(&mut self) -> Vec<Value> {
        let id = self.request("tools/list", json!({}));
        self.result(id)["tools"].as_array().unwrap().clone()
    }

    /// The names of the tools, in the order of `tools/list`.
    pub fn tool_names(&mut self) -> Vec<String> {
        let name = |tool: &Value| tool["name"].as_str().unwrap().to_owned();
        self.tools().iter().map(name).collect()
    }

    /// Sends a request as the revision has it, and gives its id.
    pub fn request(&mut self, method: &str, params: Value) -> i64 {
        let line = self.request_line(method, params);
        self.send_line(&line);
        self.last_id
    }

    /// The line of a request with the next id.
    pub fn request_line(&mut self, method: &str, mut params: Value) -> String {
        self.last_id += 1;
        if method != "initialize" {
            let params = params.as_object_mut().unwrap();
            self.era.complete(params, self.capabilities);
        }
        json!({"jsonrpc": "2.0", "id": self.last_id, "method": method, "params": params})
            .to_string()
    }

    /// Sends a notification.
    pub fn notify(&mut self, method: &str, params: Value) {
        self.send(&json!({"jsonrpc": "2.0", "method": method, "params": params}));
    }

    /// Withdraws a request.
    pub fn cancel(&mut self, id: i64) {
        self.notify("notifications/cancelled", json!({"requestId": id}));
    }

    /// The result of a request. Panics at an error.
    pub fn result(&mut self, id: i64) -> Value {
        let answer = self.answer_to(id);
        assert!(answer["result"].is_object(), "{answer}");
        answer["result"].clone()
    }

    /// The code and the message of the error that a request got. Panics at a result.
    pub fn error(&mut self, id: i64) -> (i64, String) {
        error(&self.answer_to(id))
    }

    /// The whole answer to a request.
    pub fn answer_to(&mut self, id: impl Into<Value>) -> Value {
        let id = id.into();
        self.take(|message| message.get("method").is_none() && message["id"] == id)
    }
}

/// Lines.
impl Server {
    pub fn send(&mut self, message: &Value) {
        self.send_line(&message.to_string());
    }

    /// Sends a line, whatever it holds.
    pub fn send_line(&mut self, line: &str) {
        self.send_bytes(format!("{line}\n").as_bytes());
    }

    /// The input by itself, for a thread that writes while this one reads.
    pub fn split(&mut self) -> (ChildStdin, &mut Self) {
        (self.stdin.take().expect("the input is open"), self)
    }

    pub fn send_bytes(&mut self, bytes: &[u8]) {
        let stdin = self.stdin.as_mut().expect("the input is open");
        stdin.write_all(bytes).unwrap();
        stdin.flush().unwrap();
    }

    /// The next message that nobody has taken.
    pub fn next_message(&mut self) -> Value {
        self.take(|_| true)
    }

    /// The first message that fits; those before it stay for later.
    pub fn take(&mut self, fits: impl Fn(&Value) -> bool) -> Value {
        if let Some(at) = self.aside.iter().position(&fits) {
            return self.aside.remove(at).unwrap();
        }
        loop {
            let Some(message) = self.messages.next() else {
                let said = self.diagnostics.so_far();
                panic!("the server ended; aside: {:?}; stderr: {said}", self.aside)
            };
            if fits(&message) {
                return message;
            }
            self.aside.push_back(message);
        }
    }

    /// Sees to it that nothing was said that nobody waited for.
    pub fn assert_silent(&mut self) {
        let id = self.request("ping", json!({}));
        self.answer_to(id);
        assert_eq!(self.aside, VecDeque::<Value>::new());
    }

    /// What has been said on stderr so far.
    pub fn stderr(&self) -> String {
        self.diagnostics.so_far()
    }

    /// Begins to read stderr; only with [`Builder::stderr_unread`].
    pub fn read_stderr(&mut self) {
        self.diagnostics.read();
    }

    /// Waits until something has been said on stderr.
    pub fn wait_for_stderr(&self, part: &str) -> String {
        self.diagnostics.wait_for(part)
    }

    /// The audit lines, once there are so many.
    pub fn wait_for_audit(&self, count: usize) -> Vec<String> {
        let audit = |text: &str| -> Vec<String> {
            let lines = text.lines().filter(|line| {
                line.starts_with("wg-easy-mcp: audit: ") || line.contains(r#""level":"audit""#)
            });
            lines.map(str::to_owned).collect()
        };
        let what = format!("{count} audit lines");
        audit(
            &self
                .diagnostics
                .wait_until(&what, |text| audit(text).len() >= count),
        )
    }
}

/// Ending.
impl Server {
    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    /// A figure of the process's memory in KiB: `VmRSS` for now, `VmHWM` for the most there ever was.
    pub fn memory(&self, figure: &str) -> u64 {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.pid())).unwrap();
        let line = status.lines().find(|line| line.starts_with(figure));
        let number = line.unwrap().split_whitespace().nth(1);
        number.unwrap().parse().unwrap()
    }

    /// Sends a signal by its short name, such as `TERM`.
    pub fn signal(&self, name: &str) {
        let status = Command::new("kill")
            .args(["-s", name, &self.pid().to_string()])
            .status();
        assert!(status.unwrap().success());
    }

    pub fn close_stdin(&mut self) {
        self.stdin = None;
    }

    /// Closes stdout's other end; only with [`Builder::read_on_demand`].
    pub fn close_stdout(&mut self) {
        self.messages.close();
    }

    pub fn has_ended(&mut self) -> bool {
        self.child.try_wait().unwrap().is_some()
    }

    /// Waits for the process to end.
    pub fn expect_exit(&mut self, within: Duration) -> ExitStatus {
        let start = Instant::now();
        loop {
            if let Some(status) = self.child.try_wait().unwrap() {
                return status;
            }
            assert!(start.elapsed() < within, "still running after {within:?}");
            std::thread::sleep(Duration::from_millis(2));
        }
    }

    /// Ends the session and gives everything that was said on stdout and on stderr.
    pub fn finish(mut self) -> (String, String) {
        self.end();
        (self.messages.all(), self.diagnostics.all())
    }

    fn end(&mut self) {
        self.close_stdin();
        let start = Instant::now();
        while !self.has_ended() {
            if start.elapsed() > PATIENCE || std::thread::panicking() {
                let _ = self.child.kill();
                let _ = self.child.wait();
            }
            std::thread::sleep(Duration::from_millis(2));
        }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.end();
        if std::thread::panicking() {
            return;
        }
        let (stdout, stderr) = (self.messages.all(), self.diagnostics.all());
        for secret in &self.secrets {
            assert!(!stdout.contains(secret), "the login is on stdout: {stdout}");
            assert!(!stderr.contains(secret), "the login is on stderr: {stderr}");
        }
        assert!(!stderr.contains("panic"), "{stderr}");
    }
}

/// The code and the message of an error answer.
pub fn error(answer: &Value) -> (i64, String) {
    let error = &answer["error"];
    let message = error["message"].as_str();
    match (error["code"].as_i64(), message) {
        (Some(code), Some(message)) => (code, message.to_owned()),
        _ => panic!("no error: {answer}"),
    }
}

/// The login in every spelling in which it could slip out.
fn secrets(variables: &BTreeMap<String, String>) -> Vec<String> {
    let value = |name: &str| variables.get(name).cloned().unwrap_or_default();
    let (username, password) = (value("WG_EASY_USERNAME"), value("WG_EASY_PASSWORD"));
    let pair = STANDARD.encode(format!("{username}:{password}"));
    [username, password, pair]
        .into_iter()
        .filter(|secret| secret.len() > 8)
        .collect()
}
