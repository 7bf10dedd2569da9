//! Opens connections to the database file.

use crate::connection::error::{OpenError, is_transient};
use crate::connection::read_only;
use crate::connection::settings::{Settings, Synchronous};
use diesel::connection::SimpleConnection;
use diesel::prelude::*;
use diesel::r2d2::{CustomizeConnection, Error as PoolError};
use rustix::fs::Access;
use std::fs::OpenOptions;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// Rejects writes, whatever a query contains.
const NO_WRITES: &str = "PRAGMA query_only = ON";
/// Largest size of the write-ahead log, in bytes, after its content was moved into the database.
const LOG_AT_REST: u32 = 16 << 20;

/// The path of the database and the setup of each connection.
#[derive(Clone, Debug)]
pub(crate) struct File {
    pub(crate) path: PathBuf,
    pub(crate) url: String,
    pub(crate) read_only: bool,
    synchronous: Synchronous,
    busy_timeout: Duration,
}

impl File {
    /// Makes the path absolute, because SQLite gives `:memory:` and `file:…` a special meaning.
    pub(crate) fn new(settings: &Settings) -> Result<Self, OpenError> {
        let path = std::path::absolute(&settings.path)
            .map_err(|cause| OpenError::File { path: settings.path.clone(), cause })?;
        let url = path.to_str().map(|path| match settings.read_only {
            true => read_only::url_of(path),
            false => path.to_owned(),
        });
        let url = url.ok_or_else(|| OpenError::PathEncoding(path.clone()))?;
        let Settings { synchronous, busy_timeout, read_only, .. } = *settings;
        Ok(Self { path, url, read_only, synchronous, busy_timeout })
    }

    /// The folder of the database and of the files beside it.
    pub(crate) fn folder(&self) -> PathBuf {
        self.path.parent().unwrap_or(&self.path).to_path_buf()
    }

    /// Opens a connection: either one that may write, to a file that only its owner may access, or
    /// one that only reads an existing file.
    pub(crate) fn connect(&self) -> Result<SqliteConnection, OpenError> {
        let usable = match self.read_only {
            true => read_only::may_read(&self.path),
            false => create(&self.path).and_then(|()| may_write(&self.path)),
        };
        usable.map_err(|cause| OpenError::File { path: self.path.clone(), cause })?;
        let mut connection = SqliteConnection::establish(&self.url)?;
        self.set_up(&mut connection)?;
        if self.read_only {
            connection.batch_execute(NO_WRITES)?;
        } else {
            self.use_wal(&mut connection)?;
        }
        Ok(connection)
    }

    /// Switches to the write-ahead log. The file keeps this mode.
    ///
    /// If several connections switch a new file at once, SQLite refuses some of them without
    /// waiting for the busy timeout, because the wait might never end.
    fn use_wal(&self, connection: &mut SqliteConnection) -> QueryResult<()> {
        let until = Instant::now() + self.busy_timeout;
        loop {
            match connection.batch_execute("PRAGMA journal_mode = WAL") {
                Err(cause) if is_transient(&cause) && Instant::now() < until => {
                    std::thread::sleep(Duration::from_millis(5));
                }
                done => return done,
            }
        }
    }

    fn set_up(&self, connection: &mut SqliteConnection) -> QueryResult<()> {
        connection.set_instrumentation(crate::connection::statement::log);
        let busy = self.busy_timeout.as_millis();
        connection.batch_execute(&format!(
            "PRAGMA busy_timeout = {busy}; \
             PRAGMA foreign_keys = ON; PRAGMA recursive_triggers = ON; \
             PRAGMA secure_delete = ON; PRAGMA temp_store = MEMORY; \
             PRAGMA journal_size_limit = {LOG_AT_REST};"
        ))?;
        self.synchronous.set(connection)
    }
}

impl CustomizeConnection<SqliteConnection, PoolError> for File {
    fn on_acquire(&self, connection: &mut SqliteConnection) -> Result<(), PoolError> {
        self.set_up(connection)
            .and_then(|()| connection.batch_execute(NO_WRITES))
            .map_err(PoolError::QueryError)
    }
}

/// Creates the database file. SQLite gives the files beside it (`-wal`, `-shm`) the same
/// permissions.
///
/// An existing file is not opened. Its locks belong to the process, and closing any descriptor of
/// it drops the locks of open connections (fcntl(2), record locks). Another process could then
/// remove the log while they use it (sqlite.org/howtocorrupt.html, 2.2).
fn create(path: &Path) -> std::io::Result<()> {
    let mut options = OpenOptions::new();
    options.create_new(true).write(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    match options.open(path) {
        Err(cause) if cause.kind() != ErrorKind::AlreadyExists => Err(cause),
        _ => Ok(()),
    }
}

/// Checks for the right to write. SQLite itself would open a read-only file and fail at the first
/// write.
fn may_write(path: &Path) -> std::io::Result<()> {
    Ok(rustix::fs::access(path, Access::READ_OK | Access::WRITE_OK)?)
}
