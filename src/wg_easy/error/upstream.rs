//! The instance's own words about an error.

use std::fmt;

use serde::Deserialize;
use serde_json::value::RawValue;

use crate::untrusted::{Line, clean};

/// What the instance said in an error body, if it is fit to repeat: one line, cleaned, at most 200
/// characters. It displays with a leading space and a label that it is not to be trusted, or as
/// nothing.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct UpstreamText(Option<Line>);

impl UpstreamText {
    /// Reads an error body. A web page says nothing; nor does a text that `withheld` is true for.
    pub(in crate::wg_easy) fn from_body(
        content_type: Option<&str>,
        body: &[u8],
        withheld: impl Fn(&str) -> bool,
    ) -> Self {
        let text = String::from_utf8_lossy(body);
        if content_type.is_some_and(is_html) || looks_like_markup(&text) {
            return Self(None);
        }
        let text = ErrorBody::message(&text).unwrap_or_else(|| text.into_owned());
        if looks_like_markup(&text) {
            return Self(None);
        }
        // Both, since cleaning can put together again what was taken apart to get past this.
        if withheld(&text) || withheld(&clean(&text)) {
            return Self(Some(Line::new("withheld: it repeats the login")));
        }
        let line = Line::new(&text);
        Self((!line.as_str().is_empty()).then_some(line))
    }
}

impl fmt::Display for UpstreamText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            // Quotation marks inside become single ones, so that the text cannot end its own label.
            Some(line) => write!(
                f,
                " (untrusted text from the instance: \"{}\")",
                line.as_str().replace('"', "'")
            ),
            None => Ok(()),
        }
    }
}

/// wg-easy's error object. Raw values, so that one unreadable field does not cost the other.
#[derive(Deserialize)]
struct ErrorBody<'a> {
    #[serde(borrow, default)]
    message: Option<&'a RawValue>,
    #[serde(borrow, default, rename = "statusMessage")]
    status_message: Option<&'a RawValue>,
}

impl ErrorBody<'_> {
    fn message(text: &str) -> Option<String> {
        let body: ErrorBody<'_> = serde_json::from_str(text).ok()?;
        [body.message, body.status_message]
            .into_iter()
            .flatten()
            .filter_map(|raw| serde_json::from_str::<String>(raw.get()).ok())
            .find(|message| !message.trim().is_empty())
    }
}

/// The word by which wg-easy tells one refusal from another. To be compared, and not to be shown.
pub(in crate::wg_easy) fn status_message(body: &[u8]) -> Option<String> {
    let body: ErrorBody<'_> = serde_json::from_slice(body).ok()?;
    serde_json::from_str(body.status_message?.get()).ok()
}

/// Whether a `Content-Type` names a web page.
pub(in crate::wg_easy) fn is_html(content_type: &str) -> bool {
    let content_type = content_type.to_ascii_lowercase();
    content_type.contains("html")
}

fn looks_like_markup(text: &str) -> bool {
    text.trim_start_matches('\u{feff}')
        .trim_start()
        .starts_with('<')
}
