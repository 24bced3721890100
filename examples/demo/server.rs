//! The real server as a child process, and an AI's client at the other end of its stdin and stdout.

use crate::Problem;
use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{self, Receiver};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};
use wg_easy_sim::Simulator;

/// How long anything may take. The server's own limits are longer; the demo's wg-easy is next door.
const PATIENCE: Duration = Duration::from_secs(30);

/// The revision of the protocol that the client speaks.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Revision {
    /// Opens with a handshake; questions are pushed to it while a call waits.
    V2025_11_25,
    /// Says what it can do in each request; a question is the answer to a call, which it makes again.
    V2026_07_28,
}

/// A question, as the client gets it.
pub(crate) struct Dialog {
    pub(crate) message: String,
    pub(crate) title: String,
    pub(crate) hint: String,
}

/// A running server and the client's connection to it.
pub(crate) struct Server {
    revision: Revision,
    child: Child,
    stdin: Option<ChildStdin>,
    stdout: Receiver<String>,
    stderr: Arc<Mutex<Vec<String>>>,
    transcript: Vec<String>,
    last_id: u64,
}

impl Server {
    /// Starts the binary with the configuration that a person would give it.
    pub(crate) fn start(
        binary: &Path,
        wg_easy: &Simulator,
        revision: Revision,
    ) -> Result<Self, Problem> {
        let files = Files::new(wg_easy)?;
        let mut child = Command::new(binary)
            .env_clear()
            .env("WG_EASY_URL", wg_easy.url())
            .env("WG_EASY_USERNAME", wg_easy.account().username)
            .env("WG_EASY_PASSWORD_FILE", files.password())
            .env("WG_EASY_CA_FILE", files.roots())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()?;
        let stdin = child.stdin.take();
        let (lines, stdout) = mpsc::channel();
        if let Some(pipe) = child.stdout.take() {
            std::thread::spawn(move || {
                for line in BufReader::new(pipe).lines().map_while(Result::ok) {
                    if lines.send(line).is_err() {
                        break;
                    }
                }
            });
        }
        let stderr = Arc::default();
        if let Some(pipe) = child.stderr.take() {
            let said: Arc<Mutex<Vec<String>>> = Arc::clone(&stderr);
            std::thread::spawn(move || {
                for line in BufReader::new(pipe).lines().map_while(Result::ok) {
                    said.lock()
                        .unwrap_or_else(PoisonError::into_inner)
                        .push(line);
                }
            });
        }
        let mut server = Self {
            revision,
            child,
            stdin,
            stdout,
            stderr,
            transcript: Vec::new(),
            last_id: 0,
        };
        server.open()?;
        // It reads its files before it answers, and never again.
        drop(files);
        Ok(server)
    }

    /// The tools, as the server lists them.
    pub(crate) fn tools(&mut self) -> Result<Vec<Value>, Problem> {
        let result = self.request("tools/list", json!({}))?;
        let tools = result.get("tools").and_then(Value::as_array);
        Ok(tools.ok_or("the list of tools has no tools")?.clone())
    }

    /// Calls a tool; `ask` answers each question that is asked before it acts.
    pub(crate) fn call(
        &mut self,
        tool: &str,
        arguments: &Value,
        ask: &mut dyn FnMut(&Dialog) -> bool,
    ) -> Result<Value, Problem> {
        let mut params = json!({"name": tool, "arguments": arguments});
        loop {
            let result = self.request_asking("tools/call", params.clone(), ask)?;
            if result.get("resultType") != Some(&"input_required".into()) {
                return Ok(result);
            }
            let question = result
                .pointer("/inputRequests/confirm/params")
                .ok_or("the question is not where it should be")?;
            let yes = ask(&Dialog::read(question)?);
            let state = result.get("requestState").cloned().unwrap_or_default();
            if let Some(params) = params.as_object_mut() {
                params.insert("inputResponses".to_owned(), json!({"confirm": reply(yes)}));
                params.insert("requestState".to_owned(), state);
            }
        }
    }

    /// Everything that went over stdin and stdout, and what was said on stderr.
    pub(crate) fn traffic(&self) -> (&[String], Vec<String>) {
        let said = self.stderr.lock().unwrap_or_else(PoisonError::into_inner);
        (&self.transcript, said.clone())
    }

    /// Closes its input, upon which it ends by itself.
    pub(crate) fn stop(&mut self) -> Result<(), Problem> {
        self.stdin.take();
        let asked = Instant::now();
        while asked.elapsed() < Duration::from_secs(5) {
            match self.child.try_wait()? {
                Some(status) if status.success() => return Ok(()),
                Some(status) => return Err(format!("the server ended with {status}").into()),
                None => std::thread::sleep(Duration::from_millis(10)),
            }
        }
        Err("the server did not end when its input did".into())
    }

