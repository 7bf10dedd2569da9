//! The queue of the writer.

use crate::connection::job::{Job, LostJob};
use dwar_sql::Flow;
use dwar_turns::{FairQueue, QueueLoad};
use std::mem::take;
use std::pin::pin;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Instant;
use tokio::sync::Notify;

/// A bounded queue in front of the only thread that writes. Flows take turns.
pub(crate) struct Writes {
    state: Mutex<State>,
    work: Condvar,
    room: Notify,
}

struct State {
    waiting: FairQueue<Flow, Waiting>,
    writer_sleeps: bool,
    closed: bool,
    load: QueueLoad,
    began: Option<Instant>,
}

struct Waiting {
    job: Box<dyn Job>,
    since: Instant,
}

impl Writes {
    pub(crate) fn new(bound: usize) -> Self {
        let waiting = FairQueue::new(bound);
        let load = QueueLoad::default();
        let state = State { waiting, writer_sleeps: false, closed: false, load, began: None };
        Self { state: Mutex::new(state), work: Condvar::new(), room: Notify::new() }
    }

    /// Puts a job into the queue, as soon as there is room; the caller bounds the time.
    ///
    /// If the queue is closed, the job is dropped, which tells the caller that no answer will come.
    pub(crate) async fn push(&self, flow: Flow, job: Box<dyn Job>) {
        let mut waiting = Waiting { job, since: Instant::now() };
        loop {
            let mut room = pin!(self.room.notified());
            // From here on a notice of free space cannot be missed between the check and the wait.
            room.as_mut().enable();
            match self.try_push(flow, waiting) {
                Ok(()) => return,
                Err(back) => waiting = back,
            }
            room.await;
        }
    }

    fn try_push(&self, flow: Flow, waiting: Waiting) -> Result<(), Waiting> {
        let mut state = self.state();
        if state.closed {
            drop(state);
            return Ok(());
        }
        let pushed_out = state.waiting.push(flow, waiting)?.pushed_out;
        state.load.left += u64::from(pushed_out.is_some());
        let writer_sleeps = take(&mut state.writer_sleeps);
        drop(state);
        if writer_sleeps {
            self.work.notify_one();
        }
        if let Some(Waiting { job, .. }) = pushed_out {
            tracing::warn!("a queued write was dropped for one of another project");
            job.answer(Some(LostJob::NoPlace));
        }
        Ok(())
    }

    /// Takes at most `most` jobs, in turn; sleeps while there are none. `false` if the queue is
    /// closed.
    pub(crate) fn take(&self, most: usize, batch: &mut Vec<Box<dyn Job>>) -> bool {
        let mut next = self.first();
        while let Some(job) = next {
            batch.push(job);
            self.room.notify_one();
            // Release the lock in between, so that no caller waits long for it.
            next = if batch.len() < most { self.state().pop() } else { None };
        }
        !batch.is_empty()
    }

    pub(crate) fn gave_up(&self) {
        self.state().load.left += 1;
    }

    /// Reports how the queue is used. Its work is a commit.
    pub(crate) fn load(&self) -> QueueLoad {
        let state = self.state();
        QueueLoad { waiting: state.waiting.len(), ..state.load.clone() }
    }

    fn first(&self) -> Option<Box<dyn Job>> {
        let mut state = self.state();
        if let Some(began) = state.began.take() {
            state.load.worked.record(began.elapsed());
        }
        while state.waiting.is_empty() && !state.closed {
            state.writer_sleeps = true;
            state = self.work.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        let first = state.pop();
        state.began = first.is_some().then(Instant::now);
        first
    }

    pub(crate) fn close(&self) {
        self.state().closed = true;
        self.work.notify_one();
        self.room.notify_waiters();
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn pop(&mut self) -> Option<Box<dyn Job>> {
        let Waiting { job, since } = self.waiting.pop()?;
        self.load.waited.record(since.elapsed());
        Some(job)
    }
}

/// The thread's hold on the queue. However the thread ends, its callers stop waiting.
pub(crate) struct WriterGuard(pub(crate) Arc<Writes>);

impl Drop for WriterGuard {
    fn drop(&mut self) {
        self.0.close();
        while let Some(left) = self.0.first() {
            drop(left);
        }
    }
}
