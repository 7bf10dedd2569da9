use async_trait::async_trait;
use dwar_otp::{Gateway, Message, Outcome, Reason};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use tokio::sync::Semaphore;

/// Bounds how many calls of another gateway are under way at once, so that a provider that hangs
/// leaves room for the others (Nygard, «Release It!», bulkheads).
///
/// A call beyond the bound is refused at once with [`Reason::ProviderUnavailable`]: nothing was
/// sent, and the next stop of the route is tried. It waits for nothing, since whoever waits here
/// would hold what the others need.
///
/// It goes outside of [`BreakerGateway`](crate::BreakerGateway): being full is no fault of the
/// provider, and must neither open its breaker nor use up its probe.
pub struct BulkheadGateway {
    inner: Arc<dyn Gateway>,
    room: Semaphore,
    calls_at_once: usize,
    full: AtomicBool,
}

impl BulkheadGateway {
    /// Lets at most `calls_at_once` calls of `inner` be under way; 0 counts as 1.
    pub fn new(inner: Arc<dyn Gateway>, calls_at_once: usize) -> Self {
        let calls_at_once = calls_at_once.clamp(1, Semaphore::MAX_PERMITS);
        let room = Semaphore::new(calls_at_once);
        Self { inner, room, calls_at_once, full: AtomicBool::new(false) }
    }
}

#[async_trait]
impl Gateway for BulkheadGateway {
    fn provider(&self) -> String {
        self.inner.provider()
    }

    async fn deliver(&self, message: Message) -> Outcome {
        let Ok(_place) = self.room.try_acquire() else {
            if !self.full.swap(true, Ordering::Relaxed) {
                tracing::warn!(
                    provider = self.provider(),
                    calls_at_once = self.calls_at_once,
                    "too many calls to the provider are under way; more go to the next stop"
                );
            }
            return Outcome::Refused(Reason::ProviderUnavailable);
        };
        // The next time it fills up is worth a line only after half of it was free again.
        if self.room.available_permits() >= self.calls_at_once / 2 {
            self.full.store(false, Ordering::Relaxed);
        }
        self.inner.deliver(message).await
    }
}

#[cfg(test)]
#[path = "bulkhead_tests.rs"]
mod tests;
