use crate::{ClaimedWork, Deliver, ProviderWatch};
use async_trait::async_trait;
use dwar_kernel::{StoreError, TRACE_BEGINS, with_causes};
use dwar_otp::{KeptReceipt, MAX_UNKNOWN, ReceiptReview, ReceiptRoom, ReceiptStore};
use std::sync::Arc;
use std::time::Duration;
use tracing::instrument;

/// Most concurrent receipts that cannot call another provider, so that they leave connections of the store to
/// others.
const OTHERS: u32 = 16;
/// Most concurrent receipts that may call another provider. They have places of their own, since they take as
/// long as the provider does.
const CALLING: u32 = 32;
/// A receipt whose process died is applied after this time.
const LEASE: Duration = Duration::from_secs(10);
/// A receipt that cannot be applied is retried for this long.
const TRIED_FOR: Duration = Duration::from_secs(600);

/// Applies stored receipts by [`Deliver::receipt`], several at a time; receipts of one message in the order
/// in which they came.
pub struct ApplyReceipts {
    pub receipts: Arc<dyn ReceiptStore>,
    pub deliver: Arc<Deliver>,
    pub watch: ProviderWatch,
}

#[async_trait]
impl ClaimedWork for ApplyReceipts {
    type Piece = KeptReceipt;

    async fn claim(&self, under_way: &[Arc<KeptReceipt>]) -> Result<Vec<KeptReceipt>, StoreError> {
        if self.deliver.tools.watch.is_too_far_off() {
            return Ok(Vec::new());
        }
        let calling = under_way.iter().filter(|kept| kept.may_call_next_provider()).count();
        let left = |places: u32, taken: usize| {
            places.saturating_sub(u32::try_from(taken).unwrap_or(u32::MAX))
        };
        let room = ReceiptRoom {
            calling: left(CALLING, calling),
            others: left(OTHERS, under_way.len() - calling),
        };
        self.receipts.claim(self.deliver.tools.now(), LEASE, room).await
    }

    #[instrument(name = "apply_receipt", target = TRACE_BEGINS, level = "error", skip_all)]
    async fn perform(&self, kept: &KeptReceipt) -> Result<(), StoreError> {
        match self.deliver.receipt(kept.receipt.clone()).await {
            // Receipts simulated by the sandbox say nothing about a provider.
            Ok(Some(about)) if about.project_mode.mode.is_test() => {}
            Ok(Some(about)) => self.watch.note(&kept.receipt, about.project_mode.project).await?,
            // The message was erased meanwhile.
            Ok(None) => {}
            Err(cause) if cause.is_transient() => return Err(cause),
            Err(cause) => {
                tracing::error!(error = %with_causes(&cause), "a receipt cannot be applied");
                if self.deliver.tools.now() < kept.received_at + TRIED_FOR {
                    return Ok(());
                }
            }
        }
        self.receipts.done(kept.id).await
    }
}

impl ApplyReceipts {
    /// Reviews receipts whose message was not on record when they came, and bounds their number. Does nothing
    /// while the clock is too far off.
    pub async fn review(&self) -> Result<ReceiptReview, StoreError> {
        let tools = &self.deliver.tools;
        if tools.watch.is_too_far_off() {
            return Ok(ReceiptReview::default());
        }
        let reviewed = self.receipts.review(tools.now(), MAX_UNKNOWN).await?;
        if reviewed.crowded_out > 0 {
            tracing::warn!(
                dropped = reviewed.crowded_out,
                most = MAX_UNKNOWN,
                "too many receipts about messages that are not ours: the oldest are dropped"
            );
        }
        Ok(reviewed)
    }
}
