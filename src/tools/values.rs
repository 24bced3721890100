//! The values that a call may set. Each is checked here, before anyone is asked and before wg-easy sees
//! it: wg-easy takes an expiry date it cannot read for never, and one bad route breaks every later
//! change of the instance.

mod name;

pub(super) use name::{RULE as NAME_RULE, name};

use super::arguments::Wrong;
use super::networks::Network;
use jiff::Timestamp;
use jiff::civil::{Date, Time};
use jiff::tz::TimeZone;
use serde_json::Value;
use std::net::{Ipv4Addr, Ipv6Addr};

/// The most entries of a list of addresses or routes: what a person can read through in a question.
const MAX_ENTRIES: usize = 64;

/// When a client expires.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Expiry {
    text: String,
    instant: Timestamp,
    date_alone: bool,
}

impl Expiry {
    /// Reads an ISO 8601 date, or a date and time with its offset. One without an offset would mean
    /// whatever time zone wg-easy's host has, so it is refused.
    pub(super) fn parse(text: &str) -> Result<Self, Wrong> {
        let wrong = || {
            Wrong(
                "expiresAt has to be an ISO 8601 date such as 2026-12-31, which means 00:00 UTC at the start of that \
                 day, or a date and time with its offset such as 2026-12-31T18:00:00Z or 2026-12-31T18:00:00+01:00."
                    .to_owned(),
            )
        };
        let date_alone = text.len() == "2026-12-31".len();
        if !has_shape(text) {
            return Err(wrong());
        }
        let instant = if date_alone {
            let date: Date = text.parse().map_err(|_| wrong())?;
            TimeZone::UTC
                .to_timestamp(date.to_datetime(Time::midnight()))
                .map_err(|_| wrong())?
        } else {
            text.parse().map_err(|_| wrong())?
        };
        Ok(Self {
            text: text.to_owned(),
            instant,
            date_alone,
        })
    }

    /// What wg-easy is sent: what the caller wrote.
    pub(super) fn as_str(&self) -> &str {
        &self.text
    }

    /// What the expiry means for a client that is to be enabled.
    pub(super) fn meaning_for_enabling(&self, now: Timestamp) -> String {
        if self.instant <= now {
            "Its expiry is past, so as things are wg-easy will refuse to enable it.".to_owned()
        } else {
            self.meaning(now)
        }
    }

    /// What the expiry means, in the server's own words; `now` decides whether it is past.
    pub(super) fn meaning(&self, now: Timestamp) -> String {
        let instant = self.instant.strftime("%Y-%m-%d %H:%M:%S UTC");
        let start = if self.date_alone {
            ", the start of that day"
        } else {
            ""
        };
        if self.instant <= now {
            format!(
                "The expiry means {instant}{start}. THAT IS ALREADY PAST: wg-easy disables the client within a minute."
            )
        } else {
            format!("The expiry means {instant}{start}; wg-easy then disables the client.")
        }
    }
}

/// `YYYY-MM-DD`, or that and `THH:MM[:SS[.fraction]]` with `Z` or `±HH:MM`: what JavaScript's `Date`,
/// which wg-easy reads it with, takes the same way. Which days and times there are is left to a calendar.
fn has_shape(text: &str) -> bool {
    let digits = |part: &str, shape: &str| {
        part.len() == shape.len()
            && part
                .bytes()
                .zip(shape.bytes())
                .all(|(byte, shape)| match shape {
                    b'0' => byte.is_ascii_digit(),
                    shape => byte == shape,
                })
    };
    // JavaScript knows no offset of a day or more, where the calendar used here knows some.
    let is_offset = |offset: &str| {
        (digits(offset, "+00:00") || digits(offset, "-00:00"))
            && offset.get(1..3).is_some_and(|hours| hours < "24")
            && offset.get(4..).is_some_and(|minutes| minutes < "60")
    };
    let Some((date, rest)) = text.split_at_checked("0000-00-00".len()) else {
        return false;
    };
    if !digits(date, "0000-00-00") {
        return false;
    }
    if rest.is_empty() {
        return true;
    }
    let Some(time) = rest.strip_prefix('T') else {
        return false;
    };
    let time = match time.strip_suffix('Z') {
        Some(time) => time,
        None => match time
            .len()
            .checked_sub("+00:00".len())
            .and_then(|at| time.split_at_checked(at))
        {
            Some((time, offset)) if is_offset(offset) => time,
            _ => return false,
        },
    };
    let (clock, fraction) = match time.split_once('.') {
        Some((clock, fraction)) => (clock, Some(fraction)),
        None => (time, None),
    };
    let fraction_is_right = fraction.is_none_or(|fraction| {
        (1..=9).contains(&fraction.len()) && fraction.bytes().all(|b| b.is_ascii_digit())
    });
    let seconds = digits(clock, "00:00:00") && !clock.ends_with("60");
    fraction_is_right && (seconds || (digits(clock, "00:00") && fraction.is_none()))
}

