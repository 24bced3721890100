//! The gate in front of a tool, with a client at the other end of the wire.

mod pushed;
mod returned;
mod tokens;

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use rmcp::handler::server::ServerHandler;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, ErrorData,
    ProtocolVersion, ServerCapabilities, ServerConfig,
};
use serde_json::{Value, json};
use tokio::io::{
    AsyncBufReadExt, AsyncWriteExt, BufReader, DuplexStream, Lines, ReadHalf, WriteHalf,
};

use super::*;
use crate::untrusted::Line;

/// A server with one guarded tool. It reports what the gate decides, and does nothing.
struct Probe {
    gate: Gate,
    stop: CancellationToken,
    room: Arc<Semaphore>,
    /// The name that each read finds; the last stays. Nothing: the read fails.
    names: Mutex<VecDeque<Option<&'static str>>>,
    reads: Mutex<usize>,
}

impl Probe {
    fn new(mode: Mode) -> Self {
        Self {
            gate: Gate::new(mode).unwrap(),
            stop: CancellationToken::new(),
            room: Arc::new(Semaphore::new(2)),
            names: Mutex::new(VecDeque::from([Some("laptop")])),
            reads: Mutex::new(0),
        }
    }

    fn read(&self) -> Result<&'static str, &'static str> {
        *self.reads.lock().unwrap() += 1;
        let mut names = self.names.lock().unwrap();
        let name = names[0];
        if names.len() > 1 {
            names.pop_front();
        }
        name.ok_or("the read failed")
    }

    async fn run(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> CallToolResponse {
        let error = |text: String| CallToolResult::error(vec![ContentBlock::text(text)]).into();
        let Some(place) = Place::take(&self.room) else {
            return error("full".to_owned());
        };
        let arguments = request.arguments.unwrap_or_default();
        let call = Call {
            tool: match request.name.as_ref() {
                "delete_client" => "delete_client",
                _ => "enable_client",
            },
            arguments: &arguments,
            confirm_token: arguments.get("confirm_token").and_then(Value::as_str),
            context: &context,
            input_responses: request.input_responses.as_ref(),
            request_state: request.request_state.as_deref(),
            stop: &self.stop,
            place: &place,
        };
        let id = &arguments["clientId"];
        let prepare = |_| async {
            // A read takes time, and other calls run meanwhile.
            tokio::time::sleep(Duration::from_millis(5)).await;
            let name = self.read()?;
            let question = Question::new(format!("Delete client {id}?"), "This will delete it.")
                .value("Client", &Line::new(name));
            Ok::<_, &str>((question, name))
        };
        match self.gate.decide(&call, prepare).await {
            Ok(Decision::Approved { plan, how, .. }) => {
                CallToolResult::success(vec![ContentBlock::text(format!("{how:?} {plan}"))]).into()
            }
            Ok(Decision::Ask(ask)) => (*ask).into(),
            Ok(Decision::Token { text }) => error(text),
            Ok(Decision::Refused { how, why }) => error(format!("{how:?} {why:?}: {why}")),
            Err(Unprepared {
                after_yes,
                error: why,
            }) => error(format!("{after_yes:?} {why}")),
        }
    }
}

impl ServerHandler for Probe {
    fn get_info(&self) -> ServerConfig {
        ServerConfig::new(ServerCapabilities::builder().enable_tools().build())
            .with_protocol_version(ProtocolVersion::V_2025_11_25)
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        Ok(self.run(request, context).await)
    }
}

/// Which revision a client speaks.
#[derive(Clone, Copy)]
enum Era {
    Old,
    New,
}

/// A client that writes and reads lines of JSON.
struct Client {
    era: Era,
    capabilities: Value,
    lines: Lines<BufReader<ReadHalf<DuplexStream>>>,
    out: WriteHalf<DuplexStream>,
    probe: Arc<Probe>,
}

impl Client {
    async fn connect(era: Era, capabilities: Value, mode: Mode) -> Self {
        let (near, far) = tokio::io::duplex(1 << 16);
        let probe = Arc::new(Probe::new(mode));
        let server = Arc::clone(&probe);
        tokio::spawn(async move {
            let running = rmcp::serve_server(server, far).await.unwrap();
            let _ = running.waiting().await;
        });
        let (read, out) = tokio::io::split(near);
        let mut client = Self {
            era,
            capabilities,
            lines: BufReader::new(read).lines(),
            out,
            probe,
        };
        if let Era::Old = era {
            client
                .send(
                    json!({"jsonrpc": "2.0", "id": "hello", "method": "initialize", "params": {
                        "protocolVersion": "2025-06-18",
                        "capabilities": client.capabilities,
                        "clientInfo": {"name": "test", "version": "0"},
                    }}),
                )
                .await;
            assert_eq!(client.next().await["id"], "hello");
            client
                .send(json!({"jsonrpc": "2.0", "method": "notifications/initialized"}))
                .await;
        }
        client
    }

