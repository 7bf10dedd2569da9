//! Durations of requests.

use super::endpoint::Endpoint;
use std::collections::BTreeMap;

/// By endpoint and side, the durations of each round.
pub type Measured = BTreeMap<(Endpoint, usize), Vec<Times>>;

/// Durations of the requests of one turn, in milliseconds.
#[derive(Clone, Copy, Debug)]
pub struct Times {
    pub p50: f64,
    pub p99: f64,
    pub longest: f64,
    pub count: usize,
}

impl Times {
    /// Computes them from durations in microseconds.
    pub fn of(mut micros: Vec<u32>) -> Self {
        micros.sort_unstable();
        let at = |place: usize| {
            let found = micros.get(place.min(micros.len().saturating_sub(1)));
            found.map_or(f64::NAN, |micros| f64::from(*micros) / 1_000.0)
        };
        let count = micros.len();
        Self { p50: at(count / 2), p99: at(count * 99 / 100), longest: at(count), count }
    }
}
