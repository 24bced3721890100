//! A line on stdin: no line makes the transport panic or end the session, and a request with a proper
//! id is handed on or answered.
#![no_main]

use libfuzzer_sys::fuzz_target;
use rmcp::model::JsonRpcMessage;
use rmcp::transport::Transport as _;
use serde_json::Value;
use tokio::io::AsyncReadExt as _;
use tokio_util::sync::CancellationToken;
use wg_easy_mcp::transport::{MAX_LINE, Stdio};

/// Opens the session; before a request, whatever is no request is dropped.
const FIRST: &[u8] = b"{\"jsonrpc\":\"2.0\",\"id\":\"first\",\"method\":\"ping\"}\n";

fuzz_target!(|line: &[u8]| {
    if line.contains(&b'\n') || line.len() > MAX_LINE {
        return;
    }
    let input = [FIRST, line, b"\n"].concat();
    let runtime = tokio::runtime::Builder::new_current_thread().build();
    let (handed_on, answers) = runtime.unwrap().block_on(exchange(&input));
    for answer in &answers {
        assert_eq!(answer["jsonrpc"], "2.0");
        assert!(answer["error"]["code"].is_i64(), "{answer}");
    }
    assert!(handed_on.len() + answers.len() <= 1);
    let Ok(Value::Object(message)) = serde_json::from_slice(line) else {
        return;
    };
    let Some(id) = message.get("id").filter(|id| id.is_i64() || id.is_string()) else {
        return;
    };
    if message.get("method").is_some_and(Value::is_string) {
        let request = |message: &_| matches!(message, JsonRpcMessage::Request(_));
        let answered = answers.iter().any(|answer| answer.get("id") == Some(id));
        assert!(answered || handed_on.iter().any(request), "nobody answers");
    }
});

type Message = rmcp::service::RxJsonRpcMessage<rmcp::RoleServer>;

/// What is handed on after the first request, and what is answered.
async fn exchange(input: &[u8]) -> (Vec<Message>, Vec<Value>) {
    let (output, mut answers) = tokio::io::duplex(1 << 16);
    let mut stdio = Stdio::new(input, output, CancellationToken::new());
    assert!(matches!(stdio.receive().await, Some(JsonRpcMessage::Request(_))));
    let mut handed_on = Vec::new();
    while let Some(message) = stdio.receive().await {
        handed_on.push(message);
    }
    drop(stdio);
    let mut written = String::new();
    answers.read_to_string(&mut written).await.unwrap();
    let answers = written.lines().map(|line| serde_json::from_str(line).unwrap());
    (handed_on, answers.collect())
}
