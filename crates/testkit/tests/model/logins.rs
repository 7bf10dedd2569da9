use super::{Model, State};
use async_trait::async_trait;
use dwar_event::{Event, EventKind, Subject};
use dwar_identity::{Erased, Identity, IdentityStore, Sighting};
use dwar_kernel::{
    BlindIndex, Digest, IdentityId, KeyMode, ProjectId, SessionId, StoreError, Timestamp, TokenId,
};
use dwar_session::{
    KeyState, Presented, Rotation, RotationPolicy, Session, SessionStore, SigningKey,
    SigningKeyStore, Started, Successor,
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
impl SessionStore for Model {
    async fn start(&self, session: Session) -> Result<Started, StoreError> {
        self.step(|state| {
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
        self.step(|state| {
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
        self.step(|state| {
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
        self.step(|state| state.session((project, mode, session)).cloned()).await
    }

    async fn revoke(
        &self,
        project: ProjectId,
        mode: KeyMode,
        session: SessionId,
        token: TokenId,
        now: Timestamp,
    ) -> Result<bool, StoreError> {
        self.step(|state| {
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
        self.step(|state| {
            let ended = |session: &Session| {
                session.expires_at < before || session.revoked_at.is_some_and(|at| at < before)
            };
            state.drop_sessions(ended).len() as u64
        })
        .await
    }
}

#[async_trait]
impl SigningKeyStore for Model {
    async fn keys(&self, now: Timestamp) -> Result<Vec<SigningKey>, StoreError> {
        self.step(|state| {
            let mut keys = state.signing_keys.clone();
            keys.retain(|key| key.state(now) != KeyState::Gone);
            keys.sort_by_key(|key| key.created_at);
            keys
        })
        .await
    }

    async fn add_first(&self, key: SigningKey, now: Timestamp) -> Result<bool, StoreError> {
        self.step(|state| {
            let mut same = state.signing_keys.iter().filter(|k| k.algorithm == key.algorithm);
            let signs =
                |key: &SigningKey| matches!(key.state(now), KeyState::Next | KeyState::Active);
            let first = !same.any(signs);
            if first {
                state.signing_keys.push(key);
            }
            first
        })
        .await
    }

    async fn rotate(&self, key: SigningKey, retire_until: Timestamp) -> Result<(), StoreError> {
        self.step(|state| {
            let sooner = |end: Option<Timestamp>, new| Some(end.map_or(new, |end| end.min(new)));
            for other in &mut state.signing_keys {
                other.signs_until = sooner(other.signs_until, key.signs_from);
                other.published_until = sooner(other.published_until, retire_until);
            }
            state.signing_keys.push(key);
        })
        .await
    }
}

#[async_trait]
impl IdentityStore for Model {
    async fn recognise(
        &self,
        project: ProjectId,
        sighting: Sighting,
    ) -> Result<IdentityId, StoreError> {
        self.step(|state| {
            let wanted = (project, sighting.mode, sighting.index);
            let mut known = state.identities.iter_mut();
            if let Some((_, known)) = known.find(|(i, k)| (k.project, k.mode, *i) == wanted) {
                known.last_verified_at = sighting.at;
                known.phone = sighting.phone;
                return known.id;
            }
            let identity = Identity {
                id: sighting.fresh,
                project,
                mode: sighting.mode,
                phone: sighting.phone,
                created_at: sighting.at,
                last_verified_at: sighting.at,
            };
            state.identities.push((sighting.index, identity));
            sighting.fresh
        })
        .await
    }

    async fn find(
        &self,
        project: ProjectId,
        mode: KeyMode,
        id: IdentityId,
    ) -> Result<Option<Identity>, StoreError> {
        self.step(|state| {
            let mut known = state.identities.iter().map(|(_, known)| known);
            known.find(|k| (k.project, k.mode, k.id) == (project, mode, id)).cloned()
        })
        .await
    }

    async fn find_by_phone(
        &self,
        project: ProjectId,
        mode: KeyMode,
        phone: BlindIndex,
    ) -> Result<Option<Identity>, StoreError> {
        self.step(|state| {
            let wanted = (project, mode, phone);
            let mut known = state.identities.iter();
            let found = known.find(|(i, k)| (k.project, k.mode, *i) == wanted);
            found.map(|(_, known)| known.clone())
        })
        .await
    }

    async fn erase(
        &self,
        project: ProjectId,
        mode: KeyMode,
        id: IdentityId,
        now: Timestamp,
    ) -> Result<Option<Erased>, StoreError> {
        self.step(|state| {
            let wanted = (project, mode, id);
            let mut known = state.identities.iter();
            let place = known.position(|(_, k)| (k.project, k.mode, k.id) == wanted)?;
            let (phone, _) = state.identities.remove(place);
            let line = (project, mode, phone);
            let sessions = state.drop_sessions(|session| session.identity == id);
            let (gone, kept): (Vec<_>, Vec<_>) =
                state.otps.drain(..).partition(|otp| (otp.project, otp.mode, otp.phone) == line);
            state.otps = kept;
            state.inbox.retain(|(_, message)| gone.iter().all(|otp| otp.id != message.otp));
            state.records.retain(|slot, record| (slot.project, slot.mode, record.phone) != line);
            let alive = sessions.iter().filter(|session| session.is_alive(now)).count();
            let sessions_revoked = alive as u64;
            state.forget_phone(line);
            let subject = Subject::Identity { identity: id, sessions_revoked };
            let kind = EventKind::IdentityDeleted;
            state.record(&Event { project, mode, kind, subject, at: now });
            Some(Erased { sessions_revoked })
        })
        .await
    }
}
