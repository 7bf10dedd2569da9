use crate::MemoryStore;
use async_trait::async_trait;
use dwar_kernel::{StoreError, Timestamp};
use dwar_operator::{AuditCursor, AuditEntry, AuditFilter, AuditStore};
use std::cmp::Reverse;

#[async_trait]
impl AuditStore for MemoryStore {
    async fn append(&self, entry: AuditEntry) -> Result<(), StoreError> {
        self.step("AuditStore::append").await?.audit.push(entry);
        Ok(())
    }

    async fn page(
        &self,
        filter: AuditFilter,
        after: Option<AuditCursor>,
        limit: u32,
    ) -> Result<Vec<AuditEntry>, StoreError> {
        let mut page = self.step("AuditStore::page").await?.audit.clone();
        page.retain(|it| filter.wants(it) && after.is_none_or(|after| it.follows(after)));
        page.sort_by_key(|entry| Reverse((entry.at, entry.id)));
        page.truncate(limit as usize);
        Ok(page)
    }

    async fn sweep(&self, before: Timestamp) -> Result<u64, StoreError> {
        let state = &mut *self.step("AuditStore::sweep").await?;
        Ok(state.audit.extract_if(.., |entry| entry.at < before).count() as u64)
    }
}
