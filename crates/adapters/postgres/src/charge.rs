use crate::PostgresStore;
use async_trait::async_trait;
use diesel::prelude::*;
use dwar_kernel::{OtpId, ProjectId, StoreError};
use dwar_sql::schema::ledger_entries;
use dwar_sql::{EntryRow, Id, read_all};
use dwar_wallet::{ChargeStore, EntryKind, LedgerEntry};

#[async_trait]
impl ChargeStore for PostgresStore {
    async fn charges(
        &self,
        project: ProjectId,
        sends: Vec<OtpId>,
    ) -> Result<Vec<LedgerEntry>, StoreError> {
        self.of(project)
            .read("wallet.charges", move |conn| {
                let kinds = [EntryKind::Capture, EntryKind::Refund].map(EntryKind::as_str);
                let sends = sends.iter().map(OtpId::to_string);
                let query = ledger_entries::table
                    .filter(ledger_entries::project_id.eq(Id::from(project)))
                    .filter(ledger_entries::kind.eq_any(kinds))
                    .filter(ledger_entries::reference.eq_any(sends));
                Ok(read_all!(EntryRow of query, conn))
            })
            .await
    }
}
