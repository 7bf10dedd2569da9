//! Writes that wait for the writer.

use crate::connection::writer::{Job, Loss};
use dwar_sql::Flow;
use dwar_turns::FairQueue;
use std::mem::take;
use std::pin::pin;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use tokio::sync::Notify;

/// A bounded queue in front of the one thread that writes; flows take turns.
pub(crate) struct Writes {
    state: Mutex<State>,
    work: Condvar,
    room: Notify,
}

struct State {
    waiting: FairQueue<Flow, Box<dyn Job>>,
    writer_sleeps: bool,
    closed: bool,
}

impl Writes {
    pub(crate) fn new(bound: usize) -> Self {
        let waiting = FairQueue::new(bound);
        let state = State { waiting, writer_sleeps: false, closed: false };
        Self { state: Mutex::new(state), work: Condvar::new(), room: Notify::new() }
    }

    /// Puts a job into the queue, as soon as there is room; the caller bounds the time.
    ///
    /// Once closed the job is dropped, by which whoever waits for its answer knows.
    pub(crate) async fn push(&self, flow: Flow, mut job: Box<dyn Job>) {
        loop {
            let mut room = pin!(self.room.notified());
            // From here on it is told of room, so none comes unseen between the look and the wait.
            room.as_mut().enable();
            match self.try_push(flow, job) {
                Ok(()) => return,
                Err(back) => job = back,
            }
            room.await;
        }
    }

    fn try_push(&self, flow: Flow, job: Box<dyn Job>) -> Result<(), Box<dyn Job>> {
        let mut state = self.state();
        if state.closed {
            drop(state);
            return Ok(());
        }
        let pushed_out = state.waiting.push(flow, job)?.pushed_out;
        let writer_sleeps = take(&mut state.writer_sleeps);
        drop(state);
        if writer_sleeps {
            self.work.notify_one();
        }
        if let Some(job) = pushed_out {
            tracing::warn!("a queued write was dropped for one of another project");
            job.answer(Some(Loss::NoPlace));
        }
        Ok(())
    }

    /// Takes at most so many, in turn; sleeps while there are none. `false` if there will be none.
    pub(crate) fn take(&self, most: usize, batch: &mut Vec<Box<dyn Job>>) -> bool {
        let mut next = self.first();
        while let Some(job) = next {
            batch.push(job);
            self.room.notify_one();
            // The lock is let go in between, so that nobody waits for it long.
            next = if batch.len() < most { self.state().waiting.pop() } else { None };
        }
        !batch.is_empty()
    }

    fn first(&self) -> Option<Box<dyn Job>> {
        let mut state = self.state();
        while state.waiting.is_empty() && !state.closed {
            state.writer_sleeps = true;
            state = self.work.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        state.waiting.pop()
    }

    /// Lets nothing in any more.
    pub(crate) fn close(&self) {
        self.state().closed = true;
        self.work.notify_one();
        self.room.notify_waiters();
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The thread's hold on the queue: when it ends, however it does, nobody waits for it.
pub(crate) struct Served(pub(crate) Arc<Writes>);

impl Drop for Served {
    fn drop(&mut self) {
        self.0.close();
        while let Some(left) = self.0.first() {
            drop(left);
        }
    }
}
