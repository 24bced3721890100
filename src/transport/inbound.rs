//! What comes in: bytes as lines, and a line as a message or as a reason to refuse it.

use std::sync::Arc;

use rmcp::RoleServer;
use rmcp::model::ErrorCode;
use rmcp::service::RxJsonRpcMessage;
use tokio::io::{AsyncBufReadExt, AsyncRead, AsyncWrite, BufReader};

use super::outbox::Outbox;
use super::{KNOWN_METHODS, MAX_LINE};
use crate::untrusted::json;

/// What comes in, a line at a time.
pub(super) struct Lines<R> {
    input: BufReader<R>,
    /// What has been read of the line so far. It outlives a dropped [`Lines::next`], which rmcp drops
    /// whenever it has something to send.
    pub(super) line: Vec<u8>,
    /// Whether the rest of a line that was too long is still to come.
    discarding: bool,
}

pub(super) enum Read {
    /// A whole line is in `line`.
    Line,
    /// A line was too long, and is dropped as it comes.
    TooLong,
    /// There is no more, or no more can be read.
    End,
}

impl<R: AsyncRead + Unpin> Lines<R> {
    pub(super) fn of(input: R) -> Self {
        Self {
            input: BufReader::new(input),
            line: Vec::new(),
            discarding: false,
        }
    }

    pub(super) async fn next(&mut self) -> Read {
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
pub(super) struct Refusal(Vec<u8>);

impl Refusal {
    /// MCP leaves the id out where JSON-RPC would have `null`.
    pub(super) fn without_id(code: ErrorCode, says: &str) -> Self {
        Self::new("", code, says)
    }

    pub(super) fn to(id: &str, code: ErrorCode, says: &str) -> Self {
        Self::new(&format!(r#""id":{id},"#), code, says)
    }

    pub(super) fn send<W: AsyncWrite + Unpin>(
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
pub(super) fn parse(line: &[u8]) -> Result<RxJsonRpcMessage<RoleServer>, Option<Refusal>> {
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
