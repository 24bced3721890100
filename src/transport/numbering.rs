//! The ids of the server's own requests, as the client sees them.
//!
//! rmcp counts them from 0. Version 1 of the TypeScript SDK takes an id of 0 for none when a request is
//! taken back, and would leave a session's first question on the screen. So outside they count from 1.

use rmcp::RoleServer;
use rmcp::model::{JsonRpcMessage, RequestId, ServerNotification};
use rmcp::service::{RxJsonRpcMessage, TxJsonRpcMessage};

/// Makes what rmcp says of its own requests what the client is told.
pub(super) fn outward(message: &mut TxJsonRpcMessage<RoleServer>) {
    match message {
        JsonRpcMessage::Request(request) => shift(&mut request.id, 1),
        JsonRpcMessage::Notification(message) => {
            if let ServerNotification::CancelledNotification(cancelled) = &mut message.notification
                && let Some(id) = &mut cancelled.params.request_id
            {
                shift(id, 1);
            }
        }
        _ => {}
    }
}

/// Makes what the client answers to those requests what rmcp expects.
pub(super) fn inward(message: &mut RxJsonRpcMessage<RoleServer>) {
    match message {
        JsonRpcMessage::Response(answer) => shift(&mut answer.id, -1),
        JsonRpcMessage::Error(answer) => {
            if let Some(id) = &mut answer.id {
                shift(id, -1);
            }
        }
        _ => {}
    }
}

/// An id that was never given out becomes none that was.
fn shift(id: &mut RequestId, by: i64) {
    let number = match id {
        RequestId::Number(number) => Some(*number),
        // Some clients send an id back as text.
        RequestId::String(text) => text.parse().ok(),
    };
    if let Some(shifted) = number.and_then(|number: i64| number.checked_add(by)) {
        *id = RequestId::Number(shifted);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn id_inside(answer: &str) -> Option<RequestId> {
        let mut message = serde_json::from_str(answer).unwrap();
        inward(&mut message);
        match message {
            JsonRpcMessage::Response(answer) => Some(answer.id),
            JsonRpcMessage::Error(answer) => answer.id,
            JsonRpcMessage::Request(request) => Some(request.id),
            JsonRpcMessage::Notification(_) => None,
        }
    }

    #[test]
    fn an_answer_reaches_the_request_it_is_to() {
        for (answer, id) in [
            (
                r#"{"jsonrpc":"2.0","id":1,"result":{}}"#,
                RequestId::Number(0),
            ),
            (
                r#"{"jsonrpc":"2.0","id":"8","result":{}}"#,
                RequestId::Number(7),
            ),
            (
                r#"{"jsonrpc":"2.0","id":3,"error":{"code":0,"message":""}}"#,
                RequestId::Number(2),
            ),
            (
                r#"{"jsonrpc":"2.0","id":"a","result":{}}"#,
                RequestId::String("a".into()),
            ),
            (
                r#"{"jsonrpc":"2.0","id":-9223372036854775808,"result":{}}"#,
                RequestId::Number(i64::MIN),
            ),
        ] {
            assert_eq!(id_inside(answer), Some(id), "{answer}");
        }
    }

    #[test]
    fn the_client_s_own_requests_keep_their_ids() {
        let ping = r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#;
        assert_eq!(id_inside(ping), Some(RequestId::Number(1)));
    }
}
