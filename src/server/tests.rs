//! What only tools made for the purpose can show: that a panic costs one call, and that there is a limit.

use super::*;
use crate::environment::Environment;
use crate::tools::{Hints, schema};
use crate::transport::Stdio;
use rmcp::ServiceExt as _;
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader, DuplexStream, ReadHalf, WriteHalf};

static PANICS: Tool = tool(
    "panics",
    Run::Read(|_, _| Box::pin(async { panic!("s3cret") })),
);
static PANICS_AT_ONCE: Tool = tool("panics_at_once", Run::Read(|_, _| panic!("s3cret")));
static PANICS_CHANGING: Tool = tool(
    "panics_changing",
    Run::Withdraw(|_, _, _| Box::pin(async { panic!("s3cret") })),
);
static WAITS: Tool = tool("waits", Run::Read(|_, _| Box::pin(std::future::pending())));
static ANSWERS: Tool = tool(
    "answers",
    Run::Read(|_, _| Box::pin(async { Ok(Answer::of_our_own().with("fine", true)) })),
);

const fn tool(name: &'static str, run: Run) -> Tool {
    Tool {
        name,
        title: name,
        description: name,
        essential: true,
        in_read_only_mode: true,
        hints: Hints {
            read_only: true,
            destructive: false,
            idempotent: true,
        },
        input: || schema::arguments(&[], &[]),
        output: || schema::object(&[], &[]),
        run,
    }
}

struct Client {
    answers: BufReader<ReadHalf<DuplexStream>>,
    requests: WriteHalf<DuplexStream>,
}

impl Client {
    async fn new() -> Self {
        let environment = Environment::from_pairs([
            ("WG_EASY_URL", "http://127.0.0.1:9"),
            ("WG_EASY_USERNAME", "admin"),
            ("WG_EASY_PASSWORD", "password"),
        ]);
        let tools: &[&'static Tool] =
            &[&PANICS, &PANICS_AT_ONCE, &PANICS_CHANGING, &WAITS, &ANSWERS];
        let (mut config, _) = Config::parse(environment, tools::catalogue()).unwrap();
        config.tools = tools.iter().map(|tool| tool.name).collect();
        let ending = CancellationToken::new();
        let server = Server::new(&config, tools, ending.clone(), TaskTracker::new()).unwrap();
        let (ours, theirs) = tokio::io::duplex(1 << 16);
        let (input, output) = tokio::io::split(theirs);
        tokio::spawn(async move {
            let session = server
                .serve(Stdio::new(input, output, ending))
                .await
                .unwrap();
            session.waiting().await.unwrap();
        });
        let (answers, requests) = tokio::io::split(ours);
        let mut client = Self {
            answers: BufReader::new(answers),
            requests,
        };
        client
            .send(json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {
                "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"},
            }}))
            .await;
        client.receive().await;
        client
    }

    async fn send(&mut self, message: Value) {
        let line = format!("{message}\n");
        self.requests.write_all(line.as_bytes()).await.unwrap();
    }

    async fn receive(&mut self) -> Value {
        let mut line = String::new();
        self.answers.read_line(&mut line).await.unwrap();
        serde_json::from_str(&line).unwrap()
    }

    async fn begin(&mut self, id: usize, tool: &str) {
        let params = json!({"name": tool, "arguments": {}});
        self.send(json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params}))
            .await;
    }

    async fn call(&mut self, id: usize, tool: &str) -> Value {
        self.begin(id, tool).await;
        let answer = self.receive().await;
        assert_eq!(answer["id"], id);
        answer["result"].clone()
    }
}

fn text(result: &Value) -> &str {
    result["content"][0]["text"].as_str().unwrap()
}

#[tokio::test]
async fn a_panic_in_a_tool_costs_that_call_alone_and_shows_nothing() {
    let mut client = Client::new().await;
    for (id, tool) in ["panics", "panics_at_once", "panics_changing"]
        .into_iter()
        .enumerate()
    {
        let result = client.call(id, tool).await;
        assert_eq!(result["isError"], true);
        assert!(text(&result).contains("bug"), "{result}");
        assert!(!result.to_string().contains("s3cret"), "{result}");
        let next = client.call(id + 10, "answers").await;
        assert_eq!(next["structuredContent"], json!({"fine": true}));
    }
}

#[tokio::test]
async fn a_call_beyond_the_limit_is_answered_and_a_place_comes_free_again() {
    let mut client = Client::new().await;
    for id in 100..100 + IN_PROGRESS {
        client.begin(id, "waits").await;
    }
    let result = client.call(1, "answers").await;
    assert_eq!(result["isError"], true);
    assert!(
        text(&result).starts_with("64 calls are in progress"),
        "{result}"
    );
    client
        .send(json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 100}}))
        .await;
    let mut id = 2;
    // The cancelled call gives its place back as soon as it notices.
    while client.call(id, "answers").await["isError"] == true {
        id += 1;
    }
}
