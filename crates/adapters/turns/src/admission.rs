//! Permits for what there is a limited number of, given in turn.

use crate::{FairQueue, Queued, Ticket};
use futures_channel::oneshot;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Admits a limited number at once; those who wait are admitted by turns of their flows.
pub struct AdmissionQueue<K: Copy + Ord> {
    state: Mutex<State<K>>,
}

/// While somebody waits, no permit is free.
struct State<K: Copy + Ord> {
    free: usize,
    waiting: FairQueue<K, oneshot::Sender<Permit<K>>>,
}

/// The right to be inside, until it is dropped; then it is the next one's.
pub struct Permit<K: Copy + Ord>(Option<Arc<AdmissionQueue<K>>>);

impl<K: Copy + Ord> AdmissionQueue<K> {
    /// Has this many permits, one at least, and room for this many who wait.
    pub fn new(permits: usize, waiting: usize) -> Arc<Self> {
        let state = State { free: permits.max(1), waiting: FairQueue::new(waiting) };
        Arc::new(Self { state: Mutex::new(state) })
    }

    /// A permit, at once if there is one, else when it is the flow's turn.
    ///
    /// `None` if too many wait, most of them of the same flow. A caller that drops this future no
    /// longer waits and has taken no permit; the caller bounds the time.
    pub async fn enter(self: &Arc<Self>, flow: K) -> Option<Permit<K>> {
        let (reply, permit) = oneshot::channel();
        let Queued { ticket, pushed_out } = {
            let mut state = self.state();
            if state.free > 0 {
                state.free -= 1;
                return Some(Permit(Some(Arc::clone(self))));
            }
            state.waiting.push(flow, reply).ok()?
        };
        drop(pushed_out);
        let _waiting = Waiting { queue: self, ticket };
        permit.await.ok()
    }

    /// The next to get a permit that has come free.
    fn next(&self) -> Option<oneshot::Sender<Permit<K>>> {
        let mut state = self.state();
        let next = state.waiting.pop();
        state.free += usize::from(next.is_none());
        next
    }

    fn state(&self) -> MutexGuard<'_, State<K>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<K: Copy + Ord> Drop for Permit<K> {
    fn drop(&mut self) {
        let mut queue = self.0.take();
        while let Some(free) = queue.take() {
            let Some(next) = free.next() else { return };
            // One that has just given up does not take it.
            if let Err(mut refused) = next.send(Self(Some(free))) {
                queue = refused.0.take();
            }
        }
    }
}

/// Somebody who waits; a permit that was given meanwhile goes on with the channel it is in.
struct Waiting<'queue, K: Copy + Ord> {
    queue: &'queue AdmissionQueue<K>,
    ticket: Ticket<K>,
}

impl<K: Copy + Ord> Drop for Waiting<'_, K> {
    fn drop(&mut self) {
        let left = self.queue.state().waiting.remove(self.ticket);
        // Its waker is foreign code, which must not run under the lock.
        drop(left);
    }
}

#[cfg(test)]
#[path = "admission_tests.rs"]
mod tests;
