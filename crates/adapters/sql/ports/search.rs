use crate::dialect::{Store, take};
use async_trait::async_trait;
use diesel::prelude::*;
use dwar_kernel::{StoreError, Timestamp};
use dwar_operator::{PhoneSearch, SearchAdmission, SearchQuota, SearchStore};
use dwar_sql::schema::{audit_entries, phone_searches};
use dwar_sql::{At, AuditEntryRow, Id, Lock, SearchRow};

#[async_trait]
impl SearchStore for Store {
    async fn admit_search(
        &self,
        search: PhoneSearch,
        now: Timestamp,
    ) -> Result<SearchAdmission, StoreError> {
        self.write("operator.admit_search", move |conn| {
            take(conn, Lock::Searcher(search.searcher))?;
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
        self.drop_searches(now).await
    }
}
