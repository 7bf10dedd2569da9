//! How what is limited is used, for those who look at it.

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

/// A histogram of durations; whoever raises it holds a lock that it needs anyway.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Times {
    /// The last is for what is longer than every bound.
    counts: [u64; BOUNDS.len() + 1],
    sum: Duration,
}

impl Times {
    /// Counts one.
    pub fn record(&mut self, took: Duration) {
        self.counts[BOUNDS.partition_point(|bound| *bound < took)] += 1;
        self.sum = self.sum.saturating_add(took);
    }

    /// How many took as long as each bound at most and longer than the one before it; the last without
    /// a bound.
    pub fn buckets(&self) -> impl Iterator<Item = (Option<Duration>, u64)> {
        BOUNDS.into_iter().map(Some).chain([None]).zip(self.counts)
    }

    /// All of them together.
    pub const fn sum(&self) -> Duration {
        self.sum
    }
}

/// What a queue has seen so far.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct QueueLoad {
    pub waiting: usize,
    /// How long those waited who came to their turn; nothing for those who did not have to.
    pub waited: Times,
    pub worked: Times,
    /// How many gave up or were turned away.
    pub left: u64,
}

/// How a pool of connections is used now.
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
