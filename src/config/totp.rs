//! The base32 secret of a second factor.

use secrecy::{ExposeSecret, SecretString};
use zeroize::Zeroizing;

/// The fewest bytes of a secret: 80 bits, the shortest in use. Anything shorter is a code or a cut
/// copy.
const SHORTEST: usize = 10;

/// The secret in upper case and without the blanks and the padding that people copy along; `None`
/// when it is no base32 or too short to be a secret.
pub(super) fn normalise(secret: &SecretString) -> Option<SecretString> {
    let text = secret.expose_secret();
    let mut symbols = Zeroizing::new(String::with_capacity(text.len()));
    symbols.extend(
        text.chars()
            .filter(|&c| c != ' ')
            .map(|c| c.to_ascii_uppercase()),
    );
    let symbols = symbols.trim_end_matches('=');
    let bytes = decode_base32(symbols)?;
    (bytes.len() >= SHORTEST).then(|| symbols.into())
}

/// The bytes of a base32 text (RFC 4648) in upper case, with or without padding. `None` when another
/// character is in it, or when it has a length that no number of bytes has.
pub fn decode_base32(text: &str) -> Option<Zeroizing<Vec<u8>>> {
    let symbols = text.trim_end_matches('=');
    let mut bytes = Zeroizing::new(Vec::with_capacity(symbols.len() * 5 / 8));
    let (mut pending, mut bits) = (0_u16, 0);
    for symbol in symbols.bytes() {
        let value = match symbol {
            b'A'..=b'Z' => symbol - b'A',
            b'2'..=b'7' => symbol - b'2' + 26,
            _ => return None,
        };
        // At most 7 bits wait for their byte to become complete, so 12 are in use.
        pending = (pending << 5) | u16::from(value);
        bits += 5;
        if bits >= 8 {
            bits -= 8;
            bytes.push(u8::try_from(pending >> bits).ok()?);
            pending &= (1 << bits) - 1;
        }
    }
    // A symbol of which no bit is used was not written by an encoder.
    (bits < 5).then_some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn normal(text: &str) -> Option<String> {
        normalise(&text.into()).map(|secret| secret.expose_secret().to_owned())
    }

    #[test]
    fn the_vectors_of_the_standard_decode() {
        for (text, bytes) in [
            ("", ""),
            ("MY======", "f"),
            ("MZXQ====", "fo"),
            ("MZXW6===", "foo"),
            ("MZXW6YQ=", "foob"),
            ("MZXW6YTB", "fooba"),
            ("MZXW6YTBOI======", "foobar"),
            ("MZXW6YTBOI", "foobar"),
        ] {
            assert_eq!(decode_base32(text).unwrap().as_slice(), bytes.as_bytes());
        }
        for text in [
            "M", "MZX", "MZXW6Y", "MZXW6YT!", "mzxw6ytb", "MZ=XW6YT", "MZXW6YT1",
        ] {
            assert!(decode_base32(text).is_none(), "{text}");
        }
    }

    #[test]
    fn a_secret_is_taken_in_the_spellings_that_people_have() {
        let expected = Some("GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ".to_owned());
        assert_eq!(normal("GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ"), expected);
        assert_eq!(
            normal(" gezd gnbv gy3t qojq gezd gnbv gy3t qojq "),
            expected
        );
        assert_eq!(
            normal("MFRGGZDFMZTWQ2LKNM======").as_deref(),
            Some("MFRGGZDFMZTWQ2LKNM")
        );
    }

    #[test]
    fn what_is_too_short_or_no_base32_is_no_secret() {
        for text in [
            "",
            "123456",
            "MFRGGZDFMZTWQ2",
            "hunter2-hunter2-hunter2",
            "otpauth://totp/x",
        ] {
            assert_eq!(normal(text), None, "{text}");
        }
        assert!(normal("MFRGGZDFMZTWQ2LK").is_some(), "ten bytes are enough");
    }

    proptest! {
        #[test]
        fn no_text_breaks_the_parser(text in any::<String>()) {
            let _ = decode_base32(&text);
            if let Some(secret) = normal(&text) {
                prop_assert_eq!(normal(&secret), Some(secret));
            }
        }
    }
}
