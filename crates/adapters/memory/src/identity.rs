use crate::store::MemoryStore;
use async_trait::async_trait;
use dwar_identity::{Erased, Identity, IdentityStore};
use dwar_kernel::{BlindIndex, IdentityId, ProjectMode, StoreError, Timestamp};

#[async_trait]
impl IdentityStore for MemoryStore {
    async fn find(
        &self,
        project_mode: ProjectMode,
        id: IdentityId,
    ) -> Result<Option<Identity>, StoreError> {
        let state = &*self.step("IdentityStore::find").await?;
        let mut known = state.identities.iter().map(|(_, known)| known);
        Ok(known.find(|k| (k.project_mode, k.id) == (project_mode, id)).cloned())
    }

    async fn find_by_phone(
        &self,
        project_mode: ProjectMode,
        phone: BlindIndex,
    ) -> Result<Option<Identity>, StoreError> {
        let state = &*self.step("IdentityStore::find_by_phone").await?;
        let mut known = state.identities.iter();
        let found = known.find(|(i, k)| (k.project_mode, *i) == (project_mode, phone));
        Ok(found.map(|(_, known)| known.clone()))
    }

    async fn erase(
        &self,
        project_mode: ProjectMode,
        id: IdentityId,
        now: Timestamp,
    ) -> Result<Option<Erased>, StoreError> {
        let state = &mut *self.step("IdentityStore::erase").await?;
        let own =
            |(_, known): &mut (_, Identity)| (known.project_mode, known.id) == (project_mode, id);
        let Some((phone, _)) = state.identities.extract_if(.., own).next() else {
            return Ok(None);
        };
        let line = (project_mode, phone);
        let sessions = state.sessions.extract_if(.., |session| session.identity == id);
        let alive = sessions.filter(|session| session.is_alive(now)).count();
        state.otps.retain(|otp| (otp.project_mode, otp.phone) != line);
        state.drop_stray_messages();
        state.refused.retain(|(_, it)| (it.project_mode, it.phone) != (project_mode, Some(phone)));
        state.records.retain(|(slot, record)| (slot.project_mode, record.phone) != line);
        let erased = Erased { sessions_revoked: alive as u64 };
        state.forget_phone(line);
        state.record([erased.event(project_mode, id, now)]);
        Ok(Some(erased))
    }
}
