//! Keeping an answer within what a context window can hold.
//!
//! An answer is shortened as an object, so that it stays valid JSON and says what was cut: the longest
//! text first, then entries of the longest list. A key file is never shortened; the tools that answer
//! with one do not come here.

use serde_json::{Map, Value, json};
use std::collections::HashSet;
use std::fmt::Write as _;

/// The most Unicode code points in the text block of an answer.
pub const MAX_CHARS: usize = 60_000;

/// A text is not cut below this many code points: what is shorter says more than it costs.
const SHORTEST_CUT: usize = 200;

/// A part of an answer that was shortened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Truncated {
    /// Where it stands, such as `latestRelease.changelog` or `clients[3].name`.
    pub field: String,
    /// How much of it is left: code points of a text, entries of a list.
    pub kept: usize,
    /// How much there was.
    pub total: usize,
}

impl Truncated {
    /// The entry of the answer's `truncated` list.
    pub fn to_value(&self) -> Value {
        json!({"field": self.field, "kept": self.kept, "total": self.total})
    }
}

/// The length of `value` as compact JSON, in Unicode code points.
pub fn chars(value: &impl serde::Serialize) -> usize {
    struct Counter(usize);
    impl std::io::Write for Counter {
        fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
            // Every byte of UTF-8 that does not continue a character begins one.
            self.0 += bytes.iter().filter(|&&byte| byte & 0xc0 != 0x80).count();
            Ok(bytes.len())
        }
        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }
    let mut counter = Counter(0);
    // Counting cannot fail, and a `Value` always serialises.
    let _ = serde_json::to_writer(&mut counter, value);
    counter.0
}

/// Shortens `object` until its JSON has at most `limit` code points, and says what was cut. `None` when
/// it does not fit whatever is cut; the object is then of no use.
pub fn fit(object: &mut Map<String, Value>, limit: usize) -> Option<Vec<Truncated>> {
    let mut value = Value::Object(std::mem::take(object));
    let truncated = fit_value(&mut value, limit);
    if let Value::Object(fitted) = value {
        *object = fitted;
    }
    truncated
}

fn fit_value(value: &mut Value, limit: usize) -> Option<Vec<Truncated>> {
    let mut truncated = Vec::new();
    let mut excess = chars(value).saturating_sub(limit);
    if excess > 0 {
        truncated = cut_texts(value, excess);
        excess = chars(value).saturating_sub(limit);
    }
    // Each round empties or shortens one list; there are as many lists as there are.
    while excess > 0 {
        truncated.push(cut_longest_list(value, excess)?);
        excess = chars(value).saturating_sub(limit);
    }
    // A text inside an entry that went is no longer there to be spoken of.
    if !truncated.is_empty() {
        let mut standing = HashSet::new();
        each_place(value, &mut String::new(), &mut |field| {
            standing.insert(field.to_owned());
        });
        truncated.retain(|cut| standing.contains(&cut.field));
    }
    Some(truncated)
}

/// Cuts the longest texts to a common length at which `excess` is gone, or to [`SHORTEST_CUT`].
pub(crate) fn cut_texts(value: &mut Value, excess: usize) -> Vec<Truncated> {
    let mut lengths = Vec::new();
    each_text(value, &mut String::new(), &mut |_, text| {
        let length = text.chars().count();
        if length > SHORTEST_CUT {
            lengths.push(length);
        }
    });
    if lengths.is_empty() {
        return Vec::new();
    }
    lengths.sort_unstable_by(|a, b| b.cmp(a));
    // Lowering the level to the next shorter text frees what all longer texts lose by it.
    let mut level = SHORTEST_CUT;
    let mut freed = 0;
    for (longer, pair) in lengths.windows(2).enumerate() {
        let (&[this, next], count) = (pair, longer + 1) else {
            break;
        };
        if freed + (this - next) * count >= excess {
            level = this - (excess - freed).div_ceil(count);
            break;
        }
        freed += (this - next) * count;
    }
    if level == SHORTEST_CUT
        && let Some(&shortest) = lengths.last()
    {
        let needed = excess.saturating_sub(freed).div_ceil(lengths.len());
        level = shortest.saturating_sub(needed).max(SHORTEST_CUT);
    }
    let mut truncated = Vec::new();
    each_text(value, &mut String::new(), &mut |field, text| {
        let total = text.chars().count();
        if total > level.max(SHORTEST_CUT)
            && let Some((end, _)) = text.char_indices().nth(level)
        {
            text.truncate(end);
            truncated.push(Truncated {
                field: field.to_owned(),
                kept: level,
                total,
            });
        }
    });
    truncated
}

