//! Look-ups at the start of every request. One statement answers those of many requests.

use crate::connection::answers::{self, Reply, tell};
use crate::connection::disk_space::DiskSpace;
use crate::connection::error::{Failure, unavailable};
use crate::connection::link::{LinkManager, Links};
use crate::connection::pool::{self, Deadline};
use crate::connection::settings::{LOOK_UPS, SYSTEM, Settings};
use diesel::PgConnection;
use dwar_kernel::StoreError;
use dwar_sql::traced;
use dwar_turns::{PoolLoad, QueueLoad};
use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{self, ThreadId};
use std::time::{Duration, Instant};

/// True on a writable server. On a read-only server it fails with SQLSTATE 25006, because
/// `has_room` writes. Evaluated once per statement, before the rows are read.
pub(crate) const PRIMARY_ALONE: &str = "(SELECT CASE WHEN current_setting('transaction_read_only') = 'on' \
    THEN has_room() ELSE true END)";

/// How long a look-up waits for the running statement before it uses the other connection. Two
/// concurrent statements carry half as many look-ups each, and each look-up costs more.
const HEAD_START: Duration = Duration::from_millis(1);
/// How long the first of several look-ups waits for others, multiplied by the number of other
/// instances. With several instances fewer look-ups arrive at each, while the server runs the
/// statements of all.
const GATHERING: Duration = Duration::from_micros(150);
/// Most look-ups that one statement answers.
const JOINED: usize = 256;
/// Most look-ups that may wait. Above the default number of connections of a process.
const WAITING: usize = 4096;

pub(crate) type Answer<T> = Result<Option<T>, StoreError>;

pub(crate) trait Question: Sized + Send + 'static {
    const NAME: &'static str;

    type Found: Send + 'static;

    /// Answers each look-up, in order, with one statement. The statement MUST include
    /// [`PRIMARY_ALONE`]: keys and sessions on a standby or on a fenced server are out of date.
    fn answers(
        asked: &[&Self],
        conn: &mut PgConnection,
    ) -> Result<Vec<Answer<Self::Found>>, Failure>;
}

/// Answers look-ups on dedicated connections, so that no other slow work delays them.
///
/// A look-up is sent at once if no statement is running. Otherwise it is sent after the running
/// statement or after [`HEAD_START`], together with all others that wait by then. With several
/// instances, several waiting look-ups wait for [`GATHERING`] at least. No look-up joins a
/// statement that was sent before it was asked for, so an answer is never older than the question.
pub(crate) struct LookUps<Q: Question> {
    shared: Arc<Shared<Q>>,
    links: Links,
    patience: Duration,
}

struct Shared<Q: Question> {
    queue: Mutex<Queue<Q>>,
    work: Condvar,
    instances: Arc<AtomicU32>,
}

struct Queue<Q: Question> {
    waiting: VecDeque<LookUp<Q>>,
    idle: u32,
    /// Thread of a task that is about to wake a sleeping thread.
    nudged: Option<ThreadId>,
    under_way: u32,
    closed: bool,
    load: QueueLoad,
}

struct LookUp<Q: Question> {
    asked: Q,
    at: Instant,
    reply: Reply<Option<Q::Found>>,
}

impl<Q: Question> LookUps<Q> {
    /// Starts the threads, which connect on demand. `instances` is the number of instances,
    /// including this one.
    pub(crate) fn start(
        settings: &Settings,
        manager: LinkManager,
        room: &Arc<DiskSpace>,
        instances: Arc<AtomicU32>,
    ) -> Self {
        let queue = Queue::default();
        let shared = Shared { queue: Mutex::new(queue), work: Condvar::new(), instances };
        let shared = Arc::new(shared);
        let links = pool::links(LOOK_UPS, settings, manager);
        for _ in 0..LOOK_UPS {
            let asker = LookUpWorker {
                shared: Arc::clone(&shared),
                links: links.clone(),
                room: Arc::clone(room),
                acquire_timeout: settings.acquire_timeout,
                call_timeout: settings.call_timeout,
            };
            let name = "dwar-postgres-look-up".to_owned();
            let started = thread::Builder::new().name(name).spawn(move || asker.serve());
            if let Err(cause) = started {
                tracing::error!(%cause, "no thread for look-ups");
            }
        }
        Self { shared, links, patience: settings.call_timeout }
    }

    /// Reports how the queue and the connections are used.
    pub(crate) fn load(&self) -> (QueueLoad, PoolLoad) {
        let queue = self.shared.queue();
        let load = QueueLoad { waiting: queue.waiting.len(), ..queue.load.clone() };
        drop(queue);
        (load, pool::used(&self.links))
    }

