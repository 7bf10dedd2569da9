//! Random input for suites that compare a store with the domain.

use crate::SeededEntropy;
use dwar_kernel::Entropy;

/// Draws values close to where an answer changes.
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

    /// Just below, at or above the edge, or any value up to 150, sometimes slightly below zero.
    pub fn around(&self, edge: i64) -> i64 {
        match self.below(3) {
            0 => self.below(153) - 2,
            _ => edge + self.below(3) - 1,
        }
    }

    /// One of the latest known values, or a fresh one.
    pub fn of<T: Copy>(&self, known: &[T], fresh: T) -> T {
        let place = usize::try_from(self.below(8)).unwrap();
        known.iter().rev().nth(place).copied().unwrap_or(fresh)
    }
}
