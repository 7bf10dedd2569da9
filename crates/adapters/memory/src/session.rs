use crate::store::{MemoryStore, State};
use async_trait::async_trait;
use dwar_event::{Event, EventKind, Subject};
use dwar_kernel::{Digest, KeyMode, ProjectId, SessionId, StoreError, Timestamp, TokenId};
use dwar_session::{
    Presented, Rotation, RotationPolicy, Session, SessionStore, Started, Successor,
};

impl State {
    fn session(&mut self, wanted: (ProjectId, KeyMode, SessionId)) -> Option<&mut Session> {
        self.sessions.iter_mut().find(|found| (found.project, found.mode, found.id) == wanted)
    }

    fn record_end(&mut self, ended: &Session, at: Timestamp) {
        let subject = Subject::Session { session: ended.id, identity: ended.identity };
        let (project, mode, kind) = (ended.project, ended.mode, EventKind::SessionRevoked);
        self.record(&Event { project, mode, kind, subject, at });
    }

    /// Drops sessions with their whole line; gives what is gone.
    pub fn drop_sessions(&mut self, gone: impl Fn(&Session) -> bool) -> Vec<Session> {
        let (gone, kept): (Vec<_>, Vec<_>) = self.sessions.drain(..).partition(gone);
        self.sessions = kept;
        self.lines.retain(|_, id| gone.iter().all(|session| session.id != *id));
        gone
    }
}

#[async_trait]
impl SessionStore for MemoryStore {
    async fn start(&self, session: Session) -> Result<Started, StoreError> {
        self.step("SessionStore::start", |state| {
            if !state.identities.iter().any(|(_, found)| found.id == session.identity) {
                return Started::IdentityGone;
            }
            state.lines.insert(session.refresh, session.id);
            state.sessions.push(session);
            Started::Started
        })
        .await
    }

    async fn find_by_refresh(
        &self,
        project: ProjectId,
        mode: KeyMode,
        refresh: Digest,
    ) -> Result<Option<Session>, StoreError> {
        self.step("SessionStore::find_by_refresh", |state| {
            let id = *state.lines.get(&refresh)?;
            state.session((project, mode, id)).cloned()
        })
        .await
    }

    async fn rotate(
        &self,
        project: ProjectId,
        mode: KeyMode,
        presented: Presented,
        next: Successor,
        policy: RotationPolicy,
        now: Timestamp,
    ) -> Result<Option<Rotation>, StoreError> {
        self.step("SessionStore::rotate", |state| {
            let id = *state.lines.get(&presented.refresh)?;
            let refresh = next.refresh;
            let session = state.session((project, mode, id))?;
            let rotation = session.rotate(&presented, next, policy, now);
            let session = session.clone();
            match rotation {
                Rotation::Rotated => drop(state.lines.insert(refresh, id)),
                Rotation::Reused => state.record_end(&session, now),
                Rotation::Replayed(_) | Rotation::Refused => {}
            }
            Some(rotation)
        })
        .await
    }

    async fn find(
        &self,
        project: ProjectId,
        mode: KeyMode,
        session: SessionId,
    ) -> Result<Option<Session>, StoreError> {
        self.step("SessionStore::find", |state| state.session((project, mode, session)).cloned())
            .await
    }

    async fn revoke(
        &self,
        project: ProjectId,
        mode: KeyMode,
        session: SessionId,
        token: TokenId,
        now: Timestamp,
    ) -> Result<bool, StoreError> {
        self.step("SessionStore::revoke", |state| {
            let found = state.session((project, mode, session));
            let honoured = found.filter(|session| session.honours(token, now));
            let Some(ended) = honoured else { return false };
            ended.revoked_at = Some(now);
            let ended = ended.clone();
            state.record_end(&ended, now);
            true
        })
        .await
    }

    async fn sweep(&self, before: Timestamp) -> Result<u64, StoreError> {
        self.step("SessionStore::sweep", |state| {
            let ended = |session: &Session| {
                session.expires_at < before || session.revoked_at.is_some_and(|at| at < before)
            };
            state.drop_sessions(ended).len() as u64
        })
        .await
    }
}
