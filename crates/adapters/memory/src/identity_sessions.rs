use crate::MemoryStore;
use async_trait::async_trait;
use dwar_kernel::{IdentityId, ProjectMode, SessionId, StoreError, Timestamp};
use dwar_session::{IdentitySessions, Session, SessionCursor};
use std::cmp::Reverse;

#[async_trait]
impl IdentitySessions for MemoryStore {
    async fn of_identity(
        &self,
        project_mode: ProjectMode,
        identity: IdentityId,
        after: Option<SessionCursor>,
        limit: u32,
    ) -> Result<Vec<Session>, StoreError> {
        let mut found = self.step("IdentitySessions::of_identity").await?.sessions.clone();
        found.retain(|one| (one.project_mode, one.identity) == (project_mode, identity));
        found.retain(|one| after.is_none_or(|cursor| one.follows(cursor)));
        found.sort_by_key(|one| Reverse((one.created_at, one.id)));
        found.truncate(limit as usize);
        Ok(found)
    }

    async fn end_one(
        &self,
        project_mode: ProjectMode,
        identity: IdentityId,
        session: SessionId,
        now: Timestamp,
    ) -> Result<bool, StoreError> {
        let state = &mut *self.step("IdentitySessions::end_one").await?;
        let ended = state.change((project_mode, session), |session| {
            session.identity == identity && session.end(now)
        });
        Ok(ended.unwrap_or_default())
    }

    async fn end_all(
        &self,
        project_mode: ProjectMode,
        identity: IdentityId,
        now: Timestamp,
    ) -> Result<u64, StoreError> {
        let state = &mut *self.step("IdentitySessions::end_all").await?;
        let own = state.sessions.iter().filter(|one| one.identity == identity);
        let own: Vec<_> = own.map(|one| one.id).collect();
        let mut ended = 0;
        for id in own {
            let one = state.change((project_mode, id), |session| session.end(now));
            ended += u64::from(one.unwrap_or_default());
        }
        Ok(ended)
    }

    async fn end_everywhere(&self, now: Timestamp) -> Result<u64, StoreError> {
        let state = &mut *self.step("IdentitySessions::end_everywhere").await?;
        let all: Vec<_> = state.sessions.iter().map(|it| (it.project_mode, it.id)).collect();
        let end = |of| state.change(of, |session| session.end(now)).unwrap_or_default();
        Ok(all.into_iter().map(end).map(u64::from).sum())
    }
}
