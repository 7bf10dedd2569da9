//! Figures about the use of limited resources.

use std::time::Duration;

const BOUNDS: [Duration; 14] = [
    Duration::from_micros(100),
    Duration::from_micros(250),
    Duration::from_micros(500),
    Duration::from_millis(1),
    Duration::from_micros(2_500),
    Duration::from_millis(5),
    Duration::from_millis(10),
    Duration::from_millis(25),
    Duration::from_millis(50),
    Duration::from_millis(100),
    Duration::from_millis(250),
    Duration::from_millis(500),
    Duration::from_secs(1),
    Duration::from_millis(2_500),
];

/// A histogram of durations. A caller that raises it already holds the lock that it needs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Times {
    /// The last counter is for durations above every bound.
    counts: [u64; BOUNDS.len() + 1],
    sum: Duration,
}

impl Times {
    /// Counts one duration in its bucket and adds it to the sum.
    pub fn record(&mut self, took: Duration) {
        self.counts[BOUNDS.partition_point(|bound| *bound < took)] += 1;
        self.sum = self.sum.saturating_add(took);
    }

    /// The number of durations in each bucket, with its upper bound; the last bucket has no bound.
    pub fn buckets(&self) -> impl Iterator<Item = (Option<Duration>, u64)> {
        BOUNDS.into_iter().map(Some).chain([None]).zip(self.counts)
    }

    /// The sum of all durations that were counted so far.
    pub const fn sum(&self) -> Duration {
        self.sum
    }
}

/// The figures of a queue since it was made.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct QueueLoad {
    pub waiting: usize,
    /// Waiting times of callers that got their turn; zero for those that did not have to wait.
    pub waited: Times,
    pub worked: Times,
    /// Callers that gave up or were refused.
    pub left: u64,
}

/// The current use of a pool of connections.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PoolLoad {
    pub used: u32,
    pub idle: u32,
    pub most: u32,
}

/// Every queue and every pool of a store, by name.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Load {
    pub queues: Vec<(&'static str, QueueLoad)>,
    pub pools: Vec<(&'static str, PoolLoad)>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bound_belongs_to_its_own_bucket() {
        let mut times = Times::default();
        for micros in [0, 100, 101, 2_500_000, 2_500_001] {
            times.record(Duration::from_micros(micros));
        }
        let counted: Vec<_> = times.buckets().filter(|(_, count)| *count > 0).collect();
        let bound = |micros| Some(Duration::from_micros(micros));
        assert_eq!(counted, [(bound(100), 2), (bound(250), 1), (bound(2_500_000), 1), (None, 1)]);
        assert_eq!(times.sum(), Duration::from_micros(5_000_202));
    }
}
