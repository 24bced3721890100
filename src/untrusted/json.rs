//! Reading JSON one level at a time, so that one bad value costs that value and nothing else.
//!
//! An ordinary parse of a whole document fails on the first number out of range (`1e999`), the first
//! lone surrogate (`"\ud800"`) and the first value nested too deeply. Here a level is split into the
//! raw text of its members, which only asks that the document is JSON in shape; each member is then
//! parsed by itself, and may fail by itself.

use serde::de::{Deserialize, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use serde_json::value::RawValue;
use serde_json::{Map, Value};
use std::borrow::Cow;
use std::fmt;

/// How many levels of arrays and objects an untyped value may have; a deeper one becomes `null`.
/// wg-easy's own documents have at most three.
pub const MAX_DEPTH: usize = 32;

/// The elements of a JSON array as raw text, or `None` when `raw` is not an array.
pub fn elements(raw: &str) -> Option<Vec<&str>> {
    let Elements(elements) = serde_json::from_str(raw).ok()?;
    Some(elements)
}

/// The members of a JSON object as raw text, in order, or `None` when `raw` is not an object. A name
/// that is not valid Unicode is left out, and so is `__proto__`, which some readers treat as code.
pub fn members(raw: &str) -> Option<Vec<(Cow<'_, str>, &str)>> {
    let Members(members) = serde_json::from_str(raw).ok()?;
    Some(
        members
            .into_iter()
            .filter_map(|(name, value)| Some((text(name)?, value)))
            .filter(|(name, _)| name != "__proto__")
            .collect(),
    )
}

/// The string that `raw` is, without a copy where it has no escapes.
fn text(raw: &str) -> Option<Cow<'_, str>> {
    match serde_json::from_str::<&str>(raw) {
        Ok(text) => Some(Cow::Borrowed(text)),
        Err(_) => serde_json::from_str::<String>(raw).ok().map(Cow::Owned),
    }
}

/// The raw text of the member called `name`; of several the last, as in JavaScript.
pub fn member<'a>(raw: &'a str, name: &str) -> Option<&'a str> {
    let Members(members) = serde_json::from_str(raw).ok()?;
    let found = |raw: &str| text(raw).is_some_and(|found| found == name);
    members
        .into_iter()
        .rev()
        .find_map(|(raw, value)| found(raw).then_some(value))
}

/// Reads a value of any type. What cannot be represented (a number out of range, a lone surrogate,
/// anything below [`MAX_DEPTH`] levels) becomes `null`.
pub fn lenient(raw: &str) -> Value {
    lenient_within(raw, MAX_DEPTH)
}

fn lenient_within(raw: &str, levels: usize) -> Value {
    match raw.as_bytes().first() {
        Some(b'{' | b'[') if levels == 0 => Value::Null,
        Some(b'{') => Value::Object(
            members(raw)
                .unwrap_or_default()
                .into_iter()
                .map(|(name, value)| (name.into_owned(), lenient_within(value, levels - 1)))
                .collect::<Map<_, _>>(),
        ),
        Some(b'[') => Value::Array(
            elements(raw)
                .unwrap_or_default()
                .into_iter()
                .map(|value| lenient_within(value, levels - 1))
                .collect(),
        ),
        _ => serde_json::from_str(raw).unwrap_or(Value::Null),
    }
}

struct Elements<'a>(Vec<&'a str>);

impl<'de: 'a, 'a> Deserialize<'de> for Elements<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Each;
        impl<'de> Visitor<'de> for Each {
            type Value = Vec<&'de str>;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an array")
            }
            fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Self::Value, A::Error> {
                let mut elements = Vec::new();
                while let Some(element) = seq.next_element::<&RawValue>()? {
                    elements.push(element.get());
                }
                Ok(elements)
            }
        }
        deserializer.deserialize_seq(Each).map(Elements)
    }
}

struct Members<'a>(Vec<(&'a str, &'a str)>);

impl<'de: 'a, 'a> Deserialize<'de> for Members<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Each;
        impl<'de> Visitor<'de> for Each {
            type Value = Vec<(&'de str, &'de str)>;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }
            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut members = Vec::new();
                while let Some(name) = map.next_key::<&RawValue>()? {
                    let value = map.next_value::<&RawValue>().map_err(A::Error::custom)?;
                    members.push((name.get(), value.get()));
                }
                Ok(members)
            }
        }
        deserializer.deserialize_map(Each).map(Members)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde_json::json;

    #[test]
    fn one_bad_value_costs_that_value_alone() {
        let raw = r#"{"a":1e999,"b":"\ud800","c":[1,1e999,"x"],"\udfff":1,"__proto__":{},"d":{"e":true}}"#;
        assert_eq!(
            lenient(raw),
            json!({"a":null,"b":null,"c":[1,null,"x"],"d":{"e":true}})
        );
    }

    #[test]
    fn deep_nesting_in_one_member_leaves_the_others() {
        let deep = format!(
            r#"{{"deep":{}{},"name":"x"}}"#,
            "[".repeat(100_000),
            "]".repeat(100_000)
        );
        let value = lenient(&deep);
        assert_eq!(value["name"], "x");
        assert_eq!(member(&deep, "name"), Some("\"x\""));
    }

    #[test]
    fn the_last_of_two_members_wins() {
        assert_eq!(lenient(r#"{"a":1,"a":2}"#), json!({"a":2}));
        assert_eq!(member(r#"{"a":1,"a":2}"#, "a"), Some("2"));
    }

    #[test]
    fn what_is_not_json_is_nothing() {
        for raw in ["", "{", "[1,", "nul", "[1] x", "{\"a\" 1}", "<html>"] {
            assert_eq!(elements(raw), None, "{raw}");
            assert!(members(raw).is_none(), "{raw}");
        }
    }

    proptest! {
        #[test]
        fn ordinary_json_reads_as_usual(text in "\\PC{0,40}", number in any::<f64>().prop_filter("finite", |n| n.is_finite()), list in prop::collection::vec(any::<i64>(), 0..5)) {
            let value = json!({"t": text, "n": number, "l": list, "o": {"x": [null, true, {}]}});
            prop_assert_eq!(lenient(&value.to_string()), value);
        }

        #[test]
        fn no_text_makes_it_panic(text in "[\\[\\]{}\",:0-9a-z\\\\eE+. -]{0,60}") {
            let _ = lenient(&text);
            let _ = elements(&text);
            let _ = members(&text);
        }
    }
}