    /// Looks up the current record.
    ///
    /// # Errors
    /// [`StoreError::Unavailable`] if there is no answer within the call timeout, or too many
    /// look-ups wait; otherwise the error of the statement or of the row.
    pub(crate) async fn ask(&self, asked: Q) -> Answer<Q::Found> {
        traced(SYSTEM, Q::NAME, self.asked(asked)).await
    }

    async fn asked(&self, asked: Q) -> Answer<Q::Found> {
        let (reply, answer) = answers::reply();
        if let Some(nudge) = self.shared.push(LookUp { asked, at: Instant::now(), reply })? {
            tokio::task::yield_now().await;
            drop(nudge);
        }
        answer.answer(self.patience).await
    }
}

/// Ends the threads. Callers that still wait get an error.
impl<Q: Question> Drop for LookUps<Q> {
    fn drop(&mut self) {
        self.shared.queue().closed = true;
        self.shared.work.notify_all();
    }
}

impl<Q: Question> Shared<Q> {
    fn queue(&self) -> MutexGuard<'_, Queue<Q>> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn push(&self, look_up: LookUp<Q>) -> Result<Option<WakeGuard<'_, Q>>, StoreError> {
        let mut queue = self.queue();
        if queue.waiting.len() >= WAITING {
            // While no connection gets an answer, waiting look-ups leave the queue only when their
            // callers give up.
            queue.drop_closed();
        }
        if queue.waiting.len() >= WAITING {
            queue.load.left += 1;
            return Err(unavailable("too many look-ups are waiting"));
        }
        queue.waiting.push_back(look_up);
        // Only a task on the same thread may be nudged; another thread may be busy for long.
        let here = Some(thread::current().id());
        let is_first = queue.idle > 0 && queue.nudged != here;
        if is_first {
            queue.nudged = here;
        }
        Ok(is_first.then(|| WakeGuard(self)))
    }

    fn gathering(&self) -> Duration {
        let others = self.instances.load(Ordering::Relaxed).saturating_sub(1);
        GATHERING.saturating_mul(others).min(HEAD_START)
    }

    /// Takes all waiting look-ups once it is time to ask; `None` when the queue is closed.
    fn take(&self) -> Option<Vec<LookUp<Q>>> {
        let mut queue = self.queue();
        loop {
            let now = Instant::now();
            queue = match queue.next_turn(now, self.gathering()) {
                NextStep::Now(wanted) => return Some(wanted),
                NextStep::Never => return None,
                NextStep::WhenAsked => {
                    queue.idle += 1;
                    let mut queue = self.work.wait(queue).unwrap_or_else(PoisonError::into_inner);
                    queue.idle -= 1;
                    queue
                }
                NextStep::In(pause) => {
                    let waited = self.work.wait_timeout(queue, pause);
                    waited.unwrap_or_else(PoisonError::into_inner).0
                }
            };
        }
    }
}

/// Wakes an asking thread when dropped.
///
/// The holder first lets the other tasks of its thread run. Their look-ups then join the same
/// statement, and this thread is not preempted after each of them.
struct WakeGuard<'shared, Q: Question>(&'shared Shared<Q>);

impl<Q: Question> Drop for WakeGuard<'_, Q> {
    fn drop(&mut self) {
        self.0.queue().nudged = None;
        self.0.work.notify_one();
    }
}

enum NextStep<Q: Question> {
    Now(Vec<LookUp<Q>>),
    In(Duration),
    WhenAsked,
    Never,
}

impl<Q: Question> Default for Queue<Q> {
    fn default() -> Self {
        Self {
            waiting: VecDeque::new(),
            idle: 0,
            nudged: None,
            under_way: 0,
            closed: false,
            load: QueueLoad::default(),
        }
    }
}

impl<Q: Question> Queue<Q> {
    fn drop_closed(&mut self) {
        let before = self.waiting.len();
        self.waiting.retain(|look_up| !look_up.reply.is_closed());
        self.load.left += (before - self.waiting.len()) as u64;
    }

    fn next_turn(&mut self, now: Instant, gathering: Duration) -> NextStep<Q> {
        while self.waiting.front().is_some_and(|look_up| look_up.reply.is_closed()) {
            self.waiting.pop_front();
            self.load.left += 1;
        }
        let Some(first) = self.waiting.front() else {
            return if self.closed { NextStep::Never } else { NextStep::WhenAsked };
        };
        let waited = now.saturating_duration_since(first.at);
        let pause = match (self.under_way, self.waiting.len()) {
            (0, 1) => Duration::ZERO,
            (0, _) => gathering,
            _ => HEAD_START,
        };
        if waited < pause {
            return NextStep::In(pause - waited);
        }
        self.under_way += 1;
        let count = self.waiting.len().min(JOINED);
        let taken: Vec<_> = self.waiting.drain(..count).collect();
        for look_up in &taken {
            self.load.waited.record(now.saturating_duration_since(look_up.at));
        }
        NextStep::Now(taken)
    }
}

