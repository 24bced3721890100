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

/// Unicode's general category Cf, as of version 16, without what [`is_removed`] names.
fn is_format(c: char) -> bool {
    matches!(c,
        '\u{ad}'
        | '\u{600}'..='\u{605}'
        | '\u{6dd}'
        | '\u{70f}'
        | '\u{890}'..='\u{891}'
        | '\u{8e2}'
        | '\u{180e}'
        | '\u{200b}'..='\u{200d}'
        | '\u{2060}'..='\u{2065}'
        | '\u{206a}'..='\u{206f}'
        | '\u{fff9}'..='\u{fffb}'
        | '\u{110bd}'
        | '\u{110cd}'
        | '\u{13430}'..='\u{1343f}'
        | '\u{1bca0}'..='\u{1bca3}'
        | '\u{1d173}'..='\u{1d17a}')
}

/// Whether nothing is to be seen of a character that is no white space: what [`is_removed`] names, every
/// other format character, the rest of Unicode's default-ignorable code points (variation selectors,
/// fillers), and the Braille pattern without a dot.
pub fn is_hidden(c: char) -> bool {
    is_removed(c)
        || is_format(c)
        || matches!(c,
            '\u{34f}'
            | '\u{115f}'..='\u{1160}'
            | '\u{17b4}'..='\u{17b5}'
            | '\u{180b}'..='\u{180f}'
            | '\u{2800}'
            | '\u{3164}'
            | '\u{fe00}'..='\u{fe0f}'
            | '\u{ffa0}'
            | '\u{fff0}'..='\u{fff8}'
            | '\u{e0000}'..='\u{e0fff}')
}

/// Whether a character takes up room and shows nothing, without being white space to Unicode: the Hangul
/// fillers and the Braille pattern without a dot. A run of them would push apart what belongs together.
fn is_blank(c: char) -> bool {
    matches!(
        c,
        '\u{115f}'..='\u{1160}' | '\u{2800}' | '\u{3164}' | '\u{ffa0}'
    )
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
/// and of other blanks is one space, what [`is_removed`] names is gone, and it ends after [`Line::MAX`] characters.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Line {
    text: String,
    is_ours: bool,
}

impl Line {
    /// The most characters (Unicode code points) a line has before it ends in an ellipsis.
    pub const MAX: usize = 200;

    /// Flattens, cleans and cuts `text`.
    pub fn new(text: &str) -> Self {
        let mut line = Self::flat(text);
        if let Some((cut, _)) = line.char_indices().nth(Self::MAX) {
            line.truncate(cut);
            line.push('…');
        }
        Self {
            text: line,
            is_ours: false,
        }
    }

    /// Flattens and cleans `text`, and cuts nothing away: what does not fit on the first line goes on
    /// on others. Of several lines each is in quotes, so that a blank at either end is seen.
    pub fn whole(text: &str) -> (Self, Vec<Self>) {
        let text = Self::flat(text);
        let characters: Vec<char> = text.chars().collect();
        if characters.len() <= Self::MAX {
            return (Self::new(&text), Vec::new());
        }
        let mut lines = characters.chunks(Self::MAX).map(|part| Self {
            text: format!("{:?}", part.iter().collect::<String>()),
            is_ours: true,
        });
        let first = lines.next().unwrap_or_else(|| Self::new(&text));
        (first, lines.collect())
    }

    /// This server's own word in the place of a value, in parentheses.
    pub fn in_place_of_a_value(word: &'static str) -> Self {
        Self {
            text: format!("({word})"),
            is_ours: true,
        }
    }

    /// Whether this is already in a spelling that no value can have.
    pub fn is_ours(&self) -> bool {
        self.is_ours
    }

    fn flat(text: &str) -> String {
        // White space first: a line feed separates words and must become a space, not nothing.
        let mut line = String::new();
        for word in text.split(|c: char| c.is_whitespace() || is_blank(c)) {
            let word = clean(word);
            if word.is_empty() {
                continue;
            }
            if !line.is_empty() {
                line.push(' ');
            }
            line.push_str(&word);
        }
        line
    }

    /// The line's text.
    pub fn as_str(&self) -> &str {
        &self.text
    }
}

impl fmt::Display for Line {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
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
        assert_eq!(
            Line::new("\u{3164}a\u{2800}\u{2800} \u{1160}b\u{ffa0}").as_str(),
            "a b"
        );
        assert_eq!(Line::new(&"x".repeat(5000)).as_str().chars().count(), 201);
        assert_eq!(Line::new(&"x".repeat(200)).as_str(), "x".repeat(200));
    }

    #[test]
    fn a_whole_text_is_on_as_many_lines_as_it_takes() {
        let (line, rest) = Line::whole(&"x".repeat(200));
        assert_eq!((line, rest), (Line::new(&"x".repeat(200)), vec![]));
        let (line, rest) = Line::whole(&format!("{} y\"z", "x".repeat(200)));
        assert_eq!(line.as_str(), format!("\"{}\"", "x".repeat(200)));
        assert_eq!(rest.len(), 1);
        assert_eq!(rest[0].as_str(), r#"" y\"z""#);
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
        fn no_part_of_a_whole_text_is_lost(text in "[a\"\\\\ é→]{0,700}") {
            let (first, rest) = Line::whole(&text);
            let lines: Vec<_> = std::iter::once(first).chain(rest).collect();
            let joined: String = match &lines[..] {
                [line] => line.as_str().to_owned(),
                lines => lines
                    .iter()
                    .map(|line| {
                        prop_assert!(line.is_ours());
                        let quoted = line.as_str();
                        Ok(quoted[1..quoted.len() - 1].replace("\\\"", "\"").replace("\\\\", "\\"))
                    })
                    .collect::<Result<_, _>>()?,
            };
            let flat: Vec<_> = text.split_whitespace().collect();
            prop_assert_eq!(joined, flat.join(" "));
        }

        #[test]
        fn cleaning_twice_is_cleaning_once(text in any::<String>()) {
            let once = clean(&text).into_owned();
            prop_assert_eq!(clean(&once), once.as_str());
        }
    }
}
