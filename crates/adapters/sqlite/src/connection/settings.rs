use diesel::connection::SimpleConnection;
use diesel::{QueryResult, SqliteConnection};
use std::path::PathBuf;
use std::time::Duration;

/// Name of the database in traces (OpenTelemetry, `db.system.name`).
pub(crate) const SYSTEM: &str = "sqlite";

/// How to open a database file, and the limits of waits for it.
#[derive(Clone, Debug)]
pub struct Settings {
    /// Path of the file. A missing file is created with access for its owner only.
    pub path: PathBuf,
    /// Number of concurrent reads; at least one.
    pub readers: u32,
    pub synchronous: Synchronous,
    /// Longest wait for another process that writes.
    pub busy_timeout: Duration,
    /// Number of writes that may wait; at least one.
    pub queue: usize,
    /// Longest wait for a place in that queue, or for a free reader.
    pub patience: Duration,
    /// Free bytes below which [`crate::SqliteStore::room`] reports that there is no space.
    pub min_free: u64,
    /// Creates and changes nothing, and needs no right to. A missing file is read as an empty
    /// database.
    pub read_only: bool,
}

/// The failures that an acknowledged write survives (sqlite.org/pragma.html#pragma_synchronous).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Synchronous {
    /// A loss of power: the disk is flushed at each commit.
    Full,
    /// The death of the process, but not a loss of power, which may undo the last commits.
    Normal,
}

impl Synchronous {
    /// Applies this setting to later commits of a connection.
    pub(crate) fn set(self, connection: &mut SqliteConnection) -> QueryResult<()> {
        connection.batch_execute(match self {
            Self::Full => "PRAGMA synchronous = FULL",
            Self::Normal => "PRAGMA synchronous = NORMAL",
        })
    }
}

impl Settings {
    /// The defaults of the service (`[database]` of `config.default.toml`), with the file at `path`
    /// and a queue of 1024 writes.
    pub fn new(path: impl Into<PathBuf>) -> Self {
        Self {
            path: path.into(),
            readers: 16,
            synchronous: Synchronous::Full,
            busy_timeout: Duration::from_secs(2),
            queue: 1024,
            patience: Duration::from_secs(2),
            min_free: 64 << 20,
            read_only: false,
        }
    }
}
