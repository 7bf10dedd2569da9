//! What suites that compare a store with the domain ask for.

use crate::SeededEntropy;
use dwar_kernel::Entropy;

/// Draws what is asked, close to where the answer changes.
pub(super) struct Draw(SeededEntropy);

impl Draw {
    pub fn new(seed: u64) -> Self {
        Self(SeededEntropy::new(seed))
    }

    pub fn below(&self, bound: i64) -> i64 {
        let mut bytes = [0; 4];
        self.0.fill(&mut bytes);
        i64::from(u32::from_le_bytes(bytes)) % bound
    }

    /// Just under, at or over the edge, or anything up to 150, a little below nothing too.
    pub fn around(&self, edge: i64) -> i64 {
        match self.below(3) {
            0 => self.below(153) - 2,
            _ => edge + self.below(3) - 1,
        }
    }

    /// One of those that came last, or a fresh one.
    pub fn of<T: Copy>(&self, known: &[T], fresh: T) -> T {
        let place = usize::try_from(self.below(8)).unwrap();
        known.iter().rev().nth(place).copied().unwrap_or(fresh)
    }
}
