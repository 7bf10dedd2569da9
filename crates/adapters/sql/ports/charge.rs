use crate::dialect::Store;
use async_trait::async_trait;
use dwar_kernel::{OtpId, ProjectId, StoreError};
use dwar_wallet::{ChargeStore, EntryKind, LedgerEntry};

#[async_trait]
impl ChargeStore for Store {
    async fn charges(
        &self,
        project: ProjectId,
        sends: Vec<OtpId>,
    ) -> Result<Vec<LedgerEntry>, StoreError> {
        let kinds = [EntryKind::Capture, EntryKind::Refund];
        self.entries_of("wallet.charges", (project, sends), kinds).await
    }

    async fn steps(
        &self,
        project: ProjectId,
        sends: Vec<OtpId>,
    ) -> Result<Vec<LedgerEntry>, StoreError> {
        let kinds = [EntryKind::Hold, EntryKind::Capture, EntryKind::Release];
        self.entries_of("wallet.steps", (project, sends), kinds).await
    }
}
