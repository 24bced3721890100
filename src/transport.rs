//! The stdio edge: one JSON-RPC message a line, in and out.
//!
//! rmcp takes well-formed messages from here. What it would drop without a word (a line too long, a
//! number out of range, parameters that are no object) is answered here, so that every request gets an
//! answer; and what would end a session before it began (a notification as the first line) goes no
//! further.

mod numbering;
mod outbox;

use crate::untrusted::json;
use outbox::Outbox;
use rmcp::RoleServer;
use rmcp::model::{ClientNotification, ErrorCode, JsonRpcMessage, RequestId};
use rmcp::service::{RxJsonRpcMessage, TxJsonRpcMessage};
use rmcp::transport::Transport;
use std::collections::HashSet;
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use tokio::io::{AsyncBufReadExt, AsyncRead, AsyncWrite, BufReader};
use tokio_util::sync::CancellationToken;

/// The longest line that is read: 1 MiB. A call of these tools needs a few hundred bytes.
pub const MAX_LINE: usize = 1 << 20;

/// The methods of a request that this server may know. A request of one that does not parse has bad
/// parameters; any other has an unknown method.
pub const KNOWN_METHODS: [&str; 5] = [
    "initialize",
    "ping",
    "server/discover",
    "tools/list",
    "tools/call",
];

/// A session's two streams.
pub struct Stdio<R, W> {
    lines: Lines<R>,
    out: Arc<Outbox<W>>,
    /// The answer to a line that is not handed on, while it is being written. It outlives a dropped
    /// `receive`, as a line does: rmcp drops that whenever it has something to send itself.
    refusing: Option<Refusing>,
    ended: CancellationToken,
    begun: bool,
    /// The requests that have not been answered. rmcp would leave one of two with the same id without
    /// an answer.
    open: HashSet<RequestId>,
}

type Refusing = Pin<Box<dyn Future<Output = ()> + Send>>;

impl<R: AsyncRead + Unpin, W: AsyncWrite + Unpin> Stdio<R, W> {
    /// A session over `input` and `output`. `ended` is cancelled when either comes to its end.
    pub fn new(input: R, output: W, ended: CancellationToken) -> Self {
        Self {
            lines: Lines {
                input: BufReader::new(input),
                line: Vec::new(),
                discarding: false,
            },
            out: Outbox::new(output, ended.clone()),
            refusing: None,
            ended,
            begun: false,
            open: HashSet::new(),
        }
    }
}

impl<R, W> Stdio<R, W> {
    /// Keeps track of which requests are open, and refuses one whose id is in use.
    fn admit(&mut self, message: &RxJsonRpcMessage<RoleServer>) -> Result<(), Refusal> {
        match message {
            JsonRpcMessage::Request(request) if !self.open.insert(request.id.clone()) => {
                let id = serde_json::to_string(&request.id).unwrap_or_default();
                Err(Refusal::to(
                    &id,
                    ErrorCode::INVALID_REQUEST,
                    "A request with this id has not been answered yet",
                ))
            }
            JsonRpcMessage::Notification(message) => {
                // A cancelled request is not answered, so its id is free again.
                if let ClientNotification::CancelledNotification(cancelled) = &message.notification
                    && let Some(id) = &cancelled.params.request_id
                {
                    self.open.remove(id);
                }
                Ok(())
            }
            _ => Ok(()),
        }
    }
}

