use crate::store::MemoryStore;
use async_trait::async_trait;
use dwar_kernel::StoreError;
use dwar_project::{KeyUse, KeyUseStore};

#[async_trait]
impl KeyUseStore for MemoryStore {
    async fn note(&self, uses: Vec<KeyUse>) -> Result<(), StoreError> {
        let state = &mut *self.step("KeyUseStore::note").await?;
        let keys = || uses.iter();
        for record in state.projects.iter_mut().flat_map(|(_, keys)| keys) {
            let Some(fresh) = keys().find(|fresh| fresh.key == record.id) else { continue };
            let due = |last: dwar_project::KeyUsage| last.at + KeyUse::NOTED_EVERY <= fresh.used.at;
            if record.used.is_none_or(due) {
                record.used = Some(fresh.used);
            }
        }
        Ok(())
    }
}
