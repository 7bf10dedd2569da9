use crate::store::MemoryStore;
use async_trait::async_trait;
use dwar_kernel::{OtpId, ProjectId, StoreError};
use dwar_wallet::{ChargeStore, EntryKind, LedgerEntry, Reference};

#[async_trait]
impl ChargeStore for MemoryStore {
    async fn charges(
        &self,
        project: ProjectId,
        sends: Vec<OtpId>,
    ) -> Result<Vec<LedgerEntry>, StoreError> {
        let state = &*self.step("ChargeStore::charges").await?;
        let sends: Vec<Reference> = sends.into_iter().map(Reference::from).collect();
        let own = state.ledger.iter().filter(|(owner, _)| *owner == project);
        let charges = own.map(|(_, line)| &line.entry).filter(|entry| {
            matches!(entry.kind, EntryKind::Capture | EntryKind::Refund)
                && sends.contains(&entry.reference)
        });
        Ok(charges.cloned().collect())
    }
}
