//! How a file is read by whoever must not, or may not, change anything beside it.

use rustix::fs::Access;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

/// How SQLite is to open the file of this path (sqlite.org/uri.html).
///
/// While a process has the database open, or after one was killed, its log lies beside it and has to be
/// read with it. Where there is no log all is in the file, and SQLite is told that nobody changes it: else
/// it would make a log and an index of it, which it cannot in a folder that may only be read. A service
/// that starts and writes during such a read may make it fail; nothing is harmed.
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

/// A path as a URI of SQLite has it.
pub(crate) fn escaped(path: &str) -> String {
    path.replace('%', "%25").replace('?', "%3f").replace('#', "%23")
}

/// Whether the file may be read, or is not there, but its folder is.
pub(crate) fn may_read(path: &Path) -> std::io::Result<()> {
    let folder_is_there = || path.parent().is_none_or(Path::exists);
    match rustix::fs::access(path, Access::READ_OK).map_err(std::io::Error::from) {
        Err(cause) if cause.kind() == ErrorKind::NotFound && folder_is_there() => Ok(()),
        read => read,
    }
}
