//! The schemas of request bodies and their messages.

use std::net::{Ipv4Addr, Ipv6Addr};

use serde_json::{Map, Value};

use crate::{
    call::{Call, Parsed},
    client::Client,
    reply::Thrown,
};

/// Collects what is wrong, in the order of the schema.
pub(crate) struct Issues<'a> {
    body: &'a Map<String, Value>,
    language: String,
    found: Vec<String>,
}

/// The body of a call as an object.
pub(crate) fn object(call: &Call) -> Result<Map<String, Value>, Thrown> {
    let kind = match call.parsed() {
        Parsed::Malformed => return Err(Thrown::malformed_json()),
        Parsed::Undefined => "undefined",
        Parsed::Value(Value::Object(fields)) => return Ok(fields),
        Parsed::Value(other) => kind_of(Some(&other)),
    };
    Err(Thrown::validation(&[format!(
        "Invalid input: expected object, received {kind}"
    )]))
}

fn kind_of(value: Option<&Value>) -> &'static str {
    match value {
        None => "undefined",
        Some(Value::Null) => "null",
        Some(Value::Bool(_)) => "boolean",
        Some(Value::Number(_)) => "number",
        Some(Value::String(_)) => "string",
        Some(Value::Array(_)) => "array",
        Some(Value::Object(_)) => "object",
    }
}

/// Names that would reach into JavaScript's prototypes.
pub(crate) fn is_malformed(text: &str) -> bool {
    let reserved = matches!(text, "__proto__" | "constructor" | "prototype");
    reserved || text.chars().any(|c| c.is_ascii_control())
}

impl<'a> Issues<'a> {
    pub(crate) fn new(body: &'a Map<String, Value>, language: String) -> Self {
        Self {
            body,
            language,
            found: Vec::new(),
        }
    }

    /// The verdict.
    pub(crate) fn finish(self) -> Result<(), Thrown> {
        if self.found.is_empty() {
            Ok(())
        } else {
            Err(Thrown::validation(&self.found))
        }
    }

    fn report(&mut self, issue: impl Into<String>) {
        self.found.push(issue.into());
    }

    fn required(&mut self, key: &str) {
        let issue = match self.language.as_str() {
            "de" => format!("{key} ist erforderlich"),
            "fr" => format!("{key} est requis"),
            _ => format!("{key} is required"),
        };
        self.report(issue);
    }

    fn too_short(&mut self, label: &str, least: usize) {
        let issue = match self.language.as_str() {
            "de" => format!("{label} muss mindestens {least} Zeichen lang sein"),
            "fr" => format!(
                "{} doit comporter au moins {least} caractère(s)",
                if label == "Name" { "Nom" } else { label }
            ),
            _ if least == 1 => format!("{label} must be at least 1 Character"),
            _ => format!("{label} must be at least {least} Characters"),
        };
        self.report(issue);
    }

    /// A string of at least so many characters.
    pub(crate) fn text(&mut self, key: &str, label: &str, least: usize) -> String {
        let Some(Value::String(text)) = self.body.get(key) else {
            self.required(key);
            return String::new();
        };
        if text.encode_utf16().count() < least {
            self.too_short(label, least);
        } else if is_malformed(text) {
            self.report("String is malformed");
        }
        text.clone()
    }

    /// As [`Self::text`], or null.
    pub(crate) fn nullable_text(&mut self, key: &str, label: &str) -> Option<String> {
        if self.body.get(key) == Some(&Value::Null) {
            None
        } else {
            Some(self.text(key, label, 1))
        }
    }

    /// `true` or `false`.
    pub(crate) fn flag(&mut self, key: &str) -> bool {
        let value = self.body.get(key).and_then(Value::as_bool);
        if value.is_none() {
            self.required(key);
        }
        value.unwrap_or_default()
    }

    fn script(&mut self, key: &str) -> String {
        let value = self.body.get(key).and_then(Value::as_str);
        if value.is_none() {
            self.required(key);
        }
        value.unwrap_or_default().to_owned()
    }

