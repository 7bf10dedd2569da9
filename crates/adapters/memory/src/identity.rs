use crate::store::MemoryStore;
use async_trait::async_trait;
use dwar_identity::{Erased, Identity, IdentityStore};
use dwar_kernel::{BlindIndex, IdentityId, KeyMode, ProjectId, StoreError, Timestamp};

#[async_trait]
impl IdentityStore for MemoryStore {
    async fn find(
        &self,
        project: ProjectId,
        mode: KeyMode,
        id: IdentityId,
    ) -> Result<Option<Identity>, StoreError> {
        let state = &*self.step("IdentityStore::find").await?;
        let mut known = state.identities.iter().map(|(_, known)| known);
        Ok(known.find(|k| (k.project, k.mode, k.id) == (project, mode, id)).cloned())
    }

    async fn find_by_phone(
        &self,
        project: ProjectId,
        mode: KeyMode,
        phone: BlindIndex,
    ) -> Result<Option<Identity>, StoreError> {
        let state = &*self.step("IdentityStore::find_by_phone").await?;
        let mut known = state.identities.iter();
        let found = known.find(|(i, k)| (k.project, k.mode, *i) == (project, mode, phone));
        Ok(found.map(|(_, known)| known.clone()))
    }

    async fn erase(
        &self,
        project: ProjectId,
        mode: KeyMode,
        id: IdentityId,
        now: Timestamp,
    ) -> Result<Option<Erased>, StoreError> {
        let state = &mut *self.step("IdentityStore::erase").await?;
        let own = |(_, known): &mut (_, Identity)| {
            (known.project, known.mode, known.id) == (project, mode, id)
        };
        let Some((phone, _)) = state.identities.extract_if(.., own).next() else {
            return Ok(None);
        };
        let line = (project, mode, phone);
        let sessions = state.sessions.extract_if(.., |session| session.identity == id);
        let alive = sessions.filter(|session| session.is_alive(now)).count();
        state.otps.retain(|otp| (otp.project, otp.mode, otp.phone) != line);
        state.drop_stray_messages();
        state
            .refused
            .retain(|(_, it)| (it.project, it.mode, it.phone) != (project, mode, Some(phone)));
        state.records.retain(|(slot, record)| (slot.project, slot.mode, record.phone) != line);
        let erased = Erased { sessions_revoked: alive as u64 };
        state.forget_phone(line);
        state.record([erased.event(project, mode, id, now)]);
        Ok(Some(erased))
    }
}
