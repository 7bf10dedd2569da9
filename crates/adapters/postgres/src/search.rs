use crate::PostgresStore;
use crate::connection::lock::Lock;
use async_trait::async_trait;
use diesel::prelude::*;
use dwar_kernel::{StoreError, Timestamp};
use dwar_operator::{PhoneSearch, SearchAdmission, SearchQuota, SearchStore};
use dwar_sql::schema::{audit_entries, phone_searches};
use dwar_sql::{At, AuditEntryRow, Id, SearchRow};

#[async_trait]
impl SearchStore for PostgresStore {
    async fn admit_search(
        &self,
        search: PhoneSearch,
        now: Timestamp,
    ) -> Result<SearchAdmission, StoreError> {
        self.pool
            .transaction(move |conn| {
                Lock::Searcher(search.searcher).take(conn)?;
                let rows: Vec<SearchRow> = phone_searches::table
                    .filter(phone_searches::searcher_id.eq(Id::from(search.searcher)))
                    .filter(phone_searches::searched_at.gt(At::from(now - SearchQuota::LONGEST)))
                    .select(SearchRow::as_select())
                    .load(conn)?;
                let mut known = SearchRow::searches(search.searcher, rows)?;
                let admission = known.admit(search.number, now);
                if let SearchAdmission::Counted(_) = admission {
                    diesel::insert_into(phone_searches::table)
                        .values(SearchRow::new(&search, now))
                        .execute(conn)?;
                    diesel::insert_into(audit_entries::table)
                        .values(AuditEntryRow::from(search.entry.clone()))
                        .execute(conn)?;
                }
                Ok(admission)
            })
            .await
    }

    async fn sweep(&self, now: Timestamp) -> Result<u64, StoreError> {
        // What ends at this instant is over.
        let before = now - SearchQuota::LONGEST + std::time::Duration::from_millis(1);
        self.drop_before("phone_searches", "searched_at", before).await
    }
}
