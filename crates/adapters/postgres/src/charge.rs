use crate::PostgresStore;
use diesel::prelude::*;
use diesel::sql_types::{Array, Text};
use dwar_kernel::{OtpId, ProjectId, StoreError};
use dwar_sql::{EntryRow, Id, all};
use dwar_wallet::{EntryKind, LedgerEntry};

/// Entries of a project by kind and reference. Each is looked up alone, by all of its unique key: for lists the planner,
/// which does not know the project, takes it for an average one, and reads all of a large one's ledger.
const ENTRIES: &str = "SELECT e.* FROM unnest($2) AS k (kind) CROSS JOIN unnest($3) AS r (reference) \
     CROSS JOIN LATERAL ( \
         SELECT * FROM ledger_entries l \
         WHERE l.project_id = $1 AND l.kind = k.kind AND l.reference = r.reference LIMIT 1) e";

impl PostgresStore {
    /// The entries of these kinds of these sends.
    pub(crate) async fn entries_of<const KINDS: usize>(
        &self,
        name: &'static str,
        (project, sends): (ProjectId, Vec<OtpId>),
        kinds: [EntryKind; KINDS],
    ) -> Result<Vec<LedgerEntry>, StoreError> {
        self.of(project)
            .read(name, move |conn| {
                let kinds = kinds.map(EntryKind::as_str);
                let rows: Vec<EntryRow> = diesel::sql_query(ENTRIES)
                    .bind::<Id, _>(Id::from(project))
                    .bind::<Array<Text>, _>(kinds.as_slice())
                    .bind::<Array<Text>, _>(sends.iter().map(OtpId::to_string).collect::<Vec<_>>())
                    .load(conn)?;
                Ok(all(rows)?)
            })
            .await
    }
}
