//! A request as the routes see it.

use hyper::{HeaderMap, body::Bytes};
use serde_json::{Map, Value};

/// A request whose body was read and whose path lost the proxy's prefix.
pub(crate) struct Call {
    pub(crate) method: String,
    /// As sent, without the query.
    pub(crate) path: String,
    /// As sent.
    pub(crate) query: String,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Bytes,
    pub(crate) https: bool,
}

/// What h3 makes of a body.
pub(crate) enum Parsed {
    /// There was none.
    Undefined,
    /// JSON, a form, or text as a string.
    Value(Value),
    /// Declared as JSON, but it is not.
    Malformed,
}

impl Call {
    /// A header as text; bytes outside ASCII are read as Latin-1, as Node does.
    pub(crate) fn header(&self, name: &str) -> Option<String> {
        let value = self.headers.get(name)?;
        Some(
            value
                .as_bytes()
                .iter()
                .map(|byte| char::from(*byte))
                .collect(),
        )
    }

    fn header_contains(&self, name: &str, part: &str) -> bool {
        self.header(name)
            .is_some_and(|value| value.to_ascii_lowercase().contains(part))
    }

    /// The URL that error bodies repeat.
    pub(crate) fn url(&self) -> String {
        let proto = self.header("x-forwarded-proto");
        let scheme = proto
            .as_deref()
            .unwrap_or(if self.https { "https" } else { "http" });
        let host = self
            .header("x-forwarded-host")
            .or_else(|| self.header("host"));
        format!(
            "{scheme}://{}{}",
            host.as_deref().unwrap_or("localhost"),
            self.target()
        )
    }

    /// Path and query as sent.
    pub(crate) fn target(&self) -> String {
        if self.query.is_empty() {
            self.path.clone()
        } else {
            format!("{}?{}", self.path, self.query)
        }
    }

    /// Whether an error is answered as JSON.
    pub(crate) fn wants_json(&self) -> bool {
        if self.header_contains("accept", "text/html") {
            return false;
        }
        self.header_contains("accept", "application/json")
            || self.header_contains("user-agent", "curl/")
            || self.header_contains("user-agent", "httpie/")
            || self.header_contains("sec-fetch-mode", "cors")
            || self.path.starts_with("/api/")
            || self.path.ends_with(".json")
    }

    /// All values of a query parameter.
    pub(crate) fn parameters(&self, name: &str) -> Vec<String> {
        form_pairs(&self.query)
            .into_iter()
            .filter(|(key, _)| key == name)
            .map(|(_, value)| value)
            .collect()
    }

    /// The language of validation messages: `?locale=`, else the first of Accept-Language.
    pub(crate) fn language(&self) -> String {
        let asked = self
            .parameters("locale")
            .into_iter()
            .next()
            .or_else(|| self.header("accept-language"));
        let asked = asked.unwrap_or_default().to_ascii_lowercase();
        asked
            .split([',', ';', '-'])
            .next()
            .unwrap_or_default()
            .trim()
            .to_owned()
    }

    /// The body as h3 reads it, by content type.
    pub(crate) fn parsed(&self) -> Parsed {
        if self.body.is_empty() {
            return Parsed::Undefined;
        }
        let text = String::from_utf8_lossy(&self.body).into_owned();
        let kind = self
            .header("content-type")
            .unwrap_or_default()
            .to_ascii_lowercase();
        if kind.starts_with("application/x-www-form-urlencoded") {
            let fields = form_pairs(&text)
                .into_iter()
                .map(|(key, value)| (key, Value::String(value)));
            return Parsed::Value(Value::Object(fields.collect::<Map<_, _>>()));
        }
        if kind.starts_with("text/") {
            return Parsed::Value(Value::String(text));
        }
        let strict = kind.starts_with("application/json");
        match serde_json::from_str::<Value>(&text) {
            Ok(value) if strict && has_prototype_key(&value) => Parsed::Malformed,
            Ok(value) => Parsed::Value(value),
            Err(_) if strict => Parsed::Malformed,
            Err(_) => Parsed::Value(Value::String(text)),
        }
    }
}

fn has_prototype_key(value: &Value) -> bool {
    match value {
        Value::Object(fields) => fields
            .iter()
            .any(|(key, value)| key == "__proto__" || has_prototype_key(value)),
        Value::Array(items) => items.iter().any(has_prototype_key),
        _ => false,
    }
}

fn form_pairs(text: &str) -> Vec<(String, String)> {
    let pairs = text.split('&').filter(|pair| !pair.is_empty());
    let decode = |part: &str| percent_decode(&part.replace('+', " "));
    pairs
        .map(|pair| pair.split_once('=').unwrap_or((pair, "")))
        .map(|(key, value)| (decode(key), decode(value)))
        .collect()
}

/// Percent-decoding that leaves text it cannot decode as it is.
pub(crate) fn percent_decode(text: &str) -> String {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((&first, tail)) = rest.split_first() {
        if first != b'%' {
            bytes.push(first);
            rest = tail;
            continue;
        }
        let code = tail.get(..2).and_then(|hex| std::str::from_utf8(hex).ok());
        let Some(byte) = code.and_then(|hex| u8::from_str_radix(hex, 16).ok()) else {
            return text.to_owned();
        };
        bytes.push(byte);
        rest = tail.get(2..).unwrap_or_default();
    }
    String::from_utf8(bytes).unwrap_or_else(|_| text.to_owned())
}
