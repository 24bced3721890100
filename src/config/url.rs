//! The base URL of wg-easy.

use std::fmt;
use std::net::{Ipv4Addr, Ipv6Addr};

use reqwest::Url;

/// The web UI's base URL: `http` or `https`, without credentials, query, fragment or trailing slash.
#[derive(Clone)]
pub struct BaseUrl(Url);

/// What is wrong with a URL. None of it says what was in it: not even the scheme, since a key with a
/// colon in it is a URL, too.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum UrlProblem {
    /// It is no URL.
    Malformed,
    /// It is neither `http` nor `https`.
    OtherScheme,
    /// It carries a user name or a password.
    Credentials,
}

impl BaseUrl {
    /// Reads a URL; the flag says whether a query or a fragment was dropped.
    pub(super) fn parse(text: &str) -> Result<(Self, bool), UrlProblem> {
        let mut url = Url::parse(text).map_err(|_| UrlProblem::Malformed)?;
        if !matches!(url.scheme(), "http" | "https") {
            return Err(UrlProblem::OtherScheme);
        }
        if !url.username().is_empty() || url.password().is_some() {
            return Err(UrlProblem::Credentials);
        }
        let dropped = url.query().is_some() || url.fragment().is_some();
        url.set_query(None);
        url.set_fragment(None);
        let path = url.path().trim_end_matches('/').to_owned();
        url.set_path(&path);
        Ok((Self(url), dropped))
    }

    /// Accepts a URL that has been checked by [`Config`](super::Config)'s parser.
    #[doc(hidden)]
    pub fn from_checked(url: Url) -> Self {
        Self(url)
    }

    /// The URL of an API path such as `/api/client`, below the base's own path.
    pub fn join(&self, path: &str) -> Url {
        let mut url = self.0.clone();
        let base = url.path().trim_end_matches('/').to_owned();
        url.set_path(&format!("{base}{path}"));
        url
    }

    /// The host as it is written in a URL: an IPv6 address stands in brackets.
    pub fn host(&self) -> &str {
        // `http` and `https` URLs always have a host.
        self.0.host_str().unwrap_or_default()
    }

    /// The port, also when the URL leaves it out.
    pub fn port(&self) -> u16 {
        // `http` and `https` have a default.
        self.0.port_or_known_default().unwrap_or_default()
    }

    /// Whether the connection is encrypted.
    pub fn is_https(&self) -> bool {
        self.0.scheme() == "https"
    }

    /// Scheme, host and port: all that a message may say of the URL. The path may be somebody's
    /// secret.
    pub fn origin(&self) -> String {
        self.0.origin().ascii_serialization()
    }

    /// Whether the host is this machine itself, in whatever spelling.
    pub fn is_loopback(&self) -> bool {
        let host = self.host();
        if let Some(address) = host.strip_prefix('[').and_then(|h| h.strip_suffix(']')) {
            return address.parse().is_ok_and(|address: Ipv6Addr| {
                address.is_loopback() || address.to_ipv4_mapped().is_some_and(|v4| v4.is_loopback())
            });
        }
        // The parser has turned every way to write an IPv4 address into four decimal numbers, and
        // names into lower case.
        if let Ok(address) = host.parse::<Ipv4Addr>() {
            return address.is_loopback();
        }
        let name = host.strip_suffix('.').unwrap_or(host);
        name == "localhost" || name.ends_with(".localhost")
    }
}

impl fmt::Debug for BaseUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("BaseUrl").finish_non_exhaustive()
    }
}

