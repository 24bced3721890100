//! Dates in the three spellings wg-easy has, and the reading of whatever a caller stored as expiry.

use jiff::{Timestamp, civil, tz::TimeZone};

/// As in the list: `2026-11-30T20:33:47.000Z`.
pub(crate) fn iso(at: Timestamp) -> String {
    at.strftime("%Y-%m-%dT%H:%M:%S.%3fZ").to_string()
}

/// As by id and in the admin pages: `2026-11-30 20:33:47`, UTC without saying so.
pub(crate) fn plain(at: Timestamp) -> String {
    at.strftime("%Y-%m-%d %H:%M:%S").to_string()
}

/// As in a cookie: `Tue, 30 Nov 2027 20:33:21 GMT`.
pub(crate) fn cookie(at: Timestamp) -> String {
    at.strftime("%a, %d %b %Y %H:%M:%S GMT").to_string()
}

/// What `new Date(text)` makes of an expiry; `None` for an invalid date, which never passes.
/// The server runs in UTC, so a date-time without an offset is UTC too.
pub(crate) fn expiry(text: &str) -> Option<Timestamp> {
    if let Ok(at) = text.parse::<Timestamp>() {
        return Some(at);
    }
    if let Ok(local) = text.parse::<civil::DateTime>() {
        return TimeZone::UTC.to_timestamp(local).ok();
    }
    let date = text.parse::<civil::Date>().ok()?;
    TimeZone::UTC
        .to_timestamp(date.to_datetime(civil::Time::midnight()))
        .ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spells_dates_as_wg_easy_does() {
        let at: Timestamp = "2026-11-30T20:33:47.042Z".parse().unwrap();
        assert_eq!(iso(at), "2026-11-30T20:33:47.042Z");
        assert_eq!(plain(at), "2026-11-30 20:33:47");
        assert_eq!(cookie(at), "Mon, 30 Nov 2026 20:33:47 GMT");
    }

    #[test]
    fn a_date_alone_is_the_start_of_that_day_in_utc() {
        let start: Timestamp = "2030-06-15T00:00:00Z".parse().unwrap();
        assert_eq!(expiry("2030-06-15"), Some(start));
        assert_eq!(expiry("2030-06-15T09:00:00+09:00"), Some(start));
        assert_eq!(expiry("2030-06-15T00:00:00"), Some(start));
        assert_eq!(expiry("not-a-date"), None);
    }
}
