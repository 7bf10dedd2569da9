use crate::connection::pool::SqliteStore;
use crate::ports::wallet::entry_of;
use async_trait::async_trait;
use dwar_kernel::{OtpId, ProjectId, StoreError};
use dwar_wallet::{ChargeStore, EntryKind, LedgerEntry};

impl SqliteStore {
    /// The entries of these kinds of these sends.
    async fn entries_of<const KINDS: usize>(
        &self,
        name: &'static str,
        (project, sends): (ProjectId, Vec<OtpId>),
        kinds: [EntryKind; KINDS],
    ) -> Result<Vec<LedgerEntry>, StoreError> {
        self.of(project)
            .scan(name, move |connection| {
                let mut found = Vec::new();
                for send in sends {
                    for kind in kinds {
                        // Not by lists: SQLite would read all of the project's ledger for them.
                        let entry = entry_of(connection, project, kind, &send.into())?;
                        found.extend(entry);
                    }
                }
                Ok(found)
            })
            .await
    }
}

#[async_trait]
impl ChargeStore for SqliteStore {
    async fn charges(
        &self,
        project: ProjectId,
        sends: Vec<OtpId>,
    ) -> Result<Vec<LedgerEntry>, StoreError> {
        let kinds = [EntryKind::Capture, EntryKind::Refund];
        self.entries_of("wallet.charges", (project, sends), kinds).await
    }

    async fn steps(
        &self,
        project: ProjectId,
        sends: Vec<OtpId>,
    ) -> Result<Vec<LedgerEntry>, StoreError> {
        let kinds = [EntryKind::Hold, EntryKind::Capture, EntryKind::Release];
        self.entries_of("wallet.steps", (project, sends), kinds).await
    }
}
