//! Formats amounts, times and texts for pages.

use chrono::SecondsFormat;
use dwar_activity::Ratio;
pub(crate) use dwar_kernel::grouped;
use dwar_kernel::{INDIA_AHEAD, Paise, Timestamp};
use maud::{Markup, html};
use std::time::Duration;

/// Rupees with Indian grouping and a typographic minus: `−₹1,23,456.50`.
pub(crate) fn rupees(amount: Paise) -> String {
    amount.to_string().replace('-', "−")
}

/// Like [`rupees`], always with its sign.
pub(crate) fn signed_rupees(amount: Paise) -> String {
    let sign = if amount.0 > 0 { "+" } else { "" };
    format!("{sign}{}", rupees(amount))
}

/// Formats permille as percent: `93.4 %`.
pub(crate) fn percent(permille: u64) -> String {
    format!("{}.{} %", permille / 10, permille % 10)
}

/// A share of a number of cases: `37 of 52 (71.2 %)`; without a percentage for few cases.
pub(crate) fn share(of: Ratio) -> String {
    let cases = format!("{} of {}", grouped(of.part), grouped(of.whole));
    match of.permille() {
        Some(permille) => format!("{cases} ({})", percent(permille)),
        None if of.whole == 0 => "–".to_owned(),
        None => cases,
    }
}

/// Turns a reason or a text into a sentence, with a capital and a full stop.
pub(crate) fn sentence(reason: &str) -> String {
    let end = if reason.ends_with(['.', '!', '?', ':', '।']) { "" } else { "." };
    capital(reason) + end
}

/// Capitalizes the text, unless it begins with a configuration key: `http.address`.
pub(crate) fn capital(text: &str) -> String {
    let first = text.split_whitespace().next().unwrap_or_default();
    if first.trim_end_matches(['.', ':']).contains(['.', '_', '/', ':']) {
        return text.to_owned();
    }
    let mut rest = text.chars();
    rest.next().into_iter().flat_map(char::to_uppercase).chain(rest.as_str().chars()).collect()
}

/// Formats a duration: `4.1 s`, `38 s`, `2 min 5 s`.
pub(crate) fn span(length: Duration) -> String {
    let tenths = (length.as_millis() + 50) / 100;
    let (minutes, seconds) = (tenths / 600, tenths % 600 / 10);
    match (minutes, seconds) {
        (0, 0..10) if !tenths.is_multiple_of(10) => format!("{seconds}.{} s", tenths % 10),
        (0, _) => format!("{seconds} s"),
        (1..60, 0) => format!("{minutes} min"),
        (1..60, _) => format!("{minutes} min {seconds} s"),
        _ => format!("{} h {} min", minutes / 60, minutes % 60),
    }
}

/// Formats an instant in Indian time.
pub(crate) fn india(at: Timestamp, pattern: &str) -> String {
    (at + INDIA_AHEAD).format(pattern).to_string()
}

/// A minute in Indian time, as in addresses and fields: `2027-01-15T13:30`.
pub(crate) fn minute(at: Timestamp) -> String {
    india(at, "%Y-%m-%dT%H:%M")
}

/// An instant to the second as plain text: `15 Jan 2027, 1:30:00 pm IST`.
pub(crate) fn plain_moment(at: Timestamp) -> String {
    india(at, MOMENT)
}

/// An instant to the minute: `15 Jan 2027, 1:30 pm IST`. Its title is the instant in UTC.
pub(crate) fn time(at: Timestamp) -> Markup {
    element(at, "%-d %b %Y, %-I:%M %P IST")
}

/// Like [`time`], to the second.
pub(crate) fn moment(at: Timestamp) -> Markup {
    element(at, MOMENT)
}

/// Like [`moment`], with only the time of day, where the day is known.
pub(crate) fn clock(at: Timestamp) -> Markup {
    element(at, "%-I:%M:%S %P IST")
}

/// An instant to the millisecond, as addresses have it.
pub(crate) fn exact(at: Timestamp) -> String {
    at.to_rfc3339_opts(SecondsFormat::Millis, true)
}

const MOMENT: &str = "%-d %b %Y, %-I:%M:%S %P IST";

fn element(at: Timestamp, pattern: &str) -> Markup {
    let exact = at.to_rfc3339_opts(SecondsFormat::Secs, true);
    let utc = at.format("%Y-%m-%d %H:%M:%S UTC").to_string();
    html! { time datetime=(exact) title=(utc) { (india(at, pattern)) } }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shows_signs_as_print_does() {
        assert_eq!(rupees(Paise(12_345_650)), "₹1,23,456.50");
        assert_eq!(rupees(Paise(-5)), "−₹0.05");
        assert_eq!(signed_rupees(Paise(20)), "+₹0.20");
    }

    #[test]
    fn reasons_become_sentences() {
        assert_eq!(sentence("ünknown domain"), "Ünknown domain.");
        assert_eq!(sentence("Enter a number."), "Enter a number.");
        assert_eq!(sentence("gateways.sms: names nothing"), "gateways.sms: names nothing.");
        assert_eq!(capital("connected"), "Connected");
    }

    #[test]
    fn writes_shares_and_spans_as_people_do() {
        assert_eq!([percent(0), percent(934), percent(1_000)], ["0.0 %", "93.4 %", "100.0 %"]);
        for (millis, text) in [
            (0, "0 s"),
            (449, "0.4 s"),
            (4_000, "4 s"),
            (9_949, "9.9 s"),
            (9_950, "10 s"),
            (59_949, "59 s"),
            (60_000, "1 min"),
            (125_000, "2 min 5 s"),
            (7_500_000, "2 h 5 min"),
        ] {
            assert_eq!(span(Duration::from_millis(millis)), text);
        }
        assert_eq!(india("2027-01-14T18:30:00Z".parse().unwrap(), "%-d %b %H:%M"), "15 Jan 00:00");
    }

    #[test]
    fn times_are_indian_and_their_titles_utc() {
        let at = "2027-01-15T18:35:09.123Z".parse().unwrap();
        for (html, shown) in [
            (time(at), "16 Jan 2027, 12:05 am IST"),
            (moment(at), "16 Jan 2027, 12:05:09 am IST"),
            (clock(at), "12:05:09 am IST"),
        ] {
            let expected = format!(
                r#"<time datetime="2027-01-15T18:35:09Z" title="2027-01-15 18:35:09 UTC">{shown}</time>"#
            );
            assert_eq!(html.into_string(), expected);
        }
    }
}
