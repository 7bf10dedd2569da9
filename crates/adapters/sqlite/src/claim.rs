//! Replaces a database file with another one.

use crate::connection::open_files::beside;
use crate::copies::{FileError, open, told};
use diesel::connection::SimpleConnection;
use diesel::prelude::*;
use rustix::fs::{FlockOperation, fcntl_lock};
use rustix::io::Errno;
use std::fs::{File, OpenOptions};
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

/// Locks out every other process. SQLite then keeps the index of the log in memory instead of a
/// file.
const EXCLUSIVELY: &str = "PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE; COMMIT";
/// Moves the whole log into the database and truncates the log.
const FOLD: &str = "PRAGMA wal_checkpoint(TRUNCATE)";

/// The exclusive right to a database path, whether a database exists there or not. No other process
/// has the database open or can open it while this value lives. These are locks of the operating
/// system, which end with the process.
pub struct Claim {
    path: PathBuf,
    /// `None` if there is no database, or SQLite cannot read it.
    database: Option<SqliteConnection>,
    /// Files that stay locked while they are open.
    _files: Vec<File>,
}

impl Claim {
    /// Claims a path. Follows a link.
    ///
    /// # Errors
    /// [`FileError::InUse`] if another process has the database open.
    pub fn of(path: &Path) -> Result<Self, FileError> {
        let path = std::fs::canonicalize(path).or_else(|_| std::path::absolute(path))?;
        // A process that has the database open holds a lock on its index, even if the database file
        // was moved.
        let mut files: Vec<File> = locked(&beside(&path, "-shm"))?.into_iter().collect();
        let database = match path.try_exists()? {
            true => exclusive(&path)?,
            false => None,
        };
        if database.is_none() {
            files.extend(locked(&path)?);
        }
        Ok(Self { path, database, _files: files })
    }

    /// The claimed path with links resolved, where [`Claim::put`] places a file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Moves the file `new` to this path in one step, and keeps the former database as `aside`, a
    /// free name in the same folder. `new` is a single-file database that is flushed to disk.
    ///
    /// If this process dies meanwhile, either the former or the new database is at the path,
    /// without any log file of the other.
    ///
    /// # Errors
    /// [`FileError`] if any step fails; the former database stays at the path.
    pub fn put(mut self, new: &Path, aside: &Path) -> Result<(), FileError> {
        if self.fold()? {
            self.drop_beside(&["-wal", "-journal", "-shm"])?;
        } else {
            // A database that SQLite cannot read may still be repaired, together with its log.
            for suffix in ["-wal", "-journal"] {
                let moved = std::fs::rename(beside(&self.path, suffix), beside(aside, suffix));
                unless_missing(moved)?;
            }
            self.drop_beside(&["-shm"])?;
        }
        // Remove every file of the former database from disk before another takes its path.
        self.sync()?;
        if self.path.try_exists()? {
            std::fs::hard_link(&self.path, aside)?;
            std::fs::rename(new, &self.path)?;
        } else {
            // Fails if a database was created here meanwhile.
            std::fs::hard_link(new, &self.path)?;
            std::fs::remove_file(new)?;
        }
        Ok(self.sync()?)
    }

    /// Moves the log of the former database into its one file; `false` if there is none, or SQLite
    /// cannot read it.
    fn fold(&mut self) -> Result<bool, FileError> {
        let Some(database) = &mut self.database else { return Ok(false) };
        match database.batch_execute(FOLD).map_err(told) {
            Err(FileError::Damaged(_)) => return Ok(false),
            folded => folded?,
        }
        let log = std::fs::metadata(beside(&self.path, "-wal")).map_or(0, |log| log.len());
        if log == 0 { Ok(true) } else { Err(FileError::InUse) }
    }

    fn drop_beside(&self, suffixes: &[&str]) -> io::Result<()> {
        let mut dropped = suffixes.iter().map(|it| std::fs::remove_file(beside(&self.path, it)));
        dropped.try_for_each(unless_missing)
    }

    fn sync(&self) -> io::Result<()> {
        File::open(self.path.parent().unwrap_or(&self.path))?.sync_all()
    }
}

/// Tells whether another process has the database open, as far as this process may check.
pub fn is_open_elsewhere(path: &Path) -> bool {
    matches!(locked(&beside(path, "-shm")), Err(FileError::InUse))
}

/// Opens the only connection to a database; `None` if SQLite cannot read the file.
fn exclusive(path: &Path) -> Result<Option<SqliteConnection>, FileError> {
    let claimed = open(path).and_then(|mut connection| {
        connection.batch_execute(EXCLUSIVELY).map_err(told)?;
        Ok(connection)
    });
    match claimed {
        Ok(connection) => Ok(Some(connection)),
        Err(FileError::Damaged(_)) => Ok(None),
        Err(cause) => Err(cause),
    }
}

/// Opens and locks the file as SQLite does (fcntl(2), record locks); `None` if it does not exist.
fn locked(path: &Path) -> Result<Option<File>, FileError> {
    let file = match OpenOptions::new().read(true).write(true).open(path) {
        Ok(file) => file,
        Err(cause) if cause.kind() == ErrorKind::NotFound => return Ok(None),
        Err(cause) => return Err(cause.into()),
    };
    match fcntl_lock(&file, FlockOperation::NonBlockingLockExclusive) {
        Ok(()) => Ok(Some(file)),
        Err(Errno::AGAIN | Errno::ACCESS) => Err(FileError::InUse),
        Err(cause) => Err(io::Error::from(cause).into()),
    }
}

fn unless_missing(done: io::Result<()>) -> io::Result<()> {
    match done {
        Err(cause) if cause.kind() == ErrorKind::NotFound => Ok(()),
        done => done,
    }
}
