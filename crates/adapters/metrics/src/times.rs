//! Histograms of durations.

use crate::cells::ShardedCounters;
use std::time::Duration;

/// Upper bounds for the durations of requests, in microseconds.
pub(crate) const WORK: &[u64] = &[
    500, 1_000, 2_500, 5_000, 10_000, 25_000, 50_000, 100_000, 250_000, 500_000, 1_000_000,
    2_500_000, 5_000_000, 10_000_000,
];
/// Upper bounds for calls to other services, in microseconds.
pub(crate) const CALLS: &[u64] = &[
    25_000, 50_000, 100_000, 250_000, 500_000, 750_000, 1_000_000, 1_500_000, 2_500_000, 5_000_000,
    7_500_000, 10_000_000, 15_000_000, 30_000_000,
];
/// Upper bounds for waits of people, in microseconds: from a send to its arrival, or to the right
/// code.
pub(crate) const PEOPLE: &[u64] = &[
    500_000,
    1_000_000,
    2_000_000,
    3_000_000,
    5_000_000,
    7_500_000,
    10_000_000,
    15_000_000,
    20_000_000,
    30_000_000,
    45_000_000,
    60_000_000,
    120_000_000,
    300_000_000,
    600_000_000,
];

/// Histograms that are incremented like [`ShardedCounters`].
#[derive(Debug)]
pub(crate) struct Times {
    bounds: &'static [u64],
    /// Per histogram: one counter per bucket, one for longer durations, and the sum in nanoseconds.
    cells: ShardedCounters,
}

/// The values of a histogram, in seconds, at the time of reading.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Histogram {
    /// Upper bounds in seconds with the number of observations in each bucket, not cumulated; the
    /// last bound is [`f64::INFINITY`].
    pub buckets: Vec<(f64, u64)>,
    /// Of all observations, in seconds.
    pub sum: f64,
}

impl Times {
    pub(crate) fn new(bounds: &'static [u64], things: usize) -> Self {
        Self { bounds, cells: ShardedCounters::new(things * Self::width(bounds)) }
    }

    /// Adds an observation to the histogram at this place; does nothing if there is none.
    pub(crate) fn observe(&self, place: usize, took: Duration) {
        let first = place * Self::width(self.bounds);
        let bucket = self.bounds.partition_point(|bound| Duration::from_micros(*bound) < took);
        self.cells.add(first + bucket, 1);
        let nanos = u64::try_from(took.as_nanos()).unwrap_or(u64::MAX);
        self.cells.add(first + self.bounds.len() + 1, nanos);
    }

    /// The values of the histogram at this place.
    pub(crate) fn read(&self, place: usize) -> Histogram {
        let first = place * Self::width(self.bounds);
        let bounds = self.bounds.iter().map(|bound| seconds(Duration::from_micros(*bound)));
        let counts = (first..).map(|cell| self.cells.sum(cell));
        let sum = Duration::from_nanos(self.cells.sum(first + self.bounds.len() + 1));
        Histogram {
            buckets: bounds.chain([f64::INFINITY]).zip(counts).collect(),
            sum: seconds(sum),
        }
    }

    const fn width(bounds: &[u64]) -> usize {
        bounds.len() + 2
    }
}

impl Histogram {
    /// The number of observations in all buckets, which is the one of `le="+Inf"`.
    pub fn count(&self) -> u64 {
        self.buckets.iter().map(|(_, count)| count).sum()
    }
}

fn seconds(duration: Duration) -> f64 {
    duration.as_secs_f64()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bound_belongs_to_its_own_bucket() {
        let times = Times::new(&[1_000, 2_000], 2);
        for micros in [0, 1_000, 1_001, 2_000, 2_001, 9_000_000] {
            times.observe(1, Duration::from_micros(micros));
        }
        let read = times.read(1);
        assert_eq!(read.buckets, [(0.001, 2), (0.002, 2), (f64::INFINITY, 2)]);
        assert!((read.sum - 9.006_002).abs() < 1e-9);
        assert_eq!((read.count(), times.read(0).count()), (6, 0));
    }
}
