//! JavaScript's `Number()` on a string: wg-easy reads ids through it, so `0x1`, `1e0` and `" 1"` all
//! name client 1.

/// `Number(text)`; `None` for what would be NaN.
pub(crate) fn js_number(text: &str) -> Option<f64> {
    let text = text.trim_matches(|c: char| c.is_whitespace() || c == '\u{feff}');
    if text.is_empty() {
        return Some(0.0);
    }
    for (prefix, radix) in [("0x", 16), ("0o", 8), ("0b", 2)] {
        if let Some(digits) = strip_prefix_ignoring_case(text, prefix) {
            return radix_digits(digits, radix);
        }
    }
    let unsigned = text.strip_prefix(['+', '-']).unwrap_or(text);
    if unsigned == "Infinity" {
        return Some(if text.starts_with('-') {
            f64::NEG_INFINITY
        } else {
            f64::INFINITY
        });
    }
    // Rust also knows "inf" and "nan"; JavaScript does not.
    let decimal = |c: char| c.is_ascii_digit() || matches!(c, '.' | 'e' | 'E' | '+' | '-');
    if !text.chars().all(decimal) {
        return None;
    }
    text.parse().ok()
}

fn strip_prefix_ignoring_case<'a>(text: &'a str, prefix: &str) -> Option<&'a str> {
    let head = text.get(..prefix.len())?;
    head.eq_ignore_ascii_case(prefix)
        .then(|| text.get(prefix.len()..))?
}

fn radix_digits(digits: &str, radix: u32) -> Option<f64> {
    if digits.is_empty() {
        return None;
    }
    digits.chars().try_fold(0.0, |sum, c| {
        Some(sum * f64::from(radix) + f64::from(c.to_digit(radix)?))
    })
}

#[cfg(test)]
mod tests {
    use super::js_number;

    #[test]
    fn reads_what_javascript_reads() {
        for one in [
            "1", "01", "1.0", "1.", "+1", "1e0", "0x1", "0X1", "0b1", "0o1", " 1 ", "\t1",
        ] {
            assert_eq!(js_number(one), Some(1.0), "{one:?}");
        }
        assert_eq!(js_number(""), Some(0.0));
        assert_eq!(js_number("-1.5"), Some(-1.5));
        assert_eq!(js_number("-Infinity"), Some(f64::NEG_INFINITY));
        for none in [
            "abc", "1a", "inf", "nan", "0x", "-0x1", "1_0", "1 1", "e1", ".",
        ] {
            assert_eq!(js_number(none), None, "{none:?}");
        }
    }
}
