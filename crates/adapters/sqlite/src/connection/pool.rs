use crate::connection::disk_space::DiskSpace;
use crate::connection::error::{OpenError, unavailable, unreachable};
use crate::connection::file::File;
use crate::connection::job::Work;
use crate::connection::look_up_cache::{LookUpCache, OutdatedLookUps};
use crate::connection::open_files::{OpenFiles, identity};
use crate::connection::settings::{SYSTEM, Settings};
use crate::connection::writer::{Writer, WriterParts};
use diesel::connection::SimpleConnection;
use diesel::prelude::*;
use diesel::r2d2::{ConnectionManager, Pool};
use dwar_kernel::{ProjectId, StoreError, Timestamp};
use dwar_sql::{At, Flow, PROVE_WRITABLE, WAITING, traced};
use dwar_turns::{AdmissionQueue, Load, PoolLoad};
use std::sync::Arc;
use std::time::Duration;
use tracing::Span;

/// Rows that one turn of a sweep deletes: a few milliseconds of the writer's time.
pub(crate) const SWEEP: u16 = 500;

/// Needs as much space as a few of our writes, and leaves nothing behind. If there is no space, an
/// `INSERT … SELECT` that can break a constraint undoes itself, while a plain insert would abort
/// the whole transaction.
const PROBE: &str = "CREATE TABLE room_probe (filler blob NOT NULL); \
                     INSERT INTO room_probe SELECT zeroblob(65536); DROP TABLE room_probe;";

/// Implements every store port on one SQLite file, which other processes may use as well.
///
/// Writes go through one thread (see `writer.rs`), reads through a pool of connections that cannot
/// write. Projects take turns where work has to wait. A read that begins after the answer to a
/// write sees that write. Clones share everything; the file is closed when the last clone is
/// dropped.
#[derive(Clone)]
pub struct SqliteStore {
    shared: Arc<Shared>,
    flow: Flow,
    changes: OutdatedLookUps,
}

struct Shared {
    file: File,
    writer: Writer,
    readers: Pool<ConnectionManager<SqliteConnection>>,
    scans: Arc<AdmissionQueue<Flow>>,
    patience: Duration,
    room: Arc<DiskSpace>,
    place: Arc<OpenFiles>,
    remembered: Option<Arc<LookUpCache>>,
}

impl SqliteStore {
    /// Opens the file, without touching its schema; see [`SqliteStore::migrate`].
    ///
    /// # Errors
    /// [`OpenError`] if the file cannot be created or written to, is not a database, or stays
    /// locked for longer than the busy timeout.
    pub fn open(settings: Settings) -> Result<Self, OpenError> {
        let file = File::new(&settings)?;
        let before = identity(&file.path);
        let mut connection = file.connect()?;
        // After the first read the log has an index, which shows every commit, and no other process
        // can replace this file (`claim.rs`). Until then one could.
        connection.batch_execute("SELECT count(*) FROM sqlite_schema")?;
        if before.is_some() && before != identity(&file.path) {
            return Err(OpenError::Replaced);
        }
        let remembered = LookUpCache::of(&file.path).map(Arc::new);
        let place = Arc::new(OpenFiles::of(&file.path));
        let room = Arc::new(DiskSpace::new(file.folder(), settings.min_free));
        let count = settings.readers.max(1);
        let readers = Pool::builder()
            .max_size(count)
            .test_on_check_out(false)
            .max_lifetime(None)
            .idle_timeout(None)
            .connection_timeout(settings.patience)
            .connection_customizer(Box::new(file.clone()))
            .build(ConnectionManager::new(file.url.clone()))?;
        let (own, of_it) = (file.clone(), Arc::clone(&place));
        let reopen = move || {
            of_it.look().ok()?;
            own.connect().inspect_err(log_reopening).ok()
        };
        let Settings { queue, patience, .. } = settings;
        let beside = WriterParts {
            synchronous: settings.synchronous,
            room: Arc::clone(&room),
            place: Arc::clone(&place),
            remembered: remembered.clone(),
        };
        let writer = Writer::start(connection, reopen, beside, queue, patience)
            .map_err(OpenError::Thread)?;
        // Scans may use at most half of the connections; the others remain for look-ups.
        let scans = AdmissionQueue::new(usize::try_from(count / 2).unwrap_or(1), WAITING);
        let shared = Shared { file, writer, readers, scans, patience, room, place, remembered };
        Ok(Self { shared: Arc::new(shared), flow: None, changes: OutdatedLookUps::Anything })
    }

    /// Checks that the store can write and read now, or only read if it is read-only; changes
    /// nothing.
    ///
    /// # Errors
    /// The errors of a write or read: a stopped writer, a full queue, a locked file.
    pub async fn ping(&self) -> Result<(), StoreError> {
        if !self.shared.file.read_only {
            self.write("pool.ping", |_| Ok(())).await?;
        }
        self.read("pool.ping", |connection| {
            let one = diesel::select(1.into_sql::<diesel::sql_types::Integer>());
            Ok(one.execute(connection).map(|_| ())?)
        })
        .await
    }

