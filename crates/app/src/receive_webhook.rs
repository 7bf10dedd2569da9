use crate::{RecordReceipt, Toolbox};
use dwar_kernel::{ReceiptId, StoreError, Timestamp};
use dwar_otp::{
    KeptReceipt, Receipt, ReceiptSource, ReceiptStore, WebhookAdmission, WebhookCall, WebhookError,
    WebhookHead,
};
use futures_util::future::join_all;
use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

const BATCH: u32 = 200;
/// One that has to call the next provider must not hold up the others.
const AT_ONCE: usize = 16;
const LEASE: Duration = Duration::from_secs(10);
/// A receipt may overtake the answer to the call that it is about; after this it is nobody's.
const UNKNOWN_FOR: Duration = Duration::from_secs(600);

/// Takes in what providers report: on disk first, applied afterwards (`/webhooks/{provider}`).
pub struct ReceiveWebhook {
    /// Time and ids.
    pub tools: Toolbox,
    /// Who may call, by the last part of the address.
    pub sources: HashMap<String, Arc<dyn ReceiptSource>>,
    /// Keeps receipts until they are applied.
    pub receipts: Arc<dyn ReceiptStore>,
    /// Applies them.
    pub record: RecordReceipt,
}

/// Why a call was turned away.
#[derive(Debug, thiserror::Error)]
pub enum ReceiveWebhookError {
    /// No provider of this name is configured.
    #[error("no such provider")]
    UnknownProvider,
    /// It is not the provider who calls.
    #[error("the call is not authenticated")]
    Unauthenticated,
    /// Nothing can be read from it.
    #[error("the call cannot be read")]
    Unreadable,
    /// The store failed; the provider will call again.
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl From<WebhookError> for ReceiveWebhookError {
    fn from(cause: WebhookError) -> Self {
        match cause {
            WebhookError::Unauthenticated => Self::Unauthenticated,
            WebhookError::Unreadable => Self::Unreadable,
        }
    }
}

impl ReceiveWebhook {
    /// Answers a provider's subscription handshake.
    pub fn handshake(
        &self,
        provider: &str,
        head: &WebhookHead,
    ) -> Result<String, ReceiveWebhookError> {
        Ok(self.source(provider)?.handshake(head)?)
    }

    /// Whether a call may go on to its body, and how long that may be; the provider comes first,
    /// then what its head proves.
    pub fn admit(
        &self,
        provider: &str,
        head: &WebhookHead,
    ) -> Result<WebhookAdmission, ReceiveWebhookError> {
        Ok(self.source(provider)?.admit(head)?)
    }

    /// Keeps the receipts of a call. Once this returns none of them can be lost; gives their
    /// number.
    pub async fn receive(
        &self,
        provider: &str,
        call: &WebhookCall,
    ) -> Result<usize, ReceiveWebhookError> {
        Ok(self.keep(self.read(provider, call)?).await?)
    }

    /// The receipts of a call, none of them on record yet. Takes milliseconds for a long body, and
    /// waits for nothing.
    pub fn read(
        &self,
        provider: &str,
        call: &WebhookCall,
    ) -> Result<Vec<Receipt>, ReceiveWebhookError> {
        Ok(self.source(provider)?.receipts(call)?)
    }

    /// Puts receipts on record; gives their number.
    pub async fn keep(&self, receipts: Vec<Receipt>) -> Result<usize, StoreError> {
        let now = self.tools.now();
        let keep = |receipt| KeptReceipt {
            id: ReceiptId::new(now, self.tools.entropy.as_ref()),
            receipt,
            received_at: now,
        };
        let kept: Vec<KeptReceipt> = receipts.into_iter().map(keep).collect();
        let count = kept.len();
        if count > 0 {
            self.receipts.keep(kept).await?;
        }
        Ok(count)
    }

    /// Applies what is on record; gives the number of receipts that are dealt with.
    ///
    /// One whose message is not known yet, or that cannot be applied, stays for ten minutes.
    pub async fn apply(&self) -> Result<u64, StoreError> {
        let now = self.tools.now();
        let claimed = self.receipts.claim(now, LEASE, BATCH).await?;
        let mut done = 0;
        for some in claimed.chunks(AT_ONCE) {
            let applied = join_all(some.iter().map(|kept| self.apply_one(kept, now))).await;
            for applied in applied {
                done += u64::from(applied?);
            }
        }
        Ok(done)
    }

    /// Applies one receipt; `false` if it stays on record.
    async fn apply_one(&self, kept: &KeptReceipt, now: Timestamp) -> Result<bool, StoreError> {
        let known = match self.record.record(kept.receipt.clone()).await {
            Err(cause) if cause.is_transient() => return Err(cause),
            Err(cause) => {
                tracing::error!(error = %cause, "a receipt cannot be applied");
                false
            }
            Ok(known) => known,
        };
        let over = known || now >= kept.received_at + UNKNOWN_FOR;
        if over {
            self.receipts.done(kept.id).await?;
        }
        Ok(over)
    }

    fn source(&self, provider: &str) -> Result<&dyn ReceiptSource, ReceiveWebhookError> {
        let source = self.sources.get(provider).map(AsRef::as_ref);
        source.ok_or(ReceiveWebhookError::UnknownProvider)
    }
}
