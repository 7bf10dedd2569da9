//! The real clock and the operating system's entropy.
//!
//! No other crate may ask for the time or for random bytes; `clippy.toml` enforces it.

mod clock;
mod entropy;

pub use clock::SystemClock;
pub use entropy::SystemEntropy;