    fn open(&mut self) -> Result<(), Problem> {
        if self.revision == Revision::V2026_07_28 {
            self.request("server/discover", json!({}))?;
            return Ok(());
        }
        self.request(
            "initialize",
            json!({
                "protocolVersion": "2025-11-25",
                "capabilities": {"elicitation": {}},
                "clientInfo": {"name": "wg-easy-mcp-demo", "version": "1"},
            }),
        )?;
        self.send(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}))
    }

    fn request(&mut self, method: &str, params: Value) -> Result<Value, Problem> {
        self.request_asking(method, params, &mut |_| false)
    }

    /// Sends a request and waits for its answer, answering what the server asks in the meantime.
    fn request_asking(
        &mut self,
        method: &str,
        mut params: Value,
        ask: &mut dyn FnMut(&Dialog) -> bool,
    ) -> Result<Value, Problem> {
        self.last_id += 1;
        let id = self.last_id;
        if let (Revision::V2026_07_28, Some(params)) = (self.revision, params.as_object_mut()) {
            params.insert(
                "_meta".to_owned(),
                json!({
                    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
                    "io.modelcontextprotocol/clientCapabilities": {"elicitation": {"form": {}}},
                    "io.modelcontextprotocol/clientInfo": {"name": "wg-easy-mcp-demo", "version": "1"},
                }),
            );
        }
        self.send(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}))?;
        loop {
            let message = self.receive()?;
            match message.get("method").and_then(Value::as_str) {
                Some("elicitation/create") => {
                    let question = message.get("params").unwrap_or(&Value::Null);
                    let yes = ask(&Dialog::read(question)?);
                    let id = message.get("id").cloned().unwrap_or_default();
                    self.send(&json!({"jsonrpc": "2.0", "id": id, "result": reply(yes)}))?;
                }
                Some(_) => {}
                None if message.get("id") == Some(&id.into()) => {
                    return match message.get("result") {
                        Some(result) => Ok(result.clone()),
                        None => Err(format!("{method} was answered with {message}").into()),
                    };
                }
                None => {}
            }
        }
    }

    fn send(&mut self, message: &Value) -> Result<(), Problem> {
        let line = message.to_string();
        let stdin = self.stdin.as_mut().ok_or("the server was stopped")?;
        writeln!(stdin, "{line}")?;
        stdin.flush()?;
        self.transcript.push(line);
        Ok(())
    }

    fn receive(&mut self) -> Result<Value, Problem> {
        let line = self.stdout.recv_timeout(PATIENCE).map_err(|_| {
            let (_, said) = self.traffic();
            format!("the server gave no answer; it said: {}", said.join("\n"))
        })?;
        let message = serde_json::from_str(&line)?;
        self.transcript.push(line);
        Ok(message)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // Only where something went wrong is it still there.
        if let Ok(None) = self.child.try_wait() {
            let _ = self.child.kill();
            let _ = self.child.wait();
        }
    }
}

impl Dialog {
    fn read(params: &Value) -> Result<Self, Problem> {
        let text = |pointer: &str| params.pointer(pointer).and_then(Value::as_str);
        let form = "/requestedSchema/properties/confirm";
        Ok(Self {
            message: text("/message").ok_or("a question without a text")?.into(),
            title: text(&format!("{form}/title"))
                .ok_or("a form without a title")?
                .into(),
            hint: text(&format!("{form}/description"))
                .unwrap_or_default()
                .into(),
        })
    }
}

fn reply(yes: bool) -> Value {
    if yes {
        json!({"action": "accept", "content": {"confirm": true}})
    } else {
        json!({"action": "decline"})
    }
}

/// The password and the root certificate, in a directory of their own that goes when this does.
struct Files(PathBuf);

impl Files {
    fn new(wg_easy: &Simulator) -> Result<Self, Problem> {
        use std::os::unix::fs::DirBuilderExt as _;
        let mut builder = std::fs::DirBuilder::new();
        builder.mode(0o700);
        let made = (0..100).find_map(|attempt| {
            let name = format!("wg-easy-mcp-demo-{}-{attempt}", std::process::id());
            let path = std::env::temp_dir().join(name);
            builder.create(&path).ok().map(|()| Self(path))
        });
        let files = made.ok_or("no temporary directory can be made")?;
        std::fs::write(files.password(), wg_easy.account().password)?;
        std::fs::write(files.roots(), wg_easy.ca_pem())?;
        Ok(files)
    }

    fn password(&self) -> PathBuf {
        self.0.join("password")
    }

    fn roots(&self) -> PathBuf {
        self.0.join("roots.pem")
    }
}

impl Drop for Files {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}
