use async_trait::async_trait;
use dwar_kernel::ProjectId;
use dwar_otp::{Gateway, Message, Outcome, Reason};
use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Most running calls of one project per free place.
const SHARE: usize = 8;

/// Limits the running calls of another gateway, so that a provider that hangs leaves resources for
/// the others (Nygard, «Release It!», bulkheads).
///
/// A call beyond the limit is refused at once with [`Reason::ProviderUnavailable`]: nothing was
/// sent, and the next stop of the route is tried. It never waits, because a waiting call would hold
/// resources that others need.
///
/// No project gets every place. A call is admitted while its project has fewer running calls than
/// eight times the number of free places (dynamic thresholds: Choudhury and Hahne, 1998). So one
/// project that floods a slow provider gets eight ninths of the places, two get sixteen
/// seventeenths, and others still find places.
///
/// It wraps [`BreakerGateway`](crate::BreakerGateway), because a full bulkhead is not a fault of
/// the provider and must neither open its breaker nor use its probe.
pub struct BulkheadGateway {
    inner: Arc<dyn Gateway>,
    under_way: Mutex<RunningCalls>,
    calls_at_once: usize,
    full: AtomicBool,
}

#[derive(Default)]
struct RunningCalls {
    calls: usize,
    /// Contains only projects with running calls.
    of_project: HashMap<ProjectId, usize>,
}

/// The place of one running call, until it is dropped.
struct CallPermit<'bulkhead> {
    bulkhead: &'bulkhead BulkheadGateway,
    project: ProjectId,
}

impl BulkheadGateway {
    /// Limits the running calls of `inner` to `calls_at_once`; 0 counts as 1.
    pub fn new(inner: Arc<dyn Gateway>, calls_at_once: usize) -> Self {
        let calls_at_once = calls_at_once.max(1);
        Self { inner, under_way: Mutex::default(), calls_at_once, full: AtomicBool::new(false) }
    }

    fn under_way(&self) -> MutexGuard<'_, RunningCalls> {
        self.under_way.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn enter(&self, project: ProjectId) -> Option<CallPermit<'_>> {
        let mut under_way = self.under_way();
        let free = self.calls_at_once.saturating_sub(under_way.calls);
        let own = under_way.of_project.get(&project).copied().unwrap_or_default();
        if own >= free.saturating_mul(SHARE) {
            return None;
        }
        under_way.calls += 1;
        under_way.of_project.insert(project, own + 1);
        Some(CallPermit { bulkhead: self, project })
    }
}

impl Drop for CallPermit<'_> {
    fn drop(&mut self) {
        let mut under_way = self.bulkhead.under_way();
        under_way.calls -= 1;
        if let Some(own) = under_way.of_project.get_mut(&self.project) {
            *own -= 1;
            if *own == 0 {
                under_way.of_project.remove(&self.project);
            }
        }
        // Log again only after half of the places were free in between.
        if under_way.calls < self.bulkhead.calls_at_once.div_ceil(2) {
            self.bulkhead.full.store(false, Ordering::Relaxed);
        }
    }
}

#[async_trait]
impl Gateway for BulkheadGateway {
    fn provider(&self) -> String {
        self.inner.provider()
    }

    async fn deliver(&self, message: Message) -> Outcome {
        let Some(_permit) = self.enter(message.project_mode.project) else {
            if !self.full.swap(true, Ordering::Relaxed) {
                tracing::warn!(
                    provider = self.provider(),
                    calls_at_once = self.calls_at_once,
                    "too many calls to the provider are in progress; further messages go to the next provider"
                );
            }
            return Outcome::Refused(Reason::ProviderUnavailable);
        };
        self.inner.deliver(message).await
    }
}

#[cfg(test)]
#[path = "bulkhead_tests.rs"]
mod tests;
