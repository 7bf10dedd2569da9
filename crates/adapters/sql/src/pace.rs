//! Pauses of a sweep, which let other work run.

use std::time::Duration;

/// Length of the pause after a turn, as a multiple of the turn.
const PAUSE: u32 = 4;
/// A sweep that takes longer than this pauses only as long as each turn took: the next sweep is
/// due, and rows must not arrive faster than they are deleted.
const HURRY: Duration = Duration::from_secs(60);

/// The pause after a turn that took `took`, in a sweep that began `since` ago.
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
