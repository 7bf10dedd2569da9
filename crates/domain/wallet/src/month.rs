use dwar_kernel::{INDIA_AHEAD, Timestamp, read_instant};
use std::fmt;
use std::str::FromStr;

/// A calendar month in Indian time (UTC+05:30), the period of statements.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Month {
    since: Timestamp,
    until: Timestamp,
}

/// Parse error: the text is not a month such as `2026-10`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a month as 2026-10, from 1970-01 to 9998-12")]
pub struct InvalidMonth;

impl Month {
    /// The month of an instant; `None` outside the supported years.
    pub fn of(at: Timestamp) -> Option<Self> {
        (at + INDIA_AHEAD).format("%Y-%m").to_string().parse().ok()
    }

    /// The first instant of the month, at midnight Indian time.
    pub const fn since(self) -> Timestamp {
        self.since
    }

    /// The first instant after the month, at midnight Indian time.
    pub const fn until(self) -> Timestamp {
        self.until
    }

    /// Whether an instant lies in the month; its end is exclusive.
    pub fn contains(self, at: Timestamp) -> bool {
        self.since <= at && at < self.until
    }
}

fn first_of(year: u16, month: u8) -> Option<Timestamp> {
    read_instant(&format!("{year:04}-{month:02}-01T00:00:00+05:30"))
}

impl FromStr for Month {
    type Err = InvalidMonth;

    /// Parses exactly `YYYY-MM`.
    fn from_str(text: &str) -> Result<Self, InvalidMonth> {
        let digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
        let (year, month) = text
            .split_once('-')
            .filter(|(year, month)| year.len() == 4 && month.len() == 2)
            .filter(|(year, month)| digits(year) && digits(month))
            .ok_or(InvalidMonth)?;
        let year: u16 = year.parse().map_err(|_| InvalidMonth)?;
        let month: u8 = month.parse().map_err(|_| InvalidMonth)?;
        if !(1970..=9998).contains(&year) {
            return Err(InvalidMonth);
        }
        let next = if month == 12 { (year + 1, 1) } else { (year, month + 1) };
        let since = first_of(year, month).ok_or(InvalidMonth)?;
        let until = first_of(next.0, next.1).ok_or(InvalidMonth)?;
        Ok(Self { since, until })
    }
}

impl fmt::Display for Month {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        (self.since + INDIA_AHEAD).format("%Y-%m").fmt(out)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(text: &str) -> Timestamp {
        read_instant(text).unwrap()
    }

    #[test]
    fn a_month_begins_and_ends_at_midnight_in_india() {
        let month: Month = "2026-10".parse().unwrap();
        assert_eq!(month.since(), at("2026-09-30T18:30:00Z"));
        assert_eq!(month.until(), at("2026-10-31T18:30:00Z"));
        assert!(month.contains(month.since()) && !month.contains(month.until()));
        assert_eq!(Month::of(at("2026-10-31T18:29:59.999Z")), Some(month));
        assert_eq!(Month::of(month.until()).unwrap().to_string(), "2026-11");
        assert_eq!(Month::of(at("2026-12-31T18:30:00Z")).unwrap().to_string(), "2027-01");
        assert_eq!("2028-02".parse::<Month>().unwrap().until(), at("2028-02-29T18:30:00Z"));
    }

    #[test]
    fn nothing_else_is_a_month() {
        for text in ["", "2026-13", "2026-00", "2026-1", "26-10", "+026-10", "2026-10-01"] {
            assert_eq!(text.parse::<Month>(), Err(InvalidMonth), "{text}");
        }
        for text in ["1969-12", "9999-01", "2026–10", "2026-+1", " 2026-10"] {
            assert_eq!(text.parse::<Month>(), Err(InvalidMonth), "{text}");
        }
        for text in ["1970-01", "9998-12", "2026-02"] {
            assert_eq!(text.parse::<Month>().unwrap().to_string(), text);
        }
    }
}
