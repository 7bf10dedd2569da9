use crate::MemoryStore;
use async_trait::async_trait;
use dwar_kernel::{StoreError, Timestamp};
use dwar_operator::{PhoneSearch, SearchAdmission, SearchQuota, SearchStore};

#[async_trait]
impl SearchStore for MemoryStore {
    async fn admit_search(
        &self,
        search: PhoneSearch,
        now: Timestamp,
    ) -> Result<SearchAdmission, StoreError> {
        let state = &mut *self.step("SearchStore::admit_search").await?;
        let known = state.searches.entry(search.searcher).or_default();
        let admission = known.admit(search.number, now);
        if let SearchAdmission::Counted(_) = admission {
            state.audit.push(search.entry);
        }
        Ok(admission)
    }

    async fn sweep(&self, now: Timestamp) -> Result<u64, StoreError> {
        let state = &mut *self.step("SearchStore::sweep").await?;
        let mut gone = 0;
        state.searches.retain(|_, searches| {
            gone += searches.0.extract_if(.., |(_, at)| *at + SearchQuota::LONGEST <= now).count();
            !searches.0.is_empty()
        });
        Ok(gone as u64)
    }
}