struct LookUpWorker<Q: Question> {
    shared: Arc<Shared<Q>>,
    links: Links,
    room: Arc<DiskSpace>,
    acquire_timeout: Duration,
    call_timeout: Duration,
}

impl<Q: Question> LookUpWorker<Q> {
    fn serve(&self) {
        while let Some(wanted) = self.shared.take() {
            let began = Instant::now();
            // A panic must not end the thread. The callers then get an error instead of an answer.
            let found = catch_unwind(AssertUnwindSafe(|| self.ask(&wanted)));
            let mut queue = self.shared.queue();
            queue.under_way -= 1;
            queue.load.worked.record(began.elapsed());
            drop(queue);
            if let Ok(found) = found {
                tell(wanted.into_iter().map(|look_up| look_up.reply), found);
            }
        }
    }

    fn ask(&self, wanted: &[LookUp<Q>]) -> Result<Vec<Answer<Q::Found>>, StoreError> {
        let deadline = Deadline::at(Instant::now() + self.call_timeout);
        let asked: Vec<&Q> = wanted.iter().map(|look_up| &look_up.asked).collect();
        pool::repeat(&self.links, &self.room, self.acquire_timeout, deadline, |conn, _| {
            Q::answers(&asked, conn)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Anything;

    impl Question for Anything {
        const NAME: &'static str = "test";
        type Found = ();

        fn answers(asked: &[&Self], _: &mut PgConnection) -> Result<Vec<Answer<()>>, Failure> {
            Ok(asked.iter().map(|_| Ok(None)).collect())
        }
    }

    fn turn(
        waiting: u32,
        waited: Duration,
        under_way: u32,
        gathering: Duration,
    ) -> NextStep<Anything> {
        let (at, now) = (Instant::now(), Instant::now() + waited);
        let (replies, answers): (Vec<_>, Vec<_>) = (0..waiting).map(|_| answers::reply()).unzip();
        let look_ups = replies.into_iter().map(|reply| LookUp { asked: Anything, at, reply });
        let mut queue = Queue { waiting: look_ups.collect(), under_way, ..Queue::default() };
        let turn = queue.next_turn(now, gathering);
        drop(answers);
        turn
    }

    fn sent(turn: &NextStep<Anything>) -> usize {
        match turn {
            NextStep::Now(look_ups) => look_ups.len(),
            _ => 0,
        }
    }

    #[test]
    fn several_look_ups_wait_for_more_where_there_are_other_instances() {
        let (little, long) = (GATHERING / 2, GATHERING * 2);
        assert_eq!(sent(&turn(2, Duration::ZERO, 0, Duration::ZERO)), 2, "one instance alone");
        assert!(
            matches!(turn(2, little, 0, GATHERING), NextStep::In(rest) if rest <= GATHERING - little)
        );
        assert_eq!(sent(&turn(2, long, 0, GATHERING)), 2);
        assert_eq!(sent(&turn(1, Duration::ZERO, 0, GATHERING)), 1, "nobody to wait for");
    }

    #[test]
    fn one_of_those_who_ask_wakes_the_thread_when_the_others_have_asked() {
        let queue = Queue { idle: 1, ..Queue::default() };
        let shared =
            Shared { queue: Mutex::new(queue), work: Condvar::new(), instances: Arc::default() };
        let ask = || {
            let look_up = LookUp { asked: Anything, at: Instant::now(), reply: answers::reply().0 };
            shared.push(look_up).ok().flatten()
        };
        let first = ask();
        assert!(first.is_some());
        assert!(ask().is_none(), "the first will do it for both");
        let is_nudged_elsewhere =
            thread::scope(|scope| scope.spawn(|| ask().map(std::mem::forget).is_some()).join());
        assert!(is_nudged_elsewhere.is_ok_and(|is| is), "that thread may be busy for long");
        drop(first);
        assert!(ask().is_some(), "the thread sleeps, and nobody is about to wake it");
    }

    #[test]
    fn the_other_connection_is_used_after_a_head_start() {
        assert!(matches!(turn(1, HEAD_START / 2, 1, Duration::ZERO), NextStep::In(_)));
        assert_eq!(sent(&turn(1, HEAD_START * 2, 1, Duration::ZERO)), 1);
    }
}
