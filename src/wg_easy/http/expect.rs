//! What a success body looks like from outside.

use crate::wg_easy::error::is_html;

/// What a success body is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::wg_easy) enum Expect {
    /// A JSON document.
    Json,
    /// A WireGuard configuration.
    Configuration,
    /// An SVG image.
    Svg,
}

impl Expect {
    /// None of these names `text/html`, or wg-easy would answer an error with 14 KB of a web page.
    pub(super) fn accept(self) -> &'static str {
        match self {
            Self::Json => "application/json",
            Self::Configuration => "application/octet-stream, application/json",
            Self::Svg => "image/svg+xml, application/json",
        }
    }

    pub(super) fn fits(self, content_type: Option<&str>) -> bool {
        let Some(content_type) = content_type else {
            return true;
        };
        let media_type = content_type.split(';').next().unwrap_or_default().trim();
        let media_type = media_type.to_ascii_lowercase();
        let json = media_type == "application/json" || media_type.ends_with("+json");
        match self {
            Self::Json => json,
            Self::Configuration => !json && !is_html(&media_type),
            Self::Svg => media_type.starts_with("image/svg"),
        }
    }

    /// Whether the first characters can be what they should be. It is a look at the door, for a proxy
    /// that answers with a page of its own under a false label; the readers look at the rest.
    pub(super) fn begins_like(self, body: &[u8]) -> bool {
        match (self, body.trim_ascii_start().first()) {
            (_, None) => false,
            (Self::Svg, first) => first == Some(&b'<'),
            (_, first) => first != Some(&b'<'),
        }
    }
}
