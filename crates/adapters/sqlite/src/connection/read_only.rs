//! Reads a database file without changing anything in its folder.

use rustix::fs::Access;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

/// The URI with which SQLite opens this path read-only (sqlite.org/uri.html).
///
/// While a process has the database open, or after one was killed, the log beside the file has to
/// be read with it. Without a log the file is complete, and the URI declares it immutable:
/// otherwise SQLite would create a log and its index, which fails in a read-only folder. If a
/// service starts and writes during such a read, the read may fail; no data is harmed.
pub(crate) fn url_of(path: &str) -> String {
    let beside = |suffix: &str| std::fs::metadata(PathBuf::from(format!("{path}{suffix}")));
    if matches!(Path::new(path).try_exists(), Ok(false)) {
        return ":memory:".to_owned();
    }
    let in_use = match beside("-wal") {
        Ok(log) => log.len() > 0 || beside("-shm").is_ok(),
        Err(_) => false,
    };
    format!("file:{}?mode=ro{}", escaped(path), if in_use { "" } else { "&immutable=1" })
}

/// Escapes a path for a URI of SQLite.
pub(crate) fn escaped(path: &str) -> String {
    path.replace('%', "%25").replace('?', "%3f").replace('#', "%23")
}

/// Tells whether the file may be read; also true if it does not exist but its folder does.
pub(crate) fn may_read(path: &Path) -> std::io::Result<()> {
    let folder_is_there = || path.parent().is_none_or(Path::exists);
    match rustix::fs::access(path, Access::READ_OK).map_err(std::io::Error::from) {
        Err(cause) if cause.kind() == ErrorKind::NotFound && folder_is_there() => Ok(()),
        read => read,
    }
}
