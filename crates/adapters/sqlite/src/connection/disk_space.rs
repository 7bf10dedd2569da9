use crate::connection::error::unreachable;
use dwar_kernel::StoreError;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU8, Ordering};

const MIB: u64 = 1 << 20;
/// With fewer free bytes than this, any I/O error of SQLite is a lack of space: no file can grow.
const EXHAUSTED: u64 = MIB;

/// There is enough space, or nobody has checked yet.
const ENOUGH: u8 = 0;
/// Less is free than the settings require; SQLite can still write.
const LOW: u8 = 1;
/// SQLite could not write for lack of space.
const FULL: u8 = 2;

/// Whether there is space to write in the file system of the database. Logs once when it runs out
/// and once when there is space again.
pub(crate) struct DiskSpace {
    folder: PathBuf,
    min_free: u64,
    lack: AtomicU8,
}

impl DiskSpace {
    pub(crate) const fn new(folder: PathBuf, min_free: u64) -> Self {
        Self { folder, min_free, lack: AtomicU8::new(ENOUGH) }
    }

    /// Bytes of the file system that are available to this process.
    pub(crate) fn free(&self) -> Result<u64, StoreError> {
        let left = rustix::fs::statvfs(&self.folder).map_err(|cause| {
            tracing::warn!(%cause, "the database's file system does not respond");
            unreachable("the database's file system does not respond", cause)
        })?;
        Ok(left.f_bavail.saturating_mul(left.f_frsize))
    }

    /// Tells whether so little is free that any failed write failed for lack of space.
    pub(crate) fn is_exhausted(&self) -> bool {
        self.free().is_ok_and(|free| free < EXHAUSTED)
    }

    /// Tells whether SQLite was full at its last report.
    pub(crate) fn is_full(&self) -> bool {
        self.lack.load(Ordering::Acquire) == FULL
    }

    pub(crate) fn found_full(&self) {
        if self.lack.swap(FULL, Ordering::AcqRel) != FULL {
            let free_mib = self.free().map(|free| free / MIB).ok();
            tracing::error!(
                folder = %self.folder.display(), free_mib,
                "the disk is full: SQLite cannot write, requests that have to write are \
                 answered 503 until there is space"
            );
        }
    }

    /// Judges the free bytes, once SQLite is known to be able to write.
    pub(crate) fn found_free(&self, free: u64) -> Result<u64, StoreError> {
        let (folder, free_mib) = (self.folder.display(), free / MIB);
        if free >= self.min_free {
            if self.lack.swap(ENOUGH, Ordering::AcqRel) != ENOUGH {
                tracing::info!(%folder, free_mib, "there is space to write again");
            }
            return Ok(free);
        }
        let before = self.lack.compare_exchange(ENOUGH, LOW, Ordering::AcqRel, Ordering::Acquire);
        if before.is_ok() {
            tracing::warn!(
                %folder, free_mib, min_free_mib = self.min_free / MIB,
                "little disk space is left for the database; not ready until there is more"
            );
        }
        Err(StoreError::NoRoom)
    }
}
