//! Reading JSON one level at a time, so that one bad value costs that value and nothing else.
//!
//! An ordinary parse of a whole document fails on the first number out of range (`1e999`), the first
//! lone surrogate (`"\ud800"`) and the first value nested too deeply. Here a level is split into the
//! raw text of its members, which only asks that the document is JSON in shape; each member is then
//! parsed by itself, and may fail by itself.
//!
//! Nothing is built that no answer could hold: see [`Budget`].

use super::budget::MAX_CHARS;
use super::clean::clean;
use serde::de::{Deserializer, Error, MapAccess, SeqAccess, Visitor};
use serde_json::Value;
use serde_json::value::RawValue;
use std::borrow::Cow;
use std::collections::HashMap;
use std::fmt;

/// How many levels of arrays and objects an untyped value may have; a deeper one becomes `null`.
/// wg-easy's own documents have at most three.
pub const MAX_DEPTH: usize = 32;

/// What stands in the place of an array or an object that has more in it than its record may have.
pub const LEFT_OUT: &str = "[left out: too large]";

/// The fewest characters that an entry of an array takes up in an answer: `0,`.
const ENTRY: usize = 2;

/// The fewest characters that a member of an object takes up in an answer: `"":0,`.
const MEMBER: usize = 5;

/// Why a level was not read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unread {
    /// It is not what it should be: an array, or an object.
    Malformed,
    /// It has more in it than its record may still have.
    TooLarge,
}

/// What may be read of one record: as many values as an answer has room for, and of nested ones no more
/// than a few times the text of all of it, since each level is looked through by itself. An array or an
/// object beyond that becomes [`LEFT_OUT`] as a whole, so that whoever reads the answer sees that
/// something is missing.
#[derive(Debug)]
pub struct Budget {
    chars: usize,
    bytes: usize,
    exceeded: bool,
}

impl Budget {
    /// What may be read of the record whose text is `raw`.
    pub fn of(raw: &str) -> Self {
        Self {
            chars: MAX_CHARS,
            // Small ones may be nested as they like.
            bytes: raw.len().saturating_mul(4).saturating_add(16 * 1024),
            exceeded: false,
        }
    }

    /// Whether something was not read for being too large.
    pub fn is_exceeded(&self) -> bool {
        self.exceeded
    }

    /// The elements of a JSON array as raw text.
    pub fn elements<'a>(&mut self, raw: &'a str) -> Result<Vec<&'a str>, Unread> {
        let most = self.enter(raw, ENTRY)?;
        let mut elements = Vec::new();
        let whole = each_element(raw, |element| {
            elements.push(element);
            elements.len() <= most
        });
        whole.ok_or(Unread::Malformed)?;
        self.spend(elements.len(), ENTRY)?;
        Ok(elements)
    }

    /// The members of a JSON object as raw text, in order. Names are cleaned, and of names that are
    /// equal then, the last one wins. A name that is not valid Unicode is left out, and so is
    /// `__proto__`, which some readers treat as code.
    pub fn members<'a>(&mut self, raw: &'a str) -> Result<Vec<(Cow<'a, str>, &'a str)>, Unread> {
        let most = self.enter(raw, MEMBER)?;
        let mut found: HashMap<Cow<'a, str>, (usize, &'a str)> = HashMap::new();
        let whole = each_member(raw, |name, value| {
            if let Some(name) = self::name(name) {
                let at = found.len();
                found.entry(name).or_insert((at, value)).1 = value;
            }
            found.len() <= most
        });
        whole.ok_or(Unread::Malformed)?;
        self.spend(found.len(), MEMBER)?;
        let mut members: Vec<_> = found.into_iter().collect();
        members.sort_unstable_by_key(|(_, (at, _))| *at);
        let members = members.into_iter();
        Ok(members.map(|(name, (_, value))| (name, value)).collect())
    }

    /// How many values of at least `each` characters there may be, before `raw` is looked through.
    fn enter(&mut self, raw: &str, each: usize) -> Result<usize, Unread> {
        match self.bytes.checked_sub(raw.len()) {
            Some(left) => {
                self.bytes = left;
                Ok(self.chars / each)
            }
            None => Err(self.exceed()),
        }
    }

    fn spend(&mut self, count: usize, each: usize) -> Result<(), Unread> {
        match self.chars.checked_sub(count.saturating_mul(each)) {
            Some(left) => {
                self.chars = left;
                Ok(())
            }
            None => Err(self.exceed()),
        }
    }

    fn exceed(&mut self) -> Unread {
        self.exceeded = true;
        Unread::TooLarge
    }

    /// Reads a value of any type. What cannot be represented (a number out of range, a lone surrogate,
    /// anything below [`MAX_DEPTH`] levels) becomes `null`, and what is too large [`LEFT_OUT`].
    pub fn lenient(&mut self, raw: &str) -> Value {
        self.lenient_within(raw, MAX_DEPTH)
    }

    fn lenient_within(&mut self, raw: &str, levels: usize) -> Value {
        let value = match raw.as_bytes().first() {
            Some(b'{' | b'[') if levels == 0 => Ok(Value::Null),
            Some(b'{') => self.members(raw).map(|members| {
                let members = members.into_iter();
                let read = |(name, raw): (Cow<'_, str>, _)| {
                    (name.into_owned(), self.lenient_within(raw, levels - 1))
                };
                Value::Object(members.map(read).collect())
            }),
            Some(b'[') => self.elements(raw).map(|elements| {
                let elements = elements.into_iter();
                Value::Array(
                    elements
                        .map(|raw| self.lenient_within(raw, levels - 1))
                        .collect(),
                )
            }),
            _ => Ok(serde_json::from_str(raw).unwrap_or(Value::Null)),
        };
        value.unwrap_or_else(|why| match why {
            Unread::Malformed => Value::Null,
            Unread::TooLarge => LEFT_OUT.into(),
        })
    }
}

