use async_trait::async_trait;
use dwar_kernel::{StoreError, Timestamp};
use dwar_ratelimit::{Admission, Quota, RequestKey, RequestLimiter};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::time::Instant;

/// How long nobody asks after a failure. Then one request does, and the others still do not.
const PAUSE: Duration = Duration::from_secs(1);

/// Counts across instances for as long as that works, and by itself while it does not.
///
/// What the shared limiter admits is counted here as well, so that an instance that is cut off goes
/// on from what it has admitted itself. It never admits more than the quota by itself; what several
/// admit while they are cut off, they admit each. What they admitted so is unknown to the shared
/// limiter afterwards, for the length of a window.
///
/// Begin and end of being cut off are one line of the log each.
pub struct FallbackRequestLimiter {
    shared: Arc<dyn RequestLimiter>,
    own: Arc<dyn RequestLimiter>,
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
    /// Asks it, as everybody does.
    Ask,
    /// Finds out, for everybody, whether it answers again.
    Probe,
    /// Leaves it alone.
    Leave,
}

impl FallbackRequestLimiter {
    /// Asks `shared`; counts in `own` all the time.
    pub fn new(shared: Arc<dyn RequestLimiter>, own: Arc<dyn RequestLimiter>) -> Self {
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

    /// Only who asked while it was known to be away can say that it is back: an answer that was
    /// under way when others failed says nothing.
    fn answered(&self, turn: Turn) {
        let over = if turn == Turn::Probe { self.alone().take() } else { None };
        if let Some(alone) = over {
            let seconds = alone.since.elapsed().as_secs();
            tracing::info!(seconds, "requests are counted across instances again");
        }
    }

    fn failed(&self, cause: &StoreError) {
        let now = Instant::now();
        let mut alone = self.alone();
        if alone.is_none() {
            *alone = Some(Alone { since: now, ask_again: now + PAUSE });
            drop(alone);
            tracing::warn!(error = %cause, "requests are counted per process for now");
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
                    if admission.admitted {
                        self.own.hit(key, quota, now).await?;
                    }
                    return Ok(admission);
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
}

#[cfg(test)]
#[path = "fallback_tests.rs"]
mod tests;
