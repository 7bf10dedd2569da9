//! Permits for a limited resource, granted in turn.

use crate::{FairQueue, QueueLoad, Queued, Ticket};
use futures_channel::oneshot;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// Grants a limited number of permits at once; waiting flows take turns.
pub struct AdmissionQueue<K: Copy + Ord> {
    state: Mutex<State<K>>,
}

struct State<K: Copy + Ord> {
    free: usize,
    waiting: FairQueue<K, WaitingTask<K>>,
    load: QueueLoad,
}

struct WaitingTask<K: Copy + Ord> {
    reply: oneshot::Sender<Permit<K>>,
    since: Instant,
}

/// A permit; when dropped, it passes to the next caller.
pub struct Permit<K: Copy + Ord> {
    queue: Option<Arc<AdmissionQueue<K>>>,
    since: Instant,
}

impl<K: Copy + Ord> AdmissionQueue<K> {
    /// Makes a queue with this many permits, at least one, and this many places to wait.
    pub fn new(permits: usize, waiting: usize) -> Arc<Self> {
        let (free, waiting) = (permits.max(1), FairQueue::new(waiting));
        let state = State { free, waiting, load: QueueLoad::default() };
        Arc::new(Self { state: Mutex::new(state) })
    }

    /// Waits for a permit: returns at once if one is free, otherwise when it is the flow's turn.
    ///
    /// `None` if too many callers wait and this flow has most of them. A caller that drops this
    /// future stops waiting and takes no permit. The caller limits the time.
    pub async fn enter(self: &Arc<Self>, flow: K) -> Option<Permit<K>> {
        let (reply, permit) = oneshot::channel();
        let Queued { ticket, pushed_out } = {
            let mut state = self.state();
            if state.free > 0 {
                state.free -= 1;
                state.load.waited.record(Duration::ZERO);
                return Some(Permit::begin(Arc::clone(self)));
            }
            let queued = state.waiting.push(flow, WaitingTask { reply, since: Instant::now() });
            let all_stay = queued.as_ref().is_ok_and(|queued| queued.pushed_out.is_none());
            state.load.left += u64::from(!all_stay);
            queued.ok()?
        };
        drop(pushed_out);
        let _waiting = Waiting { queue: self, ticket };
        permit.await.ok()
    }

    /// Reports how the queue is used so far.
    pub fn load(&self) -> QueueLoad {
        let state = self.state();
        QueueLoad { waiting: state.waiting.len(), ..state.load.clone() }
    }

    /// The next caller to get a free permit; `worked` is how long the permit was in use.
    fn next(&self, worked: Option<Duration>) -> Option<oneshot::Sender<Permit<K>>> {
        let mut state = self.state();
        worked.into_iter().for_each(|worked| state.load.worked.record(worked));
        let next = state.waiting.pop();
        state.free += usize::from(next.is_none());
        let WaitingTask { reply, since } = next?;
        state.load.waited.record(since.elapsed());
        Some(reply)
    }

    fn state(&self) -> MutexGuard<'_, State<K>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<K: Copy + Ord> Permit<K> {
    fn begin(queue: Arc<AdmissionQueue<K>>) -> Self {
        Self { queue: Some(queue), since: Instant::now() }
    }
}

impl<K: Copy + Ord> Drop for Permit<K> {
    fn drop(&mut self) {
        let mut queue = self.queue.take();
        let mut worked = Some(self.since.elapsed());
        while let Some(free) = queue.take() {
            let Some(next) = free.next(worked.take()) else { return };
            // A caller that has just given up does not take it.
            if let Err(mut refused) = next.send(Self::begin(free)) {
                queue = refused.queue.take();
            }
        }
    }
}

/// A waiting caller. A permit that was granted meanwhile passes on when its channel is dropped.
struct Waiting<'queue, K: Copy + Ord> {
    queue: &'queue AdmissionQueue<K>,
    ticket: Ticket<K>,
}

impl<K: Copy + Ord> Drop for Waiting<'_, K> {
    fn drop(&mut self) {
        let left = {
            let mut state = self.queue.state();
            let left = state.waiting.remove(self.ticket);
            state.load.left += u64::from(left.is_some());
            left
        };
        // Its waker is foreign code, which must not run under the lock.
        drop(left);
    }
}

#[cfg(test)]
#[path = "admission_tests.rs"]
mod tests;
