//! Typed readers of what wg-easy sends.
//!
//! A record is read at the boundary, by the [table of its fields](super::fields), with a check of exactly
//! the type that stands there. A field that fails its check is left out: never the whole record, never
//! the whole list. A field that no table names (a newer release has it) is passed on whatever its type.

use super::fields::{CLIENT, Field, Kind};
use crate::untrusted::json::{self, Budget, Unread};
use crate::untrusted::{Line, Untrusted, clean};
use serde_json::{Map, Value};
use std::borrow::Cow;

/// A record that wg-easy sent, every field of the table exactly of its type.
pub type Record = Untrusted<Map<String, Value>>;

/// Why a body is not the record or the list that was asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Malformed;

/// A one-time link's value. Whoever has it fetches a configuration without a login.
#[derive(Clone, PartialEq, Eq)]
pub struct LinkToken(String);

impl LinkToken {
    /// The value, for the one tool that was asked for it by name.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// A live one-time link.
#[derive(Clone, PartialEq, Eq)]
pub struct OneTimeLink {
    /// Its value.
    pub token: LinkToken,
    /// Until when it works; in a form that can stand in an answer.
    pub expires_at: Option<String>,
}

impl Record {
    /// The client's one-time link, if it has one whose value looks like one: letters and digits, which
    /// need no escaping in a URL.
    pub fn one_time_link(&self) -> Option<OneTimeLink> {
        let row = self.as_sent().get("oneTimeLink")?.as_object()?;
        let token = row.get("oneTimeLink")?.as_str()?;
        let is_token =
            (1..=128).contains(&token.len()) && token.bytes().all(|b| b.is_ascii_alphanumeric());
        is_token.then(|| OneTimeLink {
            token: LinkToken(token.to_owned()),
            expires_at: row
                .get("expiresAt")
                .and_then(Value::as_str)
                .map(|text| Line::new(text).as_str().to_owned()),
        })
    }

    /// Whether the text field `name` is exactly `text`.
    pub fn is_text(&self, name: &str, text: &str) -> bool {
        self.as_sent().get(name).and_then(Value::as_str) == Some(text)
    }
}

impl Record {
    /// Reads one object.
    pub fn read(raw: &str, table: &'static [Field]) -> Result<Self, Malformed> {
        object(raw, table, &mut Budget::of(raw))
            .map(Untrusted::new)
            .ok_or(Malformed)
    }

    /// Reads a whole body that is one object.
    pub fn from_body(
        body: &Untrusted<Vec<u8>>,
        table: &'static [Field],
    ) -> Result<Self, Malformed> {
        Self::read(&text(body.as_sent()), table)
    }
}

/// The list of clients: the body, split into its rows, each read when it is asked for, so that no tree
/// of the whole document is ever built.
pub struct ClientList {
    body: String,
    rows: Vec<std::ops::Range<usize>>,
    skipped: usize,
}

/// The most rows that are looked at, which is more than eight megabytes of real clients are.
const MAX_ROWS: usize = 65_536;

impl ClientList {
    /// Splits a list's body into its rows.
    pub fn from_body(body: Untrusted<Vec<u8>>) -> Result<Self, Malformed> {
        // Without a copy, if it is text.
        let body = match String::from_utf8(body.into_sent()) {
            Ok(mut body) => {
                if body.starts_with('\u{feff}') {
                    body.remove(0);
                }
                body
            }
            Err(error) => text(error.as_bytes()).into_owned(),
        };
        let start = body.as_ptr().addr();
        let mut rows = Vec::new();
        let mut skipped = 0;
        json::each_element(&body, |row| {
            if row.starts_with('{') && rows.len() < MAX_ROWS {
                // A row is a slice of the body, so its address tells where it stands.
                let from = row.as_ptr().addr() - start;
                rows.push(from..from + row.len());
            } else {
                skipped += 1;
            }
            true
        })
        .ok_or(Malformed)?;
        Ok(Self {
            body,
            rows,
            skipped,
        })
    }

    /// How many entries are left out: those that are not objects, and those beyond what wg-easy can
    /// possibly have.
    pub fn skipped(&self) -> usize {
        self.skipped
    }

    /// The rows, in wg-easy's order.
    pub fn rows(&self) -> impl Iterator<Item = Row<'_>> {
        self.rows
            .iter()
            .filter_map(|range| self.body.get(range.clone()).map(Row))
    }

