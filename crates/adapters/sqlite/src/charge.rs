use crate::connection::pool::SqliteStore;
use crate::ports::wallet::entry_of;
use dwar_kernel::{OtpId, ProjectId, StoreError};
use dwar_wallet::{EntryKind, LedgerEntry};

impl SqliteStore {
    /// Returns the ledger entries of these kinds for these sends.
    pub(crate) async fn entries_of<const KINDS: usize>(
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
                        // One query per entry: for lists SQLite would read the project's whole
                        // ledger.
                        let entry = entry_of(connection, project, kind, &send.into())?;
                        found.extend(entry);
                    }
                }
                Ok(found)
            })
            .await
    }
}
