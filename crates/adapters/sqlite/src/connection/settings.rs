use diesel::connection::SimpleConnection;
use diesel::{QueryResult, SqliteConnection};
use std::path::PathBuf;
use std::time::Duration;

/// What traces call the database (OpenTelemetry, `db.system.name`).
pub(crate) const SYSTEM: &str = "sqlite";

/// How to open a database file.
#[derive(Clone, Debug)]
pub struct Settings {
    /// The file; it is made, for its owner alone, if there is none.
    pub path: PathBuf,
    /// How many reads go on at once; at least one.
    pub readers: u32,
    pub synchronous: Synchronous,
    /// How long to wait for another process that writes.
    pub busy_timeout: Duration,
    /// How many writes may wait; at least one.
    pub queue: usize,
    /// How long to wait for a place in that queue, or for a free reader.
    pub patience: Duration,
    /// With fewer bytes free where the file lies, [`crate::SqliteStore::room`] says that there is none.
    pub min_free: u64,
    /// Makes and changes nothing, nor needs the right to; a file that is not there is read as an empty
    /// database.
    pub read_only: bool,
}

/// What an answered write survives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Synchronous {
    /// A loss of power: the disk is flushed at each commit.
    Full,
    /// The death of the process, but not a loss of power, which may undo the last commits.
    Normal,
}

impl Synchronous {
    /// Makes it hold for what a connection commits from now on.
    pub(crate) fn set(self, connection: &mut SqliteConnection) -> QueryResult<()> {
        connection.batch_execute(match self {
            Self::Full => "PRAGMA synchronous = FULL",
            Self::Normal => "PRAGMA synchronous = NORMAL",
        })
    }
}

impl Settings {
    /// What the service has by default (`[database]` of `config.default.toml`), with the file at `path`; and 1024
    /// writes may wait.
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