/// Drops entries from the end of the list whose JSON is longest.
fn cut_longest_list(value: &mut Value, excess: usize) -> Option<Truncated> {
    let mut longest: Option<(usize, String)> = None;
    each_list(value, &mut String::new(), &mut |field, list| {
        let length: usize = list.iter().map(chars).sum();
        if !list.is_empty() && longest.as_ref().is_none_or(|(most, _)| length > *most) {
            longest = Some((length, field.to_owned()));
        }
    });
    let (_, longest) = longest?;
    let mut truncated = None;
    each_list(value, &mut String::new(), &mut |field, list| {
        if field == longest && truncated.is_none() {
            let total = list.len();
            let mut freed = 0;
            while freed < excess
                && let Some(entry) = list.pop()
            {
                freed += chars(&entry) + 1;
            }
            truncated = Some(Truncated {
                field: field.to_owned(),
                kept: list.len(),
                total,
            });
        }
    });
    truncated
}

fn each_text(value: &mut Value, path: &mut String, visit: &mut impl FnMut(&str, &mut String)) {
    match value {
        Value::String(text) => visit(path, text),
        _ => each_child(value, path, &mut |child, path| {
            each_text(child, path, visit)
        }),
    }
}

fn each_list(value: &mut Value, path: &mut String, visit: &mut impl FnMut(&str, &mut Vec<Value>)) {
    if let Value::Array(list) = value {
        visit(path, list);
    }
    each_child(value, path, &mut |child, path| {
        each_list(child, path, visit)
    });
}

fn each_child(
    value: &mut Value,
    path: &mut String,
    visit: &mut dyn FnMut(&mut Value, &mut String),
) {
    let length = path.len();
    match value {
        Value::Array(list) => {
            for (index, child) in list.iter_mut().enumerate() {
                // Writing to a `String` cannot fail.
                let _ = write!(path, "[{index}]");
                visit(child, path);
                path.truncate(length);
            }
        }
        Value::Object(fields) => {
            for (name, child) in fields.iter_mut() {
                if !path.is_empty() {
                    path.push('.');
                }
                path.push_str(name);
                visit(child, path);
                path.truncate(length);
            }
        }
        _ => {}
    }
}

fn each_place(value: &mut Value, path: &mut String, visit: &mut dyn FnMut(&str)) {
    visit(path);
    each_child(value, path, &mut |child, path| {
        each_place(child, path, visit)
    });
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn fitted(value: Value, limit: usize) -> Option<(Value, Vec<Truncated>)> {
        let Value::Object(mut fields) = value else {
            panic!("an object")
        };
        let truncated = fit(&mut fields, limit)?;
        Some((Value::Object(fields), truncated))
    }

    #[test]
    fn what_fits_is_left_alone() {
        let value = json!({"a": "x".repeat(500)});
        assert_eq!(fitted(value.clone(), 600), Some((value, vec![])));
    }

    #[test]
    fn the_longest_text_goes_first() {
        let value = json!({"long": "é".repeat(5000), "short": "y".repeat(900), "list": [1, 2]});
        let (value, truncated) = fitted(value, 3000).unwrap();
        assert_eq!(truncated.len(), 1);
        assert_eq!(truncated[0].field, "long");
        assert_eq!(truncated[0].total, 5000);
        assert_eq!(
            value["long"].as_str().unwrap().chars().count(),
            truncated[0].kept
        );
        assert_eq!(value["short"], "y".repeat(900));
        assert!(truncated[0].kept > 1900, "{truncated:?}");
    }

    #[test]
    fn then_entries_of_the_longest_list() {
        let value = json!({"rows": vec![json!({"n": "x".repeat(90)}); 100], "few": [1, 2, 3]});
        let (value, truncated) = fitted(value, 1000).unwrap();
        assert_eq!(value["few"], json!([1, 2, 3]));
        let kept = value["rows"].as_array().unwrap().len();
        assert_eq!(
            truncated,
            [Truncated {
                field: "rows".to_owned(),
                kept,
                total: 100
            }]
        );
        assert!(kept >= 8, "{kept}");
    }

    #[test]
    fn what_cannot_fit_is_nothing() {
        let many: Map<String, Value> = (0..100).map(|n| (format!("field{n}"), json!(n))).collect();
        assert_eq!(fitted(Value::Object(many), 50), None);
    }

    #[test]
    fn characters_are_counted_not_bytes() {
        assert_eq!(chars(&json!("é€𝄞")), 5);
        assert_eq!(
            chars(&json!({"a\n": [1, null]})),
            r#"{"a\n":[1,null]}"#.len()
        );
    }

    proptest! {
        #[test]
        fn what_is_said_to_fit_fits(texts in prop::collection::vec("\\PC{0,600}", 0..12), numbers in prop::collection::vec(any::<u32>(), 0..60), limit in 60usize..3000) {
            let value = json!({"texts": texts, "numbers": numbers, "one": texts.first()});
            if let Some((value, truncated)) = fitted(value.clone(), limit) {
                prop_assert!(chars(&value) <= limit);
                prop_assert!(truncated.iter().all(|cut| cut.kept < cut.total));
            } else {
                prop_assert!(chars(&value) > limit);
            }
        }
    }
}
