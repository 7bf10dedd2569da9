use crate::connection::disk_space::DiskSpace;
use crate::connection::error::{Failure, no_answer_in_time, too_late, unavailable};
use crate::connection::link::{LinkManager, Links};
use crate::connection::settings::{LOOK_UPS, SYSTEM, Settings};
use diesel::connection::SimpleConnection;
use diesel::prelude::*;
use diesel::r2d2;
use dwar_kernel::{ProjectId, StoreError};
use dwar_sql::{Flow, PROVE_WRITABLE, WAITING, traced};
use dwar_turns::{AdmissionQueue, PoolLoad, QueueLoad};
use std::sync::Arc;
use std::time::{Duration, Instant};
use tracing::Span;

diesel::define_sql_function! {
    fn has_room() -> diesel::sql_types::Bool;
}

/// Most attempts of one call after a lost connection, a conflict or a read-only server.
const TRIES: u32 = 5;

/// Longest run of a background task that no request waits for.
const LONG: Duration = Duration::from_secs(600);

pub(crate) trait Work<T>:
    FnMut(&mut PgConnection) -> Result<T, Failure> + Send + 'static
{
}

impl<T, W> Work<T> for W where W: FnMut(&mut PgConnection) -> Result<T, Failure> + Send + 'static {}

/// Runs work on pooled connections, off the async threads and in bounded time.
///
/// There are as many permits as connections. Further callers wait without holding a thread, and
/// projects take turns.
#[derive(Clone)]
pub(crate) struct Pool {
    links: Links,
    queue: Arc<AdmissionQueue<Flow>>,
    flow: Flow,
    acquire_timeout: Duration,
    call_timeout: Duration,
    room: Arc<DiskSpace>,
}

impl Pool {
    /// Makes a pool that connects on demand: the server need not be up yet.
    pub(crate) fn new(settings: &Settings, manager: LinkManager) -> Self {
        let size = settings.pool_size.saturating_sub(2 * LOOK_UPS).max(1);
        let links = links(size, settings, manager);
        let permits = usize::try_from(size).unwrap_or(usize::MAX);
        Self {
            links,
            queue: AdmissionQueue::new(permits, WAITING),
            flow: None,
            acquire_timeout: settings.acquire_timeout,
            call_timeout: settings.call_timeout,
            room: Arc::new(DiskSpace::new()),
        }
    }

    /// Returns this pool for work of one project, which takes turns with the work of other
    /// projects.
    pub(crate) fn of(&self, project: ProjectId) -> Self {
        Self { flow: Some(project), ..self.clone() }
    }

    /// Reports how the queue and the connections are used.
    pub(crate) fn load(&self) -> (QueueLoad, PoolLoad) {
        (self.queue.load(), used(&self.links))
    }

    pub(crate) const fn doubts(&self) -> &Arc<DiskSpace> {
        &self.room
    }

    /// Asks the server whether its disk has space, if that is in doubt.
    pub(crate) async fn room(&self) -> Result<(), StoreError> {
        if !self.room.is_in_doubt() {
            return Ok(());
        }
        let has_room = |conn: &mut PgConnection| Ok(diesel::select(has_room()).get_result(conn)?);
        let room = self.run("pool.room", has_room).await;
        let room = room.inspect_err(|_| self.room.suspect())?;
        self.room.found(room);
        if room { Ok(()) } else { Err(StoreError::NoRoom) }
    }

    /// Proves that writes work with a write that is committed. A write that is rolled back never
    /// reaches the disk or a synchronous standby. Also asks for disk space, if that is in doubt.
    pub(crate) async fn prove_writable(&self) -> Result<(), StoreError> {
        let prove = |conn: &mut PgConnection| {
            diesel::sql_query(PROVE_WRITABLE).execute(conn)?;
            Ok(())
        };
        match self.run("pool.prove_writable", prove).await {
            Err(cause) if cause.is_transient() && !matches!(cause, StoreError::NoRoom) => {
                Err(cause)
            }
            proved => self.room().await.and(proved),
        }
    }

