//! What is made of the credentials to be sent. Each is made for one request and wiped after it.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use reqwest::header::HeaderValue;
use secrecy::ExposeSecret as _;
use serde::Serialize;
use zeroize::Zeroizing;

use super::{Auth, second_factor};

/// What the login routes take.
#[derive(Serialize)]
struct Login<'a> {
    username: &'a str,
    password: &'a str,
    remember: bool,
    #[serde(rename = "totpCode", skip_serializing_if = "Option::is_none")]
    totp_code: Option<&'a str>,
}

/// What the second step of a login takes.
#[derive(Serialize)]
struct SecondStep<'a> {
    #[serde(rename = "totpCode")]
    totp_code: &'a str,
}

impl Auth {
    /// The body of a login, with the code of the second factor where the route takes both together.
    pub(in crate::wg_easy) fn login_body(&self, code: Option<&str>) -> Bytes {
        wiped_json(&Login {
            username: self.username.expose_secret(),
            password: self.password.expose_secret(),
            remember: false,
            totp_code: code,
        })
    }

    /// The body of the second step of a login.
    pub(in crate::wg_easy) fn code_body(code: &str) -> Bytes {
        wiped_json(&SecondStep { totp_code: code })
    }

    /// The code of the second factor; `None` when there is no secret.
    pub(in crate::wg_easy) fn code(&self) -> Option<Zeroizing<String>> {
        second_factor::code(self.totp.as_ref()?)
    }

    /// The value of the `Authorization` header.
    #[expect(
        clippy::expect_used,
        reason = "Base64 is visible ASCII, and a header may have that"
    )]
    pub(super) fn basic_header(&self) -> HeaderValue {
        let value = Zeroizing::new(format!("Basic {}", self.basic().as_str()));
        let mut value =
            HeaderValue::from_maybe_shared(Bytes::from_owner(value)).expect("Base64 in a header");
        value.set_sensitive(true);
        value
    }

    /// The `user-id ":" password` of RFC 7617, encoded.
    fn basic(&self) -> Zeroizing<String> {
        let (name, password) = (self.username.expose_secret(), self.password.expose_secret());
        let pair = Zeroizing::new(format!("{name}:{password}"));
        Zeroizing::new(STANDARD.encode(pair.as_bytes()))
    }

    /// Whether `text` gives the login away: an instance (or a proxy before it) can echo a request.
    pub(in crate::wg_easy) fn is_in(&self, text: &str) -> bool {
        let has = |secret: &str| !secret.is_empty() && text.contains(secret);
        has(self.password.expose_secret())
            || self
                .totp
                .as_ref()
                .is_some_and(|totp| has(totp.expose_secret()))
            || has(self.basic().as_str())
            || (self.standing.borrow().cookie()).is_some_and(|cookie| cookie.is_in(text))
    }
}

/// JSON in memory that is wiped when the last one to hold it lets go.
fn wiped_json(value: &impl Serialize) -> Bytes {
    /// Counts what is written, so that the bytes can be written where they stay: memory that grows
    /// leaves a copy behind each time.
    struct Counter(usize);
    impl std::io::Write for Counter {
        fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
            self.0 += bytes.len();
            Ok(bytes.len())
        }
        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }
    let mut length = Counter(0);
    // Counting and writing to memory do not fail, nor does a struct of texts.
    let _ = serde_json::to_writer(&mut length, value);
    let mut json = Zeroizing::new(Vec::with_capacity(length.0));
    let _ = serde_json::to_writer(&mut *json, value);
    Bytes::from_owner(json)
}
