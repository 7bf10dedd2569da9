use dwar_kernel::Timestamp;
use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;
use tokio::sync::{Semaphore, SemaphorePermit};
use tokio::time::timeout;

const AT_ONCE: usize = 8;
const WAIT: Duration = Duration::from_secs(2);
/// Wrong secrets of one address within [`WINDOW`] that are answered as wrong; further ones are
/// refused.
const FAILURES: u32 = 30;
const WINDOW: Duration = Duration::from_secs(60);
/// Most addresses with a count of their own; all others share one.
const ADDRESSES: usize = 1_024;

/// Limits the cost of wrong secrets: concurrent look-ups, and a count per address. A right secret
/// is never refused because of others at the same address. Secrets cannot be guessed (190 bits or
/// more), so the limit only reduces noise and load, and nobody can be locked out with it.
pub struct Throttle {
    seats: Semaphore,
    failures: Mutex<HashMap<Option<IpAddr>, Failures>>,
}

#[derive(Clone, Copy)]
struct Failures {
    since: Timestamp,
    count: u32,
}

impl Default for Throttle {
    fn default() -> Self {
        Self { seats: Semaphore::new(AT_ONCE), failures: Mutex::default() }
    }
}

impl Throttle {
    /// Reserves a place for one look-up; `None` if none becomes free soon.
    pub async fn seat(&self) -> Option<SemaphorePermit<'_>> {
        timeout(WAIT, self.seats.acquire()).await.ok()?.ok()
    }

    /// Counts a wrong secret. Returns the seconds until the count resets, if there were too many.
    pub fn failed(&self, from: Option<IpAddr>, now: Timestamp) -> Option<u64> {
        let mut all = self.failures.lock().unwrap_or_else(PoisonError::into_inner);
        let mut key = from;
        if !all.contains_key(&key) && all.len() >= ADDRESSES {
            all.retain(|_, failures| now < failures.since + WINDOW);
            if all.len() >= ADDRESSES {
                key = None;
            }
        }
        let failures = all.entry(key).or_insert(Failures { since: now, count: 0 });
        if now >= failures.since + WINDOW {
            *failures = Failures { since: now, count: 0 };
        }
        failures.count = failures.count.saturating_add(1);
        let rest = (failures.since + WINDOW - now).num_seconds().max(1).unsigned_abs();
        (failures.count > FAILURES).then_some(rest)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(seconds: i64) -> Timestamp {
        Timestamp::from_timestamp(1_800_000_000 + seconds, 0).unwrap()
    }

    fn address(number: u32) -> Option<IpAddr> {
        Some(IpAddr::from(number.to_be_bytes()))
    }

    #[test]
    fn failures_are_counted_per_address_and_minute() {
        let throttle = Throttle::default();
        for _ in 0..FAILURES {
            assert_eq!(throttle.failed(address(1), at(0)), None);
        }
        assert_eq!(throttle.failed(address(1), at(20)), Some(40));
        assert_eq!(throttle.failed(address(2), at(20)), None);
        assert_eq!(throttle.failed(address(1), at(59)), Some(1));
        assert_eq!(throttle.failed(address(1), at(60)), None);
    }

    #[test]
    fn a_flood_of_addresses_takes_bounded_room() {
        let throttle = Throttle::default();
        for number in 0..20_000 {
            throttle.failed(address(number), at(0));
        }
        assert!(throttle.failures.lock().unwrap().len() <= ADDRESSES + 1);
        assert!(throttle.failed(address(30_000), at(0)).is_some(), "all the others are one");
        assert_eq!(throttle.failed(address(30_000), at(60)), None);
    }

    #[tokio::test(start_paused = true)]
    async fn no_more_are_looked_up_at_once_than_there_are_seats() {
        let throttle = Throttle::default();
        let mut seats = Vec::new();
        for _ in 0..AT_ONCE {
            seats.push(throttle.seat().await.unwrap());
        }
        assert!(throttle.seat().await.is_none());
        seats.pop();
        assert!(throttle.seat().await.is_some());
    }
}
