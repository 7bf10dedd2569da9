use crate::refusals::refusals;
use crate::{CommonPorts, ReceiptEnd};
use dwar_kernel::{ReceiptId, StoreError, TRACE};
use dwar_otp::{
    KeptReceipt, Receipt, ReceiptSource, ReceiptStore, WebhookAdmission, WebhookCall, WebhookError,
    WebhookHead,
};
use std::collections::HashMap;
use std::sync::Arc;
use tracing::instrument;

/// Receives delivery reports of providers (`/webhooks/{provider}`). Receipts are stored first and applied
/// afterwards by [`ApplyReceipts`](crate::ApplyReceipts).
pub struct ReceiveWebhook {
    pub tools: CommonPorts,
    /// By provider name, the last part of the path.
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
    /// Answers a provider's subscription handshake with the text that the provider expects.
    pub fn handshake(
        &self,
        provider: &str,
        head: &WebhookHead,
    ) -> Result<String, ReceiveWebhookError> {
        Ok(self.source(provider)?.handshake(head)?)
    }

    /// Whether the body of a call may be read, and how long it may be. Fails first for an unknown provider,
    /// then for a head that proves nothing.
    pub fn admit(
        &self,
        provider: &str,
        head: &WebhookHead,
    ) -> Result<WebhookAdmission, ReceiveWebhookError> {
        let admitted = self.source(provider)?.admit(head);
        Ok(admitted.inspect_err(|cause| self.turned_away(provider, cause))?)
    }

    /// Stores the receipts of a call and returns their number. After this none of them can be lost.
    pub async fn receive(
        &self,
        provider: &str,
        call: &WebhookCall,
    ) -> Result<usize, ReceiveWebhookError> {
        Ok(self.keep(self.read(provider, call)?).await?)
    }

    /// Parses the receipts of a call without storing them. Takes milliseconds for a long body, and never
    /// waits.
    pub fn read(
        &self,
        provider: &str,
        call: &WebhookCall,
    ) -> Result<Vec<Receipt>, ReceiveWebhookError> {
        let receipts = self.source(provider)?.receipts(call);
        Ok(receipts.inspect_err(|cause| self.turned_away(provider, cause))?)
    }

    /// Stores receipts before the provider gets its answer; returns their number.
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