    /// The row of one client.
    pub fn client(&self, id: u64) -> Option<Record> {
        self.rows()
            .filter(|row| json::member(row.0, "id") == Some(id.to_string().as_str()))
            .find_map(|row| row.record().ok())
    }
}

/// One row of the list, not yet read.
#[derive(Clone, Copy)]
pub struct Row<'a>(&'a str);

impl Row<'_> {
    /// Reads the row.
    pub fn record(&self) -> Result<Record, Malformed> {
        Record::read(self.0, CLIENT)
    }

    /// The name, [folded]. Empty where there is none.
    pub fn folded_name(&self) -> String {
        json::member(self.0, "name")
            .and_then(|raw| serde_json::from_str::<String>(raw).ok())
            .map(|name| folded(&name))
            .unwrap_or_default()
    }
}

/// What a name is compared by: cleaned, and in lower case character by character, so that what is found
/// in a part of a name does not depend on what stands around it.
pub fn folded(name: &str) -> String {
    let lower = clean(name);
    let lower = lower.chars().flat_map(char::to_lowercase);
    // A sigma at the end of a word is still a sigma.
    lower.map(|c| if c == 'ς' { 'σ' } else { c }).collect()
}

/// A byte that is not UTF-8 costs the text it stands in, not the document.
pub(super) fn text(body: &[u8]) -> Cow<'_, str> {
    String::from_utf8_lossy(body.strip_prefix(b"\xef\xbb\xbf").unwrap_or(body))
}

fn object(raw: &str, table: &'static [Field], budget: &mut Budget) -> Option<Map<String, Value>> {
    let members = budget.members(raw).ok()?;
    let mut fields = Map::with_capacity(members.len());
    for (name, raw) in members {
        let value = match table.iter().find(|field| field.name == name) {
            Some(field) => typed(raw, field, budget),
            None => Some(budget.lenient(raw)),
        };
        if let Some(value) = value {
            fields.insert(name.into_owned(), value);
        }
    }
    Some(fields)
}

