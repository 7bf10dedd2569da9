use crate::connection::error::{OpenError, unavailable, unreachable};
use crate::connection::file::File;
use crate::connection::job::Work;
use crate::connection::place::{Place, identity};
use crate::connection::remembered::{Changes, Remembered};
use crate::connection::room::Room;
use crate::connection::settings::{SYSTEM, Settings};
use crate::connection::writer::{Beside, Writer};
use diesel::connection::SimpleConnection;
use diesel::prelude::*;
use diesel::r2d2::{ConnectionManager, Pool};
use dwar_kernel::{ProjectId, StoreError, Timestamp};
use dwar_sql::{At, Flow, PROVE_WRITABLE, WAITING, traced};
use dwar_turns::{AdmissionQueue, Load, PoolLoad};
use std::sync::Arc;
use std::time::Duration;
use tracing::Span;

/// How many rows one turn of a sweep drops: a few milliseconds of the writer's time.
pub(crate) const SWEEP: u16 = 500;

/// Needs room as a few writes of ours would, and leaves nothing behind. An `INSERT … SELECT` that can
/// break a constraint is undone by itself when there is none; a plain one would take the whole
/// transaction along.
const PROBE: &str = "CREATE TABLE room_probe (filler blob NOT NULL); \
                     INSERT INTO room_probe SELECT zeroblob(65536); DROP TABLE room_probe;";

/// Implements every store port on one SQLite file, which other processes may use as well.
///
/// Writes go through one thread (see `writer.rs`), reads through a pool of connections that cannot
/// write; where work has to wait, projects take turns. A read that begins after a write was answered
/// sees it. Clones share everything; the file is at rest once the last one is dropped.
#[derive(Clone)]
pub struct SqliteStore {
    shared: Arc<Shared>,
    flow: Flow,
    changes: Changes,
}

struct Shared {
    file: File,
    writer: Writer,
    readers: Pool<ConnectionManager<SqliteConnection>>,
    scans: Arc<AdmissionQueue<Flow>>,
    patience: Duration,
    room: Arc<Room>,
    place: Arc<Place>,
    remembered: Option<Arc<Remembered>>,
}

impl SqliteStore {
    /// Opens the file, without touching its schema; see [`SqliteStore::migrate`].
    ///
    /// # Errors
    /// [`OpenError`] if the file cannot be made or written to, is no database, or stays locked for longer
    /// than the busy timeout.
    pub fn open(settings: Settings) -> Result<Self, OpenError> {
        let file = File::new(&settings)?;
        let before = identity(&file.path);
        let mut connection = file.connect()?;
        // From the first read on there is an index of the log, which tells of every commit; and nobody
        // puts another file in this one's place (`claim.rs`). Until now somebody could.
        connection.batch_execute("SELECT count(*) FROM sqlite_schema")?;
        if before.is_some() && before != identity(&file.path) {
            return Err(OpenError::Replaced);
        }
        let remembered = Remembered::of(&file.path).map(Arc::new);
        let place = Arc::new(Place::of(&file.path));
        let room = Arc::new(Room::new(file.folder(), settings.min_free));
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
        let beside = Beside {
            synchronous: settings.synchronous,
            room: Arc::clone(&room),
            place: Arc::clone(&place),
            remembered: remembered.clone(),
        };
        let writer = Writer::start(connection, reopen, beside, queue, patience)
            .map_err(OpenError::Thread)?;
        // Scans leave half of the connections to look-ups.
        let scans = AdmissionQueue::new(usize::try_from(count / 2).unwrap_or(1), WAITING);
        let shared = Shared { file, writer, readers, scans, patience, room, place, remembered };
        Ok(Self { shared: Arc::new(shared), flow: None, changes: Changes::Anything })
    }

    /// Tells whether the store can write and read right now, or read if it is for that alone; changes
    /// nothing.
    ///
    /// # Errors
    /// Whatever a write or a read would meet: a stopped writer, a full queue, a locked file.
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

    /// Tells how many bytes are free where the file lies, if there is room to write.
    ///
    /// Where SQLite was full, this tries whether it still is: by a table that comes and goes in
    /// one step. The log is told when the room is used up and when there is some again.
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

