use dwar_kernel::{Digest, OperatorId, Timestamp};
use std::time::Duration;
use uuid::Uuid;

/// So many failures in a row cost nothing but the time they take.
const FREE: u32 = 5;
const FIRST_LOCK: Duration = Duration::from_secs(30);
const LONGEST_LOCK: Duration = Duration::from_secs(3_600);
const FORGOTTEN_AFTER: Duration = Duration::from_secs(24 * 3_600);

/// How somebody who signs in stands: failures in a row, and the lock they brought.
///
/// An attempt is counted as a failure when it begins and taken back when it was none, so of any
/// number at once no more are judged than of as many in turn.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Standing {
    pub failures: u32,
    /// When the last attempt was.
    pub last_at: Option<Timestamp>,
    /// Until when nothing is judged.
    pub locked_until: Option<Timestamp>,
}

/// Whether an attempt is judged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Admission {
    /// It is, and counts as a failure until it was none.
    Admitted,
    /// It is not, nor is any other before this instant.
    Locked(Timestamp),
}

impl Standing {
    /// Begins an attempt: the fifth failure in a row locks for 30 s, each further one for twice as
    /// long, up to an hour. What is a day old is forgotten.
    pub fn admit(&mut self, now: Timestamp) -> Admission {
        if let Some(until) = self.locked_until.filter(|until| now < *until) {
            return Admission::Locked(until);
        }
        if self.is_forgotten(now) {
            *self = Self::default();
        }
        self.failures = self.failures.saturating_add(1);
        self.last_at = Some(now);
        self.locked_until = lock_after(self.failures).map(|lock| now + lock);
        Admission::Admitted
    }

    /// Takes an attempt back that was neither a failure nor a success.
    pub fn withdraw(&mut self) {
        self.failures = self.failures.saturating_sub(1);
        self.locked_until = None;
    }

    /// Whether it means nothing any more.
    pub fn is_forgotten(&self, now: Timestamp) -> bool {
        self.last_at.is_none_or(|last| last <= Self::forgotten_before(now))
    }

    /// What was last touched at this instant or before means nothing any more.
    pub fn forgotten_before(now: Timestamp) -> Timestamp {
        now - FORGOTTEN_AFTER
    }

    /// Under which id attempts are counted for a name that nobody has, so that it locks as one that
    /// somebody has. There are 65,536 such ids, and no operator gets one: a flood of made-up names
    /// leaves no more rows than that.
    pub fn of_stranger(name: &Digest) -> OperatorId {
        let [high, low, ..] = name.0;
        let mut bytes = [0; 16];
        bytes[14..].copy_from_slice(&[high, low]);
        Uuid::from_bytes(bytes).into()
    }
}

fn lock_after(failures: u32) -> Option<Duration> {
    let doublings = failures.checked_sub(FREE)?;
    let factor = 2_u32.saturating_pow(doublings);
    Some(FIRST_LOCK.saturating_mul(factor).min(LONGEST_LOCK))
}

#[cfg(test)]
#[path = "standing_tests.rs"]
mod tests;
