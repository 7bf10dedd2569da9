//! Permits to use what there are only so many of, which projects are given in turn.

use crate::FairQueue;
use crate::queue::fair_queue::{LetIn, Place};
use dwar_kernel::ProjectId;
use futures_channel::oneshot;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Whose work it is: that of a project, or nobody's, such as that of the background loops.
pub type Flow = Option<ProjectId>;

/// How many may wait; as many requests as a process has connections by default, and more.
const WAITING: usize = 4096;

/// Lets only so many in at once; those who wait are let in by turns of their flows.
pub struct Door {
    state: Mutex<State>,
}

/// While somebody waits, no permit is free.
struct State {
    free: usize,
    waiting: FairQueue<Flow, oneshot::Sender<Permit>>,
}

/// The right to be inside, until it is dropped; then it is the next one's.
pub struct Permit(Option<Arc<Door>>);

impl Door {
    /// Has this many permits; one at least.
    pub fn new(permits: usize) -> Arc<Self> {
        Self::with_room(permits, WAITING)
    }

    fn with_room(permits: usize, waiting: usize) -> Arc<Self> {
        let state = State { free: permits.max(1), waiting: FairQueue::new(waiting) };
        Arc::new(Self { state: Mutex::new(state) })
    }

    /// A permit, at once if there is one, else when it is the flow's turn.
    ///
    /// `None` if too many wait, most of them of the same flow. Whoever drops this future waits no
    /// longer and has taken no permit; the caller bounds the time.
    pub async fn enter(self: &Arc<Self>, flow: Flow) -> Option<Permit> {
        let (reply, permit) = oneshot::channel();
        let LetIn { place, pushed_out } = {
            let mut state = self.state();
            if state.free > 0 {
                state.free -= 1;
                return Some(Permit(Some(Arc::clone(self))));
            }
            state.waiting.push(flow, reply).ok()?
        };
        drop(pushed_out);
        let _waiting = Waiting { door: self, place };
        permit.await.ok()
    }

    /// Whoever is to have a permit that has come free.
    fn next(&self) -> Option<oneshot::Sender<Permit>> {
        let mut state = self.state();
        let next = state.waiting.pop();
        state.free += usize::from(next.is_none());
        next
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Permit {
    fn drop(&mut self) {
        let mut door = self.0.take();
        while let Some(free) = door.take() {
            let Some(next) = free.next() else { return };
            // Who has just given up does not take it.
            if let Err(mut refused) = next.send(Self(Some(free))) {
                door = refused.0.take();
            }
        }
    }
}

/// Somebody who waits; a permit that was given meanwhile goes on with the channel it is in.
struct Waiting<'door> {
    door: &'door Door,
    place: Place<Flow>,
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        let left = self.door.state().waiting.remove(self.place);
        // Its waker is somebody else's code, and not for under the lock.
        drop(left);
    }
}

#[cfg(test)]
#[path = "door_tests.rs"]
mod tests;
