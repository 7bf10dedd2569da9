use crate::connection::pool::{SWEEP, SqliteStore};
use diesel::prelude::*;
use dwar_kernel::{StoreError, Timestamp};
use dwar_operator::SearchQuota;
use dwar_sql::At;
use dwar_sql::schema::phone_searches::{searched_at, table};

impl SqliteStore {
    /// Deletes searches that no quota counts any more. The table has no row ids.
    pub(crate) async fn drop_searches(&self, now: Timestamp) -> Result<u64, StoreError> {
        let old = At::from(now - SearchQuota::LONGEST);
        self.in_batches(move |connection| {
            let ids = table.filter(searched_at.le(old)).select(searched_at).limit(SWEEP.into());
            let ids = ids.load::<At>(connection)?;
            diesel::delete(table.filter(searched_at.eq_any(ids))).execute(connection)
        })
        .await
    }
}
