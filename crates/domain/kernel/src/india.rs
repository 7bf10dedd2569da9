use crate::Timestamp;
use std::time::Duration;

/// Offset of Indian time from UTC, the same all year and since 1945.
pub const INDIA_AHEAD: Duration = Duration::from_secs(5 * 3_600 + 30 * 60);

/// The midnight in India that began the day of an instant.
pub fn india_midnight(at: Timestamp) -> Timestamp {
    let past_midnight = (at + INDIA_AHEAD).timestamp_millis().rem_euclid(86_400_000);
    at - Duration::from_millis(past_midnight.unsigned_abs())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::read_instant;

    #[test]
    fn a_day_in_india_begins_at_half_past_six_in_the_evening_of_utc() {
        for (at, midnight) in [
            ("2026-11-26T18:29:59.999Z", "2026-11-25T18:30:00Z"),
            ("2026-11-26T18:30:00Z", "2026-11-26T18:30:00Z"),
            ("1969-12-31T18:00:00Z", "1969-12-30T18:30:00Z"),
        ] {
            let [at, midnight] = [at, midnight].map(|text| read_instant(text).unwrap());
            assert_eq!(india_midnight(at), midnight);
        }
    }
}
