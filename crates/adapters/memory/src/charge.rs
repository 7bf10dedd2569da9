use crate::store::{MemoryStore, State};
use async_trait::async_trait;
use dwar_kernel::{OtpId, ProjectId, StoreError};
use dwar_wallet::{ChargeStore, EntryKind, LedgerEntry, Reference};

impl State {
    fn entries_of(
        &self,
        project: ProjectId,
        sends: Vec<OtpId>,
        kinds: impl Fn(EntryKind) -> bool,
    ) -> Vec<LedgerEntry> {
        let sends: Vec<Reference> = sends.into_iter().map(Reference::from).collect();
        let own = self.ledger.iter().filter(|(owner, _)| *owner == project);
        let entries = own.map(|(_, line)| &line.entry);
        let wanted = entries.filter(|entry| kinds(entry.kind) && sends.contains(&entry.reference));
        wanted.cloned().collect()
    }
}

#[async_trait]
impl ChargeStore for MemoryStore {
    async fn charges(
        &self,
        project: ProjectId,
        sends: Vec<OtpId>,
    ) -> Result<Vec<LedgerEntry>, StoreError> {
        let state = &*self.step("ChargeStore::charges").await?;
        let kinds = |kind| matches!(kind, EntryKind::Capture | EntryKind::Refund);
        Ok(state.entries_of(project, sends, kinds))
    }

    async fn steps(
        &self,
        project: ProjectId,
        sends: Vec<OtpId>,
    ) -> Result<Vec<LedgerEntry>, StoreError> {
        let state = &*self.step("ChargeStore::steps").await?;
        Ok(state.entries_of(project, sends, EntryKind::follows_a_send))
    }
}