impl fmt::Display for UrlProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Malformed => {
                "WG_EASY_URL is not a URL; set it to the address of the wg-easy web UI, such as https://vpn.example.com"
            }
            Self::OtherScheme => {
                "WG_EASY_URL is neither an http nor an https URL; begin it with https:// or http://"
            }
            Self::Credentials => {
                "WG_EASY_URL carries a user name or password; move them to WG_EASY_USERNAME and WG_EASY_PASSWORD"
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn parse(text: &str) -> BaseUrl {
        BaseUrl::parse(text).unwrap().0
    }

    #[test]
    fn a_path_is_kept_and_trailing_slashes_go() {
        for (text, joined) in [
            ("https://vpn.example", "https://vpn.example/api/client"),
            ("https://vpn.example/", "https://vpn.example/api/client"),
            ("https://vpn.example//", "https://vpn.example/api/client"),
            (
                "http://vpn.example:51821/a/b//",
                "http://vpn.example:51821/a/b/api/client",
            ),
            (
                "HTTPS://VPN.example/A%20b",
                "https://vpn.example/A%20b/api/client",
            ),
            ("http://[::1]:80/x", "http://[::1]/x/api/client"),
        ] {
            assert_eq!(parse(text).join("/api/client").as_str(), joined);
        }
    }

    #[test]
    fn a_query_and_a_fragment_are_dropped() {
        for text in [
            "https://h/p?q=1",
            "https://h/p#f",
            "https://h/p/?#",
            "https://h/p?",
        ] {
            let (url, dropped) = BaseUrl::parse(text).unwrap();
            assert!(dropped, "{text}");
            assert_eq!(url.join("/x").as_str(), "https://h/p/x");
        }
        assert!(!BaseUrl::parse("https://h/p").unwrap().1);
    }

    #[test]
    fn what_is_no_base_url_is_refused() {
        use UrlProblem::*;
        for (text, problem) in [
            ("vpn.example", Malformed),
            ("https://", Malformed),
            ("https://a b", Malformed),
            ("https://h:99999", Malformed),
            ("/path", Malformed),
            ("vpn.example:51821", OtherScheme),
            ("ftp://vpn.example", OtherScheme),
            ("file:///etc/passwd", OtherScheme),
            ("admin:hunter2@vpn.example", OtherScheme),
            ("https://admin:hunter2@vpn.example", Credentials),
            ("https://admin@vpn.example", Credentials),
            ("https://:hunter2@vpn.example", Credentials),
        ] {
            assert_eq!(BaseUrl::parse(text).unwrap_err(), problem, "{text}");
        }
    }

    #[test]
    fn host_port_and_origin_say_nothing_of_the_path() {
        let url = parse("https://vpn.example/secret");
        assert_eq!(
            (url.host(), url.port(), url.is_https()),
            ("vpn.example", 443, true)
        );
        assert_eq!(url.origin(), "https://vpn.example");
        let url = parse("http://[2001:db8::1]:51821/secret");
        assert_eq!(
            (url.host(), url.port(), url.is_https()),
            ("[2001:db8::1]", 51821, false)
        );
        assert_eq!(url.origin(), "http://[2001:db8::1]:51821");
        assert_eq!(format!("{url:?}"), "BaseUrl(..)");
    }

    #[test]
    fn loopback_is_recognised_in_every_spelling() {
        for host in [
            "127.0.0.1",
            "127.9.8.7",
            "127.1",
            "0x7f.1",
            "2130706433",
            "127.0.0.1.",
            "[::1]",
            "[0:0:0:0:0:0:0:1]",
            "[::ffff:127.0.0.1]",
            "[::ffff:7f00:2]",
            "localhost",
            "LOCALHOST",
            "localhost.",
            "wg.localhost",
            "a.b.localhost.",
        ] {
            assert!(parse(&format!("http://{host}/")).is_loopback(), "{host}");
        }
        for host in [
            "127.example.com",
            "127.0.0.1.example.com",
            "localhost.example.com",
            "notlocalhost",
            "128.0.0.1",
            "0.0.0.0",
            "[::]",
            "[::2]",
            "[::ffff:10.0.0.1]",
            "[::127.0.0.1]",
            "localhost..",
        ] {
            if let Ok((url, _)) = BaseUrl::parse(&format!("http://{host}/")) {
                assert!(!url.is_loopback(), "{host}");
            }
        }
    }

    proptest! {
        #[test]
        fn no_text_breaks_the_parser(text in "(https?://)?\\PC*") {
            if let Ok((url, _)) = BaseUrl::parse(&text) {
                let joined = url.join("/api/client");
                prop_assert!(joined.path().ends_with("/api/client"));
                prop_assert!(joined.query().is_none() && joined.fragment().is_none());
                prop_assert!(!url.host().is_empty());
            }
        }
    }
}
