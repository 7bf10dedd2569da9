use crate::connection::pool::SqliteStore;
use crate::ports::wallet::entry_of;
use async_trait::async_trait;
use dwar_kernel::{OtpId, ProjectId, StoreError};
use dwar_wallet::{ChargeStore, EntryKind, LedgerEntry};

#[async_trait]
impl ChargeStore for SqliteStore {
    async fn charges(
        &self,
        project: ProjectId,
        sends: Vec<OtpId>,
    ) -> Result<Vec<LedgerEntry>, StoreError> {
        self.of(project)
            .scan("wallet.charges", move |connection| {
                let mut found = Vec::new();
                for send in sends {
                    for kind in [EntryKind::Capture, EntryKind::Refund] {
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
