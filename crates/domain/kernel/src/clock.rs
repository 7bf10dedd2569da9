use std::time::Duration;

/// An instant in UTC, whole milliseconds.
pub type Timestamp = chrono::DateTime<chrono::Utc>;

/// By how much the clocks of instances that serve can differ: one that differs more from the database's serves nobody. So
/// what was written for a later instant than this allows was written by a clock that was set back since.
pub const CLOCK_TOLERANCE: Duration = Duration::from_secs(30);

/// Reads an instant as RFC 3339 writes it. Its years have four digits, so every store can keep it.
pub fn read_instant(text: &str) -> Option<Timestamp> {
    let at = chrono::DateTime::parse_from_rfc3339(text).ok()?;
    Some(at.to_utc())
}

/// Tells the time.
///
/// Only use cases and drivers ask; stores and aggregates are handed `now`.
pub trait Clock: Send + Sync {
    /// The present instant, truncated to whole milliseconds (so every store keeps it exactly).
    fn now(&self) -> Timestamp;
}

/// Tells how much time goes by, whatever the time of day is set to.
pub trait SteadyClock: Send + Sync {
    /// The time since a fixed instant in the past, the time for which the machine was suspended included. Never runs
    /// backwards.
    fn elapsed(&self) -> Duration;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn instants_have_years_of_four_digits() {
        let at = |text: &str| read_instant(text).map(|at| at.to_rfc3339());
        assert_eq!(at("2027-01-15T08:00:00Z").as_deref(), Some("2027-01-15T08:00:00+00:00"));
        assert_eq!(at("2027-01-15T00:00:00+05:30").as_deref(), Some("2027-01-14T18:30:00+00:00"));
        let wrong = [
            "",
            "2027-01-15",
            "2027-01-15T08:00:00",
            "+12027-01-15T08:00:00Z",
            "-0001-01-15T08:00:00Z",
            "262142-01-15T08:00:00Z",
            "2027-01-15T08:00:00Z\0",
        ];
        for wrong in wrong {
            assert_eq!(at(wrong), None, "{wrong:?}");
        }
    }
}
