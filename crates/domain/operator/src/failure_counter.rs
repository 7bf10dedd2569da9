use dwar_kernel::Timestamp;
use std::time::Duration;

/// Failures in a row without a lock.
const FREE: u32 = 5;
const FIRST_LOCK: Duration = Duration::from_secs(30);
const LONGEST_LOCK: Duration = Duration::from_secs(3_600);

/// Failures with one name that are free; after that one per [`STEP`], which is also [`BURST`] an hour.
const BURST: u32 = 100;
const STEP: Duration = Duration::from_secs(36);

const DAY: Duration = Duration::from_secs(24 * 3_600);

/// How failures are counted, and what too many of them cause.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum LockoutRule {
    /// The fifth failure in a row locks for 30 s, each further one for twice as long, up to an hour.
    Lock,
    /// A hundred failures are free, and one more every 36 s: 100 an hour. So at most [`LockoutRule::MOST_A_DAY`]
    /// attempts are judged, from any number of concurrent origins.
    Pace,
}

impl LockoutRule {
    /// Most attempts that [`LockoutRule::Pace`] admits in any 24 hours, from all origins: 100 at once, and 100 more
    /// each hour.
    pub const MOST_A_DAY: u64 = BURST as u64 + DAY.as_secs() / STEP.as_secs();
}

/// State of one count of failures, interpreted by its [`LockoutRule`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FailureCounter {
    /// Under [`LockoutRule::Lock`] failures in a row, under [`LockoutRule::Pace`] failures that have not worn off.
    pub failures: u32,
    /// Time of the last attempt; under [`LockoutRule::Pace`] the time up to which failures have worn off.
    pub last_at: Timestamp,
    pub locked_until: Option<Timestamp>,
}

/// Whether an attempt to sign in is judged or refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AttemptAdmission {
    /// Admitted; counts as a failure until it is withdrawn.
    Admitted,
    /// Refused, like every other attempt before this instant.
    Locked(Timestamp),
}

impl FailureCounter {
    /// The state before any failure: nothing counted, nothing locked.
    pub const fn fresh(now: Timestamp) -> Self {
        Self { failures: 0, last_at: now, locked_until: None }
    }

    /// Begins an attempt under the rule. A count that is a day old is reset first.
    pub fn admit(&mut self, rule: LockoutRule, now: Timestamp) -> AttemptAdmission {
        if self.is_forgotten(now) {
            *self = Self::fresh(now);
        }
        match rule {
            LockoutRule::Lock => self.lock(now),
            LockoutRule::Pace => self.pace(now),
        }
    }

    fn lock(&mut self, now: Timestamp) -> AttemptAdmission {
        if let Some(until) = self.locked_until.filter(|until| now < *until) {
            return AttemptAdmission::Locked(until);
        }
        self.failures = self.failures.saturating_add(1);
        self.last_at = now;
        self.locked_until = lock_after(self.failures).map(|lock| now + lock);
        AttemptAdmission::Admitted
    }

    /// A leaky bucket: one failure wears off in each step.
    fn pace(&mut self, now: Timestamp) -> AttemptAdmission {
        let passed = (now - self.last_at).to_std().unwrap_or_default();
        let worn_off = u32::try_from(passed.as_millis() / STEP.as_millis()).unwrap_or(u32::MAX);
        if worn_off >= self.failures {
            (self.failures, self.last_at) = (0, self.last_at.max(now));
        } else {
            self.failures -= worn_off;
            self.last_at += STEP * worn_off;
        }
        if self.failures >= BURST {
            return AttemptAdmission::Locked(self.last_at + STEP);
        }
        self.failures += 1;
        AttemptAdmission::Admitted
    }

    /// Takes back an attempt that was no failure.
    pub fn withdraw(&mut self) {
        self.failures = self.failures.saturating_sub(1);
        self.locked_until = None;
    }

    /// Whether the count is too old to matter.
    pub fn is_forgotten(&self, now: Timestamp) -> bool {
        self.last_at <= Self::forgotten_before(now)
    }

    /// A count last touched at this instant or earlier no longer matters.
    pub fn forgotten_before(now: Timestamp) -> Timestamp {
        now - DAY
    }
}

fn lock_after(failures: u32) -> Option<Duration> {
    let doublings = failures.checked_sub(FREE)?;
    let factor = 2_u32.saturating_pow(doublings);
    Some(FIRST_LOCK.saturating_mul(factor).min(LONGEST_LOCK))
}

#[cfg(test)]
#[path = "failure_counter_tests.rs"]
mod tests;
