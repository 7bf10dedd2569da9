//! Copies a database file and checks that it is sound.

use crate::SqliteStore;
use crate::connection::migrations::pending;
use crate::connection::open_files::beside;
use crate::connection::read_only::escaped;
use diesel::connection::SimpleConnection;
use diesel::prelude::*;
use diesel::result::Error as QueryError;
use diesel::sql_types::Text;
use dwar_kernel::StoreError;
use std::fs::File;
use std::path::Path;
use std::thread::sleep;
use std::time::{Duration, Instant};

/// Longest wait for another process that is about to release a file.
const PATIENCE: Duration = Duration::from_secs(1);
/// The full check of SQLite, which also compares indexes with their tables.
const EVERYTHING: &str = "SELECT integrity_check AS line FROM pragma_integrity_check LIMIT 3";
/// The quick check, which does not compare indexes with their tables.
const QUICK: &str = "SELECT quick_check AS line FROM pragma_quick_check LIMIT 3";
const ORPHANS: &str = "SELECT 'a row of ' || \"table\" || ' belongs to none of ' || parent AS line \
                       FROM pragma_foreign_key_check LIMIT 3";
const IS_OURS: &str =
    "SELECT name AS line FROM sqlite_schema WHERE name = '__diesel_schema_migrations'";
const VERSIONS: &str = "SELECT version AS line FROM __diesel_schema_migrations";

/// A file cannot be copied or moved. The message follows the file's name.
#[derive(Debug, thiserror::Error)]
pub enum FileError {
    #[error("cannot be used: {0}")]
    System(#[from] std::io::Error),
    /// The path is not valid UTF-8, which SQLite requires.
    #[error("has a path that is not UTF-8")]
    Encoding,
    #[error("cannot be opened: {0}")]
    Connection(#[from] ConnectionError),
    #[error("cannot be read or written: {0}")]
    Query(#[from] QueryError),
    #[error("is open in another process")]
    InUse,
    /// SQLite reports that the file is damaged or not a database.
    #[error("is damaged: {0}")]
    Damaged(String),
    #[error("is not a database of Dwar")]
    Alien,
    /// The file has migrations that this version does not know.
    #[error("does not fit this version: {0}")]
    OtherVersion(String),
}

#[derive(QueryableByName)]
struct Line {
    #[diesel(sql_type = Text)]
    line: String,
}

/// Copies the database `from`, as it is at one instant, to the empty file `to`. Other processes may
/// write to `from` meanwhile without waiting. `to` is on disk when this returns.
///
/// # Errors
/// [`FileError`] also if the copy finds damage in `from`; [`examine`] finds any damage.
pub fn copy(from: &Path, to: &Path) -> Result<(), FileError> {
    let into = diesel::sql_query("VACUUM INTO ?").bind::<Text, _>(utf8(to)?);
    into.execute(&mut open(from)?).map_err(told)?;
    Ok(File::open(to)?.sync_all()?)
}

/// Reads a database from its first page to its last and checks it.
///
/// # Errors
/// [`FileError::Damaged`] if it is.
pub fn examine(path: &Path) -> Result<(), FileError> {
    let mut connection = open(path)?;
    for query in [EVERYTHING, ORPHANS] {
        let found = lines(&mut connection, query)?;
        if found != ["ok"] && !found.is_empty() {
            return Err(FileError::Damaged(found.join("; ")));
        }
    }
    Ok(())
}

/// Checks that this version can use a database, after migrating it.
///
/// # Errors
/// [`FileError`] if the file is not a database of Dwar, or is from a later version.
pub fn recognise(path: &Path) -> Result<(), FileError> {
    let mut connection = open(path)?;
    if lines(&mut connection, IS_OURS)?.is_empty() {
        return Err(FileError::Alien);
    }
    let versions = lines(&mut connection, VERSIONS)?;
    pending(versions).map_err(|cause| FileError::OtherVersion(cause.to_string()))?;
    Ok(())
}

/// Folds the log of a database into its file and flushes it to disk. No other process may have it
/// open.
///
/// # Errors
/// [`FileError::InUse`] if another process has it open.
pub fn settle(path: &Path) -> Result<(), FileError> {
    let (mut connection, until) = (open(path)?, Instant::now() + PATIENCE);
    // SQLite itself does not wait for this lock.
    while let Err(cause) = connection.batch_execute("PRAGMA journal_mode = DELETE").map_err(told) {
        match cause {
            FileError::InUse if Instant::now() < until => sleep(Duration::from_millis(5)),
            cause => return Err(cause),
        }
    }
    drop(connection);
    if beside(path, "-wal").try_exists()? {
        return Err(FileError::InUse);
    }
    Ok(File::open(path)?.sync_all()?)
}

impl SqliteStore {
    /// Runs SQLite's quick check and returns the damage it finds. Reads the whole file.
    ///
    /// # Errors
    /// The errors of a read.
    pub async fn damage(&self) -> Result<Option<String>, StoreError> {
        self.scan("copies.damage", |connection| match lines(connection, QUICK) {
            Ok(found) => Ok(Some(found.join("; ")).filter(|found| found != "ok")),
            Err(FileError::Damaged(found)) => Ok(Some(found)),
            Err(FileError::Query(cause)) => Err(cause.into()),
            Err(cause) => Err(StoreError::Failed(Box::new(cause)).into()),
        })
        .await
    }
}

pub(crate) fn open(path: &Path) -> Result<SqliteConnection, FileError> {
    let path = std::path::absolute(path)?;
    let url = format!("file:{}?mode=rw", escaped(utf8(&path)?));
    let mut connection = SqliteConnection::establish(&url)?;
    let patience = PATIENCE.as_millis();
    connection.batch_execute(&format!("PRAGMA busy_timeout = {patience}")).map_err(told)?;
    Ok(connection)
}

fn lines(connection: &mut SqliteConnection, query: &str) -> Result<Vec<String>, FileError> {
    let lines: Vec<Line> = diesel::sql_query(query).load(connection).map_err(told)?;
    Ok(lines.into_iter().map(|line| line.line).collect())
}

/// diesel does not pass result codes on, so the texts of `sqlite3_errstr` decide.
pub(crate) fn told(cause: QueryError) -> FileError {
    const DAMAGED: [&str; 3] =
        ["database disk image is malformed", "malformed database schema", "file is not a database"];
    let text = cause.to_string();
    match text.as_str() {
        "database is locked" => FileError::InUse,
        _ if DAMAGED.iter().any(|begin| text.starts_with(begin)) => FileError::Damaged(text),
        _ => FileError::Query(cause),
    }
}

fn utf8(path: &Path) -> Result<&str, FileError> {
    path.to_str().ok_or(FileError::Encoding)
}
