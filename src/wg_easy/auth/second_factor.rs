//! The code of a second factor: RFC 6238 as authenticator apps have it (SHA-1, six digits, a new one
//! every 30 seconds).

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use hmac::{Hmac, KeyInit as _, Mac as _};
use secrecy::{ExposeSecret as _, SecretString};
use sha1::Sha1;
use zeroize::Zeroizing;

use crate::config::decode_base32;

/// How long a code is made, in seconds.
const STEP: u64 = 30;

/// The code of now.
pub(super) fn code(secret: &SecretString) -> Option<Zeroizing<String>> {
    code_at(secret, since_epoch().as_secs())
}

/// How long the code of now is made.
pub(super) fn rest_of_step() -> Duration {
    Duration::from_secs(STEP - since_epoch().as_secs() % STEP)
}

/// How many seconds this machine's clock is ahead of the one that wrote a `Date` header.
pub(in crate::wg_easy) fn seconds_ahead(date: &str) -> Option<i64> {
    static PARSER: jiff::fmt::rfc2822::DateTimeParser = jiff::fmt::rfc2822::DateTimeParser::new();
    let theirs = PARSER.parse_timestamp(date).ok()?.as_second();
    let ours = i64::try_from(since_epoch().as_secs()).ok()?;
    ours.checked_sub(theirs)
}

/// A clock before 1970 is as wrong as one that says 1970.
fn since_epoch() -> Duration {
    let now = SystemTime::now().duration_since(UNIX_EPOCH);
    now.unwrap_or_default()
}

/// `None` if `secret` is not base32, which the configuration has made sure of.
fn code_at(secret: &SecretString, seconds: u64) -> Option<Zeroizing<String>> {
    let key = decode_base32(secret.expose_secret())?;
    let mut mac = Hmac::<Sha1>::new_from_slice(&key).ok()?;
    mac.update(&(seconds / STEP).to_be_bytes());
    let digest = mac.finalize().into_bytes();
    // The last four bits say which 31 bits of the digest are the code.
    let offset = usize::from(digest.last()? & 0xf);
    let word: [u8; 4] = digest.get(offset..offset + 4)?.try_into().ok()?;
    let number = (u32::from_be_bytes(word) & 0x7fff_ffff) % 1_000_000;
    Some(Zeroizing::new(format!("{number:06}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The secret of RFC 6238's vectors, whose codes have eight digits, and their last six.
    #[test]
    fn codes_are_those_of_the_standard() {
        let secret = "GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ".into();
        for (seconds, code) in [
            (59, "287082"),
            (1_111_111_109, "081804"),
            (1_111_111_111, "050471"),
            (1_234_567_890, "005924"),
            (2_000_000_000, "279037"),
            (20_000_000_000, "353130"),
        ] {
            assert_eq!(code_at(&secret, seconds).unwrap().as_str(), code);
        }
        assert_eq!(code_at(&"no base32!".into(), 59), None);
    }

    #[test]
    fn the_difference_of_two_clocks_is_read_from_a_date() {
        let ahead = seconds_ahead("Tue, 15 Nov 1994 08:12:31 GMT").unwrap();
        let now = i64::try_from(since_epoch().as_secs()).unwrap();
        assert!((now - 784_887_151 - ahead).abs() <= 1);
        for date in ["", "now", "Tue, 15 Nov 1994", "1994-11-15T08:12:31Z"] {
            assert_eq!(seconds_ahead(date), None, "{date}");
        }
    }

    #[test]
    fn a_step_has_an_end() {
        assert!((1..=STEP).contains(&rest_of_step().as_secs()));
    }
}
