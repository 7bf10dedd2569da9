use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

const LATEST: usize = 128;

/// Durations of the latest calls to one provider in this process; clones share them.
#[derive(Clone, Debug, Default)]
pub struct CallTimes(Arc<Mutex<VecDeque<Duration>>>);

impl CallTimes {
    /// Records the duration of one call and forgets all but the latest 128.
    pub fn note(&self, took: Duration) {
        let mut times = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if times.len() == LATEST {
            times.pop_front();
        }
        times.push_back(took);
    }

    /// The median duration of the recorded calls; `None` without calls.
    pub fn median(&self) -> Option<Duration> {
        let times = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let mut times: Vec<Duration> = times.iter().copied().collect();
        times.sort_unstable();
        times.get(times.len().checked_sub(1)? / 2).copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_median_is_of_the_latest_calls() {
        let (times, ms) = (CallTimes::default(), Duration::from_millis);
        assert_eq!(times.median(), None);
        for took in [30, 10, 20, 40] {
            times.clone().note(ms(took));
        }
        assert_eq!(times.median(), Some(ms(20)));
        for _ in 0..LATEST {
            times.note(ms(5));
        }
        assert_eq!(times.median(), Some(ms(5)));
    }
}
