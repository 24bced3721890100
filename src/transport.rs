//! The stdio edge: one JSON-RPC message a line, in and out.
//!
//! rmcp takes well-formed messages from here. What it would drop without a word (a line too long, a
//! number out of range, parameters that are no object) is answered here, so that every request gets an
//! answer; and what would end a session before it began (a notification as the first line) goes no
//! further.

mod inbound;
mod numbering;
mod outbox;

use inbound::{Lines, Read, Refusal, parse};
use outbox::Outbox;
use rmcp::RoleServer;
use rmcp::model::{ClientNotification, ErrorCode, JsonRpcMessage, RequestId};
use rmcp::service::{RxJsonRpcMessage, TxJsonRpcMessage};
use rmcp::transport::Transport;
use std::collections::HashSet;
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use tokio::io::{AsyncRead, AsyncWrite};
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
            lines: Lines::of(input),
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

#[cfg(test)]
mod tests {
    use super::outbox::{MAX_UNDER_WAY, UNSENT_PART};
    use super::*;
    use tokio::io::{AsyncBufReadExt as _, BufReader};

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
}