impl<R, W> Transport<RoleServer> for Stdio<R, W>
where
    R: AsyncRead + Send + Unpin,
    W: AsyncWrite + Send + Unpin + 'static,
{
    type Error = io::Error;

    fn send(
        &mut self,
        mut message: TxJsonRpcMessage<RoleServer>,
    ) -> impl Future<Output = Result<(), io::Error>> + Send + 'static {
        numbering::outward(&mut message);
        match &message {
            JsonRpcMessage::Response(answer) => _ = self.open.remove(&answer.id),
            JsonRpcMessage::Error(answer) => _ = answer.id.as_ref().map(|id| self.open.remove(id)),
            _ => {}
        }
        // Counted when it is queued, not when its turn comes.
        let line = serde_json::to_vec(&message)
            .map(|line| (Outbox::enter(&self.out, line.len()), line))
            .map_err(io::Error::other);
        async move {
            let (place, line) = line?;
            place.write(line).await
        }
    }

    async fn receive(&mut self) -> Option<RxJsonRpcMessage<RoleServer>> {
        // rmcp starts a task for every message, and takes what a task answers from a short queue in
        // the loop that calls this. That loop goes on with whichever of the two is ready, so that a
        // client which never pauses would have it start tasks faster than it lets them end, those
        // of cancelled requests among them, which nothing here counts. Not being ready at first lets
        // each task run and every answer be taken before the next message.
        tokio::task::yield_now().await;
        loop {
            if let Some(refusing) = &mut self.refusing {
                refusing.await;
                self.refusing = None;
            }
            // What answers a request drops this future first, so `open` cannot change meanwhile.
            self.out.room_beside(self.open.len()).await;
            let line = match self.lines.next().await {
                Read::Line => std::mem::take(&mut self.lines.line),
                Read::TooLong => {
                    let refusal = Refusal::without_id(
                        ErrorCode::INVALID_REQUEST,
                        "The line is longer than 1 MiB and was not read",
                    );
                    self.refusing = Some(Box::pin(refusal.send(&self.out)));
                    continue;
                }
                Read::End => {
                    self.ended.cancel();
                    return None;
                }
            };
            if line.trim_ascii().is_empty() {
                continue;
            }
            match parse(&line) {
                Ok(mut message) => {
                    numbering::inward(&mut message);
                    self.begun |= matches!(message, JsonRpcMessage::Request(_));
                    match self.admit(&message) {
                        Ok(()) if self.begun => return Some(message),
                        Ok(()) => {}
                        Err(refusal) => self.refusing = Some(Box::pin(refusal.send(&self.out))),
                    }
                }
                Err(Some(refusal)) => self.refusing = Some(Box::pin(refusal.send(&self.out))),
                Err(None) => {}
            }
        }
    }

    async fn close(&mut self) -> Result<(), io::Error> {
        self.out.close().await;
        Ok(())
    }
}

/// What comes in, a line at a time.
struct Lines<R> {
    input: BufReader<R>,
    /// What has been read of the line so far. It outlives a dropped [`Lines::next`], which rmcp drops
    /// whenever it has something to send.
    line: Vec<u8>,
    /// Whether the rest of a line that was too long is still to come.
    discarding: bool,
}

enum Read {
    /// A whole line is in `line`.
    Line,
    /// A line was too long, and is dropped as it comes.
    TooLong,
    /// There is no more, or no more can be read.
    End,
}

impl<R: AsyncRead + Unpin> Lines<R> {
    async fn next(&mut self) -> Read {
        loop {
            let Ok(buffer) = self.input.fill_buf().await else {
                return Read::End;
            };
            if buffer.is_empty() {
                return Read::End;
            }
            let (part, ends) = match buffer.iter().position(|&byte| byte == b'\n') {
                Some(at) => (buffer.get(..at).unwrap_or_default(), true),
                None => (buffer, false),
            };
            let read = part.len() + usize::from(ends);
            if !self.discarding && self.line.len() + part.len() > MAX_LINE {
                self.line = Vec::new();
                self.discarding = !ends;
                self.input.consume(read);
                return Read::TooLong;
            }
            if !self.discarding {
                self.line.extend_from_slice(part);
            }
            self.input.consume(read);
            if ends && !std::mem::take(&mut self.discarding) {
                return Read::Line;
            }
        }
    }
}

/// The answer to a line that is not handed on.
struct Refusal(Vec<u8>);

