use crate::store::MemoryStore;
use async_trait::async_trait;
use dwar_kernel::{StoreError, Timestamp};
use dwar_session::{KeyState, SigningKey, SigningKeyStore};

#[async_trait]
impl SigningKeyStore for MemoryStore {
    async fn keys(&self, now: Timestamp) -> Result<Vec<SigningKey>, StoreError> {
        self.step("SigningKeyStore::keys", |state| {
            let mut keys = state.signing_keys.clone();
            keys.retain(|key| key.state(now) != KeyState::Gone);
            keys.sort_by_key(|key| (key.created_at, key.kid.clone()));
            keys
        })
        .await
    }

    async fn add_first(&self, key: SigningKey, now: Timestamp) -> Result<bool, StoreError> {
        self.step("SigningKeyStore::add_first", |state| {
            let first = !state.signing_keys.iter().any(|known| known.serves(key.algorithm, now));
            if first {
                state.signing_keys.push(key);
            }
            first
        })
        .await
    }

    async fn rotate(&self, key: SigningKey, retire_until: Timestamp) -> Result<(), StoreError> {
        self.step("SigningKeyStore::rotate", |state| {
            for other in &mut state.signing_keys {
                other.retire(key.signs_from, retire_until);
            }
            state.signing_keys.push(key);
        })
        .await
    }
}
