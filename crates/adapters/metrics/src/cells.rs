//! Counters that requests increment.

use std::hash::{Hash, Hasher};
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;

/// Most threads that count without sharing a cache line; further threads share.
const SHARDS: usize = 8;

/// Counters with one set for each of a few threads. Reading a counter adds up the sets.
///
/// Incrementing one is a single relaxed addition: no lock, no allocation, and usually no memory
/// that another thread writes to.
#[derive(Debug)]
pub(crate) struct ShardedCounters(Box<[Box<[AtomicU64]>]>);

impl ShardedCounters {
    /// Makes this many counters at 0.
    pub(crate) fn new(count: usize) -> Self {
        let threads = thread::available_parallelism().map_or(1, usize::from).min(SHARDS);
        let shard = || (0..count).map(|_| AtomicU64::new(0)).collect();
        Self((0..threads).map(|_| shard()).collect())
    }

    /// Adds to the counter at this place; does nothing if there is none.
    pub(crate) fn add(&self, place: usize, amount: u64) {
        let shard = self.0.get(number_of_thread() % self.0.len().max(1));
        if let Some(cell) = shard.and_then(|cells| cells.get(place)) {
            cell.fetch_add(amount, Ordering::Relaxed);
        }
    }

    /// The value of the counter at this place; never less than at an earlier reading.
    pub(crate) fn sum(&self, place: usize) -> u64 {
        let cells = self.0.iter().filter_map(|shard| shard.get(place));
        cells.map(|cell| cell.load(Ordering::Relaxed)).fold(0, u64::wrapping_add)
    }
}

/// Threads are numbered as they start, so those that serve have consecutive numbers.
fn number_of_thread() -> usize {
    let mut number = Number(0);
    thread::current().id().hash(&mut number);
    usize::try_from(number.0).unwrap_or_default()
}

/// A hasher that returns the number inside a thread's id unchanged.
struct Number(u64);

impl Hasher for Number {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        self.0 = bytes.iter().fold(self.0, |number, byte| number << 8 | u64::from(*byte));
    }

    fn write_u64(&mut self, number: u64) {
        self.0 = number;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn many_threads_lose_no_count() {
        let cells = ShardedCounters::new(2);
        thread::scope(|scope| {
            for _ in 0..2 * SHARDS {
                scope.spawn(|| (0..10_000).for_each(|_| cells.add(1, 3)));
            }
        });
        assert_eq!((cells.sum(0), cells.sum(1)), (0, 2 * SHARDS as u64 * 30_000));
    }

    #[test]
    fn a_place_that_is_not_there_is_not_counted() {
        let cells = ShardedCounters::new(1);
        cells.add(1, 1);
        assert_eq!((cells.sum(0), cells.sum(1)), (0, 0));
    }
}