/// Reads a value that has to be of the field's type. A list that is too long for any answer becomes a
/// list that says so.
pub(super) fn typed(raw: &str, field: &'static Field, budget: &mut Budget) -> Option<Value> {
    if field.nullable && raw == "null" {
        return Some(Value::Null);
    }
    // An array would be built in full only to be found to be no scalar.
    let is_scalar = !raw.starts_with(['[', '{']);
    let scalar = || is_scalar.then(|| serde_json::from_str::<Value>(raw).ok())?;
    match &field.kind {
        Kind::Text => scalar().filter(Value::is_string),
        Kind::Boolean => scalar().filter(Value::is_boolean),
        Kind::Number => scalar().filter(Value::is_number),
        Kind::Integer => scalar().filter(|value| {
            value.is_i64() || value.is_u64() || value.as_f64().is_some_and(|n| n.fract() == 0.0)
        }),
        Kind::Texts => match budget.elements(raw) {
            Ok(elements) => elements
                .into_iter()
                .map(|raw| serde_json::from_str::<String>(raw).ok().map(Value::String))
                .collect::<Option<Vec<_>>>()
                .map(Value::Array),
            Err(Unread::TooLarge) => Some(vec![json::LEFT_OUT].into()),
            Err(Unread::Malformed) => None,
        },
        Kind::Object(table) => object(raw, table, budget).map(Value::Object),
        Kind::Link(table) => scalar()
            .filter(Value::is_string)
            .or_else(|| object(raw, table, budget).map(Value::Object)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde_json::json;

    fn client(raw: &str) -> Value {
        Value::Object(Record::read(raw, CLIENT).unwrap().as_sent().clone())
    }

    #[test]
    fn a_field_of_the_wrong_type_is_left_out_alone() {
        assert_eq!(
            client(
                r#"{"id":"1","name":7,"enabled":1,"mtu":1e999,"transferRx":12,"dns":["1.1.1.1",2],"allowedIps":null,
                    "ipv4Address":"\ud800","ipv6Address":"::1","expiresAt":null,"publicKey":null,"serverAllowedIps":["10.0.0.0/8"],
                    "oneTimeLink":{"id":1,"expiresAt":5},"newField":{"x":1e999}}"#
            ),
            json!({
                "transferRx": 12, "allowedIps": null, "ipv6Address": "::1", "expiresAt": null,
                "serverAllowedIps": ["10.0.0.0/8"], "oneTimeLink": {"id": 1}, "newField": {"x": null},
            })
        );
    }

    #[test]
    fn the_last_of_two_members_counts_even_when_it_is_no_good() {
        assert_eq!(client(r#"{"id":1,"id":"x"}"#), json!({}));
        assert_eq!(client(r#"{"id":"x","id":1}"#), json!({"id": 1}));
    }

    #[test]
    fn names_are_clean_before_they_are_looked_up_and_merged() {
        assert_eq!(
            client(
                r#"{"id":5,"id\u0007":"9","enabled\u200e":{"x":1},"\ufeffmtu":7,"__pro\u200eto__":1}"#
            ),
            json!({"mtu": 7})
        );
        let list = ClientList::from_body(Untrusted::new(
            br#"[{"id":1,"id\u0007":2,"name":"A","na\u200eme":"B"}]"#.to_vec(),
        ));
        let list = list.unwrap();
        assert_eq!(list.rows().next().unwrap().folded_name(), "b");
        assert!(list.client(2).is_some() && list.client(1).is_none());
    }

    #[test]
    fn a_name_is_folded_character_by_character() {
        assert!(folded("ΟΔΟΣΑ").contains(&folded("ΟΔΟΣ")));
        assert!(folded("οδός").contains(&folded("ΔΌΣ")));
        assert_eq!(folded("\u{202e}İX"), "i\u{307}x");
    }

    #[test]
    fn a_list_that_is_too_long_says_so() {
        let raw = format!(r#"{{"id":1,"dns":["x"{}]}}"#, ",\"x\"".repeat(40_000));
        assert_eq!(client(&raw), json!({"id": 1, "dns": [json::LEFT_OUT]}));
    }

    #[test]
    fn entries_that_are_no_objects_are_counted() {
        let body =
            Untrusted::new(br#"[{"id":1,"name":"A"},null,5,"x",[],{"id":2,"name":"B"}]"#.to_vec());
        let list = ClientList::from_body(body).unwrap();
        assert_eq!(list.skipped(), 4);
        let names: Vec<_> = list.rows().map(|row| row.folded_name()).collect();
        assert_eq!(names, ["a", "b"]);
        assert!(list.client(2).is_some() && list.client(3).is_none());
    }

    #[test]
    fn a_body_that_is_no_list_is_malformed() {
        for body in ["", "{}", "null", "[", "[1,]", "<html>"] {
            assert!(ClientList::from_body(Untrusted::new(body.as_bytes().to_vec())).is_err());
        }
    }

    proptest! {
        #[test]
        fn whatever_a_row_holds_every_typed_field_has_its_type(raws in prop::collection::vec((0..CLIENT.len(), prop::sample::select(vec![
            "null", "1", "1.5", "-1", "1e999", "true", "\"x\"", "\"\\ud800\"", "[]", "[\"a\"]", "[1]", "{}", "{\"id\":1}", "[[[[]]]]",
        ])), 0..40)) {
            let raw = format!("{{{}}}", raws.iter().map(|(at, raw)| format!("\"{}\":{raw}", CLIENT[*at].name)).collect::<Vec<_>>().join(","));
            let record = client(&raw);
            for (name, value) in record.as_object().unwrap() {
                let field = CLIENT.iter().find(|field| field.name == name).unwrap();
                let right = match &field.kind {
                    Kind::Text => value.is_string(),
                    Kind::Boolean => value.is_boolean(),
                    Kind::Number => value.is_number(),
                    Kind::Integer => value.as_f64().is_some_and(|n| n.fract() == 0.0),
                    Kind::Texts => value.as_array().is_some_and(|texts| texts.iter().all(Value::is_string)),
                    Kind::Object(_) => value.is_object(),
                    Kind::Link(_) => value.is_object() || value.is_string(),
                };
                prop_assert!(right || (field.nullable && value.is_null()), "{name}: {value}");
            }
        }

        #[test]
        fn no_body_makes_it_panic(body in prop::collection::vec(any::<u8>(), 0..80)) {
            let _ = ClientList::from_body(Untrusted::new(body.clone()));
            let _ = Record::from_body(&Untrusted::new(body), CLIENT);
        }
    }
}