/// An IPv4 address.
pub(super) fn ipv4(field: &'static str, text: &str) -> Result<(), Wrong> {
    text.parse::<Ipv4Addr>().map(drop).map_err(|_| {
        Wrong(format!(
            "{field} has to be an IPv4 address such as 10.8.0.5."
        ))
    })
}

/// An IPv6 address.
pub(super) fn ipv6(field: &'static str, text: &str) -> Result<(), Wrong> {
    text.parse::<Ipv6Addr>().map(drop).map_err(|_| {
        Wrong(format!(
            "{field} has to be an IPv6 address such as fd00::5."
        ))
    })
}

/// A list of networks: addresses or CIDRs.
pub(super) fn networks(field: &'static str, value: &Value) -> Result<Vec<String>, Wrong> {
    list(
        field,
        value,
        "IP addresses or CIDRs such as 10.0.0.0/24",
        |text| Network::parse(text).is_some(),
    )
}

/// A list of DNS servers: addresses or host names.
pub(super) fn dns(field: &'static str, value: &Value) -> Result<Vec<String>, Wrong> {
    list(field, value, "IP addresses or host names", |text| {
        text.parse::<std::net::IpAddr>().is_ok() || is_host_name(text)
    })
}

fn list(
    field: &'static str,
    value: &Value,
    what: &str,
    is_right: impl Fn(&str) -> bool,
) -> Result<Vec<String>, Wrong> {
    let wrong = || Wrong(format!("{field} has to be a list of {what}."));
    let entries = value.as_array().ok_or_else(wrong)?;
    if entries.len() > MAX_ENTRIES {
        return Err(Wrong(format!(
            "{field} may have {MAX_ENTRIES} entries at the most, so that a person can read them."
        )));
    }
    entries
        .iter()
        .enumerate()
        .map(|(at, entry)| match entry.as_str() {
            Some(text) if is_right(text) => Ok(text.to_owned()),
            _ => Err(Wrong(format!(
                "{field} has to be a list of {what}; entry {} is not one.",
                at + 1
            ))),
        })
        .collect()
}