    /// A client that shows forms, of a server that asks by dialog.
    async fn with_dialog(era: Era) -> Self {
        Self::connect(era, json!({"elicitation": {"form": {}}}), Mode::Dialog).await
    }

    async fn send(&mut self, message: Value) {
        let line = format!("{message}\n");
        self.out.write_all(line.as_bytes()).await.unwrap();
    }

    async fn next(&mut self) -> Value {
        let line = self.lines.next_line().await.unwrap();
        serde_json::from_str(&line.expect("a message")).unwrap()
    }

    /// Whether nothing comes for an hour.
    async fn hears_nothing(&mut self) -> bool {
        let hour = Duration::from_secs(3600);
        tokio::time::timeout(hour, self.lines.next_line())
            .await
            .is_err()
    }

    /// Calls the tool, with `more` among the parameters of the request.
    async fn call(&mut self, id: u32, arguments: Value, more: Value) {
        let mut params = json!({"name": "delete_client", "arguments": arguments, "_meta": {}});
        for (name, value) in more.as_object().unwrap() {
            params[name] = value.clone();
        }
        if let Era::New = self.era {
            let meta = &mut params["_meta"];
            meta["io.modelcontextprotocol/protocolVersion"] = json!("2026-07-28");
            meta["io.modelcontextprotocol/clientCapabilities"] = self.capabilities.clone();
            meta["io.modelcontextprotocol/clientInfo"] = json!({"name": "test", "version": "0"});
        }
        self.send(json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params}))
            .await;
    }

    /// Answers what the server asked.
    async fn answer(&mut self, asked: &Value, result: Value) {
        self.send(json!({"jsonrpc": "2.0", "id": asked["id"], "result": result}))
            .await;
    }

    fn reads(&self) -> usize {
        *self.probe.reads.lock().unwrap()
    }

    fn names(&self, names: &[Option<&'static str>]) {
        *self.probe.names.lock().unwrap() = names.iter().copied().collect();
    }
}

fn five() -> Value {
    json!({"clientId": 5})
}

fn yes() -> Value {
    json!({"action": "accept", "content": {"confirm": true}})
}

/// Whatever a client may answer that is not a yes.
fn noes() -> [Value; 12] {
    [
        json!({"action": "decline"}),
        json!({"action": "cancel"}),
        json!({"action": "accept"}),
        json!({"action": "accept", "content": null}),
        json!({"action": "accept", "content": {}}),
        json!({"action": "accept", "content": {"confirm": false}}),
        json!({"action": "accept", "content": {"confirm": "true"}}),
        json!({"action": "accept", "content": {"confirm": 1}}),
        json!({"action": "accept", "content": {"other": true}}),
        json!({"action": "decline", "content": {"confirm": true}}),
        json!({"action": "Accept", "content": {"confirm": true}}),
        json!({}),
    ]
}

/// The text of a tool result.
fn text(answer: &Value) -> &str {
    answer["result"]["content"][0]["text"].as_str().unwrap()
}

fn message(name: &str) -> String {
    format!(
        "This will delete it.\n\nValues below were supplied by the caller or by wg-easy, not by this \
         server:\n  Client: {name}"
    )
}

fn form() -> Value {
    json!({
        "type": "object",
        "properties": {"confirm": {
            "type": "boolean",
            "title": "Delete client 5?",
            "description": "Tick only if you want exactly this. Anything else changes nothing.",
        }},
        "required": ["confirm"],
    })
}
