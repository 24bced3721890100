//! The stdio edge: one JSON-RPC message a line, in and out.
//!
//! rmcp takes well-formed messages from here. What it would drop without a word (a line too long, a
//! number out of range, parameters that are no object) is answered here, so that every request gets an
//! answer; and what would end a session before it began (a notification as the first line) goes no
//! further.

use crate::untrusted::json;
use rmcp::RoleServer;
use rmcp::model::{ClientNotification, ErrorCode, JsonRpcMessage, RequestId};
use rmcp::service::{RxJsonRpcMessage, TxJsonRpcMessage};
use rmcp::transport::Transport;
use std::collections::HashSet;
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use tokio::io::{AsyncBufReadExt, AsyncRead, AsyncWrite, AsyncWriteExt, BufReader};
use tokio::sync::{Mutex, Notify};
use tokio_util::sync::CancellationToken;

/// The longest line that is read: 1 MiB. A call of these tools needs a few hundred bytes.
pub const MAX_LINE: usize = 1 << 20;

/// How many messages may wait to be written before no more are read: a client that asks and does not
/// read gets back-pressure, not this process's memory.
const MAX_UNSENT: usize = 256;

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
            out: Arc::new(Outbox {
                writer: Mutex::new(Some(output)),
                unsent: AtomicUsize::new(0),
                sent: Notify::new(),
                ended: ended.clone(),
            }),
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
        message: TxJsonRpcMessage<RoleServer>,
    ) -> impl Future<Output = Result<(), io::Error>> + Send + 'static {
        match &message {
            JsonRpcMessage::Response(answer) => _ = self.open.remove(&answer.id),
            JsonRpcMessage::Error(answer) => _ = answer.id.as_ref().map(|id| self.open.remove(id)),
            _ => {}
        }
        // Counted when it is queued, not when its turn comes.
        let place = Outbox::enter(&self.out);
        async move {
            let line = serde_json::to_vec(&message).map_err(io::Error::other)?;
            place.write(line).await
        }
    }

    async fn receive(&mut self) -> Option<RxJsonRpcMessage<RoleServer>> {
        loop {
            if let Some(refusing) = &mut self.refusing {
                refusing.await;
                self.refusing = None;
            }
            self.out.drained().await;
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
                Ok(message) => {
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
        self.out.writer.lock().await.take();
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

/// What goes out, and how much of it waits.
struct Outbox<W> {
    writer: Mutex<Option<W>>,
    unsent: AtomicUsize,
    sent: Notify,
    ended: CancellationToken,
}

/// A message's place in the outbox.
struct Place<W>(Arc<Outbox<W>>);

impl<W> Outbox<W> {
    fn enter(outbox: &Arc<Self>) -> Place<W> {
        outbox.unsent.fetch_add(1, Ordering::Relaxed);
        Place(outbox.clone())
    }

    /// Waits until there is room for the answer to one more message.
    async fn drained(&self) {
        loop {
            let sent = self.sent.notified();
            if self.unsent.load(Ordering::Relaxed) < MAX_UNSENT {
                return;
            }
            tokio::select! {
                () = sent => {}
                () = self.ended.cancelled() => return,
            }
        }
    }
}

impl<W: AsyncWrite + Unpin> Place<W> {
    async fn write(self, mut line: Vec<u8>) -> Result<(), io::Error> {
        line.push(b'\n');
        let mut writer = self.0.writer.lock().await;
        let Some(output) = writer.as_mut() else {
            return Err(io::ErrorKind::NotConnected.into());
        };
        let written = async {
            output.write_all(&line).await?;
            output.flush().await
        };
        // When the session ends, a reader that has stopped reading must not hold up the end.
        let written = tokio::select! {
            biased;
            written = written => written,
            () = stalled(&self.0.ended) => Err(io::ErrorKind::TimedOut.into()),
        };
        if written.is_err() {
            writer.take();
            self.0.ended.cancel();
        }
        written
    }
}

/// Half a second after the end of the session.
async fn stalled(ended: &CancellationToken) {
    ended.cancelled().await;
    tokio::time::sleep(std::time::Duration::from_millis(500)).await;
}

impl<W> Drop for Place<W> {
    fn drop(&mut self) {
        self.0.unsent.fetch_sub(1, Ordering::Relaxed);
        self.0.sent.notify_waiters();
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
        let place = Outbox::enter(out);
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
