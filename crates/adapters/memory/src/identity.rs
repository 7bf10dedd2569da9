use crate::store::MemoryStore;
use async_trait::async_trait;
use dwar_identity::{Erased, Identity, IdentityStore, Sighting};
use dwar_kernel::{BlindIndex, IdentityId, KeyMode, ProjectId, StoreError, Timestamp};

#[async_trait]
impl IdentityStore for MemoryStore {
    async fn recognise(
        &self,
        project: ProjectId,
        sighting: Sighting,
    ) -> Result<IdentityId, StoreError> {
        self.step("IdentityStore::recognise", |state| {
            let wanted = (project, sighting.mode, sighting.index);
            let mut known = state.identities.iter_mut();
            if let Some((_, known)) = known.find(|(i, k)| (k.project, k.mode, *i) == wanted) {
                known.last_verified_at = known.last_verified_at.max(sighting.at);
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
        self.step("IdentityStore::find", |state| {
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
        self.step("IdentityStore::find_by_phone", |state| {
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
        self.step("IdentityStore::erase", |state| {
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
            let erased = Erased { sessions_revoked: alive as u64 };
            state.forget_phone(line);
            state.record(&erased.event(project, mode, id, now));
            Some(erased)
        })
        .await
    }
}