impl Refusal {
    /// MCP leaves the id out where JSON-RPC would have `null`.
    fn without_id(code: ErrorCode, says: &str) -> Self {
        Self::new("", code, says)
    }

    fn to(id: &str, code: ErrorCode, says: &str) -> Self {
        Self::new(&format!(r#""id":{id},"#), code, says)
    }

    fn send<W: AsyncWrite + Unpin>(
        self,
        out: &Arc<Outbox<W>>,
    ) -> impl Future<Output = ()> + use<W> {
        let place = Outbox::enter(out, self.0.len());
        async move {
            // A failed write ends the session by itself.
            let _ = place.write(self.0).await;
        }
    }

    fn new(id: &str, code: ErrorCode, says: &str) -> Self {
        let error = serde_json::json!({"code": code.0, "message": says});
        Self(format!(r#"{{"jsonrpc":"2.0",{id}"error":{error}}}"#).into_bytes())
    }
}

/// A line as a message; or what to answer instead, if anything.
fn parse(line: &[u8]) -> Result<RxJsonRpcMessage<RoleServer>, Option<Refusal>> {
    let line = line.strip_prefix(b"\xef\xbb\xbf").unwrap_or(line);
    if let Ok(message) = serde_json::from_slice(line) {
        return Ok(message);
    }
    let not_json = || {
        Some(Refusal::without_id(
            ErrorCode::PARSE_ERROR,
            "The line is not JSON",
        ))
    };
    let Ok(text) = std::str::from_utf8(line) else {
        return Err(not_json());
    };
    // One member at a time, so that a bad value inside the parameters does not hide the id.
    let Some(members) = json::members(text.trim()) else {
        let is_list = json::each_element(text.trim(), |_| true).is_some();
        return Err(if is_list {
            Some(Refusal::without_id(
                ErrorCode::INVALID_REQUEST,
                "A batch of messages is not part of this protocol; send one message a line",
            ))
        } else {
            not_json()
        });
    };
    let member = |name: &str| {
        let mut found = members.iter().rev().filter(|(member, _)| member == name);
        found.next().map(|(_, raw)| *raw)
    };
    let Some(id) = member("id") else {
        // A notification, or an error without an id: nobody waits for an answer.
        return Err(None);
    };
    let whole = |id: &str| id.parse::<i64>().is_ok();
    let named = |id: &str| serde_json::from_str::<String>(id).is_ok();
    if !whole(id) && !named(id) {
        return Err(Some(Refusal::without_id(
            ErrorCode::INVALID_REQUEST,
            "The id of a request has to be a string or an integer",
        )));
    }
    let Some(method) = member("method") else {
        let is_response = member("result").is_some() || member("error").is_some();
        return Err((!is_response).then(|| {
            Refusal::to(
                id,
                ErrorCode::INVALID_REQUEST,
                "The message has neither a method nor a result",
            )
        }));
    };
    Err(Some(match serde_json::from_str::<String>(method) {
        Ok(method) if KNOWN_METHODS.contains(&method.as_str()) => Refusal::to(
            id,
            ErrorCode::INVALID_PARAMS,
            "The parameters do not have the shape this method takes",
        ),
        Ok(_) => Refusal::to(id, ErrorCode::METHOD_NOT_FOUND, "Unknown method"),
        Err(_) => Refusal::to(
            id,
            ErrorCode::INVALID_REQUEST,
            "The method has to be a string",
        ),
    }))
}

#[cfg(test)]
mod tests {
    use super::outbox::{MAX_UNDER_WAY, UNSENT_PART};
    use super::*;
    use proptest::prelude::*;

    fn answer(line: &str) -> Option<String> {
        match parse(line.as_bytes()) {
            Ok(_) => panic!("handed on: {line}"),
            Err(refusal) => refusal.map(|Refusal(line)| String::from_utf8(line).unwrap()),
        }
    }

    fn code(line: &str) -> (serde_json::Value, i64) {
        let answer: serde_json::Value = serde_json::from_str(&answer(line).unwrap()).unwrap();
        (
            answer["id"].clone(),
            answer["error"]["code"].as_i64().unwrap(),
        )
    }

    #[test]
    fn an_answer_that_is_a_result_and_an_error_at_once_is_neither() {
        let yes = r#""result":{"action":"accept","content":{"confirm":true}}"#;
        let error = r#""error":{"code":0,"message":""}"#;
        assert!(parse(format!(r#"{{"jsonrpc":"2.0","id":1,{yes}}}"#).as_bytes()).is_ok());
        for both in [format!("{yes},{error}"), format!("{error},{yes}")] {
            let line = format!(r#"{{"jsonrpc":"2.0","id":1,{both}}}"#);
            assert!(matches!(parse(line.as_bytes()), Err(None)), "{line}");
        }
    }

    #[test]
    fn every_request_that_cannot_be_read_is_answered_with_its_id() {
        let null = serde_json::Value::Null;
        for (line, id, expected) in [
            (
                r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"x","arguments":{"a":1e400}}}"#,
                1.into(),
                -32602,
            ),
            (
                r#"{"jsonrpc":"2.0","id":"a","method":"tools/list","params":[1]}"#,
                "a".into(),
                -32602,
            ),
            (
                r#"{"jsonrpc":"2.0","id":2,"method":"x/y","params":7}"#,
                2.into(),
                -32601,
            ),
            (r#"{"jsonrpc":"2.0","id":2,"method":7}"#, 2.into(), -32600),
            (r#"{"jsonrpc":"2.0","id":3}"#, 3.into(), -32600),
            (
                r#"{"jsonrpc":"2.0","id":null,"method":"tools/list"}"#,
                null.clone(),
                -32600,
            ),
            (
                r#"{"jsonrpc":"2.0","id":1.5,"method":"tools/list"}"#,
                null.clone(),
                -32600,
            ),
            (
                r#"[{"jsonrpc":"2.0","id":1,"method":"ping"}]"#,
                null.clone(),
                -32600,
            ),
            ("not json", null.clone(), -32700),
            (r#"{"jsonrpc":"2.0","id":1,"method":"ping""#, null, -32700),
        ] {
            assert_eq!(code(line), (id, expected), "{line}");
        }
        assert_eq!(answer(r#"{"jsonrpc":"2.0","id":9,"result":1e400}"#), None);
        assert_eq!(
            answer(r#"{"jsonrpc":"2.0","method":"notifications/x","params":3}"#),
            None
        );
    }

    #[tokio::test]
    async fn a_line_too_long_costs_that_line_alone() {
        let mut input = vec![b'x'; 3 * MAX_LINE];
        input.extend_from_slice(b"\n{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}\n");
        let (answers, output) = tokio::io::duplex(4096);
        let ended = CancellationToken::new();
        let mut stdio = Stdio::new(input.as_slice(), output, ended.clone());
        assert!(matches!(
            stdio.receive().await,
            Some(JsonRpcMessage::Request(_))
        ));
        assert!(!ended.is_cancelled());
        assert!(stdio.receive().await.is_none());
        assert!(ended.is_cancelled());
        let mut first = String::new();
        BufReader::new(answers).read_line(&mut first).await.unwrap();
        assert!(
            first.contains("-32600") && first.contains("1 MiB"),
            "{first}"
        );
    }

    #[tokio::test]
    async fn of_two_open_requests_with_one_id_the_second_is_refused() {
        let ping = "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}\n";
        let cancelled = "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\",\"params\":{\"requestId\":1}}\n";
        let input = [ping, ping, cancelled, ping].concat();
        let (answers, output) = tokio::io::duplex(4096);
        let mut stdio = Stdio::new(input.as_bytes(), output, CancellationToken::new());
        for _ in 0..3 {
            assert!(stdio.receive().await.is_some());
        }
        assert!(stdio.receive().await.is_none());
        let mut first = String::new();
        BufReader::new(answers).read_line(&mut first).await.unwrap();
        assert!(
            first.contains("-32600") && first.contains("\"id\":1"),
            "{first}"
        );
    }

    #[tokio::test]
    async fn what_comes_before_the_first_request_does_not_end_the_session() {
        let input = concat!(
            "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}\n",
            "{\"jsonrpc\":\"2.0\",\"id\":5,\"result\":{}}\n\n",
            "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}\n",
        );
        let mut stdio = Stdio::new(
            input.as_bytes(),
            tokio::io::sink(),
            CancellationToken::new(),
        );
        assert!(matches!(
            stdio.receive().await,
            Some(JsonRpcMessage::Request(_))
        ));
    }

    #[tokio::test(start_paused = true)]
    async fn a_client_that_does_not_read_stops_being_read() {
        let input: String = (1..=1000)
            .map(|id| format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"method\":\"ping\"}}\n"))
            .collect();
        let (_unread, output) = tokio::io::duplex(16);
        let mut stdio = Stdio::new(input.as_bytes(), output, CancellationToken::new());
        let mut unsent = Vec::new();
        let mut received = 0;
        let limit = std::time::Duration::from_secs(1);
        while let Ok(Some(_)) = tokio::time::timeout(limit, stdio.receive()).await {
            received += 1;
            unsent.push(stdio.send(JsonRpcMessage::response(
                rmcp::model::ServerResult::empty(()),
                RequestId::Number(received),
            )));
        }
        assert_eq!(received, 256);
    }

    #[tokio::test(start_paused = true)]
    async fn long_answers_that_are_not_read_leave_room_for_fewer() {
        let input: String = (1..=1000)
            .map(|id| {
                format!(
                    "{{\"jsonrpc\":\"2.0\",\"id\":\"{}{id}\",\"method\":\"ping\"}}\n",
                    "x".repeat(UNSENT_PART)
                )
            })
            .collect();
        let (_unread, output) = tokio::io::duplex(16);
        let mut stdio = Stdio::new(input.as_bytes(), output, CancellationToken::new());
        let mut unsent = Vec::new();
        let limit = std::time::Duration::from_secs(1);
        while let Ok(Some(JsonRpcMessage::Request(request))) =
            tokio::time::timeout(limit, stdio.receive()).await
        {
            unsent.push(stdio.send(JsonRpcMessage::response(
                rmcp::model::ServerResult::empty(()),
                request.id,
            )));
        }
        assert_eq!(unsent.len(), 128);
    }

    #[tokio::test(start_paused = true)]
    async fn requests_that_are_not_answered_stop_the_reading_until_one_is() {
        let input: String = (1..=1000)
            .map(|id| format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"method\":\"ping\"}}\n"))
            .collect();
        let mut stdio = Stdio::new(
            input.as_bytes(),
            tokio::io::sink(),
            CancellationToken::new(),
        );
        let limit = std::time::Duration::from_secs(1);
        for _ in 0..MAX_UNDER_WAY {
            let received = tokio::time::timeout(limit, stdio.receive()).await;
            assert!(received.unwrap().is_some());
        }
        assert!(tokio::time::timeout(limit, stdio.receive()).await.is_err());
        let answer =
            JsonRpcMessage::response(rmcp::model::ServerResult::empty(()), RequestId::Number(7));
        stdio.send(answer).await.unwrap();
        assert!(stdio.receive().await.is_some());
    }

    proptest! {
        #[test]
        fn no_line_makes_it_panic(line in prop::collection::vec(any::<u8>(), 0..200)) {
            let _ = parse(&line);
        }

        #[test]
        fn no_message_makes_it_panic(id in "[0-9a-z\"{}.-]{0,6}", method in "(tools/call|ping|x)", params in "[\\[\\]{}\",:0-9a-z\\\\e+.-]{0,30}") {
            let _ = parse(format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"{method}","params":{params}}}"#).as_bytes());
        }
    }
}
