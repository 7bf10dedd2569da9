//! Puts another file in the place of a database.

use crate::connection::place::beside;
use crate::copies::{FileError, open, told};
use diesel::connection::SimpleConnection;
use diesel::prelude::*;
use rustix::fs::{FlockOperation, fcntl_lock};
use rustix::io::Errno;
use std::fs::{File, OpenOptions};
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

/// Keeps every other process out: SQLite then has no index of the log in a file of its own.
const EXCLUSIVELY: &str = "PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE; COMMIT";
/// Brings all of the log into the database, and leaves an empty one.
const FOLD: &str = "PRAGMA wal_checkpoint(TRUNCATE)";

/// The place of a database, whether there is one or not. Nobody else has it open, and nobody can open it
/// while this lives: these are locks of the system, which end with their process.
pub struct Claim {
    path: PathBuf,
    /// None where there is no database, or SQLite cannot read it.
    database: Option<SqliteConnection>,
    /// Locked, for as long as they are open.
    _files: Vec<File>,
}

impl Claim {
    /// Claims a place. A link is followed.
    ///
    /// # Errors
    /// [`FileError::InUse`] if another process has the database open.
    pub fn of(path: &Path) -> Result<Self, FileError> {
        let path = std::fs::canonicalize(path).or_else(|_| std::path::absolute(path))?;
        // Whoever has the database open has a lock on its index, also where the database was moved away.
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

    /// Where it is, links followed.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Puts the file `new` in this place, in one step, and keeps what was there as `aside`, a name of the
    /// same folder that is free. `new` is a database of one file, on disk.
    ///
    /// If this process dies meanwhile, the former database is there, or the new one, and no file beside
    /// it that belongs to the other.
    ///
    /// # Errors
    /// [`FileError`] if anything fails; the former database is there.
    pub fn put(mut self, new: &Path, aside: &Path) -> Result<(), FileError> {
        if self.fold()? {
            self.drop_beside(&["-wal", "-journal", "-shm"])?;
        } else {
            // What SQLite cannot read may be mended by somebody, with its log.
            for suffix in ["-wal", "-journal"] {
                let moved = std::fs::rename(beside(&self.path, suffix), beside(aside, suffix));
                unless_missing(moved)?;
            }
            self.drop_beside(&["-shm"])?;
        }
        // What belonged to the former one is gone for good before another takes its place.
        self.sync()?;
        if self.path.try_exists()? {
            std::fs::hard_link(&self.path, aside)?;
            std::fs::rename(new, &self.path)?;
        } else {
            // Fails if somebody has made one meanwhile.
            std::fs::hard_link(new, &self.path)?;
            std::fs::remove_file(new)?;
        }
        Ok(self.sync()?)
    }

    /// Brings all of the former database into its one file; `false` if there is none, or SQLite cannot
    /// read it.
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

/// Whether another process has the database open, as far as this one may know.
pub fn is_open_elsewhere(path: &Path) -> bool {
    matches!(locked(&beside(path, "-shm")), Err(FileError::InUse))
}

/// A connection that nobody else has one beside; none if SQLite cannot read the file.
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

/// The file, locked as SQLite locks it (fcntl(2), record locks), if it is there.
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
