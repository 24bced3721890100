//! A client's name. What a person is shown is what is sent, so a name has nothing in it that is not to
//! be seen, and no white space that a line of a question would show as something else.

use crate::tools::arguments::Wrong;
use crate::untrusted::is_hidden;

/// The most characters of a name, after trimming.
const MAX: usize = 255;

/// What a name may be, for whoever has to give one.
pub(in crate::tools) const RULE: &str = "Its display name, 1 to 255 characters: one line, single blanks between words, nothing \
    invisible";

/// How an emoji is told to be drawn in colour.
const EMOJI_PRESENTATION: char = '\u{fe0f}';

/// What makes one emoji of two.
const JOINER: char = '\u{200d}';

/// A client's name, trimmed.
pub(in crate::tools) fn name(text: &str) -> Result<String, Wrong> {
    let wrong = |said: &str| Err(Wrong(format!("name {said}.")));
    let name = text.trim();
    if name.is_empty() {
        wrong("must not be empty")
    } else if name.chars().count() > MAX {
        wrong(&format!("may have {MAX} characters at the most"))
    } else if hides_something(name) {
        wrong(
            "must not contain control characters, line breaks, text direction marks or anything else that is \
             invisible, such as zero-width characters, soft hyphens, fillers and tag characters; joiners and \
             variation selectors are taken within an emoji alone",
        )
    } else if name.contains("  ") || name.chars().any(|c| c.is_whitespace() && c != ' ') {
        wrong("must not contain white space other than single, ordinary blanks")
    } else {
        Ok(name.to_owned())
    }
}

/// Whether a character is hidden and no part of an emoji: at most one presentation selector after an
/// emoji, and then at most one joiner, with another emoji behind it.
fn hides_something(name: &str) -> bool {
    let mut before = None;
    let mut characters = name.chars().peekable();
    while let Some(c) = characters.next() {
        let is_allowed = match c {
            EMOJI_PRESENTATION => before.is_some_and(is_emoji),
            JOINER => {
                before.is_some_and(|before| before == EMOJI_PRESENTATION || is_emoji(before))
                    && characters.peek().is_some_and(|next| is_emoji(*next))
            }
            c => !is_hidden(c),
        };
        if !is_allowed {
            return true;
        }
        before = Some(c);
    }
    false
}

/// Whether a character is in one of the blocks of symbols that have emoji. Those between that are none
/// are visible, too.
fn is_emoji(c: char) -> bool {
    matches!(c,
        '\u{a9}' | '\u{ae}' | '\u{203c}' | '\u{2049}' | '\u{2122}' | '\u{2139}'
        | '\u{2190}'..='\u{21ff}'
        | '\u{2300}'..='\u{23ff}'
        | '\u{24c2}'
        | '\u{25a0}'..='\u{27bf}'
        | '\u{2934}'..='\u{2935}'
        | '\u{2b00}'..='\u{2bff}'
        | '\u{3030}' | '\u{303d}' | '\u{3297}' | '\u{3299}'
        | '\u{1f000}'..='\u{1faff}')
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::untrusted::Line;
    use proptest::prelude::*;

    #[test]
    fn a_name_is_trimmed_and_nothing_in_it_is_hidden() {
        assert_eq!(name("  Anna's phone 📱 ").as_deref(), Ok("Anna's phone 📱"));
        let long = "x".repeat(255);
        for right in [
            "(x)",
            "Ж",
            "ноутбук",
            "携帯",
            "e\u{301}",
            "❤\u{fe0f} phone",
            "👩\u{200d}💻",
            "👩🏽\u{200d}❤\u{fe0f}\u{200d}👨🏽",
            "🏳\u{fe0f}\u{200d}🌈",
            &long,
        ] {
            assert_eq!(name(right).as_deref(), Ok(right));
        }
        let long = "x".repeat(256);
        for wrong in [
            "",
            "  ",
            "a\nb",
            "a\tb",
            "a\u{202e}b",
            "a\u{e0041}",
            "a\u{85}b",
            "\u{feff}a",
            &long,
        ] {
            assert!(name(wrong).is_err(), "{wrong:?}");
        }
    }

    #[test]
    fn what_cannot_be_seen_is_refused() {
        let hidden = [
            "\u{ad}",
            "\u{34f}",
            "\u{115f}",
            "\u{1160}",
            "\u{17b4}",
            "\u{180b}",
            "\u{180e}",
            "\u{200b}",
            "\u{200c}",
            "\u{200d}",
            "\u{2060}",
            "\u{2064}",
            "\u{2065}",
            "\u{206f}",
            "\u{2800}",
            "\u{3164}",
            "\u{fe00}",
            "\u{fe0e}",
            "\u{fe0f}",
            "\u{ffa0}",
            "\u{fff9}",
            "\u{1d173}",
            "\u{e0100}",
            "\u{e0fff}",
        ];
        for hidden in hidden {
            for wrong in [
                format!("lap{hidden}top"),
                format!("{hidden}a"),
                format!("a{hidden}"),
                hidden.into(),
            ] {
                let said = name(&wrong).unwrap_err().0;
                assert!(said.contains("invisible"), "{wrong:?}: {said}");
            }
        }
        for wrong in [
            "❤\u{fe0f}\u{fe0f}",
            "❤\u{200d}",
            "❤\u{200d}\u{200d}❤",
            "❤\u{200d}\u{fe0f}❤",
            "❤\u{200d}a",
            "e\u{301}\u{fe0f}",
            "Ж\u{fe0f}",
            "1\u{fe0f}",
        ] {
            assert!(name(wrong).is_err(), "{wrong:?}");
        }
    }

    #[test]
    fn white_space_that_a_line_would_change_is_refused() {
        for wrong in [
            "a  b",
            "a\u{a0}b",
            "a\u{3000}b",
            "a\u{2003}b",
            "a \u{2009}b",
            "a\u{1680}b",
        ] {
            let said = name(wrong).unwrap_err().0;
            assert!(said.contains("white space"), "{wrong:?}: {said}");
        }
    }

    proptest! {
        #[test]
        fn a_name_that_passes_is_shown_as_it_is(text in "\\PC{0,20}|[a \u{200d}\u{fe0f}❤]{0,8}|.{0,20}") {
            if let Ok(name) = name(&text) {
                let line = Line::new(&name);
                prop_assert_eq!(line.as_str(), &name);
                prop_assert!(!name.is_empty());
            }
        }
    }
}
