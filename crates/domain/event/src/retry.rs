use crate::CALL_LEASE;
use dwar_kernel::{CLOCK_TOLERANCE, Timestamp};
use std::time::Duration;

/// Longest wait between two deliveries, whatever an endpoint asks for.
const LONGEST: Duration = Duration::from_secs(8 * 60 * 60);

/// The wait after the `failures`th failed delivery (1 is the first); `None` gives up, about a day after the
/// first.
///
/// An endpoint that asks for a longer wait (`Retry-After`) gets it, up to eight hours; a request for a
/// shorter wait is ignored.
pub fn wait_after(failures: u32, asked: Option<Duration>) -> Option<Duration> {
    const MINUTE: u64 = 60;
    const HOUR: u64 = 60 * MINUTE;
    const WAITS: [u64; 10] =
        [5, 30, 2 * MINUTE, 10 * MINUTE, 30 * MINUTE, HOUR, 2 * HOUR, 4 * HOUR, 8 * HOUR, 8 * HOUR];
    let index = usize::try_from(failures).ok()?.checked_sub(1)?;
    let wait = WAITS.get(index).copied().map(Duration::from_secs)?;
    Some(wait.max(rest_of(asked)))
}

/// The pause of all deliveries to an endpoint that asked for one; at most eight hours.
pub fn rest_of(asked: Option<Duration>) -> Duration {
    asked.unwrap_or_default().min(LONGEST)
}

/// The latest instant at which a delivery can be due, by whether a call failed. A later time was written by a
/// clock that was set back since.
pub fn latest_due(failed: bool, now: Timestamp) -> Timestamp {
    now + CLOCK_TOLERANCE + if failed { LONGEST } else { CALL_LEASE }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_due_later_than_its_wait_or_its_lease() {
        let now = Timestamp::UNIX_EPOCH;
        let waits = (0..20).filter_map(|failures| wait_after(failures, Some(Duration::MAX)));
        assert!(waits.map(|wait| now + wait).all(|due| due < latest_due(true, now)));
        assert!(now + CALL_LEASE < latest_due(false, now));
        assert!(latest_due(false, now) < now + CALL_LEASE * 2);
    }

    #[test]
    fn gives_up_after_about_a_day() {
        let waits: Vec<Duration> = (1..).map_while(|failures| wait_after(failures, None)).collect();
        let total: Duration = waits.iter().sum();
        assert!((23..=25).contains(&(total.as_secs() / 3_600)), "{total:?}");
        assert!(waits.is_sorted());
        assert_eq!(wait_after(0, None), None);
        assert_eq!(waits.last(), Some(&LONGEST));
    }

    #[test]
    fn an_endpoint_may_ask_for_a_longer_wait_and_for_no_shorter_one() {
        let seconds = Duration::from_secs;
        for (failures, asked, wait) in [
            (1, 0, Some(5)),
            (1, 4, Some(5)),
            (1, 120, Some(120)),
            (2, 29, Some(30)),
            (1, u64::MAX, Some(28_800)),
            (11, 60, None),
        ] {
            assert_eq!(wait_after(failures, Some(seconds(asked))), wait.map(seconds), "{asked}");
        }
    }
}