    /// Returns the free bytes of the file system of the database, if there is space to write.
    ///
    /// If SQLite was full, this tests whether it still is, by creating and dropping a table in one
    /// step. Logs once when the space is used up and once when there is space again.
    ///
    /// # Errors
    /// [`StoreError::NoRoom`] if SQLite is full, or less is free than [`Settings::min_free`].
    pub async fn room(&self) -> Result<Option<u64>, StoreError> {
        let room = &self.shared.room;
        if room.is_full() {
            self.write("pool.room", |connection| Ok(connection.batch_execute(PROBE)?)).await?;
        }
        room.found_free(room.free()?).map(Some)
    }

    /// Proves that writes work by committing a number to a table of its own. A write that is rolled
    /// back never reaches the disk. Returns the free bytes, as [`SqliteStore::room`] does.
    ///
    /// # Errors
    /// The errors of a write: no space, a locked or read-only file, a file that was moved or
    /// replaced.
    pub async fn prove_writable(&self) -> Result<Option<u64>, StoreError> {
        let prove = |connection: &mut SqliteConnection| {
            diesel::sql_query(PROVE_WRITABLE).execute(connection)?;
            Ok(())
        };
        self.write_that("pool.prove_writable", OutdatedLookUps::NoLookUp, prove).await?;
        self.room().await
    }

    /// Reports how the queues and connections are used, without reading the file.
    pub fn load(&self) -> Load {
        let Shared { writer, scans, readers, .. } = self.shared.as_ref();
        let state = readers.state();
        let (idle, most) = (state.idle_connections, readers.max_size());
        let pool = PoolLoad { used: state.connections.saturating_sub(idle), idle, most };
        Load {
            queues: vec![("writes", writer.load()), ("reads", scans.load())],
            pools: vec![("readers", pool)],
        }
    }

    /// Returns this store for work of one project, which takes turns with the work of other
    /// projects.
    pub(crate) fn of(&self, project: ProjectId) -> Self {
        Self { flow: Some(project), ..self.clone() }
    }

    /// Returns this store for writes that change [no look-up](Changes::NoLookUp).
    pub(crate) fn changing_no_look_up(&self) -> Self {
        Self { changes: OutdatedLookUps::NoLookUp, ..self.clone() }
    }

    /// The remembered look-ups, unless this store may not use them.
    pub(crate) fn remembered(&self) -> Option<&LookUpCache> {
        let Shared { remembered, place, .. } = self.shared.as_ref();
        remembered.as_deref().filter(|_| !place.is_lost())
    }

    #[cfg(test)]
    pub(crate) fn writer(&self) -> &Writer {
        &self.shared.writer
    }

