//! What goes back to wg-easy when a client is changed: all of it, as it was sent, save the changes.

use super::fields::CLIENT;
use super::record::{text, typed};
use crate::untrusted::json::Budget;
use crate::untrusted::{Line, Untrusted};
use serde_json::{Map, Value};

/// What wg-easy wants of a client when it is changed: all of it, or as much of it as its release knows.
pub const UPDATABLE: [&str; 24] = [
    "name",
    "enabled",
    "expiresAt",
    "ipv4Address",
    "ipv6Address",
    "preUp",
    "postUp",
    "preDown",
    "postDown",
    "allowedIps",
    "serverAllowedIps",
    "firewallIps",
    "mtu",
    "jC",
    "jMin",
    "jMax",
    "i1",
    "i2",
    "i3",
    "i4",
    "i5",
    "persistentKeepalive",
    "serverEndpoint",
    "dns",
];

/// A client as it has to be sent back when some of it changes.
#[derive(Debug)]
pub struct Updatable {
    fields: Untrusted<Map<String, Value>>,
    created: Option<Line>,
}

/// Why a client cannot be changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NotUpdatable {
    /// What was read is not a client.
    Malformed,
    /// This field of what was read does not have its type. Sending the rest would lose it, or break
    /// the instance.
    WrongType(&'static str),
    /// This field of what was read has more entries than any client needs. Sending fewer would lose them.
    TooLong(&'static str),
    /// This field is to be changed, and this release of wg-easy does not have it.
    NoSuchField(&'static str),
}

impl Updatable {
    /// Reads a client for a change. Keys, links and everything else that wg-easy does not take back
    /// stay behind; a field that an older release does not have is not made up.
    pub fn from_body(body: &Untrusted<Vec<u8>>) -> Result<Self, NotUpdatable> {
        let body = text(body.as_sent());
        let members = Budget::of(&body).members(&body);
        let members = members.map_err(|_| NotUpdatable::Malformed)?;
        let mut fields = Map::new();
        for field in CLIENT
            .iter()
            .filter(|field| UPDATABLE.contains(&field.name))
        {
            let found = members.iter().find(|(name, _)| name == field.name);
            if let Some((_, raw)) = found {
                let mut budget = Budget::of(raw);
                let value = typed(raw, field, &mut budget);
                if budget.is_exceeded() {
                    return Err(NotUpdatable::TooLong(field.name));
                }
                let value = value.ok_or(NotUpdatable::WrongType(field.name))?;
                fields.insert(field.name.to_owned(), value);
            }
        }
        let created = members.iter().find(|(name, _)| name == "createdAt");
        let created = created.and_then(|(_, raw)| serde_json::from_str::<String>(raw).ok());
        Ok(Self {
            fields: Untrusted::new(fields),
            created: created.map(|created| Line::new(&created)),
        })
    }

    /// What to send: everything as it was, save what `changes` names.
    pub fn with(
        &self,
        changes: &[(&'static str, Value)],
    ) -> Result<Map<String, Value>, NotUpdatable> {
        let mut fields = self.fields.as_sent().clone();
        for (name, value) in changes {
            match fields.get_mut(*name) {
                Some(field) => *field = value.clone(),
                None => return Err(NotUpdatable::NoSuchField(name)),
            }
        }
        Ok(fields)
    }

    /// Whether a field has this value.
    pub fn has(&self, name: &str, value: &Value) -> bool {
        self.fields.as_sent().get(name) == Some(value)
    }

    /// Whether a field has the same value in both.
    pub fn same(&self, other: &Self, name: &str) -> bool {
        self.fields.as_sent().get(name) == other.fields.as_sent().get(name)
    }

    /// When the client, and with it its key pair, was created; not sent back.
    pub fn created(&self) -> Option<&Line> {
        self.created.as_ref()
    }

    /// A field as people read it: a text as it is, a list with commas, nothing for `null`.
    pub fn line(&self, name: &str) -> Option<Line> {
        let shown = match self.fields.as_sent().get(name)? {
            Value::String(text) => text.clone(),
            Value::Array(texts) => {
                let texts: Vec<_> = texts.iter().filter_map(Value::as_str).collect();
                texts.join(", ")
            }
            Value::Null => return None,
            value => value.to_string(),
        };
        Some(Line::new(&shown))
    }

    /// Reads the entries of a list of texts, without handing one out.
    pub fn texts<T>(
        &self,
        name: &str,
        read: impl FnOnce(&mut dyn Iterator<Item = &str>) -> T,
    ) -> T {
        let texts = self.fields.as_sent().get(name).and_then(Value::as_array);
        read(&mut texts.into_iter().flatten().filter_map(Value::as_str))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(raw: &str) -> Result<Map<String, Value>, NotUpdatable> {
        Updatable::from_body(&Untrusted::new(raw.as_bytes().to_vec()))?.with(&[])
    }

    #[test]
    fn names_are_clean_before_they_are_looked_up_and_merged() {
        let sent = read(r#"{"name":"a","na\u0007me":"b","mtu\u200e":1420,"id":1}"#).unwrap();
        assert_eq!(
            Value::Object(sent),
            serde_json::json!({"name": "b", "mtu": 1420})
        );
        let wrong = read(r#"{"enabled":true,"enabled\u200e":{"x":1}}"#);
        assert_eq!(wrong.unwrap_err(), NotUpdatable::WrongType("enabled"));
    }

    #[test]
    fn a_list_is_never_sent_back_in_part() {
        let raw = format!(r#"{{"dns":["x"{}]}}"#, ",\"x\"".repeat(40_000));
        assert_eq!(read(&raw).unwrap_err(), NotUpdatable::TooLong("dns"));
    }
}