    /// Proves that a write would work, by one that is kept: a number in a table of its own. What is rolled back
    /// is never sent to the disk. Tells how many bytes are free, as [`SqliteStore::room`] does.
    ///
    /// # Errors
    /// Whatever a write would meet: no room, a locked or read-only file, one that was moved or replaced.
    pub async fn prove_writable(&self) -> Result<Option<u64>, StoreError> {
        let prove = |connection: &mut SqliteConnection| {
            diesel::sql_query(PROVE_WRITABLE).execute(connection)?;
            Ok(())
        };
        self.write_that("pool.prove_writable", Changes::NoLookUp, prove).await?;
        self.room().await
    }

    /// How its queues and connections are used; asks nothing of the file.
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

    /// The same store, for work of this project: it waits in turn with that of others.
    pub(crate) fn of(&self, project: ProjectId) -> Self {
        Self { flow: Some(project), ..self.clone() }
    }

    /// The same store, for writes that change [no look-up](Changes::NoLookUp).
    pub(crate) fn changing_no_look_up(&self) -> Self {
        Self { changes: Changes::NoLookUp, ..self.clone() }
    }

    /// What look-ups were answered, while that is still true.
    pub(crate) fn remembered(&self) -> Option<&Remembered> {
        let Shared { remembered, place, .. } = self.shared.as_ref();
        remembered.as_deref().filter(|_| !place.is_lost())
    }

    #[cfg(test)]
    pub(crate) fn writer(&self) -> &Writer {
        &self.shared.writer
    }

    /// Runs `work` as one atomic step on the writer and answers once it is on disk. `name` is that of its span
    /// (docs/tracing.md): which part of the store, and what it does.
    pub(crate) async fn write<T: Send + 'static>(
        &self,
        name: &'static str,
        work: impl Work<T>,
    ) -> Result<T, StoreError> {
        self.write_that(name, self.changes, work).await
    }

    /// As [`SqliteStore::write`], for a step that is one statement.
    pub(crate) async fn write_one<T: Send + 'static>(
        &self,
        name: &'static str,
        work: impl Work<T>,
    ) -> Result<T, StoreError> {
        self.write(name, work).await
    }

    /// As [`SqliteStore::write`], for a step of which it is known what it [`Changes`].
    pub(crate) async fn write_that<T: Send + 'static>(
        &self,
        name: &'static str,
        changes: Changes,
        work: impl Work<T>,
    ) -> Result<T, StoreError> {
        self.shared.writer.submit(name, self.flow, true, changes, work).await
    }

    /// As [`SqliteStore::write`], but its answer does not wait for the disk.
    ///
    /// A loss of power (not the death of this process) may undo it. Only for a step that is followed
    /// by a [`SqliteStore::write`] before anything is done that the outside can see, since the log is
    /// written in order and that one takes it along; or for one that is done again when it is
    /// missing. It MUST change [no look-up](Changes::NoLookUp).
    pub(crate) async fn write_ahead_of_disk<T: Send + 'static>(
        &self,
        name: &'static str,
        work: impl Work<T>,
    ) -> Result<T, StoreError> {
        self.shared.writer.submit(name, self.flow, false, Changes::NoLookUp, work).await
    }

    /// As [`SqliteStore::write_ahead_of_disk`], by the name that PostgreSQL has for several statements.
    pub(crate) async fn steps_ahead_of_disk<T: Send + 'static>(
        &self,
        name: &'static str,
        work: impl Work<T>,
    ) -> Result<T, StoreError> {
        self.write_ahead_of_disk(name, work).await
    }

    /// Runs `work` on a connection of its own, outside the writer's transactions.
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

    /// Drops the rows of `table` whose `age` is before an instant. It has to have row ids, and an index
    /// that begins with `age`.
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
    /// Each turn is a step of its own, so that other writes get theirs in between.
    pub(crate) async fn in_batches<F>(&self, turn: F) -> Result<u64, StoreError>
    where
        F: Fn(&mut SqliteConnection) -> QueryResult<usize> + Copy + Send + 'static,
    {
        self.drain_by(SWEEP, turn).await
    }

    /// As [`SqliteStore::in_batches`], by this many rows a turn.
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

    /// Runs a look-up by index on a reader, here and now.
    ///
    /// It takes some 20 µs, as long as the way to another thread and back would (measured: twice
    /// the reads per second). Only when every connection is taken does it go that way and wait.
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

    /// As [`SqliteStore::scan`], by the name that PostgreSQL has for queries that read whole tables.
    pub(crate) async fn scan_all<T: Send + 'static>(
        &self,
        name: &'static str,
        query: impl Work<T>,
    ) -> Result<T, StoreError> {
        self.scan(name, query).await
    }

    /// Runs a query of any length on a reader, on a thread that may block.
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
