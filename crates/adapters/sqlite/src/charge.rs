use crate::connection::pool::SqliteStore;
use async_trait::async_trait;
use diesel::prelude::*;
use dwar_kernel::{OtpId, ProjectId, StoreError};
use dwar_sql::schema::ledger_entries;
use dwar_sql::{EntryRow, Id, read_one};
use dwar_wallet::{ChargeStore, EntryKind, LedgerEntry};

#[async_trait]
impl ChargeStore for SqliteStore {
    async fn charges(
        &self,
        project: ProjectId,
        sends: Vec<OtpId>,
    ) -> Result<Vec<LedgerEntry>, StoreError> {
        self.of(project)
            .scan(move |connection| {
                let mut found = Vec::new();
                for send in sends {
                    for kind in [EntryKind::Capture, EntryKind::Refund] {
                        // Not by lists: SQLite would read all of the project's ledger for them.
                        let query = ledger_entries::table
                            .filter(ledger_entries::project_id.eq(Id::from(project)))
                            .filter(ledger_entries::kind.eq(kind.as_str()))
                            .filter(ledger_entries::reference.eq(send.to_string()));
                        let entry: Option<LedgerEntry> = read_one!(EntryRow of query, connection);
                        found.extend(entry);
                    }
                }
                Ok(found)
            })
            .await
    }
}
