//! Keeping an answer within what a context window can hold.
//!
//! An answer is shortened as an object, so that it stays valid JSON and says what was cut: the longest
//! text first, then entries of the longest list. A key file is never shortened; the tools that answer
//! with one do not come here.
//!
//! What to cut is planned on what was measured once, and then cut once: the work grows with the size of
//! the object and with nothing else.

use serde_json::{Map, Value, json};
use std::fmt::Write as _;

/// The most Unicode code points in the text block of an answer.
pub const MAX_CHARS: usize = 60_000;

/// A text is not cut below this many code points: what is shorter says more than it costs.
const SHORTEST_CUT: usize = 200;

/// At most this many places are named where something was cut: an answer that is cut in more is beyond
/// reading anyway.
pub const MAX_TRUNCATED: usize = 50;

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

/// Shortens `object` until its JSON has at most `limit` code points, and says what was cut, in
/// [`MAX_TRUNCATED`] places at most. `None` when it does not fit whatever is cut; it is then as it was.
pub fn fit(object: &mut Map<String, Value>, limit: usize) -> Option<Vec<Truncated>> {
    let Some(plan) = Plan::new(object, limit)? else {
        return Some(Vec::new());
    };
    let truncated = plan.truncated(object);
    plan.cut(object);
    Some(truncated)
}

/// Like [`fit`], and says what was cut under `truncated` in the object itself, within the limit too.
pub fn fit_saying_so(object: &mut Map<String, Value>, limit: usize) -> Option<()> {
    let Some(mut plan) = Plan::new(object, limit)? else {
        return Some(());
    };
    let mut spare = 0_usize;
    loop {
        let said = said(&plan.truncated(object));
        let needed = chars(&said) + r#","truncated":"#.len();
        if needed <= spare {
            plan.cut(object);
            object.insert("truncated".to_owned(), said);
            return Some(());
        }
        // Making that room may cut in more places. It doubles, so that the end is near.
        spare = spare.saturating_mul(2).max(needed + 100);
        plan = Plan::new(object, limit.checked_sub(spare)?)??;
    }
}

/// The `truncated` list of an answer.
pub fn said(truncated: &[Truncated]) -> Value {
    truncated.iter().map(Truncated::to_value).collect()
}

/// What to cut.
struct Plan {
    /// The most code points a text may have.
    level: usize,
    /// Each list that has entries, in the order in which they begin.
    lists: Vec<List>,
}

struct List {
    /// The length of each entry, with the comma after it.
    entries: Vec<usize>,
    /// How many entries stay.
    kept: usize,
    /// The place in the order of the first list that is not inside this one.
    end: usize,
}

impl Plan {
    /// `Some(None)` when there is nothing to cut, `None` when cutting does not help.
    fn new(object: &Map<String, Value>, limit: usize) -> Option<Option<Self>> {
        let excess = chars(object).saturating_sub(limit);
        if excess == 0 {
            return Some(None);
        }
        let mut lengths = Vec::new();
        object
            .values()
            .for_each(|value| text_lengths(value, &mut lengths));
        let mut plan = Self {
            level: level(lengths, excess),
            lists: Vec::new(),
        };
        let length = plan.measure_object(object);
        plan.drop_entries(length.saturating_sub(limit))?;
        Some(Some(plan))
    }

    /// The length of an object with its texts cut; notes the lists in it.
    fn measure_object(&mut self, object: &Map<String, Value>) -> usize {
        let members: usize = object
            .iter()
            .map(|(name, value)| chars(name) + 2 + self.measure(value))
            .sum();
        members + 2 - usize::from(!object.is_empty())
    }

    fn measure(&mut self, value: &Value) -> usize {
        match value {
            Value::String(text) => chars(&prefix(text, self.level)),
            Value::Object(object) => self.measure_object(object),
            Value::Array(list) if !list.is_empty() => {
                let at = self.lists.len();
                self.lists.push(List {
                    entries: Vec::new(),
                    kept: list.len(),
                    end: 0,
                });
                let entries: Vec<_> = list.iter().map(|entry| self.measure(entry) + 1).collect();
                let length = entries.iter().sum::<usize>() + 1;
                let end = self.lists.len();
                if let Some(list) = self.lists.get_mut(at) {
                    (list.entries, list.end) = (entries, end);
                }
                length
            }
            value => chars(value),
        }
    }

    /// Drops entries from the end of the longest list, then of the next, until `excess` is gone.
    fn drop_entries(&mut self, mut excess: usize) -> Option<()> {
        let length = |list: &List| list.entries.iter().sum::<usize>();
        let mut longest: Vec<_> = (self.lists.iter().map(length).enumerate()).collect();
        // A list is longer than those inside it, so it comes before them.
        longest.sort_by_key(|(_, length)| std::cmp::Reverse(*length));
        let mut gone = vec![false; self.lists.len()];
        for (at, _) in longest {
            if excess == 0 {
                break;
            }
            let (Some(list), Some(false)) = (self.lists.get_mut(at), gone.get(at)) else {
                continue;
            };
            for length in list.entries.iter().rev() {
                if excess == 0 {
                    break;
                }
                list.kept -= 1;
                // The first entry has no comma before it.
                excess = excess.saturating_sub(length - usize::from(list.kept == 0));
            }
            if list.kept == 0
                && let Some(inside) = gone.get_mut(at..list.end)
            {
                inside.fill(true);
            }
        }
        (excess == 0).then_some(())
    }