    fn address(&mut self, key: &str, label: &str, fits: fn(&str) -> bool) -> String {
        let before = self.found.len();
        let text = self.text(key, label, 1);
        if self.found.len() == before && !fits(&text) {
            self.report("Invalid input");
        }
        text
    }

    fn list(&mut self, key: &str, empty: Option<&str>) -> Vec<String> {
        let Some(Value::Array(items)) = self.body.get(key) else {
            self.required(key);
            return Vec::new();
        };
        if let (true, Some(message)) = (items.is_empty(), empty) {
            self.report(message);
        }
        let mut texts = Vec::new();
        for item in items {
            match item {
                Value::String(text) if text.is_empty() => {
                    self.report("Address must be at least 1 Character")
                }
                Value::String(text) if is_malformed(text) => self.report("String is malformed"),
                Value::String(text) => texts.push(text.clone()),
                other => self.report(format!(
                    "Invalid input: expected string, received {}",
                    kind_of(Some(other))
                )),
            }
        }
        texts
    }

    fn nullable_list(&mut self, key: &str, empty: Option<&str>) -> Option<Vec<String>> {
        if self.body.get(key) == Some(&Value::Null) {
            None
        } else {
            Some(self.list(key, empty))
        }
    }

    fn number(&mut self, key: &str, label: &str, least: f64, most: f64) -> f64 {
        let Some(value) = self.body.get(key).and_then(Value::as_f64) else {
            self.required(key);
            return 0.0;
        };
        if value < least {
            self.report(format!("{label} must be at least {least}"));
        } else if value > most {
            self.report(format!("{label} must be at most {most}"));
        }
        value
    }

    fn obfuscation_number(&mut self, key: &str) -> Option<f64> {
        match self.body.get(key) {
            Some(Value::Null) => None,
            Some(Value::Number(number)) => number.as_f64(),
            other => {
                self.report(format!(
                    "Invalid input: expected number, received {}",
                    kind_of(other)
                ));
                None
            }
        }
    }

    fn obfuscation_text(&mut self, key: &str) -> Option<String> {
        match self.body.get(key) {
            Some(Value::Null) => None,
            Some(Value::String(text)) => Some(text.clone()),
            other => {
                self.report(format!(
                    "Invalid input: expected string, received {}",
                    kind_of(other)
                ));
                None
            }
        }
    }

    /// All 24 fields of an update, read into `client` in the order of the schema.
    pub(crate) fn update(&mut self, client: &mut Client) {
        client.name = self.text("name", "Name", 1);
        client.enabled = self.flag("enabled");
        client.expires_at = self.nullable_text("expiresAt", "Expires At");
        client.ipv4_address = self.address("ipv4Address", "IPv4 Address", |text| {
            text.parse::<Ipv4Addr>().is_ok()
        });
        client.ipv6_address = self.address("ipv6Address", "IPv6 Address", |text| {
            text.parse::<Ipv6Addr>().is_ok()
        });
        client.pre_up = self.script("preUp");
        client.post_up = self.script("postUp");
        client.pre_down = self.script("preDown");
        client.post_down = self.script("postDown");
        client.allowed_ips = self.nullable_list("allowedIps", Some("Allowed IPs"));
        client.server_allowed_ips = self.list("serverAllowedIps", None);
        client.firewall_ips = self.nullable_list("firewallIps", None);
        client.mtu = self.number("mtu", "MTU", 1024.0, 9000.0);
        client.j_c = self.obfuscation_number("jC");
        client.j_min = self.obfuscation_number("jMin");
        client.j_max = self.obfuscation_number("jMax");
        for (slot, key) in client.i.iter_mut().zip(["i1", "i2", "i3", "i4", "i5"]) {
            *slot = self.obfuscation_text(key);
        }
        client.persistent_keepalive =
            self.number("persistentKeepalive", "Persistent Keepalive", 0.0, 65_535.0);
        client.server_endpoint = self.nullable_text("serverEndpoint", "Address");
        client.dns = self.nullable_list("dns", None);
    }
}
