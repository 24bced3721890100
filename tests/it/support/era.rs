//! What a revision of the protocol has in each message.

use serde_json::{Map, Value, json};

/// A revision of the protocol.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Era {
    V2025_06_18,
    V2025_11_25,
    V2026_07_28,
}

impl Era {
    pub const ALL: [&'static Self; 3] =
        [&Self::V2025_06_18, &Self::V2025_11_25, &Self::V2026_07_28];

    pub fn revision(self) -> &'static str {
        match self {
            Self::V2025_06_18 => "2025-06-18",
            Self::V2025_11_25 => "2025-11-25",
            Self::V2026_07_28 => "2026-07-28",
        }
    }

    /// Whether a session begins with a handshake. If not, every request says what the handshake said.
    pub fn has_initialize(self) -> bool {
        self != Self::V2026_07_28
    }

    /// The parameters of the handshake.
    pub fn initialize(self, capabilities: Capabilities) -> Value {
        json!({
            "protocolVersion": self.revision(),
            "capabilities": capabilities.to_value(),
            "clientInfo": client_info(),
        })
    }

    /// Adds to the parameters of a request what each has to have.
    pub fn complete(self, params: &mut Map<String, Value>, capabilities: Capabilities) {
        if self.has_initialize() {
            return;
        }
        let meta = params.entry("_meta").or_insert_with(|| json!({}));
        meta["io.modelcontextprotocol/protocolVersion"] = self.revision().into();
        meta["io.modelcontextprotocol/clientInfo"] = client_info();
        meta["io.modelcontextprotocol/clientCapabilities"] = capabilities.to_value();
    }
}

fn client_info() -> Value {
    json!({"name": "integration-test", "version": "1"})
}

/// What a client says about asking its user.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Capabilities {
    /// It does not mention it.
    None,
    /// An empty object, which means forms.
    Elicitation,
    /// Forms, by name.
    Form,
    /// Web pages alone.
    Url,
}

impl Capabilities {
    pub fn to_value(self) -> Value {
        match self {
            Self::None => json!({}),
            Self::Elicitation => json!({"elicitation": {}}),
            Self::Form => json!({"elicitation": {"form": {}}}),
            Self::Url => json!({"elicitation": {"url": {}}}),
        }
    }
}
