use crate::connection::pool::{SWEEP, SqliteStore};
use async_trait::async_trait;
use diesel::prelude::*;
use dwar_kernel::{StoreError, Timestamp};
use dwar_operator::{PhoneSearch, SearchAdmission, SearchQuota, SearchStore};
use dwar_sql::schema::{audit_entries, phone_searches};
use dwar_sql::{At, AuditEntryRow, Id, SearchRow};

#[async_trait]
impl SearchStore for SqliteStore {
    async fn admit_search(
        &self,
        search: PhoneSearch,
        now: Timestamp,
    ) -> Result<SearchAdmission, StoreError> {
        self.write(move |connection| {
            let rows: Vec<SearchRow> = phone_searches::table
                .filter(phone_searches::searcher_id.eq(Id::from(search.searcher)))
                .filter(phone_searches::searched_at.gt(At::from(now - SearchQuota::LONGEST)))
                .select(SearchRow::as_select())
                .load(connection)?;
            let mut known = SearchRow::searches(search.searcher, rows)?;
            let admission = known.admit(search.number, now);
            if let SearchAdmission::Counted(_) = admission {
                diesel::insert_into(phone_searches::table)
                    .values(SearchRow::new(&search, now))
                    .execute(connection)?;
                diesel::insert_into(audit_entries::table)
                    .values(AuditEntryRow::from(search.entry))
                    .execute(connection)?;
            }
            Ok(admission)
        })
        .await
    }

    async fn sweep(&self, now: Timestamp) -> Result<u64, StoreError> {
        let old = At::from(now - SearchQuota::LONGEST);
        self.in_batches(move |connection| {
            let ids = phone_searches::table.filter(phone_searches::searched_at.le(old));
            let ids = ids.select(phone_searches::searched_at).limit(SWEEP.into());
            let ids = ids.load::<At>(connection)?;
            diesel::delete(phone_searches::table.filter(phone_searches::searched_at.eq_any(ids)))
                .execute(connection)
        })
        .await
    }
}