    /// Runs one statement; `name` is the name of its span. The statement MUST be harmless if it
    /// runs twice, because it is repeated after a lost connection.
    pub(crate) async fn run<T: Send + 'static>(
        &self,
        name: &'static str,
        mut work: impl Work<T>,
    ) -> Result<T, StoreError> {
        let call = self.call(self.call_timeout, move |conn, _| work(conn));
        traced(SYSTEM, name, call).await
    }

    /// Runs one transaction, atomically and at most once.
    pub(crate) async fn transaction<T: Send + 'static>(
        &self,
        name: &'static str,
        mut work: impl Work<T>,
    ) -> Result<T, StoreError> {
        let call = self.call(self.call_timeout, move |conn, deadline| {
            let mut committing = false;
            let outcome: Result<T, Failure> = conn.transaction(|conn| {
                let value = work(conn)?;
                // The caller was already told that this failed.
                deadline.check()?;
                committing = true;
                Ok(value)
            });
            outcome.map_err(|cause| if committing { cause.while_committing() } else { cause })
        });
        traced(SYSTEM, name, call).await
    }

    /// Runs several statements on one snapshot. For reads of whole tables that no request waits
    /// for.
    pub(crate) async fn long_snapshot<T: Send + 'static>(
        &self,
        name: &'static str,
        mut work: impl Work<T>,
    ) -> Result<T, StoreError> {
        let read = move |conn: &mut PgConnection, _| {
            conn.build_transaction().repeatable_read().read_only().run(|conn| {
                conn.batch_execute(&format!(
                    "SET LOCAL statement_timeout = '{}s'; SET LOCAL enable_seqscan = on; \
                     SET LOCAL enable_hashjoin = on; SET LOCAL enable_mergejoin = on",
                    LONG.as_secs()
                ))?;
                work(conn)
            })
        };
        traced(SYSTEM, name, self.call(LONG, read)).await
    }

    async fn call<T, W>(&self, patience: Duration, work: W) -> Result<T, StoreError>
    where
        T: Send + 'static,
        W: FnMut(&mut PgConnection, Deadline) -> Result<T, Failure> + Send + 'static,
    {
        let deadline = Deadline(Instant::now() + patience);
        let wait = self.acquire_timeout.min(patience);
        let permit = tokio::time::timeout(wait, self.queue.enter(self.flow)).await;
        let Ok(Some(permit)) = permit else {
            return Err(unavailable("every connection is in use"));
        };
        let (links, room, span) = (self.links.clone(), Arc::clone(&self.room), Span::current());
        let acquire_timeout = self.acquire_timeout;
        // The permit moves into the job: if the caller gives up, the connection is still in use.
        let job = tokio::task::spawn_blocking(move || {
            let _permit = permit;
            span.in_scope(|| repeat(&links, &room, acquire_timeout, deadline, work))
        });
        // The server's own time-outs do not help if it is frozen or its packets get lost.
        match tokio::time::timeout_at(deadline.0.into(), job).await {
            Ok(finished) => finished.map_err(|cause| StoreError::Failed(Box::new(cause)))?,
            Err(_) => Err(no_answer_in_time()),
        }
    }
}

/// The time after which nobody waits for the answer.
#[derive(Clone, Copy)]
pub(crate) struct Deadline(Instant);

impl Deadline {
    pub(crate) const fn at(instant: Instant) -> Self {
        Self(instant)
    }

    fn check(self) -> Result<(), Failure> {
        if self.left().is_zero() {
            return Err(too_late().into());
        }
        Ok(())
    }

    fn left(self) -> Duration {
        self.0.saturating_duration_since(Instant::now())
    }
}

pub(crate) fn links(size: u32, settings: &Settings, manager: LinkManager) -> Links {
    // While the server is down, half of this is also the longest pause between two attempts to
    // connect.
    let patience = settings.acquire_timeout.max(Duration::from_millis(100));
    r2d2::Pool::builder()
        .max_size(size)
        .min_idle(Some(1))
        .connection_timeout(patience)
        .test_on_check_out(true)
        .error_handler(Box::new(crate::connection::link::LogFailures::default()))
        .build_unchecked(manager)
}

pub(crate) fn used(links: &Links) -> PoolLoad {
    let (state, most) = (links.state(), links.max_size());
    let idle = state.idle_connections;
    PoolLoad { used: state.connections.saturating_sub(idle), idle, most }
}

/// Runs the work on a connection, on a thread that may block, and repeats it where that is
/// harmless.
pub(crate) fn repeat<T, W>(
    links: &Links,
    room: &DiskSpace,
    acquire_timeout: Duration,
    deadline: Deadline,
    mut work: W,
) -> Result<T, StoreError>
where
    W: FnMut(&mut PgConnection, Deadline) -> Result<T, Failure>,
{
    let mut tries = 1;
    loop {
        let mut link = links
            .get_timeout(acquire_timeout.min(deadline.left()))
            .map_err(|cause| room.judge_refusal(cause))?;
        deadline.check()?;
        let cause = match work(link.connection(), deadline) {
            Ok(value) => return Ok(value),
            Err(cause) => cause,
        };
        if cause.is_read_only() {
            link.mark_read_only();
        }
        if cause.is_lost() {
            link.mark_lost();
        }
        if !cause.may_be_repeated() || tries == TRIES {
            return Err(room.judge(cause));
        }
        tracing::debug!(?cause, tries, "beginning anew");
        tries += 1;
    }
}
