use crate::connection::command::{BEGIN, COMMIT, RELEASE, ROLLBACK, ROLLBACK_TO, SAVEPOINT};
use crate::connection::disk_space::DiskSpace;
use crate::connection::error::{is_full, unavailable};
use crate::connection::job::{Job, LostJob, Task, Work};
use crate::connection::look_up_cache::{LookUpCache, OutdatedLookUps};
use crate::connection::open_files::OpenFiles;
use crate::connection::settings::{SYSTEM, Synchronous};
use crate::connection::writes::{WriterGuard, Writes};
use diesel::SqliteConnection;
use diesel::result::{Error as QueryError, QueryResult};
use dwar_kernel::StoreError;
use dwar_sql::{Flow, traced};
use dwar_turns::QueueLoad;
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::Duration;
use tokio::sync::oneshot;
use tracing::Span;

/// Most writes in one commit: enough to hide the cost of the disk, few enough for a quick answer.
const BATCH: usize = 128;

/// The one thread that writes, for each project in the order of arrival and for all of them in turn.
///
/// SQLite lets one connection write at a time. A queue in front of it is fairer than its lock. All
/// waiting writes share one commit, hence one flush of the disk. Each write is answered after that
/// commit, so an answer means that the write is on disk, unless the write did not ask for that.
pub(crate) struct Writer {
    writes: Arc<Writes>,
    thread: Option<JoinHandle<()>>,
    patience: Duration,
}

pub(crate) struct WriterParts {
    /// With [`Synchronous::Full`] a commit waits for the disk if one of its writes asks for that.
    pub(crate) synchronous: Synchronous,
    pub(crate) room: Arc<DiskSpace>,
    pub(crate) place: Arc<OpenFiles>,
    /// Told of every commit before its callers are answered.
    pub(crate) remembered: Option<Arc<LookUpCache>>,
}

impl Writer {
    /// Starts the thread with a connection; `open` makes a new one after each broken commit.
    pub(crate) fn start<Open>(
        connection: SqliteConnection,
        open: Open,
        beside: WriterParts,
        length: usize,
        patience: Duration,
    ) -> std::io::Result<Self>
    where
        Open: Fn() -> Option<SqliteConnection> + Send + 'static,
    {
        let writes = Arc::new(Writes::new(length));
        let served = WriterGuard(Arc::clone(&writes));
        let thread = std::thread::Builder::new()
            .name("dwar-sqlite-writer".to_owned())
            .spawn(move || serve(&served.0, connection, &open, &beside))?;
        Ok(Self { writes, thread: Some(thread), patience })
    }

    /// Runs `work` as one atomic step and answers once it is committed, and `on_disk` if so asked.
    ///
    /// An error undoes only this work. Queued work is done even if its caller has given up, unless
    /// the queue is full: then the newest job of the longest flow is dropped.
    pub(crate) async fn submit<T: Send + 'static>(
        &self,
        name: &'static str,
        flow: Flow,
        on_disk: bool,
        changes: OutdatedLookUps,
        work: impl Work<T>,
    ) -> Result<T, StoreError> {
        traced(SYSTEM, name, self.queued(flow, on_disk, changes, work)).await
    }

    async fn queued<T: Send + 'static>(
        &self,
        flow: Flow,
        on_disk: bool,
        changes: OutdatedLookUps,
        work: impl Work<T>,
    ) -> Result<T, StoreError> {
        let (reply, answer) = oneshot::channel();
        let (work, span) = (Some(work), Span::current());
        let task = Task { work, outcome: None, on_disk, changes, reply, span };
        let queued = self.writes.push(flow, Box::new(task));
        if tokio::time::timeout(self.patience, queued).await.is_err() {
            self.writes.gave_up();
            tracing::warn!("the queue of writes is full");
            return Err(LostJob::NoPlace.into());
        }
        answer.await.map_err(|_| unavailable("the writer has stopped"))?
    }

    pub(crate) fn load(&self) -> QueueLoad {
        self.writes.load()
    }
}