    /// Runs `work` as one atomic step on the writer and answers once it is on disk. `name` is the
    /// name of its span (docs/tracing.md): the part of the store and the operation.
    pub(crate) async fn write<T: Send + 'static>(
        &self,
        name: &'static str,
        work: impl Work<T>,
    ) -> Result<T, StoreError> {
        self.write_that(name, self.changes, work).await
    }

    /// Like [`SqliteStore::write`], for a step of one statement.
    pub(crate) async fn write_one<T: Send + 'static>(
        &self,
        name: &'static str,
        work: impl Work<T>,
    ) -> Result<T, StoreError> {
        self.write(name, work).await
    }

    /// Like [`SqliteStore::write`], for a step with known [`OutdatedLookUps`].
    pub(crate) async fn write_that<T: Send + 'static>(
        &self,
        name: &'static str,
        changes: OutdatedLookUps,
        work: impl Work<T>,
    ) -> Result<T, StoreError> {
        self.shared.writer.submit(name, self.flow, true, changes, work).await
    }

    /// Like [`SqliteStore::write`], but answers without waiting for the disk.
    ///
    /// A loss of power (not the death of this process) may undo the write. Use it only for a step
    /// that is followed by a [`SqliteStore::write`] before any effect outside the database, because
    /// the log is flushed in order, or for a step that is repeated if it is missing. It MUST change
    /// [no look-up](Changes::NoLookUp).
    pub(crate) async fn write_ahead_of_disk<T: Send + 'static>(
        &self,
        name: &'static str,
        work: impl Work<T>,
    ) -> Result<T, StoreError> {
        self.shared.writer.submit(name, self.flow, false, OutdatedLookUps::NoLookUp, work).await
    }

    /// Like [`SqliteStore::write_ahead_of_disk`]. PostgreSQL has this name for several statements.
    pub(crate) async fn steps_ahead_of_disk<T: Send + 'static>(
        &self,
        name: &'static str,
        work: impl Work<T>,
    ) -> Result<T, StoreError> {
        self.write_ahead_of_disk(name, work).await
    }

    /// Runs `work` on a new connection, outside the writer's transactions.
    pub(crate) async fn apart<T, F>(&self, work: F) -> Result<T, StoreError>
    where
        T: Send + 'static,
        F: FnOnce(&mut SqliteConnection) -> Result<T, StoreError> + Send + 'static,
    {
        let (file, place) = (self.shared.file.clone(), Arc::clone(&self.shared.place));
        let job = move || {
            place.look()?;
            let opened = file.connect().inspect_err(log_reopening);
            work(&mut opened.map_err(|cause| unreachable("the database cannot be opened", cause))?)
        };
        let done = tokio::task::spawn_blocking(job).await;
        done.unwrap_or_else(|cause| Err(StoreError::Failed(Box::new(cause))))
    }

    /// Deletes the rows of `table` with an `age` before an instant. The table needs row ids and an
    /// index that begins with `age`.
    pub(crate) async fn drop_before(
        &self,
        table: &'static str,
        age: &'static str,
        before: Timestamp,
    ) -> Result<u64, StoreError> {
        let before = At::from(before);
        self.in_batches(move |connection| {
            let some = format!("SELECT rowid FROM {table} WHERE {age} < ? LIMIT {SWEEP}");
            diesel::sql_query(format!("DELETE FROM {table} WHERE rowid IN ({some})"))
                .bind::<At, _>(before)
                .execute(connection)
        })
        .await
    }

    /// Repeats a deletion of [`SWEEP`] rows until fewer are left and gives how many rows went.
    ///
    /// Each turn is a separate step, so that other writes can run in between.
    pub(crate) async fn in_batches<F>(&self, turn: F) -> Result<u64, StoreError>
    where
        F: Fn(&mut SqliteConnection) -> QueryResult<usize> + Copy + Send + 'static,
    {
        self.drain_by(SWEEP, turn).await
    }

    /// Like [`SqliteStore::in_batches`], with this many rows per turn.
    pub(crate) async fn drain_by<F>(&self, rows: u16, turn: F) -> Result<u64, StoreError>
    where
        F: Fn(&mut SqliteConnection) -> QueryResult<usize> + Clone + Send + 'static,
    {
        let mut total = 0;
        loop {
            let turn = turn.clone();
            let gone = self.write("pool.drain_by", move |connection| Ok(turn(connection)?)).await?;
            total += u64::try_from(gone).unwrap_or_default();
            if gone < usize::from(rows) {
                return Ok(total);
            }
        }
    }

    /// Runs an index look-up on a reader, on the current thread.
    ///
    /// It takes some 20 µs, as long as a switch to another thread and back would (measured: twice
    /// the reads per second). Only if every connection is taken does it move to another thread and
    /// wait.
    pub(crate) async fn read<T: Send + 'static>(
        &self,
        name: &'static str,
        query: impl Work<T>,
    ) -> Result<T, StoreError> {
        let read = async {
            self.shared.place.known()?;
            match self.shared.readers.try_get() {
                Some(mut connection) => Ok(query(&mut connection)?),
                None => self.scanned(query).await,
            }
        };
        traced(SYSTEM, name, read).await
    }

    /// Like [`SqliteStore::scan`]. PostgreSQL has this name for queries that read whole tables.
    pub(crate) async fn scan_all<T: Send + 'static>(
        &self,
        name: &'static str,
        query: impl Work<T>,
    ) -> Result<T, StoreError> {
        self.scan(name, query).await
    }

    /// Runs a query of any duration on a reader, on a thread that may block.
    pub(crate) async fn scan<T: Send + 'static>(
        &self,
        name: &'static str,
        query: impl Work<T>,
    ) -> Result<T, StoreError> {
        traced(SYSTEM, name, self.scanned(query)).await
    }

    async fn scanned<T: Send + 'static>(&self, query: impl Work<T>) -> Result<T, StoreError> {
        self.shared.place.known()?;
        let place = self.shared.scans.enter(self.flow);
        let Ok(Some(place)) = tokio::time::timeout(self.shared.patience, place).await else {
            tracing::warn!("no connection was free for a read");
            return Err(unavailable("too many reads are waiting"));
        };
        let readers = self.shared.readers.clone();
        let span = Span::current();
        let work = move || {
            let _place = place;
            let _entered = span.enter();
            let mut connection = readers.get().map_err(|cause| {
                tracing::error!(%cause, "no reader's connection");
                unreachable("no connection for a read", cause)
            })?;
            Ok(query(&mut connection)?)
        };
        let done = tokio::task::spawn_blocking(work).await;
        done.unwrap_or_else(|cause| Err(StoreError::Failed(Box::new(cause))))
    }
}

fn log_reopening(cause: &OpenError) {
    tracing::error!(%cause, "the database cannot be opened again");
}
