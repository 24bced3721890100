//! Every message that says that something is wrong has an entry in `docs/troubleshooting.md`.
//!
//! The messages are taken from the source: the strings inside `Display` of anything, and those that are given
//! to one of the calls below. A string is found on the page by its first clause, in which `…` stands for what
//! is filled in.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// What a message is given to.
const CALLS: &[&str] = &[
    "Wrong(",
    "wrong(",
    "Failure::Change(",
    "answer::error(",
    "invalid_params(",
    "ErrorData::new(",
    "Refusal::to(",
    "Refusal::without_id(",
    "Words(",
    "with(",
    "then_some(",
    "fn setup_instructions(",
    "fn without_session(",
    "diagnostics::error(",
    "diagnostics::warn(",
];

/// `check` says what to do beside each of its lines, so its words are on no page.
const ELSEWHERE: &[&str] = &["src/check/"];

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn sources(directory: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_str().unwrap();
        if path.is_dir() && name != "tests" {
            sources(&path, found);
        } else if name.ends_with(".rs") && name != "tests.rs" {
            found.push(path);
        }
    }
}

/// The strings inside the first brackets of `code` and all that is nested in them.
fn strings_inside(code: &str) -> Vec<String> {
    let mut strings = Vec::new();
    let mut depth = 0_usize;
    let mut rest = code;
    while let Some(c) = rest.chars().next() {
        let mut used = c.len_utf8();
        if rest.starts_with("//") {
            used = rest.find('\n').unwrap_or(rest.len());
        } else if c == '\'' {
            // A character; a lifetime has no second quotation mark near.
            used = match rest.as_bytes() {
                [_, b'\\', _, b'\'', ..] => 4,
                _ if rest.chars().nth(2) == Some('\'') => {
                    rest.chars().take(3).map(char::len_utf8).sum()
                }
                _ => 1,
            };
        } else if c == '"' {
            let (text, length) = string(rest);
            strings.push(text);
            used = length;
        } else if "([{".contains(c) {
            depth += 1;
        } else if ")]}".contains(c) {
            depth -= 1;
            // After the arguments of a function comes its body.
            if depth == 0 && !(c == ')' && rest[1..].trim_start().starts_with("->")) {
                break;
            }
        }
        rest = &rest[used..];
    }
    strings
}

/// The string literal that `code` begins with, and how long it is there.
fn string(code: &str) -> (String, usize) {
    let mut text = String::new();
    let mut characters = code.char_indices().skip(1);
    while let Some((at, c)) = characters.next() {
        match c {
            '"' => return (text, at + 1),
            '\\' => match characters.next() {
                // A line that goes on: what the next one begins with is indentation.
                Some((_, '\n')) => text.push('\u{0}'),
                Some((_, 'n')) => text.push('\n'),
                Some((_, c)) => text.push(c),
                None => break,
            },
            c => text.push(c),
        }
    }
    let joined: Vec<&str> = text.split('\u{0}').collect();
    (joined.join(" "), code.len())
}

/// The first clause of a message, if it is one: what is filled in has become `…`.
fn clause(literal: &str) -> Option<String> {
    let mut text = String::new();
    let mut rest = literal;
    while let Some((before, after)) = rest.split_once('{') {
        text.push_str(before);
        let (_, after) = after.split_once('}').unwrap_or(("", after));
        text.push('…');
        rest = after;
    }
    text.push_str(rest);
    let text = text.replace('\u{0}', " ");
    let words: Vec<&str> = text.split_whitespace().collect();
    let text = words.join(" ");
    // What goes on where another string ended is found with that one.
    if words.len() < 4 || text.starts_with([';', ',', '.', '"']) {
        return None;
    }
    // Where a clause ends, and how long it is at the least, to be told from others.
    let end = [(". ", 17), ("; ", 17), (": ", 26), (", ", 30)]
        .iter()
        .filter_map(|(mark, least)| {
            let (from, _) = text.char_indices().nth(*least)?;
            text[from..].find(mark).map(|at| at + from)
        })
        .min();
    Some(
        end.map_or(text.as_str(), |end| &text[..end])
            .trim_end_matches(['.', ';', ':'])
            .to_owned(),
    )
}

/// The first clause of every message, and the file it is in.
fn messages() -> BTreeSet<(String, String)> {
    let mut files = Vec::new();
    sources(&root().join("src"), &mut files);
    let mut found = BTreeSet::new();
    for file in files {
        let name = file
            .strip_prefix(root())
            .unwrap()
            .to_str()
            .unwrap()
            .to_owned();
        if ELSEWHERE.iter().any(|part| name.starts_with(part)) {
            continue;
        }
        let code = std::fs::read_to_string(&file).unwrap();
        let code = code.split("#[cfg(test)]\nmod tests {").next().unwrap();
        let displays = code
            .match_indices("fmt::Display for ")
            .map(|(at, _)| &code[at + code[at..].find('{').unwrap()..]);
        let calls = CALLS.iter().flat_map(|call| {
            code.match_indices(call)
                .map(move |(at, _)| &code[at + call.len() - 1..])
        });
        for place in displays.chain(calls) {
            let clauses = strings_inside(place)
                .into_iter()
                .filter_map(|text| clause(&text));
            found.extend(clauses.map(|clause| (clause, name.clone())));
        }
    }
    found
}

#[test]
fn every_message_has_an_entry_in_troubleshooting() {
    let messages = messages();
    assert!(
        messages.len() > 120,
        "only {} messages were found",
        messages.len()
    );
    let page = std::fs::read_to_string(root().join("docs/troubleshooting.md")).unwrap_or_default();
    let page = page.split_whitespace().collect::<Vec<_>>().join(" ");
    let missing: Vec<String> = messages
        .iter()
        .filter(|(clause, _)| !page.contains(clause.as_str()))
        .map(|(clause, file)| format!("{clause}    ({file})"))
        .collect();
    assert!(missing.is_empty(), "no entry for:\n{}", missing.join("\n"));
}

#[test]
fn strings_are_found_where_they_are() {
    let code = r#"(f, "a {} b \"c\" \
         d", '"', match x { _ => ("e {name} f g", 'a', b"h") }) "not this""#;
    assert_eq!(
        strings_inside(code),
        ["a {} b \"c\" \u{0}         d", "e {name} f g", "h"]
    );
    assert_eq!(
        clause("a {} b \"c\" \u{0}         d"),
        Some("a … b \"c\" d".to_owned())
    );
    assert_eq!(
        clause("{name} is not a thing of this program; did you mean it?"),
        Some("… is not a thing of this program".to_owned())
    );
    assert_eq!(clause("; see the others, too, please"), None);
    assert_eq!(clause("Only three words"), None);
}
