//! What an approval is good for: one call, and one question.

use rmcp::model::JsonObject;
use serde_json::Value;
use sha2::{Digest, Sha256};

use super::question::Question;

/// What was asked, and for which call. An answer counts for an equal binding and for no other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Binding {
    pub(super) call: CallDigest,
    question: [u8; 32],
}

impl Binding {
    pub(super) fn new(call: CallDigest, question: &Question) -> Self {
        let text = question.text();
        let shown = [question.title(), &text, question.hint_text()];
        Self {
            call,
            question: digest(b"wg-easy-mcp question", &shown.map(str::as_bytes)),
        }
    }

    /// The binding as bytes, for a seal to cover.
    pub(super) fn bytes(&self) -> [u8; 64] {
        let mut bytes = [0; 64];
        let (call, question) = bytes.split_at_mut(32);
        call.copy_from_slice(&self.call.0);
        question.copy_from_slice(&self.question);
        bytes
    }
}

/// Which tool is called with which arguments: their SHA-256.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct CallDigest([u8; 32]);

impl CallDigest {
    /// The argument that carries a token is left out: the second of two calls has it, the first has
    /// not, and they are the same call.
    pub(super) fn new(tool: &str, arguments: &JsonObject) -> Self {
        let mut canonical = String::new();
        let counted = arguments
            .iter()
            .filter(|(name, _)| *name != "confirm_token");
        write_object(counted.collect(), &mut canonical);
        let parts = [tool.as_bytes(), canonical.as_bytes()];
        Self(digest(b"wg-easy-mcp call", &parts))
    }
}

/// SHA-256 over parts that cannot run into each other: each goes in behind its length, and the
/// domain keeps the digests of one kind apart from those of another.
fn digest(domain: &[u8], parts: &[&[u8]]) -> [u8; 32] {
    let mut hash = Sha256::new();
    for part in std::iter::once(&domain).chain(parts) {
        hash.update((part.len() as u64).to_be_bytes());
        hash.update(part);
    }
    hash.finalize().into()
}

/// JSON without white space and with the keys of every object sorted: a client may write the same
/// arguments in another order the second time.
fn write_canonical(value: &Value, out: &mut String) {
    match value {
        Value::Object(object) => write_object(object.iter().collect(), out),
        Value::Array(items) => {
            out.push('[');
            for (index, item) in items.iter().enumerate() {
                if index > 0 {
                    out.push(',');
                }
                write_canonical(item, out);
            }
            out.push(']');
        }
        scalar => out.push_str(&scalar.to_string()),
    }
}

fn write_object(mut members: Vec<(&String, &Value)>, out: &mut String) {
    members.sort_unstable_by_key(|(name, _)| *name);
    out.push('{');
    for (index, (name, value)) in members.into_iter().enumerate() {
        if index > 0 {
            out.push(',');
        }
        out.push_str(&Value::from(name.as_str()).to_string());
        out.push(':');
        write_canonical(value, out);
    }
    out.push('}');
}

#[cfg(test)]
mod tests {
    use super::*;

    fn arguments(json: &str) -> JsonObject {
        serde_json::from_str(json).unwrap()
    }

    #[test]
    fn the_order_of_keys_does_not_matter_and_anything_else_does() {
        let call = |json| CallDigest::new("update_client", &arguments(json));
        let one = call(r#"{"clientId":5,"dns":["a","b"],"x":{"p":1,"q":[{}]}}"#);
        assert_eq!(
            one,
            call(r#"{"x":{"q":[{}],"p":1},"dns":["a","b"],"clientId":5}"#)
        );
        assert_ne!(
            one,
            call(r#"{"x":{"q":[{}],"p":1},"dns":["b","a"],"clientId":5}"#)
        );
        assert_ne!(
            one,
            call(r#"{"x":{"q":[{}],"p":1},"dns":["a","b"],"clientId":"5"}"#)
        );
        assert_ne!(
            one,
            call(r#"{"x":{"q":[{}],"p":1},"dns":["a,b"],"clientId":5}"#)
        );
        assert_ne!(one, call("{}"));
    }

    #[test]
    fn only_the_token_of_the_call_itself_is_left_out() {
        let call = |json| CallDigest::new("delete_client", &arguments(json));
        assert_eq!(
            call(r#"{"clientId":5}"#),
            call(r#"{"clientId":5,"confirm_token":"00"}"#)
        );
        assert_ne!(call(r#"{"x":{}}"#), call(r#"{"x":{"confirm_token":"00"}}"#));
    }

    #[test]
    fn whatever_is_shown_makes_a_question() {
        let call = CallDigest::new("delete_client", &JsonObject::new());
        let bound = |question: Question| Binding::new(call, &question);
        let question = || Question::new("Delete client 5?", "This will delete it.");
        let one = bound(question());
        assert_eq!(one, bound(question()));
        assert_ne!(one, bound(question().hint("Tick it.")));
        assert_ne!(one, bound(question().cost("It costs.")));
        assert_ne!(
            one,
            bound(Question::new("Delete it?", "This will delete it."))
        );
    }

    #[test]
    fn a_seal_covers_the_call_and_the_question() {
        let call = |tool| CallDigest::new(tool, &JsonObject::new());
        let bytes = |tool, operation: &'static str| {
            Binding::new(call(tool), &Question::new("Go?", operation)).bytes()
        };
        let one = bytes("delete_client", "This goes.");
        assert_eq!(one, bytes("delete_client", "This goes."));
        assert_ne!(one, bytes("enable_client", "This goes."));
        assert_ne!(one, bytes("delete_client", "That goes."));
    }

    #[test]
    fn a_tool_and_its_arguments_cannot_run_into_each_other() {
        assert_ne!(digest(b"d", &[b"ab", b"c"]), digest(b"d", &[b"a", b"bc"]));
        assert_ne!(digest(b"d", &[b"a"]), digest(b"e", &[b"a"]));
        assert_ne!(digest(b"d", &[b"a", b""]), digest(b"d", &[b"a"]));
    }
}
