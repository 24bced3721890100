//! The session cookie.

use bytes::Bytes;
use reqwest::header::{HeaderMap, HeaderValue, SET_COOKIE};
use zeroize::Zeroizing;

/// The cookie of a session: `wg-easy=…`, and none of its attributes. It opens everything that the
/// password does, so it lives in memory only, does not print, and is wiped with its last copy.
///
/// Its attributes are for browsers. `Secure` above all: wg-easy sets it whether or not it is reached over
/// TLS, and this cookie goes to the one address that the password went to.
#[derive(Clone)]
pub(in crate::wg_easy) struct Cookie(HeaderValue);

/// What wg-easy calls it.
const NAME: &[u8] = b"wg-easy=";

/// The most bytes of its value: what browsers allow. wg-easy's own has some 300.
const MAX: usize = 4096;

impl Cookie {
    /// The session cookie of a response. Of several the last one counts, also when it is no good.
    pub(in crate::wg_easy) fn of(headers: &HeaderMap) -> Option<Self> {
        let pair = headers
            .get_all(SET_COOKIE)
            .iter()
            .filter_map(|line| line.as_bytes().split(|&byte| byte == b';').next())
            .map(<[u8]>::trim_ascii)
            .rfind(|pair| pair.starts_with(NAME))?;
        let value = pair.strip_prefix(NAME)?;
        let is_good = (1..=MAX).contains(&value.len()) && value.iter().all(is_cookie_octet);
        let wiped = Bytes::from_owner(Zeroizing::new(pair.to_vec()));
        let mut value = HeaderValue::from_maybe_shared(wiped).ok()?;
        value.set_sensitive(true);
        is_good.then_some(Self(value))
    }

    /// The value of the `Cookie` header.
    pub(in crate::wg_easy) fn header(&self) -> HeaderValue {
        self.0.clone()
    }

    /// Whether `text` gives it away.
    pub(super) fn is_in(&self, text: &str) -> bool {
        let value = self.0.as_bytes().strip_prefix(NAME);
        value
            .and_then(|value| std::str::from_utf8(value).ok())
            .is_some_and(|value| text.contains(value))
    }
}

/// RFC 6265: visible ASCII without the characters that end or quote a value.
fn is_cookie_octet(byte: &u8) -> bool {
    byte.is_ascii_graphic() && !matches!(byte, b'"' | b',' | b';' | b'\\')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(lines: &[&[u8]]) -> Option<String> {
        let mut headers = HeaderMap::new();
        for line in lines {
            headers.append(SET_COOKIE, HeaderValue::from_bytes(line).unwrap());
        }
        Cookie::of(&headers).map(|cookie| cookie.0.to_str().unwrap().to_owned())
    }

    #[test]
    fn the_name_and_the_value_are_kept_and_nothing_else() {
        let pair = Some("wg-easy=Fe26.2**ab_c-*x%3D".to_owned());
        for line in [
            "wg-easy=Fe26.2**ab_c-*x%3D",
            "wg-easy=Fe26.2**ab_c-*x%3D; Path=/; HttpOnly; Secure",
            " wg-easy=Fe26.2**ab_c-*x%3D ;Max-Age=3600",
        ] {
            assert_eq!(of(&[line.as_bytes()]), pair, "{line}");
        }
        assert_eq!(
            of(&[b"wg-easy=old", b"lang=en; Path=/", b"wg-easy=new; Secure"]).as_deref(),
            Some("wg-easy=new")
        );
    }

    #[test]
    fn what_is_no_cookie_of_a_session_is_none() {
        let long = format!("wg-easy={}", "x".repeat(MAX + 1));
        for line in [
            b"".as_slice(),
            b"wg-easy",
            b"wg-easy=; Max-Age=0",
            b"wg-easy2=x",
            b"WG-EASY=x",
            b"other=1; wg-easy=x",
            b"wg-easy=\"x\"",
            b"wg-easy=a b",
            b"wg-easy=a,b",
            b"wg-easy=\xc3\xa4",
            long.as_bytes(),
        ] {
            assert_eq!(of(&[line]), None, "{}", String::from_utf8_lossy(line));
        }
        assert_eq!(of(&[b"wg-easy=x", b"wg-easy=; Max-Age=0"]), None);
        assert!(of(&[&long.as_bytes()[..long.len() - 1]]).is_some());
    }

    #[test]
    fn it_does_not_print() {
        let mut headers = HeaderMap::new();
        headers.insert(SET_COOKIE, HeaderValue::from_static("wg-easy=s3al"));
        let cookie = Cookie::of(&headers).unwrap();
        assert_eq!(format!("{:?}", cookie.header()), "Sensitive");
        assert!(cookie.is_in("xs3alx") && !cookie.is_in("wg-easy="));
    }
}
