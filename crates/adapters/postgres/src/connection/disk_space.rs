use crate::connection::error::{Failure, Kind, no_connection};
use diesel::r2d2::PoolError;
use dwar_kernel::StoreError;
use std::sync::atomic::{AtomicBool, Ordering};

/// Whether the server has disk space to write. Logs once when it runs out and once when there is
/// space again.
pub(crate) struct DiskSpace {
    full: AtomicBool,
    /// The driver reported an error without a kind, or the server was never asked.
    suspected: AtomicBool,
}

impl DiskSpace {
    pub(crate) const fn new() -> Self {
        Self { full: AtomicBool::new(false), suspected: AtomicBool::new(true) }
    }

    pub(crate) fn suspect(&self) {
        self.suspected.store(true, Ordering::Release);
    }

    /// Tells whether the server should be asked for disk space.
    pub(crate) fn is_in_doubt(&self) -> bool {
        self.full.load(Ordering::Acquire) || self.suspected.swap(false, Ordering::AcqRel)
    }

    /// Converts a failure to the caller's error.
    ///
    /// The driver hides the code of a full disk (SQLSTATE 53100), and its text is in the server's
    /// language. So an unclassified failure raises a suspicion, which `has_room` checks by the
    /// code. While the server is known to be full, such a failure counts as a full disk.
    pub(crate) fn judge(&self, failure: Failure) -> StoreError {
        match failure.kind() {
            Kind::NoRoom => {
                self.found(false);
                StoreError::NoRoom
            }
            Kind::Nameless if self.full.load(Ordering::Acquire) => StoreError::NoRoom,
            Kind::Nameless => {
                self.suspect();
                failure.into()
            }
            Kind::Known => failure.into(),
        }
    }

    /// Converts the pool's reason why there is no connection to the caller's error.
    pub(crate) fn judge_refusal(&self, cause: PoolError) -> StoreError {
        let cause = no_connection(cause);
        if matches!(cause, StoreError::NoRoom) {
            self.found(false);
        }
        cause
    }

    pub(crate) fn found(&self, room: bool) {
        match (self.full.swap(!room, Ordering::AcqRel), !room) {
            (false, true) => tracing::error!(
                "the disk is full: PostgreSQL cannot write, requests that have to write are \
                 answered 503 until there is space"
            ),
            (true, false) => tracing::info!("PostgreSQL has space to write again"),
            _ => {}
        }
    }
}
