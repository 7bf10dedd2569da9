//! Steps of one project that wait for each other: all that wait are done by one statement.

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

/// How many steps are done at once at most.
const JOINED: usize = 128;
/// How many steps of one project may wait.
const WAITING: usize = 4096;

/// A step that is done together with others of its project.
pub(crate) trait Joined: Sized + Send + Sync + 'static {
    const NAME: &'static str;

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
    lines: Arc<Mutex<Lines<S>>>,
    patience: Duration,
}

struct Lines<S: Joined> {
    /// A project is in it for as long as somebody works on its steps.
    waiting: HashMap<ProjectId, VecDeque<Waiting<S>>>,
    load: QueueLoad,
}

struct Waiting<S: Joined> {
    step: S,
    reply: Reply<S::Done>,
    since: Instant,
}

impl<S: Joined> Clone for ProjectQueue<S> {
    fn clone(&self) -> Self {
        let (pool, lines) = (self.pool.clone(), Arc::clone(&self.lines));
        Self { pool, lines, patience: self.patience }
    }
}

impl<S: Joined> ProjectQueue<S> {
    /// A queue in which nobody waits longer than this.
    pub(crate) fn new(pool: Pool, patience: Duration) -> Self {
        let lines = Lines { waiting: HashMap::new(), load: QueueLoad::default() };
        Self { pool, lines: Arc::new(Mutex::new(lines)), patience }
    }

    /// How it is used: what is worked on is a statement, and its wait for a connection.
    pub(crate) fn load(&self) -> QueueLoad {
        let lines = self.lines();
        let waiting = lines.waiting.values().map(VecDeque::len).sum();
        QueueLoad { waiting, ..lines.load.clone() }
    }

    /// Does the step, together with those that wait beside it.
    ///
    /// # Errors
    /// [`StoreError::Unavailable`] if there is no answer in time, or too many wait; whatever the
    /// statement met. The step may be done all the same.
    pub(crate) async fn done(&self, project: ProjectId, step: S) -> Result<S::Done, StoreError> {
        traced(SYSTEM, S::NAME, self.joined(project, step)).await
    }

    async fn joined(&self, project: ProjectId, step: S) -> Result<S::Done, StoreError> {
        let (reply, answer) = answers::reply();
        if self.push(project, Waiting { step, reply, since: Instant::now() })? {
            // A task of its own: whoever asked may give up, and those behind still wait.
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

    /// What is to be done next; if nothing, nobody works for that project any more. `worked` is how long
    /// the last took.
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

struct Worker<S: Joined> {
    queue: ProjectQueue<S>,
    project: ProjectId,
    is_over: bool,
}

impl<S: Joined> Worker<S> {
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

/// Those who wait for somebody who is gone are told that nobody works for them.
impl<S: Joined> Drop for Worker<S> {
    fn drop(&mut self) {
        if !self.is_over {
            self.queue.lines().waiting.remove(&self.project);
        }
    }
}
