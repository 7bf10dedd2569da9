//! Steps of one project that wait for each other: all that wait are done by one statement.

use crate::connection::answers::{self, Reply, tell};
use crate::connection::error::{Failure, unavailable};
use crate::connection::pool::Pool;
use diesel::PgConnection;
use dwar_kernel::{BlindIndex, ProjectId, StoreError};
use std::collections::{HashMap, HashSet, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// How many steps are done at once at most.
const JOINED: usize = 128;
/// How many steps of one project may wait.
const WAITING: usize = 4096;

/// A step that is done together with others of its project.
pub(crate) trait Joined: Sized + Send + Sync + 'static {
    /// What came of one.
    type Done: Send + 'static;

    /// The phone that it is about, if two steps of one phone may not be done together.
    fn phone(&self) -> Option<BlindIndex> {
        None
    }

    /// Does these steps, in no order; what came of each. MUST be harmless if it runs `again`, since a
    /// lost connection repeats it.
    fn all(
        steps: &[Self],
        conn: &mut PgConnection,
        project: ProjectId,
        again: bool,
    ) -> Result<Vec<Self::Done>, Failure>;
}

/// Steps of every project, in order of arrival within each.
///
/// One statement at a time is under way for a project and instance, and what arrives meanwhile is the
/// next one: many steps cost little more than one, and those that want the same row do not wait for it with
/// connections that others need (docs/adr/0045-steps-of-one-project-are-joined.md).
pub(crate) struct ProjectQueue<S: Joined> {
    pool: Pool,
    waiting: Lines<S>,
    patience: Duration,
}

/// A project is in it for as long as somebody works on its steps.
type Lines<S> = Arc<Mutex<HashMap<ProjectId, VecDeque<Waiting<S>>>>>;

struct Waiting<S: Joined> {
    step: S,
    reply: Reply<S::Done>,
}

impl<S: Joined> Clone for ProjectQueue<S> {
    fn clone(&self) -> Self {
        let (pool, waiting) = (self.pool.clone(), Arc::clone(&self.waiting));
        Self { pool, waiting, patience: self.patience }
    }
}

impl<S: Joined> ProjectQueue<S> {
    /// A queue in which nobody waits longer than this.
    pub(crate) fn new(pool: Pool, patience: Duration) -> Self {
        Self { pool, waiting: Arc::default(), patience }
    }

    /// Does the step, together with those that wait beside it.
    ///
    /// # Errors
    /// [`StoreError::Unavailable`] if there is no answer in time, or too many wait; whatever the
    /// statement met. The step may be done all the same.
    pub(crate) async fn done(&self, project: ProjectId, step: S) -> Result<S::Done, StoreError> {
        let (reply, answer) = answers::reply();
        if self.push(project, Waiting { step, reply })? {
            // A task of its own: whoever asked may give up, and those behind still wait.
            tokio::spawn(Worker { queue: self.clone(), project, is_over: false }.work());
        }
        answer.answer(self.patience).await
    }

    fn waiting(&self) -> MutexGuard<'_, HashMap<ProjectId, VecDeque<Waiting<S>>>> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether nobody works for that project yet.
    fn push(&self, project: ProjectId, step: Waiting<S>) -> Result<bool, StoreError> {
        let mut waiting = self.waiting();
        let is_idle = !waiting.contains_key(&project);
        let steps = waiting.entry(project).or_default();
        if steps.len() >= WAITING {
            return Err(unavailable("too many steps of one project are waiting"));
        }
        steps.push_back(step);
        Ok(is_idle)
    }

    /// What is to be done next; if nothing, nobody works for that project any more.
    fn take(&self, project: ProjectId) -> Option<Vec<Waiting<S>>> {
        let mut waiting = self.waiting();
        let steps = waiting.get_mut(&project)?;
        steps.retain(|step| !step.reply.is_closed());
        if steps.is_empty() {
            waiting.remove(&project);
            return None;
        }
        let (mut next, mut phones) = (Vec::new(), HashSet::new());
        let mut later = VecDeque::new();
        while next.len() < JOINED {
            let Some(step) = steps.pop_front() else { break };
            let alone = step.step.phone().is_none_or(|phone| phones.insert(phone));
            if alone { next.push(step) } else { later.push_back(step) }
        }
        later.append(steps);
        *steps = later;
        Some(next)
    }
}

/// Whoever works for one project.
struct Worker<S: Joined> {
    queue: ProjectQueue<S>,
    project: ProjectId,
    is_over: bool,
}

impl<S: Joined> Worker<S> {
    async fn work(mut self) {
        while let Some(next) = self.queue.take(self.project) {
            let (steps, replies): (Vec<S>, Vec<Reply<S::Done>>) =
                next.into_iter().map(|one| (one.step, one.reply)).unzip();
            let (project, mut again) = (self.project, false);
            let all = move |conn: &mut PgConnection| {
                S::all(&steps, conn, project, std::mem::replace(&mut again, true))
            };
            let done = self.queue.pool.of(project).run(all).await;
            tell(replies, done.map(|done| done.into_iter().map(Ok)));
        }
        self.is_over = true;
    }
}

/// Those who wait for somebody who is gone are told that nobody works for them.
impl<S: Joined> Drop for Worker<S> {
    fn drop(&mut self) {
        if !self.is_over {
            self.queue.waiting().remove(&self.project);
        }
    }
}
