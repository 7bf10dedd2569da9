use crate::store::{MemoryStore, State};
use async_trait::async_trait;
use dwar_kernel::{KeyMode, ProjectId, SessionId, StoreError, Timestamp, TokenId};
use dwar_session::{
    Presented, Rotation, RotationPolicy, Session, SessionStore, Started, Successor,
};

impl State {
    fn session(&mut self, wanted: (ProjectId, KeyMode, SessionId)) -> Option<&mut Session> {
        self.sessions.iter_mut().find(|found| (found.project, found.mode, found.id) == wanted)
    }

    /// Applies a rule to a session and records the event that its change was.
    fn change<T>(
        &mut self,
        wanted: (ProjectId, KeyMode, SessionId),
        rule: impl FnOnce(&mut Session) -> T,
    ) -> Option<T> {
        let session = self.session(wanted)?;
        let before = session.clone();
        let answer = rule(session);
        if let Some(event) = session.event(&before) {
            self.record(&event);
        }
        Some(answer)
    }

    /// Drops sessions; gives what is gone.
    pub fn drop_sessions(&mut self, gone: impl Fn(&Session) -> bool) -> Vec<Session> {
        let (gone, kept): (Vec<_>, Vec<_>) = self.sessions.drain(..).partition(gone);
        self.sessions = kept;
        gone
    }
}

#[async_trait]
impl SessionStore for MemoryStore {
    async fn start(&self, session: Session) -> Result<Started, StoreError> {
        self.step("SessionStore::start", |state| {
            let home = (session.project, session.mode, session.identity);
            if !state.identities.iter().any(|(_, k)| (k.project, k.mode, k.id) == home) {
                return Started::IdentityGone;
            }
            if state.sessions.iter().all(|known| known.id != session.id) {
                state.sessions.push(session);
            }
            Started::Started
        })
        .await
    }

    async fn rotate(
        &self,
        seen: Session,
        presented: Presented,
        next: Successor,
        policy: RotationPolicy,
        now: Timestamp,
    ) -> Result<Option<Rotation>, StoreError> {
        let wanted = (seen.project, seen.mode, seen.id);
        self.step("SessionStore::rotate", |state| {
            state.change(wanted, |session| session.rotate(&presented, next, policy, now))
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
            let revoked =
                state.change((project, mode, session), |session| session.revoke(token, now));
            revoked.unwrap_or_default()
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
