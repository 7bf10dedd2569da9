//! Steps on one wallet that wait for each other: all that wait are done by one statement.

use crate::error::unavailable;
use crate::look_up::again;
use crate::pool::{self, Pool};
use crate::wallet_step::{self, Step};
use dwar_kernel::{ProjectId, StoreError};
use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::sync::oneshot;

/// How many steps are done at once at most.
const JOINED: usize = 128;
/// How many steps may wait for one wallet.
const WAITING: usize = 4096;

type Reply = oneshot::Sender<Result<bool, StoreError>>;

/// Holds and settlements of every project, in order of arrival within each.
///
/// Every send of a project changes one and the same row, twice. So one statement at a time is under way
/// for a wallet and instance, and what arrives meanwhile is the next one: nobody waits for the row with
/// a connection that others need, and many steps cost little more than one
/// (docs/adr/0045-steps-on-one-wallet-are-joined.md).
#[derive(Clone)]
pub(crate) struct WalletQueue {
    pool: Pool,
    /// A project is in it for as long as somebody works on its wallet.
    waiting: Arc<Mutex<HashMap<ProjectId, VecDeque<Waiting>>>>,
    patience: Duration,
}

struct Waiting {
    step: Step,
    reply: Reply,
}

impl WalletQueue {
    /// A queue in which nobody waits longer than this.
    pub(crate) fn new(pool: Pool, patience: Duration) -> Self {
        Self { pool, waiting: Arc::default(), patience }
    }

    /// Does the step, together with those that wait beside it; whether it is done.
    ///
    /// # Errors
    /// [`StoreError::Unavailable`] if there is no answer in time, or too many wait; whatever the
    /// statement met. The step may be done all the same.
    pub(crate) async fn done(&self, project: ProjectId, step: Step) -> Result<bool, StoreError> {
        let (reply, answer) = oneshot::channel();
        if self.push(project, Waiting { step, reply })? {
            // A task of its own: whoever asked may give up, and those behind still wait.
            tokio::spawn(Worker { queue: self.clone(), project, is_over: false }.work());
        }
        match tokio::time::timeout(self.patience, answer).await {
            Ok(Ok(done)) => done,
            Ok(Err(_)) => Err(unavailable("a step on a wallet was given up")),
            Err(_) => Err(pool::no_answer_in_time()),
        }
    }

    fn waiting(&self) -> MutexGuard<'_, HashMap<ProjectId, VecDeque<Waiting>>> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether nobody works on that wallet yet.
    fn push(&self, project: ProjectId, step: Waiting) -> Result<bool, StoreError> {
        let mut waiting = self.waiting();
        let is_idle = !waiting.contains_key(&project);
        let steps = waiting.entry(project).or_default();
        if steps.len() >= WAITING {
            return Err(unavailable("too many wait for one wallet"));
        }
        steps.push_back(step);
        Ok(is_idle)
    }

    /// What is to be done next; if nothing, nobody works on that wallet any more.
    fn take(&self, project: ProjectId) -> Option<Vec<Waiting>> {
        let mut waiting = self.waiting();
        let steps = waiting.get_mut(&project)?;
        steps.retain(|step| !step.reply.is_closed());
        if steps.is_empty() {
            waiting.remove(&project);
            return None;
        }
        let count = steps.len().min(JOINED);
        Some(steps.drain(..count).collect())
    }
}

/// Whoever works on one wallet.
struct Worker {
    queue: WalletQueue,
    project: ProjectId,
    is_over: bool,
}

impl Worker {
    async fn work(mut self) {
        while let Some(next) = self.queue.take(self.project) {
            let (steps, replies): (Vec<Step>, Vec<Reply>) =
                next.into_iter().map(|one| (one.step, one.reply)).unzip();
            let project = self.project;
            let done =
                self.queue.pool.run(move |conn| wallet_step::all(conn, project, &steps)).await;
            tell(replies, done);
        }
        self.is_over = true;
    }
}

/// Those who wait for somebody who is gone are told that nobody works for them.
impl Drop for Worker {
    fn drop(&mut self) {
        if !self.is_over {
            self.queue.waiting().remove(&self.project);
        }
    }
}

fn tell(replies: Vec<Reply>, done: Result<Vec<bool>, StoreError>) {
    match done {
        // Whoever asked may have gone.
        Ok(done) => replies.into_iter().zip(done).for_each(|(reply, done)| {
            let _ = reply.send(Ok(done));
        }),
        Err(cause) => {
            let cause = Arc::new(cause);
            for reply in replies {
                let _ = reply.send(Err(again(&cause)));
            }
        }
    }
}
