//! Joins waiting steps of one project into one statement.

use crate::connection::answers::{self, Reply, tell};
use crate::connection::error::{Failure, unavailable};
use crate::connection::pool::Pool;
use crate::connection::settings::SYSTEM;
use diesel::PgConnection;
use dwar_kernel::{BlindIndex, ProjectId, StoreError};
use dwar_sql::traced;
use dwar_turns::QueueLoad;
use std::collections::{HashMap, HashSet, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// Most steps in one statement.
const JOINED: usize = 128;
/// Most waiting steps of one project.
const WAITING: usize = 4096;

/// A step that can be joined with other steps of its project.
pub(crate) trait BatchedStep: Sized + Send + Sync + 'static {
    const NAME: &'static str;

    type Done: Send + 'static;

    /// The phone of the step, if one statement must not contain two steps of one phone.
    fn phone(&self) -> Option<BlindIndex> {
        None
    }

    /// Runs these steps in any order and returns their results. With `again` it MUST be harmless to
    /// run them a second time, because a lost connection repeats them.
    fn all(
        steps: &[Self],
        conn: &mut PgConnection,
        project: ProjectId,
        again: bool,
    ) -> Result<Vec<Self::Done>, Failure>;
}

/// The waiting steps of every project, in order of arrival within each.
///
/// Each project has one running statement per instance. Steps that arrive meanwhile form the next
/// one. Many steps cost little more than one, and steps that need the same row do not occupy
/// connections while they wait (docs/adr/0045-steps-of-one-project-are-joined.md).
pub(crate) struct ProjectQueue<S: BatchedStep> {
    pool: Pool,
    lines: Arc<Mutex<Lines<S>>>,
    patience: Duration,
}

struct Lines<S: BatchedStep> {
    /// Contains a project while a worker handles its steps.
    waiting: HashMap<ProjectId, VecDeque<Waiting<S>>>,
    load: QueueLoad,
}

struct Waiting<S: BatchedStep> {
    step: S,
    reply: Reply<S::Done>,
    since: Instant,
}

impl<S: BatchedStep> Clone for ProjectQueue<S> {
    fn clone(&self) -> Self {
        let (pool, lines) = (self.pool.clone(), Arc::clone(&self.lines));
        Self { pool, lines, patience: self.patience }
    }
}

impl<S: BatchedStep> ProjectQueue<S> {
    /// Makes a queue in which no step waits longer than `patience`.
    pub(crate) fn new(pool: Pool, patience: Duration) -> Self {
        let lines = Lines { waiting: HashMap::new(), load: QueueLoad::default() };
        Self { pool, lines: Arc::new(Mutex::new(lines)), patience }
    }

    /// Reports how the queue is used. The time of work includes the wait for a connection.
    pub(crate) fn load(&self) -> QueueLoad {
        let lines = self.lines();
        let waiting = lines.waiting.values().map(VecDeque::len).sum();
        QueueLoad { waiting, ..lines.load.clone() }
    }

    /// Runs the step, joined with other waiting steps of its project.
    ///
    /// # Errors
    /// [`StoreError::Unavailable`] if there is no answer in time, or too many steps wait; otherwise
    /// the error of the statement. The step may have been done all the same.
    pub(crate) async fn done(&self, project: ProjectId, step: S) -> Result<S::Done, StoreError> {
        traced(SYSTEM, S::NAME, self.joined(project, step)).await
    }

    async fn joined(&self, project: ProjectId, step: S) -> Result<S::Done, StoreError> {
        let (reply, answer) = answers::reply();
        if self.push(project, Waiting { step, reply, since: Instant::now() })? {
            // A separate task, because the caller may give up while the steps behind it still wait.
            tokio::spawn(Worker { queue: self.clone(), project, is_over: false }.work());
        }
        answer.answer(self.patience).await
    }

    fn lines(&self) -> MutexGuard<'_, Lines<S>> {
        self.lines.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn push(&self, project: ProjectId, step: Waiting<S>) -> Result<bool, StoreError> {
        let mut lines = self.lines();
        let Lines { waiting, load } = &mut *lines;
        let is_idle = !waiting.contains_key(&project);
        let steps = waiting.entry(project).or_default();
        if steps.len() >= WAITING {
            load.left += 1;
            return Err(unavailable("too many steps of one project are waiting"));
        }
        steps.push_back(step);
        Ok(is_idle)
    }

    /// Takes the next steps; `None` ends the worker of this project. `worked` is the duration of
    /// the previous statement.
    fn take(&self, project: ProjectId, worked: Option<Duration>) -> Option<Vec<Waiting<S>>> {
        let mut lines = self.lines();
        let Lines { waiting, load } = &mut *lines;
        worked.into_iter().for_each(|worked| load.worked.record(worked));
        let steps = waiting.get_mut(&project)?;
        let all = steps.len();
        steps.retain(|step| !step.reply.is_closed());
        load.left += (all - steps.len()) as u64;
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
        next.iter().for_each(|step| load.waited.record(step.since.elapsed()));
        Some(next)
    }
}

struct Worker<S: BatchedStep> {
    queue: ProjectQueue<S>,
    project: ProjectId,
    is_over: bool,
}

impl<S: BatchedStep> Worker<S> {
    async fn work(mut self) {
        let mut worked = None;
        while let Some(next) = self.queue.take(self.project, worked) {
            let began = Instant::now();
            let (steps, replies): (Vec<S>, Vec<Reply<S::Done>>) =
                next.into_iter().map(|one| (one.step, one.reply)).unzip();
            let (project, mut again) = (self.project, false);
            let all = move |conn: &mut PgConnection| {
                S::all(&steps, conn, project, std::mem::replace(&mut again, true))
            };
            let done = self.queue.pool.of(project).run("project_queue.work", all).await;
            tell(replies, done.map(|done| done.into_iter().map(Ok)));
            worked = Some(began.elapsed());
        }
        self.is_over = true;
    }
}

/// Callers that wait for a lost worker get an error.
impl<S: BatchedStep> Drop for Worker<S> {
    fn drop(&mut self) {
        if !self.is_over {
            self.queue.lines().waiting.remove(&self.project);
        }
    }
}
