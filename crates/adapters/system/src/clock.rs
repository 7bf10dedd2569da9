use chrono::{SubsecRound, Utc};
use dwar_kernel::{Clock, Timestamp};

/// The system's wall clock, truncated to whole milliseconds.
#[derive(Clone, Copy, Debug, Default)]
pub struct SystemClock;

impl Clock for SystemClock {
    #[expect(clippy::disallowed_methods, reason = "this is the one place that reads the clock")]
    fn now(&self) -> Timestamp {
        Utc::now().trunc_subsecs(3)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::{Duration, UNIX_EPOCH};

    #[test]
    fn tells_the_system_time_in_whole_milliseconds() {
        let system = || Duration::as_millis(&UNIX_EPOCH.elapsed().unwrap());
        for _ in 0..100 {
            let (before, now, after) = (system(), SystemClock.now(), system());
            assert_eq!(now.timestamp_subsec_nanos() % 1_000_000, 0);
            let millis = u128::try_from(now.timestamp_millis()).unwrap();
            assert!((before..=after).contains(&millis), "{before} {millis} {after}");
        }
    }
}
