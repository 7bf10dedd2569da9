use chrono::{SubsecRound, Utc};
use dwar_kernel::{Clock, SteadyClock, Timestamp};
use rustix::time::{ClockId, clock_gettime};
use std::time::Duration;

/// The system's wall clock, truncated to whole milliseconds.
#[derive(Clone, Copy, Debug, Default)]
pub struct SystemClock;

impl Clock for SystemClock {
    #[expect(clippy::disallowed_methods, reason = "this is the one place that reads the clock")]
    fn now(&self) -> Timestamp {
        Utc::now().trunc_subsecs(3)
    }
}

/// The time since the machine was started, including suspension (`CLOCK_BOOTTIME`,
/// clock_gettime(2)). Systems other than Linux use `CLOCK_MONOTONIC`, which on some of them
/// excludes suspension.
#[derive(Clone, Copy, Debug, Default)]
pub struct SystemSteadyClock;

#[cfg(any(target_os = "linux", target_os = "android"))]
const STEADY: ClockId = ClockId::Boottime;
#[cfg(not(any(target_os = "linux", target_os = "android")))]
const STEADY: ClockId = ClockId::Monotonic;

impl SteadyClock for SystemSteadyClock {
    fn elapsed(&self) -> Duration {
        Duration::try_from(clock_gettime(STEADY)).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::UNIX_EPOCH;

    #[test]
    fn the_steady_clock_goes_on_as_fast_as_others() {
        let (before, began) = (SystemSteadyClock.elapsed(), std::time::Instant::now());
        assert!(before > Duration::ZERO);
        std::thread::sleep(Duration::from_millis(20));
        let (went, at_most) = (SystemSteadyClock.elapsed() - before, began.elapsed());
        assert!(went >= Duration::from_millis(20) && went <= at_most * 2, "{went:?} {at_most:?}");
    }

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
