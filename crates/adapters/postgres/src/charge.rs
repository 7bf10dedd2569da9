use crate::PostgresStore;
use diesel::prelude::*;
use diesel::sql_types::{Array, Text};
use dwar_kernel::{OtpId, ProjectId, StoreError};
use dwar_sql::{EntryRow, Id, all};
use dwar_wallet::{EntryKind, LedgerEntry};

/// Entries of a project by kind and reference. Each entry is looked up separately by its whole
/// unique key. For a list the planner does not know the project: it assumes an average one and
/// reads the whole ledger of a large one.
const ENTRIES: &str = "SELECT e.* FROM unnest($2) AS k (kind) CROSS JOIN unnest($3) AS r (reference) \
     CROSS JOIN LATERAL ( \
         SELECT * FROM ledger_entries l \
         WHERE l.project_id = $1 AND l.kind = k.kind AND l.reference = r.reference LIMIT 1) e";

impl PostgresStore {
    /// Returns the ledger entries of these kinds for these sends.
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
