//! How long a sweep lets others go first.

use std::time::Duration;

/// How many times as long as a turn the database belongs to others before the next one.
const PAUSE: u32 = 4;
/// A sweep that takes longer pauses as long as each turn took: the next one is due, and rows must not
/// come faster than they leave.
const HURRY: Duration = Duration::from_secs(60);

/// The pause after a turn that took so long, of a sweep that began so long ago.
pub const fn pause(took: Duration, since: Duration) -> Duration {
    if since.as_secs() < HURRY.as_secs() { took.saturating_mul(PAUSE) } else { took }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sweep_that_takes_longer_than_a_minute_hurries() {
        let (took, second) = (Duration::from_millis(3), Duration::from_secs(1));
        assert_eq!(pause(took, second * 59), took * 4);
        assert_eq!(pause(took, second * 60), took);
    }
}
