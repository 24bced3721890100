//! Removing characters that speak to a terminal, a renderer or a model instead of a reader.

use std::borrow::Cow;
use std::fmt;

/// Whether a character is removed from every upstream string and field name.
///
/// C0 and C1 controls and DEL (terminal escape sequences begin there), the BiDi marks, overrides and
/// isolates (they reorder the line around them), line and paragraph separators, the byte order mark,
/// and Unicode tag characters (invisible text that a model reads and a person does not).
pub fn is_removed(c: char) -> bool {
    matches!(c,
        '\u{0}'..='\u{1f}'
        | '\u{7f}'..='\u{9f}'
        | '\u{61c}'
        | '\u{200e}'..='\u{200f}'
        | '\u{2028}'..='\u{202e}'
        | '\u{2066}'..='\u{2069}'
        | '\u{feff}'
        | '\u{e0000}'..='\u{e007f}')
}

/// `text` without the characters that [`is_removed`] names.
pub fn clean(text: &str) -> Cow<'_, str> {
    without(text, is_removed)
}

/// Like [`clean`], but tab, line feed and carriage return stay: for values that are scripts.
pub fn clean_script(text: &str) -> Cow<'_, str> {
    without(text, |c| is_removed(c) && !matches!(c, '\t' | '\n' | '\r'))
}

fn without(text: &str, removed: impl Fn(char) -> bool) -> Cow<'_, str> {
    // Most texts are plain ASCII, which is quickly seen.
    let is_plain = |byte: u8| (b' '..0x7f).contains(&byte);
    if !text.bytes().all(is_plain) && text.chars().any(&removed) {
        Cow::Owned(text.chars().filter(|&c| !removed(c)).collect())
    } else {
        Cow::Borrowed(text)
    }
}

/// Somebody's words, made fit to stand on one labelled line of a question: every run of white space
/// is one space, what [`is_removed`] names is gone, and it ends after [`Line::MAX`] characters.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Line(String);

impl Line {
    /// The most characters (Unicode code points) a line has before it ends in an ellipsis.
    pub const MAX: usize = 200;

    /// Flattens, cleans and cuts `text`.
    pub fn new(text: &str) -> Self {
        // White space first: a line feed separates words and must become a space, not nothing.
        let mut line = String::new();
        for word in text.split(|c: char| c.is_whitespace()) {
            let word = clean(word);
            if word.is_empty() {
                continue;
            }
            if !line.is_empty() {
                line.push(' ');
            }
            line.push_str(&word);
        }
        if let Some((cut, _)) = line.char_indices().nth(Self::MAX) {
            line.truncate(cut);
            line.push('…');
        }
        Self(line)
    }

    /// The line's text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Line {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_line_is_one_line() {
        assert_eq!(Line::new("a\r\n\tb\u{2028}c  d ").as_str(), "a b c d");
        assert_eq!(
            Line::new("\u{202e}evil\u{e0041}\u{1b}[2J").as_str(),
            "evil[2J"
        );
        assert_eq!(Line::new(&"x".repeat(5000)).as_str().chars().count(), 201);
        assert_eq!(Line::new(&"x".repeat(200)).as_str(), "x".repeat(200));
    }

    #[test]
    fn a_script_keeps_its_line_ends() {
        assert_eq!(clean_script("a\tb\r\nc\u{1b}"), "a\tb\r\nc");
        assert_eq!(clean("a\tb\r\nc\u{1b}"), "abc");
    }

    proptest! {
        #[test]
        fn nothing_removed_survives(text in any::<String>()) {
            prop_assert!(!clean(&text).chars().any(is_removed));
            let line = Line::new(&text);
            prop_assert!(!line.as_str().chars().any(is_removed));
            prop_assert!(!line.as_str().chars().any(|c| c.is_whitespace() && c != ' '));
            prop_assert!(line.as_str().chars().count() <= Line::MAX + 1);
        }

        #[test]
        fn cleaning_twice_is_cleaning_once(text in any::<String>()) {
            let once = clean(&text).into_owned();
            prop_assert_eq!(clean(&once), once.as_str());
        }
    }
}
