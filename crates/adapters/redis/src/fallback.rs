use async_trait::async_trait;
use dwar_kernel::{StoreError, Timestamp};
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
    alone: Mutex<Option<Alone>>,
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
        Self { shared, own, alone: Mutex::default() }
    }

    fn turn(&self) -> Turn {
        let mut alone = self.alone();
        let now = Instant::now();
        match &mut *alone {
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
        let over = if turn == Turn::Probe { self.alone().take() } else { None };
        if let Some(alone) = over {
            let seconds = alone.since.elapsed().as_secs();
            tracing::info!(seconds, "requests are counted with Redis again");
        }
    }

    fn failed(&self, cause: &StoreError) {
        let now = Instant::now();
        let mut alone = self.alone();
        if alone.is_none() {
            *alone = Some(Alone { since: now, ask_again: now + PAUSE });
            drop(alone);
            tracing::warn!(error = %cause, "requests are counted without Redis for now");
        }
    }

    fn alone(&self) -> MutexGuard<'_, Option<Alone>> {
        self.alone.lock().unwrap_or_else(PoisonError::into_inner)
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
