//! Times and sizes as people say them.

use jiff::Timestamp;
use jiff::tz::TimeZone;

/// `at`, seen from `now`: "3 min ago", "in 7 days".
pub(crate) fn relative(at: Timestamp, now: Timestamp) -> String {
    let seconds = at.as_second() - now.as_second();
    let distance = match seconds.unsigned_abs() {
        0..45 => {
            return if seconds > 0 {
                "in a moment"
            } else {
                "just now"
            }
            .to_owned();
        }
        s @ 45..5_400 => format!("{} min", s.div_ceil(60)),
        s @ 5_400..172_800 => format!("{} hours", (s + 1_800) / 3_600),
        s => format!("{} days", (s + 43_200) / 86_400),
    };
    if seconds > 0 {
        format!("in {distance}")
    } else {
        format!("{distance} ago")
    }
}

/// A date as wg-easy has it: RFC 3339, or without a zone or even a time of day, which is UTC.
pub(crate) fn parsed(text: &str) -> Option<Timestamp> {
    let in_utc = || TimeZone::UTC.to_timestamp(text.parse().ok()?).ok();
    text.parse().ok().or_else(in_utc)
}

/// A number of bytes.
pub(crate) fn bytes(count: u64) -> String {
    let mut unit = 1;
    for name in ["B", "kB", "MB", "GB"] {
        if count < unit * 1_000 || name == "GB" {
            let (whole, tenth) = (count / unit, count % unit * 10 / unit);
            return if unit == 1 || whole >= 100 {
                format!("{whole} {name}")
            } else {
                format!("{whole}.{tenth} {name}")
            };
        }
        unit *= 1_000;
    }
    String::new()
}
