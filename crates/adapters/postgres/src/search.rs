use crate::PostgresStore;
use dwar_kernel::{StoreError, Timestamp};
use dwar_operator::SearchQuota;
use std::time::Duration;

impl PostgresStore {
    /// Deletes searches that no quota counts any more.
    pub(crate) async fn drop_searches(&self, now: Timestamp) -> Result<u64, StoreError> {
        // A search that leaves the window at this instant no longer counts.
        let before = now - SearchQuota::LONGEST + Duration::from_millis(1);
        self.drop_before("phone_searches", "searched_at", before).await
    }
}
