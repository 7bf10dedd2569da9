use crate::Timestamp;
use chrono::NaiveDateTime;
use std::time::Duration;

/// The wait that a `Retry-After` header asks for (RFC 9110 section 10.2.3): whole seconds, or a date, counted
/// from `sent`, the time of the answer; zero if the date has passed. `None` for anything else, and for a date
/// if `sent` is unknown.
///
/// The result is unbounded: limit it before adding it to an instant.
pub fn retry_after(value: &str, sent: Option<Timestamp>) -> Option<Duration> {
    let value = value.trim();
    if value.bytes().all(|byte| byte.is_ascii_digit()) {
        return value.parse().ok().map(Duration::from_secs);
    }
    let wait = http_date(value)? - sent?;
    Some(wait.to_std().unwrap_or_default())
}

/// Parses an HTTP date in any of the three forms that recipients have to accept (RFC 9110 section 5.6.7).
pub fn http_date(text: &str) -> Option<Timestamp> {
    const FORMS: [&str; 3] =
        ["%a, %d %b %Y %H:%M:%S GMT", "%A, %d-%b-%y %H:%M:%S GMT", "%a %b %e %H:%M:%S %Y"];
    let read = |form: &&str| NaiveDateTime::parse_from_str(text.trim(), form).ok();
    FORMS.iter().find_map(read).map(|read| read.and_utc())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_seconds_and_dates_in_every_form() {
        let sent = http_date("Sun, 06 Nov 1994 08:49:07 GMT");
        assert!(sent.is_some());
        for (value, seconds) in [
            ("0", Some(0)),
            (" 120 ", Some(120)),
            ("18446744073709551615", Some(u64::MAX)),
            ("18446744073709551616", None),
            ("Sun, 06 Nov 1994 08:49:37 GMT", Some(30)),
            ("Sunday, 06-Nov-94 08:49:37 GMT", Some(30)),
            ("Sun Nov  6 08:49:37 1994", Some(30)),
            // A date in the past.
            ("Sun, 06 Nov 1994 08:00:00 GMT", Some(0)),
            ("Mon, 06 Nov 1994 08:49:37 GMT", None),
            ("Sun, 06 Nov 1994 08:49:37", None),
            ("", None),
            ("-1", None),
            ("+1", None),
            ("1.5", None),
            ("1 s", None),
            ("tomorrow", None),
        ] {
            let wait = seconds.map(Duration::from_secs);
            assert_eq!(retry_after(value, sent), wait, "{value}");
        }
        assert_eq!(retry_after("Sun, 06 Nov 1994 08:49:37 GMT", None), None);
        assert_eq!(retry_after("7", None), Some(Duration::from_secs(7)));
    }
}
