use crate::{Closable, Closing, FileDigest, Month, StatementLine};
use async_trait::async_trait;
use dwar_kernel::{ProjectId, StoreError, Timestamp};

/// Replaces the holds, captures and releases of past months by one entry per month.
#[cfg_attr(feature = "mocks", mockall::automock)]
#[async_trait]
pub trait ClosingStore: Send + Sync {
    /// When the oldest entry that can be closed was booked, among those booked at `since` or later.
    async fn oldest_closable(
        &self,
        project: ProjectId,
        since: Timestamp,
    ) -> Result<Option<Timestamp>, StoreError>;

    /// The entries of a month that can be closed; `None` if there are none.
    ///
    /// All entries up to the last of them are final: later entries get higher positions.
    async fn closable(
        &self,
        project: ProjectId,
        month: Month,
    ) -> Result<Option<Closable>, StoreError>;

    /// Closable entries at positions above `after` and up to `through`, ordered by position. The cost MUST
    /// depend only on the distance between the two.
    async fn closable_lines(
        &self,
        project: ProjectId,
        month: Month,
        after: u64,
        through: u64,
    ) -> Result<Vec<StatementLine>, StoreError>;

    /// The closings of a project, oldest month first.
    async fn closings(&self, project: ProjectId) -> Result<Vec<Closing>, StoreError>;

    /// Whether a hold that began before `before` is still open.
    async fn has_holds_since(
        &self,
        project: ProjectId,
        before: Timestamp,
    ) -> Result<bool, StoreError>;

    /// Records a closing in which nothing is closed yet; `false`, with nothing changed, if the month has one
    /// already, or the project has one that is not complete.
    async fn begin_closing(&self, closing: Closing) -> Result<bool, StoreError>;

    /// Removes every entry that the closing of this month [takes](Closing::takes), until the closing is
    /// complete, and returns it; `None` if there is none.
    ///
    /// Works in small steps, ordered by position, that hardly delay other work. Each step MUST remove its
    /// entries and add them to the closing atomically, so that the sums of the ledger never change.
    /// Concurrent calls, and calls that continue an interrupted one, close each entry once.
    async fn close(&self, project: ProjectId, month: Month) -> Result<Option<Closing>, StoreError>;
}

/// Why an export cannot be written or read, in one sentence for the operator. Nothing was removed from the
/// ledger.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct ExportError(pub String);

/// Keeps the exports of closed months outside the database. An existing export is never overwritten.
#[async_trait]
pub trait LedgerExports: Send + Sync {
    /// Begins the export of a month. `previous` is the digest of the export of the month that was closed
    /// before it.
    ///
    /// # Errors
    /// [`ExportError`] also if another process is writing the same export.
    async fn begin(
        &self,
        project: ProjectId,
        month: Month,
        previous: Option<FileDigest>,
    ) -> Result<Box<dyn LedgerExport>, ExportError>;

    /// The digest of a month's export; `None` if there is none.
    async fn digest(
        &self,
        project: ProjectId,
        month: Month,
    ) -> Result<Option<FileDigest>, ExportError>;
}

/// An export that is being written. An unfinished export is discarded.
#[async_trait]
pub trait LedgerExport: Send {
    async fn add(&mut self, lines: &[StatementLine]) -> Result<(), ExportError>;

    /// Completes the export and returns its digest. The file MUST be on disk under its name when this
    /// returns. The same entries give the same digest.
    ///
    /// # Errors
    /// [`ExportError`] also if the month has an export with other content; an identical one is a success.
    async fn finish(self: Box<Self>) -> Result<FileDigest, ExportError>;
}