/// Lets the thread finish its queue, so that the file is at rest afterwards.
impl Drop for Writer {
    fn drop(&mut self) {
        self.writes.close();
        if self.thread.take().is_some_and(|thread| thread.join().is_err()) {
            tracing::error!("the writer's thread had panicked");
        }
    }
}

fn serve(
    writes: &Writes,
    mut connection: SqliteConnection,
    open: &dyn Fn() -> Option<SqliteConnection>,
    beside: &WriterParts,
) {
    let WriterParts { synchronous, room, place, remembered } = beside;
    let (synchronous, remembered) = (*synchronous, remembered.as_deref());
    let mut batch = Vec::with_capacity(BATCH);
    let mut flushes = synchronous;
    // Writes that a lost transaction did not reach form the next batch.
    while !batch.is_empty() || writes.take(BATCH, &mut batch) {
        if place.look().is_err() {
            settle(&mut batch, Some(LostJob::Misplaced));
            continue;
        }
        let flush = match batch.iter().any(|job| job.on_disk()) {
            true => synchronous,
            false => Synchronous::Normal,
        };
        let switched = if flush == flushes { Ok(()) } else { flush.set(&mut connection) };
        flushes = flush;
        if let Some(remembered) = remembered {
            remembered.begin();
        }
        let committed = switched.and_then(|()| commit(&mut connection, &mut batch));
        if let Some(remembered) = remembered {
            match committed {
                Ok(()) => remembered.end(&mut connection, batch.iter().map(|job| job.changes())),
                Err(_) => remembered.forget(),
            }
        }
        if committed.is_err()
            && let Some(fresh) = open()
        {
            // The state of the old connection is unknown; a new one has no open transaction.
            (connection, flushes) = (fresh, synchronous);
        }
        let lacked_room = batch.iter().any(|job| job.lacked_room());
        let lost = committed.err().map(|cause| judge(&cause, lacked_room, room));
        if lacked_room || lost == Some(LostJob::NoRoom) {
            room.found_full();
        }
        settle(&mut batch, lost);
    }
}

/// Answers the jobs that were reached and leaves the others.
fn settle(batch: &mut Vec<Box<dyn Job>>, lost: Option<LostJob>) {
    let reached = batch.iter().any(|job| job.was_reached());
    let mut rest = Vec::new();
    for job in batch.drain(..) {
        // A transaction that cannot even begin, or would be retried for ever, reaches no job.
        if lost.is_some() && reached && !job.was_reached() {
            rest.push(job);
        } else {
            job.answer(lost.clone());
        }
    }
    batch.append(&mut rest);
}

/// A single write without space may end the transaction of the others. Their error then only says
/// that the transaction was lost.
fn judge(cause: &QueryError, lacked_room: bool, room: &DiskSpace) -> LostJob {
    if lacked_room || is_full(cause) || room.is_exhausted() {
        LostJob::NoRoom
    } else {
        tracing::error!(%cause, "a commit failed");
        LostJob::Unknown(cause.to_string().into())
    }
}

/// One transaction for the whole batch. It is IMMEDIATE, because a lock that is requested after the
/// first read is refused at once if another process wrote meanwhile.
///
/// Its commands are cached statements, because diesel's own would be parsed each time.
fn commit(connection: &mut SqliteConnection, batch: &mut [Box<dyn Job>]) -> QueryResult<()> {
    BEGIN.run(connection)?;
    let done = match batch {
        // A single job needs no savepoint of its own.
        [job] => match job.run(connection) {
            true => COMMIT.run(connection),
            false => ROLLBACK.run(connection),
        },
        jobs => jobs
            .iter_mut()
            .try_for_each(|job| {
                SAVEPOINT.run(connection)?;
                if !job.run(connection) {
                    ROLLBACK_TO.run(connection)?;
                }
                RELEASE.run(connection)
            })
            .and_then(|()| COMMIT.run(connection)),
    };
    if done.is_err() {
        // SQLite may have ended the transaction by itself. This rolls back in case no new
        // connection can be opened.
        let _ended = ROLLBACK.run(connection);
    }
    done
}

#[cfg(test)]
#[path = "writer_tests.rs"]
mod tests;
