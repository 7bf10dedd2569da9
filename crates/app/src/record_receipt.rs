use crate::Deliver;
use dwar_kernel::StoreError;
use dwar_otp::{OtpStore, Receipt, ReceiptTarget};
use dwar_project::ProjectStore;
use std::sync::Arc;

/// Takes in what a provider reports about a message (docs/contract.md, Delivery).
pub struct RecordReceipt {
    /// Knows which attempt a reference means.
    pub otps: Arc<dyn OtpStore>,
    /// Knows the project's name and prices.
    pub projects: Arc<dyn ProjectStore>,
    /// Follows the route from there.
    pub deliver: Arc<Deliver>,
}

impl RecordReceipt {
    /// Applies one receipt and gives what it is about; `None` if no attempt has its reference.
    /// Repetition is harmless.
    pub async fn record(&self, receipt: Receipt) -> Result<Option<ReceiptTarget>, StoreError> {
        let Receipt { provider, provider_ref, report } = receipt;
        let Some(target) = self.otps.find_attempt(provider, provider_ref).await? else {
            return Ok(None);
        };
        let Some(project) = self.projects.find(target.project).await? else {
            return Ok(None);
        };
        let ReceiptTarget { mode, otp, attempt, .. } = target;
        let applied = self.deliver.report(&project, mode, otp, attempt, report).await?;
        Ok(applied.map(|_| target))
    }
}