    /// What is said of the cutting.
    fn truncated(&self, object: &Map<String, Value>) -> Vec<Truncated> {
        let mut teller = Teller {
            plan: self,
            next: 0,
            path: String::new(),
            truncated: Vec::new(),
        };
        teller.object(object);
        teller.truncated
    }

    fn cut(&self, object: &mut Map<String, Value>) {
        let mut next = 0;
        for value in object.values_mut() {
            self.cut_value(value, &mut next);
        }
    }

    fn cut_value(&self, value: &mut Value, next: &mut usize) {
        match value {
            Value::String(text) => {
                let end = prefix(text, self.level).len();
                text.truncate(end);
            }
            Value::Object(object) => {
                for value in object.values_mut() {
                    self.cut_value(value, next);
                }
            }
            Value::Array(list) if !list.is_empty() => {
                let Some(plan) = self.lists.get(*next) else {
                    return;
                };
                *next += 1;
                list.truncate(plan.kept);
                for value in list {
                    self.cut_value(value, next);
                }
                *next = plan.end;
            }
            _ => {}
        }
    }
}

/// Walks what is left of a value and names the places where something was cut.
struct Teller<'a> {
    plan: &'a Plan,
    next: usize,
    path: String,
    truncated: Vec<Truncated>,
}

impl Teller<'_> {
    fn object(&mut self, object: &Map<String, Value>) {
        let length = self.path.len();
        for (name, value) in object {
            if self.truncated.len() == MAX_TRUNCATED {
                return;
            }
            if length > 0 {
                self.path.push('.');
            }
            self.path.push_str(name);
            self.value(value);
            self.path.truncate(length);
        }
    }

    fn value(&mut self, value: &Value) {
        match value {
            Value::String(text) if prefix(text, self.plan.level).len() < text.len() => {
                self.tell(self.plan.level, text.chars().count());
            }
            Value::Object(object) => self.object(object),
            Value::Array(list) => self.list(list),
            _ => {}
        }
    }

    fn list(&mut self, list: &[Value]) {
        let plan = self.plan;
        let Some(plan) = plan.lists.get(self.next).filter(|_| !list.is_empty()) else {
            return;
        };
        self.next += 1;
        if plan.kept < list.len() {
            self.tell(plan.kept, list.len());
        }
        let length = self.path.len();
        for (index, value) in list.iter().take(plan.kept).enumerate() {
            if self.truncated.len() == MAX_TRUNCATED {
                return;
            }
            // Writing to a `String` cannot fail.
            let _ = write!(self.path, "[{index}]");
            self.value(value);
            self.path.truncate(length);
        }
        self.next = plan.end;
    }

    fn tell(&mut self, kept: usize, total: usize) {
        if self.truncated.len() < MAX_TRUNCATED {
            self.truncated.push(Truncated {
                field: self.path.clone(),
                kept,
                total,
            });
        }
    }
}

/// The first `level` code points of a text.
fn prefix(text: &str, level: usize) -> &str {
    // Of no more bytes there are no more code points.
    if text.len() <= level {
        return text;
    }
    match text.char_indices().nth(level) {
        Some((end, _)) => text.get(..end).unwrap_or(text),
        None => text,
    }
}

fn text_lengths(value: &Value, lengths: &mut Vec<usize>) {
    match value {
        Value::String(text) if text.len() > SHORTEST_CUT => {
            lengths.push(text.chars().count());
        }
        Value::Object(object) => object
            .values()
            .for_each(|value| text_lengths(value, lengths)),
        Value::Array(list) => list.iter().for_each(|value| text_lengths(value, lengths)),
        _ => {}
    }
}

/// The length to which the longest texts have to be cut so that `excess` is gone, or [`SHORTEST_CUT`].
fn level(mut lengths: Vec<usize>, excess: usize) -> usize {
    lengths.retain(|length| *length > SHORTEST_CUT);
    lengths.sort_unstable_by(|a, b| b.cmp(a));
    let mut freed = 0;
    let nexts = lengths.iter().skip(1).chain([&SHORTEST_CUT]);
    for (longer, (this, next)) in lengths.iter().zip(nexts).enumerate() {
        // Lowering the level to the next shorter text frees what all longer texts lose by it.
        let count = longer + 1;
        if freed + (this - next) * count >= excess {
            return this - (excess - freed).div_ceil(count);
        }
        freed += (this - next) * count;
    }
    SHORTEST_CUT
}

#[cfg(test)]
mod tests;