/// RFC 1123: labels of letters, digits and inner hyphens. One of digits alone at the end would be read
/// as a (wrong) address.
fn is_host_name(text: &str) -> bool {
    let label = |label: &str| {
        (1..=63).contains(&label.len())
            && label
                .bytes()
                .all(|b| b.is_ascii_alphanumeric() || b == b'-')
            && !label.starts_with('-')
            && !label.ends_with('-')
    };
    let last = text.rsplit('.').next().unwrap_or_default();
    text.len() <= 253 && text.split('.').all(label) && !last.bytes().all(|b| b.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde_json::json;

    #[test]
    fn an_expiry_is_a_real_date_with_one_meaning() {
        for right in [
            "2026-12-31",
            "2028-02-29",
            "2026-12-31T18:00Z",
            "2026-12-31T18:00:00Z",
            "2026-12-31T18:00:00.123Z",
            "2026-12-31T18:00:00+01:00",
            "2026-12-31T18:00-05:30",
        ] {
            assert!(Expiry::parse(right).is_ok(), "{right}");
        }
        for wrong in [
            "",
            "never",
            "2026-02-30",
            "2027-02-29",
            "2026-13-01",
            "2026-1-1",
            "31.12.2026",
            "2026-12-31T18:00:00",
            "2026-12-31 18:00:00Z",
            "2026-12-31T25:00Z",
            "2026-12-31T24:00:00Z",
            "2026-12-31T23:59:60Z",
            "20261231",
            "2026-W01-1",
            "+002026-12-31",
            "2026-12-31t18:00z",
            "2026-12-31T18:00:00Z[UTC]",
            "1e999",
            " 2026-12-31",
            "2026-12-31T18:00:00.Z",
            "2026-12-31T18Z",
            "2026-12-31T18:00:00+24:00",
            "2026-12-31T18:00:00-25:59",
            "2026-12-31T18:00:00+01:60",
            "２０２６-12-31",
        ] {
            assert!(Expiry::parse(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn an_expiry_says_which_instant_it_means() {
        let now = "2026-06-01T00:00:00Z".parse().unwrap();
        let meaning = |text| Expiry::parse(text).unwrap().meaning(now);
        assert_eq!(
            meaning("2026-12-31"),
            "The expiry means 2026-12-31 00:00:00 UTC, the start of that day; wg-easy then disables the client."
        );
        assert_eq!(
            meaning("2026-12-31T18:00:00+01:00"),
            "The expiry means 2026-12-31 17:00:00 UTC; wg-easy then disables the client."
        );
        assert_eq!(
            meaning("2026-06-01"),
            "The expiry means 2026-06-01 00:00:00 UTC, the start of that day. THAT IS ALREADY PAST: wg-easy disables \
             the client within a minute."
        );
    }

    #[test]
    fn lists_hold_what_they_say() {
        assert!(networks("x", &json!(["10.0.0.0/8", "::/0", "1.2.3.4", "fd00::1"])).is_ok());
        assert!(networks("x", &json!([])).is_ok());
        for wrong in [
            json!("10.0.0.0/8"),
            json!(["not-a-cidr"]),
            json!(["10.0.0.0/33"]),
            json!([1]),
            json!(null),
            json!(["10.0.0.0/8 "]),
        ] {
            assert!(networks("x", &wrong).is_err(), "{wrong}");
        }
        assert!(networks("x", &json!(vec!["10.0.0.1"; 65])).is_err());
        assert!(
            dns(
                "x",
                &json!(["1.1.1.1", "2606:4700::1", "dns.example.com", "resolver"])
            )
            .is_ok()
        );
        for wrong in [
            json!(["1.1.1"]),
            json!(["a_b"]),
            json!(["-a.example"]),
            json!([""]),
            json!(["a..b"]),
            json!(["1.1.1.256"]),
        ] {
            assert!(dns("x", &wrong).is_err(), "{wrong}");
        }
    }

    proptest! {
        #[test]
        fn nothing_makes_a_check_panic(text in any::<String>()) {
            let _ = Expiry::parse(&text);
            let _ = networks("x", &json!([text]));
            let _ = dns("x", &json!([text]));
        }

        #[test]
        fn every_day_of_the_calendar_is_an_expiry(year in 1i16..=9999, month in 1i8..=12, day in 1i8..=28) {
            let expiry = format!("{year:04}-{month:02}-{day:02}");
            prop_assert!(Expiry::parse(&expiry).is_ok());
        }

        #[test]
        fn a_date_shaped_text_never_panics(text in "[0-9]{4}-[0-9]{2}-[0-9]{2}(T[0-9]{2}:[0-9]{2}(:[0-9]{2}(\\.[0-9]{1,12})?)?(Z|[+-][0-9]{2}:[0-9]{2})?)?") {
            let _ = Expiry::parse(&text);
        }
    }
}
