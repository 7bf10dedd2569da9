use async_trait::async_trait;
use dwar_kernel::{StoreError, Timestamp, with_causes};
use dwar_ratelimit::{Admission, LocalLimiter, Quota, RequestKey, RequestLimiter};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::time::Instant;

/// How long no request asks after a failure. Then one does, and the others still do not.
const PAUSE: Duration = Duration::from_secs(1);

/// Asks the limiter that all instances share as long as it answers, and a stand-in while it does
/// not.
///
/// What the shared limiter admits is noted with the stand-in as well, so that an instance that is
/// cut off goes on from what was admitted. A stand-in that knows of other instances makes sure that
/// together they never admit more than the quota, whichever of them is cut off, and refuses what the
/// shared limiter admits without knowing what was admitted in its absence. One that does not know of
/// them, such as that of one process, admits the quota for each.
///
/// Losing the shared limiter and getting it back are one line of the log each.
pub struct FallbackRequestLimiter {
    shared: Arc<dyn RequestLimiter>,
    own: Arc<dyn LocalLimiter>,
    absence: Mutex<Absence>,
}

#[derive(Default)]
struct Absence {
    now: Option<Alone>,
    /// How long it was away before, in all.
    before: Duration,
}

/// How much the shared limiter was missed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Away {
    /// Whether it does not answer for now.
    pub is_away: bool,
    /// For how long it did not, in all.
    pub total: Duration,
}

/// The shared limiter does not answer.
#[derive(Clone, Copy)]
struct Alone {
    since: Instant,
    ask_again: Instant,
}

/// What a request does about the shared limiter.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Turn {
    /// Asks it, as every request does.
    Ask,
    /// Finds out, for all requests, whether it answers again.
    Probe,
    /// Leaves it alone.
    Leave,
}

impl FallbackRequestLimiter {
    /// Asks `shared`; counts in `own` all the time.
    pub fn new(shared: Arc<dyn RequestLimiter>, own: Arc<dyn LocalLimiter>) -> Self {
        Self { shared, own, absence: Mutex::default() }
    }

    /// How long the shared limiter has been away since the start.
    pub fn away(&self) -> Away {
        let absence = self.absence();
        let now = absence.now.map_or(Duration::ZERO, |alone| alone.since.elapsed());
        Away { is_away: absence.now.is_some(), total: absence.before + now }
    }

    fn turn(&self) -> Turn {
        let mut absence = self.absence();
        let now = Instant::now();
        match &mut absence.now {
            None => Turn::Ask,
            Some(alone) if alone.ask_again <= now => {
                alone.ask_again = now + PAUSE;
                Turn::Probe
            }
            Some(_) => Turn::Leave,
        }
    }

    /// Only a request made while it was known to be away can show that it is back: an answer that
    /// was under way when others failed proves nothing.
    fn answered(&self, turn: Turn) {
        if turn != Turn::Probe {
            return;
        }
        let mut absence = self.absence();
        let Some(alone) = absence.now.take() else { return };
        let over = alone.since.elapsed();
        absence.before += over;
        drop(absence);
        tracing::info!(seconds = over.as_secs(), "requests are counted with Redis again");
    }

    fn failed(&self, cause: &StoreError) {
        let now = Instant::now();
        let mut absence = self.absence();
        if absence.now.is_none() {
            absence.now = Some(Alone { since: now, ask_again: now + PAUSE });
            drop(absence);
            tracing::warn!(error = %with_causes(cause), "requests are counted without Redis for now");
        }
    }

    fn absence(&self) -> MutexGuard<'_, Absence> {
        self.absence.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[async_trait]
impl RequestLimiter for FallbackRequestLimiter {
    async fn hit(
        &self,
        key: RequestKey,
        quota: Quota,
        now: Timestamp,
    ) -> Result<Admission, StoreError> {
        let turn = self.turn();
        if turn != Turn::Leave {
            match self.shared.hit(key, quota, now).await {
                Ok(admission) => {
                    self.answered(turn);
                    if !admission.admitted {
                        return Ok(admission);
                    }
                    let refusal = self.own.note(key, quota, now).await?;
                    return Ok(refusal.unwrap_or(admission));
                }
                Err(cause) => self.failed(&cause),
            }
        }
        self.own.hit(key, quota, now).await
    }

    async fn sweep(&self, now: Timestamp) -> Result<(), StoreError> {
        self.own.sweep(now).await?;
        self.shared.sweep(now).await
    }

    async fn tend(&self, now: Timestamp) -> Result<(), StoreError> {
        self.own.tend(now).await
    }

    async fn leave(&self, now: Timestamp) -> Result<(), StoreError> {
        self.own.leave(now).await
    }
}

#[cfg(test)]
#[path = "fallback_tests.rs"]
mod tests;
