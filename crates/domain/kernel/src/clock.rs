use std::time::Duration;

/// An instant in UTC. Instants from a [`Clock`] are whole milliseconds.
pub type Timestamp = chrono::DateTime<chrono::Utc>;

/// The most that the clocks of serving instances can differ: an instance whose clock differs more from the
/// clock of the database does not serve. If a stored time is later than now by more than this
/// difference, the clock that wrote the time has been set back since.
pub const CLOCK_TOLERANCE: Duration = Duration::from_secs(30);

/// Parses an RFC 3339 instant. RFC 3339 years have four digits, so every store can keep the result.
pub fn read_instant(text: &str) -> Option<Timestamp> {
    let at = chrono::DateTime::parse_from_rfc3339(text).ok()?;
    Some(at.to_utc())
}

/// The time of day.
///
/// Only use cases and drivers read it; stores and aggregates get `now` as an argument.
pub trait Clock: Send + Sync {
    /// The present instant, truncated to whole milliseconds, so that every store keeps it exactly.
    fn now(&self) -> Timestamp;
}

/// A monotonic clock, independent of the time of day.
pub trait SteadyClock: Send + Sync {
    /// Time since a fixed instant in the past, including time during which the machine was suspended. Never
    /// goes backwards.
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
