use crate::refusals::refusals;
use crate::{ReceiptEnd, Toolbox};
use dwar_kernel::{ReceiptId, StoreError, TRACE};
use dwar_otp::{
    KeptReceipt, Receipt, ReceiptSource, ReceiptStore, WebhookAdmission, WebhookCall, WebhookError,
    WebhookHead,
};
use std::collections::HashMap;
use std::sync::Arc;
use tracing::instrument;

/// Takes in what providers report (`/webhooks/{provider}`): on disk first, applied afterwards by
/// [`ApplyReceipts`](crate::ApplyReceipts).
pub struct ReceiveWebhook {
    pub tools: Toolbox,
    /// Who may call, by the last part of the address.
    pub sources: HashMap<String, Arc<dyn ReceiptSource>>,
    pub receipts: Arc<dyn ReceiptStore>,
}

refusals! {
    ReceiveWebhookError {
        UnknownProvider = "no such provider",
        Unauthenticated = "the call is not authenticated",
        Unreadable = "the call cannot be read",
    }
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
        let admitted = self.source(provider)?.admit(head);
        Ok(admitted.inspect_err(|cause| self.turned_away(provider, cause))?)
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
        let receipts = self.source(provider)?.receipts(call);
        Ok(receipts.inspect_err(|cause| self.turned_away(provider, cause))?)
    }

    /// Puts receipts on record before they are answered; gives their number.
    #[instrument(name = "receive_webhook", target = TRACE, level = "error", skip_all)]
    pub async fn keep(&self, receipts: Vec<Receipt>) -> Result<usize, StoreError> {
        for Receipt { provider, report, .. } in &receipts {
            self.tools.observer.reported(provider, ReceiptEnd::from(report));
        }
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

    fn turned_away(&self, provider: &str, cause: &WebhookError) {
        let end = match cause {
            WebhookError::Unauthenticated => ReceiptEnd::Unauthenticated,
            WebhookError::Unreadable => ReceiptEnd::Unreadable,
        };
        self.tools.observer.reported(provider, end);
    }

    fn source(&self, provider: &str) -> Result<&dyn ReceiptSource, ReceiveWebhookError> {
        let source = self.sources.get(provider).map(AsRef::as_ref);
        source.ok_or(ReceiveWebhookError::UnknownProvider)
    }
}
