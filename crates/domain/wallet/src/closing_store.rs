use crate::{Closable, Closing, FileDigest, Month, StatementLine};
use async_trait::async_trait;
use dwar_kernel::{ProjectId, StoreError, Timestamp};

/// Replaces the holds, captures and releases of months that are over by one entry each.
#[cfg_attr(feature = "mocks", mockall::automock)]
#[async_trait]
pub trait ClosingStore: Send + Sync {
    /// When the oldest entry that can be closed was booked, of those booked at `since` or later.
    async fn oldest_closable(
        &self,
        project: ProjectId,
        since: Timestamp,
    ) -> Result<Option<Timestamp>, StoreError>;

    /// The entries of a month that can be closed; `None` if there are none.
    ///
    /// All entries up to the last of them are on record for good: whatever is booked later has a later position.
    async fn closable(
        &self,
        project: ProjectId,
        month: Month,
    ) -> Result<Option<Closable>, StoreError>;

    /// Those of them at the positions above `after` and up to `through`, by position. The cost MUST depend on the
    /// distance of these two alone.
    async fn closable_lines(
        &self,
        project: ProjectId,
        month: Month,
        after: u64,
        through: u64,
    ) -> Result<Vec<StatementLine>, StoreError>;

    /// The closings of a project, oldest month first.
    async fn closings(&self, project: ProjectId) -> Result<Vec<Closing>, StoreError>;

    /// Whether a hold that began before this instant is still open.
    async fn has_holds_since(
        &self,
        project: ProjectId,
        before: Timestamp,
    ) -> Result<bool, StoreError>;

    /// Puts a closing on record, with nothing closed yet; `false`, with nothing changed, if there is one of that
    /// month, or one of the project that is not complete.
    async fn begin_closing(&self, closing: Closing) -> Result<bool, StoreError>;

    /// Takes away every entry that the closing of this month [takes](Closing::takes), until it is complete, and
    /// gives it; `None` if there is none.
    ///
    /// In steps that others barely notice, in the order of the positions. Each step MUST take its entries away and
    /// add them to the closing at once, so that at every instant the sums of the ledger are what they were. Any
    /// number of calls at once, or one after another that was cut off, close each entry once.
    async fn close(&self, project: ProjectId, month: Month) -> Result<Option<Closing>, StoreError>;
}

/// Why an export cannot be written or read; nothing was taken out of the ledger. One sentence for whoever runs the
/// command.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct ExportError(pub String);

/// Keeps the exports of closed months, outside of the database. What is there is never overwritten.
#[async_trait]
pub trait LedgerExports: Send + Sync {
    /// Begins the export of a month. `previous` is the digest of the export of the month that was closed before.
    ///
    /// # Errors
    /// [`ExportError`] also if another process is writing the same.
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

/// An export that is being written. It does not stay unless it is finished.
#[async_trait]
pub trait LedgerExport: Send {
    async fn add(&mut self, lines: &[StatementLine]) -> Result<(), ExportError>;

    /// Completes it, and gives its digest. It MUST be on disk under its name when this returns. The same entries
    /// give the same digest.
    ///
    /// # Errors
    /// [`ExportError`] also if there is another export of that month; the same one counts as this one.
    async fn finish(self: Box<Self>) -> Result<FileDigest, ExportError>;
}
