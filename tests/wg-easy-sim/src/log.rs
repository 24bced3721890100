//! What was received.

use std::time::Instant;

/// How a caller was known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Login {
    /// By name and password on the request itself.
    Basic,
    /// By the cookie of a login.
    Cookie,
}

/// One request that arrived, in order of arrival.
#[derive(Clone, Debug)]
pub struct Received {
    /// The method.
    pub method: String,
    /// The path without query, without the proxy's prefix.
    pub path: String,
    /// The query, without the question mark.
    pub query: String,
    /// All headers, names in lower case, in the order of arrival.
    pub headers: Vec<(String, String)>,
    /// The body.
    pub body: Vec<u8>,
    /// How the caller was known; `None` when it was not, or nobody asked, or it is not answered yet.
    pub authenticated: Option<Login>,
    /// The status that was sent; `None` before that, and when a fault sent none.
    pub status: Option<u16>,
    /// When it had arrived completely.
    pub at: Instant,
    /// Which connection it came on, counted from 1.
    pub connection: usize,
}

impl Received {
    /// The first header of that name (lower case).
    #[must_use]
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers
            .iter()
            .find(|(key, _)| key == name)
            .map(|(_, value)| value.as_str())
    }

    /// Whether this asks for a change: anything below `/api/client` that is not a GET.
    #[must_use]
    pub fn is_write(&self) -> bool {
        self.path.starts_with("/api/client") && matches!(self.method.as_str(), "POST" | "DELETE")
    }

    /// The body as JSON; null when it is none.
    #[must_use]
    pub fn json(&self) -> serde_json::Value {
        serde_json::from_slice(&self.body).unwrap_or_default()
    }
}
