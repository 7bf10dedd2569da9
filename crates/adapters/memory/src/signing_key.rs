use crate::store::MemoryStore;
use async_trait::async_trait;
use dwar_kernel::{StoreError, Timestamp};
use dwar_session::{KeyState, SigningKey, SigningKeyStore};

#[async_trait]
impl SigningKeyStore for MemoryStore {
    async fn keys(&self, now: Timestamp) -> Result<Vec<SigningKey>, StoreError> {
        let mut keys = self.step("SigningKeyStore::keys").await?.signing_keys.clone();
        keys.retain(|key| key.state(now) != KeyState::Gone);
        keys.sort_by_key(|key| (key.created_at, key.kid.clone()));
        Ok(keys)
    }

    async fn add_first(&self, key: SigningKey, now: Timestamp) -> Result<bool, StoreError> {
        let state = &mut *self.step("SigningKeyStore::add_first").await?;
        let first = !state.signing_keys.iter().any(|known| known.serves(key.algorithm, now));
        if first {
            state.signing_keys.push(key);
        }
        Ok(first)
    }

    async fn rotate(&self, key: SigningKey, retire_until: Timestamp) -> Result<(), StoreError> {
        let state = &mut *self.step("SigningKeyStore::rotate").await?;
        for other in &mut state.signing_keys {
            other.retire(key.signs_from, retire_until);
        }
        state.signing_keys.push(key);
        Ok(())
    }
}
