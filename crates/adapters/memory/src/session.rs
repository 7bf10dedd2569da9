use crate::store::{MemoryStore, State};
use async_trait::async_trait;
use dwar_kernel::{Digest, ProjectMode, SessionId, StoreError, Timestamp, TokenId};
use dwar_project::Caller;
use dwar_session::{
    KeyAndSession, PresentedRefreshToken, Rotation, RotationPolicy, Session, SessionStore,
    Successor,
};

impl State {
    fn session(&mut self, wanted: (ProjectMode, SessionId)) -> Option<&mut Session> {
        self.sessions.iter_mut().find(|found| (found.project_mode, found.id) == wanted)
    }

    /// Applies a rule to a session and records the event of the change.
    pub(crate) fn change<T>(
        &mut self,
        wanted: (ProjectMode, SessionId),
        rule: impl FnOnce(&mut Session) -> T,
    ) -> Option<T> {
        let session = self.session(wanted)?;
        let before = session.clone();
        let answer = rule(session);
        let told = session.event(&before);
        self.record(told);
        Some(answer)
    }
}

#[async_trait]
impl SessionStore for MemoryStore {
    async fn rotate(
        &self,
        seen: Session,
        presented: PresentedRefreshToken,
        next: Successor,
        policy: RotationPolicy,
        now: Timestamp,
    ) -> Result<Option<Rotation>, StoreError> {
        let state = &mut *self.step("SessionStore::rotate").await?;
        let wanted = (seen.project_mode, seen.id);
        Ok(state.change(wanted, |session| session.rotate(&presented, next, policy, now)))
    }

    async fn find_key_and_session(
        &self,
        key: Digest,
        session: Option<SessionId>,
    ) -> Result<Option<KeyAndSession>, StoreError> {
        let state = &mut *self.step("SessionStore::find_key_and_session").await?;
        let Some(Caller { project, mode, key }) = state.caller(key) else { return Ok(None) };
        let session = session.and_then(|id| state.session((project.id.in_mode(mode), id)).cloned());
        let own_profile = project.own_profile(mode).cloned();
        Ok(Some(KeyAndSession {
            key,
            project_mode: project.id.in_mode(mode),
            own_profile,
            session,
        }))
    }

    async fn revoke(
        &self,
        seen: Session,
        token: TokenId,
        now: Timestamp,
    ) -> Result<bool, StoreError> {
        let state = &mut *self.step("SessionStore::revoke").await?;
        let wanted = (seen.project_mode, seen.id);
        let revoked = state.change(wanted, |session| session.revoke(token, now));
        Ok(revoked.unwrap_or_default())
    }

    async fn sweep(&self, before: Timestamp) -> Result<u64, StoreError> {
        let state = &mut *self.step("SessionStore::sweep").await?;
        let ended = |session: &mut Session| {
            session.expires_at < before || session.revoked_at.is_some_and(|at| at < before)
        };
        Ok(state.sessions.extract_if(.., ended).count() as u64)
    }
}
