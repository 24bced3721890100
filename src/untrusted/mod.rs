//! The only door through which what wg-easy sends may reach an answer.
//!
//! Client names, DNS entries and endpoints are chosen by whoever administers the VPN, and everything
//! else by whoever answers under wg-easy's address. [`Untrusted`] holds such a value and has no
//! accessor for text: a tool gets it out [shaped](Untrusted::shape) for an answer (cleaned, secrets
//! redacted), as a [`Line`] for a question, or, for a configuration, as a [`File`] that was asked for by
//! name.

pub mod budget;
mod clean;
mod file;
pub mod json;
mod redact;

pub use clean::{Line, clean, clean_script, is_hidden, is_removed};
pub use file::{File, NotAFile};
pub use redact::REDACTED;

use serde_json::{Map, Value};
use std::borrow::Cow;

/// A value that came from wg-easy.
pub struct Untrusted<T>(T);

/// An upstream value that may stand in an answer: cleaned, and with its secrets redacted.
#[derive(Clone, Debug, PartialEq)]
pub struct Shaped(Value);

/// The scripts that wg-easy runs on its host. They are shown with their line ends, since they mean
/// nothing without.
const HOOKS: [&str; 4] = ["preUp", "postUp", "preDown", "postDown"];

impl<T> Untrusted<T> {
    /// Marks a value as having come from wg-easy.
    pub fn new(value: T) -> Self {
        Self(value)
    }

    /// The value as it was sent. For `wg_easy` alone, which sends it back to where it came from.
    pub(crate) fn as_sent(&self) -> &T {
        &self.0
    }

    /// The same, for `wg_easy` to read it without a copy.
    pub(crate) fn into_sent(self) -> T {
        self.0
    }
}

/// Says that there is something, and not what.
impl<T> std::fmt::Debug for Untrusted<T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Untrusted(..)")
    }
}

impl Untrusted<Map<String, Value>> {
    /// Cleans every name and value, and redacts the secrets.
    pub fn shape(self) -> Shaped {
        let mut fields = clean_fields(self.0, true);
        redact::redact(&mut fields);
        Shaped(Value::Object(fields))
    }

    /// A text field as one line of a question; `None` when it is absent or not text.
    pub fn line(&self, field: &str) -> Option<Line> {
        self.0.get(field)?.as_str().map(Line::new)
    }

    /// Whether a field is there and `null`.
    pub fn is_null(&self, field: &str) -> bool {
        self.0.get(field).is_some_and(Value::is_null)
    }

    /// A field that is a non-negative integer.
    pub fn integer(&self, field: &str) -> Option<u64> {
        self.0.get(field)?.as_u64()
    }

    /// A boolean field.
    pub fn boolean(&self, field: &str) -> Option<bool> {
        self.0.get(field)?.as_bool()
    }
}

impl Shaped {
    /// Without a field whose name means something of the server's own where the value goes.
    #[must_use]
    pub fn without(mut self, name: &str) -> Self {
        if let Value::Object(fields) = &mut self.0 {
            fields.shift_remove(name);
        }
        self
    }

    /// The value, to be put into an answer.
    pub fn into_value(self) -> Value {
        self.0
    }
}

fn clean_fields(fields: Map<String, Value>, outermost: bool) -> Map<String, Value> {
    let mut fields = clean_names(fields);
    for (name, value) in &mut fields {
        match value {
            Value::String(text) if outermost && HOOKS.contains(&name.as_str()) => {
                replace(text, clean_script);
            }
            value => clean_value(value),
        }
    }
    fields
}

/// Of names that become equal the last one wins, and cleaning may make a `__proto__` out of one that
/// looked harmless.
fn clean_names(fields: Map<String, Value>) -> Map<String, Value> {
    let is_clean = |name: &String| matches!(clean(name), Cow::Borrowed(_)) && name != "__proto__";
    if fields.keys().all(is_clean) {
        return fields;
    }
    let mut cleaned = Map::new();
    for (name, value) in fields {
        let name = clean(&name).into_owned();
        if name != "__proto__" {
            cleaned.insert(name, value);
        }
    }
    cleaned
}

fn clean_value(value: &mut Value) {
    match value {
        Value::String(text) => replace(text, clean),
        Value::Array(elements) => elements.iter_mut().for_each(clean_value),
        Value::Object(fields) => *fields = clean_fields(std::mem::take(fields), false),
        _ => {}
    }
}

fn replace(text: &mut String, clean: fn(&str) -> Cow<'_, str>) {
    if let Cow::Owned(cleaned) = clean(text) {
        *text = cleaned;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde_json::json;

    fn shape(value: Value) -> Value {
        let Value::Object(fields) = value else {
            panic!("an object")
        };
        Untrusted::new(fields).shape().into_value()
    }

    #[test]
    fn names_and_values_are_cleaned_at_every_depth() {
        assert_eq!(
            shape(json!({
                "na\u{1b}me": "a\nb\u{202e}c", "preUp": "ip a\n\tip b\u{1b}", "nested": {"preUp": "x\ny", "l": ["\u{feff}z"]},
                "__pro\u{200e}to__": 1,
            })),
            json!({"name": "abc", "preUp": "ip a\n\tip b", "nested": {"preUp": "xy", "l": ["z"]}})
        );
    }

    #[test]
    fn of_names_that_become_equal_the_last_wins() {
        assert_eq!(shape(json!({"a": 1, "a\u{7}": 2})), json!({"a": 2}));
    }

    fn any_value() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            any::<String>().prop_map(Value::from),
            any::<i64>().prop_map(Value::from),
            Just(Value::Null)
        ];
        leaf.prop_recursive(3, 24, 4, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
                prop::collection::vec((any::<String>(), inner), 0..4)
                    .prop_map(|fields| Value::Object(fields.into_iter().collect())),
            ]
        })
    }

    fn texts<'a>(value: &'a Value, into: &mut Vec<&'a str>) {
        match value {
            Value::String(text) => into.push(text),
            Value::Array(elements) => elements.iter().for_each(|value| texts(value, into)),
            Value::Object(fields) => fields.iter().for_each(|(name, value)| {
                into.push(name);
                texts(value, into);
            }),
            _ => {}
        }
    }

    proptest! {
        #[test]
        fn nothing_that_is_removed_survives_anywhere(value in any_value()) {
            let shaped = shape(json!({"value": value}));
            let mut all = Vec::new();
            texts(&shaped, &mut all);
            prop_assert!(all.iter().all(|text| !text.chars().any(is_removed)));
        }
    }
}
