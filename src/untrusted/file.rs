//! The two answers that have to work as files, and so stay byte-exact.

use super::Untrusted;
use std::fmt;

/// A configuration or a QR code exactly as wg-easy sent it. It holds a private key: whoever shows it
/// was asked for it by name.
pub struct File {
    text: String,
}

/// Why a body is not the file that was asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum NotAFile {
    /// It has no bytes.
    Empty,
    /// It is not UTF-8 text.
    NotText,
    /// It is something else: JSON, a login page, a configuration without an `[Interface]` section.
    SomethingElse,
}

impl Untrusted<Vec<u8>> {
    /// The body as a WireGuard configuration.
    pub fn into_configuration(self) -> Result<File, NotAFile> {
        self.into_file(|text| {
            text.lines().any(|line| line.trim() == "[Interface]")
                && !text.trim_start().starts_with(['{', '<'])
        })
    }

    /// The body as an SVG drawing.
    pub fn into_svg(self) -> Result<File, NotAFile> {
        self.into_file(|text| {
            let start = text.trim_start();
            (start.starts_with("<svg") || start.starts_with("<?xml"))
                && text.contains("<svg")
                && text.trim_end().ends_with("</svg>")
        })
    }

    fn into_file(self, is_it: impl Fn(&str) -> bool) -> Result<File, NotAFile> {
        let text = String::from_utf8(self.0).map_err(|_| NotAFile::NotText)?;
        if text.trim().is_empty() {
            Err(NotAFile::Empty)
        } else if is_it(&text) {
            Ok(File { text })
        } else {
            Err(NotAFile::SomethingElse)
        }
    }
}

impl File {
    /// The text, byte for byte.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The text, byte for byte, without a copy.
    pub fn into_text(self) -> String {
        self.text
    }

    /// What a reader should know about the text, if anything: it is not cleaned, so a control
    /// character in it is reported instead.
    pub fn warning(&self) -> Option<&'static str> {
        self.text
            .chars()
            .any(|c| c.is_control() && !matches!(c, '\t' | '\n' | '\r'))
            .then_some(
                "This file contains control characters. They are left in, since it must stay exact; \
                 look at it in a hex viewer before you use it, and do not print it to a terminal.",
            )
    }
}

impl fmt::Display for NotAFile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Empty => "wg-easy answered with an empty file",
            Self::NotText => "wg-easy answered with something that is not text",
            Self::SomethingElse => {
                "wg-easy answered with something other than the file that was asked for"
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn configuration(body: &str) -> Result<File, NotAFile> {
        Untrusted::new(body.as_bytes().to_vec()).into_configuration()
    }

    #[test]
    fn a_configuration_stays_exact() {
        let exact = "[Interface]\r\nPrivateKey = x\n\n[Peer]\n";
        let file = configuration(exact).unwrap();
        assert_eq!(file.text(), exact);
        assert_eq!(file.warning(), None);
        assert!(
            configuration("[Interface]\n# \u{1b}[2J\n")
                .unwrap()
                .warning()
                .is_some()
        );
    }

    #[test]
    fn what_is_not_a_configuration_is_not_passed_off_as_one() {
        for (body, why) in [
            ("", NotAFile::Empty),
            (" \n", NotAFile::Empty),
            ("{\"error\":true}", NotAFile::SomethingElse),
            ("{\"x\":\"\n[Interface]\n\"}", NotAFile::SomethingElse),
            ("<html>\n[Interface]\n</html>", NotAFile::SomethingElse),
            ("hello", NotAFile::SomethingElse),
        ] {
            assert_eq!(configuration(body).err(), Some(why), "{body}");
        }
        let bytes = Untrusted::new(b"[Interface]\n\xff".to_vec());
        assert_eq!(bytes.into_configuration().err(), Some(NotAFile::NotText));
    }

    #[test]
    fn a_login_page_is_not_a_drawing() {
        let svg = |body: &str| Untrusted::new(body.as_bytes().to_vec()).into_svg().err();
        assert_eq!(svg("<svg viewBox=\"0 0 1 1\"><path/></svg>"), None);
        assert_eq!(svg("<?xml version=\"1.0\"?>\n<svg></svg>\n"), None);
        assert_eq!(
            svg("<!DOCTYPE html><svg></svg>"),
            Some(NotAFile::SomethingElse)
        );
        assert_eq!(svg("<svg>cut off"), Some(NotAFile::SomethingElse));
    }
}
