use crate::MemoryStore;
use async_trait::async_trait;
use dwar_kernel::{AdminTokenId, Digest, StoreError, Timestamp};
use dwar_operator::{AdminToken, AdminTokenStore};
use std::net::IpAddr;

#[async_trait]
impl AdminTokenStore for MemoryStore {
    async fn add(&self, token: AdminToken) -> Result<(), StoreError> {
        self.step("AdminTokenStore::add").await?.admin_tokens.push(token);
        Ok(())
    }

    async fn tokens(&self) -> Result<Vec<AdminToken>, StoreError> {
        let mut tokens = self.step("AdminTokenStore::tokens").await?.admin_tokens.clone();
        tokens.sort_by_key(|token| (token.made_at, token.id));
        Ok(tokens)
    }

    async fn token(&self, token: Digest) -> Result<Option<AdminToken>, StoreError> {
        let state = &*self.step("AdminTokenStore::token").await?;
        Ok(state.admin_tokens.iter().find(|known| known.digest == token).cloned())
    }

    async fn record_token_use(
        &self,
        token: AdminTokenId,
        from: Option<IpAddr>,
        now: Timestamp,
    ) -> Result<(), StoreError> {
        let state = &mut *self.step("AdminTokenStore::record_token_use").await?;
        if let Some(known) = state.admin_tokens.iter_mut().find(|known| known.id == token) {
            known.note(now, from);
        }
        Ok(())
    }

    async fn revoke(&self, token: AdminTokenId) -> Result<bool, StoreError> {
        let state = &mut *self.step("AdminTokenStore::revoke").await?;
        Ok(state.admin_tokens.extract_if(.., |known| known.id == token).count() == 1)
    }

    async fn sweep(&self, before: Timestamp) -> Result<u64, StoreError> {
        let state = &mut *self.step("AdminTokenStore::sweep").await?;
        Ok(state.admin_tokens.extract_if(.., |token| token.expires_at <= before).count() as u64)
    }
}
