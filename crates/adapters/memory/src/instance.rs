use crate::MemoryStore;
use async_trait::async_trait;
use dwar_activity::installation::{Instance, InstanceStore};
use dwar_kernel::{InstanceId, StoreError, Timestamp};
use std::cmp::Reverse;

#[async_trait]
impl InstanceStore for MemoryStore {
    async fn beat(
        &self,
        instance: Instance,
        forget: Timestamp,
    ) -> Result<Option<Timestamp>, StoreError> {
        let state = &mut *self.step("InstanceStore::beat").await?;
        state.instances.retain(|known| known.id != instance.id);
        state.instances.push(instance);
        state.instances.retain(|known| known.seen_at >= forget);
        state.drop_troubles();
        Ok(None)
    }

    async fn leave(&self, instance: InstanceId) -> Result<(), StoreError> {
        let state = &mut *self.step("InstanceStore::leave").await?;
        state.instances.retain(|known| known.id != instance);
        state.drop_troubles();
        Ok(())
    }

    async fn instances(&self, limit: u32) -> Result<Vec<Instance>, StoreError> {
        let mut known = self.step("InstanceStore::instances").await?.instances.clone();
        known.sort_by_key(|instance| (Reverse(instance.seen_at), instance.id));
        known.truncate(limit as usize);
        Ok(known)
    }
}