/// The members of a JSON object as they stand, `None` when `raw` is not an object: for what a client of
/// this server sends. A name that is not valid Unicode is left out.
pub fn members(raw: &str) -> Option<Vec<(String, &str)>> {
    let mut members = Vec::new();
    each_member(raw, |name, value| {
        members.extend(serde_json::from_str(name).ok().map(|name| (name, value)));
        true
    })?;
    Some(members)
}

/// The raw text of the member called `name` when names are clean; of several the last.
pub fn member<'a>(raw: &'a str, name: &str) -> Option<&'a str> {
    let mut member = None;
    each_member(raw, |found, value| {
        if self::name(found).is_some_and(|found| found == name) {
            member = Some(value);
        }
        true
    })?;
    member
}

/// The name that `raw` is, cleaned: cleaning may make a known name, or a `__proto__`, out of one that
/// looked harmless.
fn name(raw: &str) -> Option<Cow<'_, str>> {
    let name = match serde_json::from_str::<&str>(raw) {
        Ok(name) => clean(name),
        // It has escapes.
        Err(_) => {
            let name: String = serde_json::from_str(raw).ok()?;
            Cow::Owned(clean(&name).into_owned())
        }
    };
    (name != "__proto__").then_some(name)
}

/// Shows each element of the JSON array `raw` until `visit` has seen enough. `None` when it is not one.
pub fn each_element<'a>(raw: &'a str, visit: impl FnMut(&'a str) -> bool) -> Option<()> {
    struct Each<F>(F, bool);
    impl<'de, F: FnMut(&'de str) -> bool> Visitor<'de> for &mut Each<F> {
        type Value = ();
        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("an array")
        }
        fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<(), A::Error> {
            while let Some(element) = seq.next_element::<&RawValue>()? {
                if !(self.0)(element.get()) {
                    self.1 = true;
                    return Err(A::Error::custom("enough"));
                }
            }
            Ok(())
        }
    }
    let mut each = Each(visit, false);
    let mut reader = serde_json::Deserializer::from_str(raw);
    let read = reader.deserialize_seq(&mut each);
    (each.1 || (read.is_ok() && reader.end().is_ok())).then_some(())
}

/// Shows each member of the JSON object `raw`, its name as raw text too, until `visit` has seen enough.
/// `None` when it is not one.
fn each_member<'a>(raw: &'a str, visit: impl FnMut(&'a str, &'a str) -> bool) -> Option<()> {
    struct Each<F>(F, bool);
    impl<'de, F: FnMut(&'de str, &'de str) -> bool> Visitor<'de> for &mut Each<F> {
        type Value = ();
        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("an object")
        }
        fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
            while let Some(name) = map.next_key::<&RawValue>()? {
                let value = map.next_value::<&RawValue>()?;
                if !(self.0)(name.get(), value.get()) {
                    self.1 = true;
                    return Err(A::Error::custom("enough"));
                }
            }
            Ok(())
        }
    }
    let mut each = Each(visit, false);
    let mut reader = serde_json::Deserializer::from_str(raw);
    let read = reader.deserialize_map(&mut each);
    (each.1 || (read.is_ok() && reader.end().is_ok())).then_some(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde_json::json;

    fn lenient(raw: &str) -> Value {
        Budget::of(raw).lenient(raw)
    }

    #[test]
    fn what_has_more_in_it_than_an_answer_is_left_out_as_a_whole() {
        let zeros = |count| format!("[{}0]", "0,".repeat(count));
        let many = zeros(40_000);
        let raw = format!(
            r#"{{"a":{many},"b":[1,{many}],"c":{},"d":2}}"#,
            zeros(20_000)
        );
        let mut budget = Budget::of(&raw);
        let value = budget.lenient(&raw);
        assert_eq!(
            (&value["a"], &value["b"], &value["d"]),
            (&json!(LEFT_OUT), &json!([1, LEFT_OUT]), &json!(2))
        );
        assert_eq!(value["c"].as_array().unwrap().len(), 20_001);
        assert!(budget.is_exceeded());
    }

    #[test]
    fn a_large_value_is_not_looked_through_on_every_level() {
        let long = "x".repeat(100_000);
        let raw = format!("{}\"{long}\"{}", "[".repeat(20), "]".repeat(20));
        let value = lenient(&raw).to_string();
        assert!(value.contains(LEFT_OUT) && !value.contains(&long));
        assert!(
            lenient(&format!("[[[[\"{long}\"]]]]"))
                .to_string()
                .contains(&long)
        );
    }

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
        assert_eq!(lenient(r#"{"a":1,"a\u0007":2}"#), json!({"a":2}));
        assert_eq!(member(r#"{"a":1,"\u200ea":2}"#, "a"), Some("2"));
        assert_eq!(lenient(r#"{"__pro\u200eto__":1}"#), json!({}));
    }

    #[test]
    fn what_is_not_json_is_nothing() {
        for raw in ["", "{", "[1,", "nul", "[1] x", "{\"a\" 1}", "<html>"] {
            let mut budget = Budget::of(raw);
            assert_eq!(budget.elements(raw), Err(Unread::Malformed), "{raw}");
            assert_eq!(budget.members(raw), Err(Unread::Malformed), "{raw}");
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
            let _ = Budget::of(&text).elements(&text);
            let _ = Budget::of(&text).members(&text);
        }
    }
}
