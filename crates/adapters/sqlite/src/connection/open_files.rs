use crate::connection::error::unavailable;
use dwar_kernel::StoreError;
use std::fs::metadata;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

/// Checks whether the open files are still the ones at their paths. Logs once when a file was
/// moved, replaced or removed, and once when it is back.
///
/// Writes to a file that has no path are lost with the process. Writes of a command to another file
/// at the same path are invisible here.
pub(crate) struct OpenFiles {
    files: Vec<(PathBuf, Identity)>,
    lost: AtomicBool,
}

/// Identifies a file: device and inode.
pub(crate) type Identity = (u64, u64);

impl OpenFiles {
    /// Watches a database in WAL mode that this process has open and has read. Ignores files that
    /// do not exist.
    pub(crate) fn of(database: &Path) -> Self {
        let mut paths = vec![database.to_path_buf()];
        // The log is beside the file itself, so resolve a link first.
        if let Ok(file) = database.canonicalize() {
            paths.extend(["-wal", "-shm"].map(|suffix| beside(&file, suffix)));
        }
        let known = |path: PathBuf| identity(&path).map(|file| (path, file));
        Self { files: paths.into_iter().filter_map(known).collect(), lost: AtomicBool::new(false) }
    }

    pub(crate) fn look(&self) -> Result<(), StoreError> {
        let gone = self.files.iter().find(|(path, file)| identity(path) != Some(*file));
        match (gone, self.lost.swap(gone.is_some(), Ordering::AcqRel)) {
            (Some((path, _)), false) => tracing::error!(
                file = %path.display(),
                "a file of the database was moved, replaced or removed while it is in use: every request is \
                 answered 503 until it is back, or the service is started again"
            ),
            (None, true) => tracing::info!("the files of the database are back"),
            _ => {}
        }
        self.known()
    }

    pub(crate) fn known(&self) -> Result<(), StoreError> {
        match self.is_lost() {
            true => Err(misplaced()),
            false => Ok(()),
        }
    }

    /// Tells whether a file was missing at the last check.
    pub(crate) fn is_lost(&self) -> bool {
        self.lost.load(Ordering::Acquire)
    }
}

pub(crate) fn misplaced() -> StoreError {
    unavailable("a file of the database is not where it was")
}

/// Identity of the file at this path, if it has a link. A removed file may still be mounted there.
pub(crate) fn identity(path: &Path) -> Option<Identity> {
    let found = metadata(path).ok()?;
    (found.nlink() > 0).then(|| (found.dev(), found.ino()))
}

/// The path of a file beside a database: `dwar.db-wal`.
pub fn beside(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(suffix);
    name.into()
}
