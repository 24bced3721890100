//! Changing a JSON body as text, so that tests can send what no JSON library would write.

use serde_json::Value;

/// A change to a body. Values are raw JSON text and need not be valid: `1e999`, `"\ud800"`.
#[derive(Clone, Debug)]
pub enum Edit {
    /// A field of one row of a list. A dotted path reaches into objects; a missing field is added.
    Row(usize, String, String),
    /// A field of every row of a list.
    EveryRow(String, String),
    /// A field of the object that the body is.
    Field(String, String),
    /// Items put into a list before this index.
    Insert(usize, Vec<String>),
    /// Every occurrence of a text.
    Replace(String, String),
}

impl Edit {
    /// See [`Edit::Row`].
    #[must_use]
    pub fn row(index: usize, field: &str, raw: &str) -> Self {
        Self::Row(index, field.to_owned(), raw.to_owned())
    }

    /// See [`Edit::EveryRow`].
    #[must_use]
    pub fn every_row(field: &str, raw: &str) -> Self {
        Self::EveryRow(field.to_owned(), raw.to_owned())
    }

    /// See [`Edit::Field`].
    #[must_use]
    pub fn field(field: &str, raw: &str) -> Self {
        Self::Field(field.to_owned(), raw.to_owned())
    }

    /// See [`Edit::Insert`].
    #[must_use]
    pub fn insert(index: usize, items: &[&str]) -> Self {
        Self::Insert(index, items.iter().map(|item| (*item).to_owned()).collect())
    }

    /// List items that are no objects.
    #[must_use]
    pub fn non_object_rows() -> Self {
        Self::insert(0, &["null", "5", "\"x\"", "[]", "true"])
    }

    /// An array nested this deep, as raw JSON for the other edits.
    #[must_use]
    pub fn deep(levels: usize) -> String {
        format!("{}{}", "[".repeat(levels), "]".repeat(levels))
    }

    /// See [`Edit::Replace`].
    #[must_use]
    pub fn replace(from: &str, to: &str) -> Self {
        Self::Replace(from.to_owned(), to.to_owned())
    }
}

/// Applies edits in order. Those that see JSON come before those that see text, as raw values may
/// make the text no JSON any more.
pub(crate) fn apply(body: &[u8], edits: &[&Edit]) -> Vec<u8> {
    let mut text = String::from_utf8_lossy(body).into_owned();
    let mut raws = Vec::new();
    if let Ok(mut document) = serde_json::from_str::<Value>(&text) {
        for edit in edits {
            edit_document(&mut document, edit, &mut raws);
        }
        if !raws.is_empty() {
            text = document.to_string();
            text = put_raws(&text, &raws);
        }
    }
    for edit in edits {
        if let Edit::Replace(from, to) = edit {
            text = text.replace(from, to);
        }
    }
    text.into_bytes()
}

fn edit_document(document: &mut Value, edit: &Edit, raws: &mut Vec<String>) {
    match edit {
        Edit::Row(index, field, raw) => {
            if let Some(row) = document.get_mut(*index) {
                set(row, field, mark(raws, raw));
            }
        }
        Edit::EveryRow(field, raw) => {
            let marked = mark(raws, raw);
            for row in document.as_array_mut().into_iter().flatten() {
                set(row, field, marked.clone());
            }
        }
        Edit::Field(field, raw) => set(document, field, mark(raws, raw)),
        Edit::Insert(index, items) => {
            if let Some(rows) = document.as_array_mut() {
                let at = (*index).min(rows.len());
                rows.splice(
                    at..at,
                    items
                        .iter()
                        .map(|item| mark(raws, item))
                        .collect::<Vec<_>>(),
                );
            }
        }
        Edit::Replace(..) => {}
    }
}

fn set(object: &mut Value, path: &str, value: Value) {
    let (first, rest) = path.split_once('.').unwrap_or((path, ""));
    let Value::Object(fields) = object else {
        return;
    };
    if rest.is_empty() {
        fields.insert(first.to_owned(), value);
    } else if let Some(inner) = fields.get_mut(first) {
        set(inner, rest, value);
    }
}

/// A placeholder that becomes the raw text once the document is text again.
fn mark(raws: &mut Vec<String>, raw: &str) -> Value {
    raws.push(raw.to_owned());
    Value::String(format!("@@raw{}@@", raws.len() - 1))
}

fn put_raws(text: &str, raws: &[String]) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, after)) = rest.split_once("\"@@raw") {
        let Some((index, tail)) = after.split_once("@@\"") else {
            break;
        };
        out.push_str(before);
        out.push_str(
            index
                .parse::<usize>()
                .ok()
                .and_then(|index| raws.get(index))
                .map_or("", String::as_str),
        );
        rest = tail;
    }
    out.push_str(rest);
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn writes_what_json_libraries_refuse() {
        let body = br#"[{"a":1,"b":{"c":2}},{"a":3}]"#;
        let edits = [
            Edit::row(0, "a", "1e999"),
            Edit::row(0, "b.c", r#""\ud800""#),
            Edit::every_row("new", "[[]]"),
            Edit::insert(1, &["null"]),
            Edit::replace("[[]]", "[[[]]]"),
        ];
        let edited = apply(body, &edits.iter().collect::<Vec<_>>());
        let expected = r#"[{"a":1e999,"b":{"c":"\ud800"},"new":[[[]]]},null,{"a":3,"new":[[[]]]}]"#;
        assert_eq!(String::from_utf8(edited).unwrap(), expected);
    }
}
