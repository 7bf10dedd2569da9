use async_trait::async_trait;
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use dwar_kernel::{Purpose, Vault};
use dwar_otp::{
    Gateway, Message, Outcome, Receipt, ReceiptSource, WebhookAdmission, WebhookCall, WebhookError,
    WebhookHead, gives_away, is_reference,
};
use std::sync::Arc;

/// Replaces a provider's references of messages by digests, before any other code stores or logs
/// them.
///
/// A reference is checked ([`is_reference`], [`gives_away`]) and replaced by its keyed digest, in
/// answers and receipts alike, so that they still match. The reference itself is stored nowhere,
/// because it may reveal the phone: WhatsApp's, for example, contains the number in Base64.
///
/// A message that was accepted with an invalid reference stays accepted, and no receipt is expected
/// for it. A receipt with such a reference is dropped, because no message can have it.
pub struct HashedReferences<T: ?Sized> {
    pub inner: Arc<T>,
    pub vault: Arc<dyn Vault>,
}

fn digest(vault: &dyn Vault, provider: &str, reference: &str) -> String {
    let parts = [provider.as_bytes(), reference.as_bytes()];
    URL_SAFE_NO_PAD.encode(vault.digest(Purpose::ProviderReference, &parts).0)
}

#[async_trait]
impl Gateway for HashedReferences<dyn Gateway> {
    fn provider(&self) -> String {
        self.inner.provider()
    }

    async fn deliver(&self, message: Message) -> Outcome {
        let (phone, code) = (message.phone.clone(), message.code.clone());
        let outcome = self.inner.deliver(message).await;
        let Outcome::Accepted { provider_ref: Some(reference), awaits_receipt } = outcome else {
            return outcome;
        };
        let provider = self.provider();
        if !is_reference(&reference) || gives_away(&reference, &phone, &code) {
            tracing::warn!(provider, bytes = reference.len(), "the reference cannot be taken");
            return Outcome::Accepted { provider_ref: None, awaits_receipt: false };
        }
        let provider_ref = Some(digest(&*self.vault, &provider, &reference));
        Outcome::Accepted { provider_ref, awaits_receipt }
    }
}

impl ReceiptSource for HashedReferences<dyn ReceiptSource> {
    fn provider(&self) -> String {
        self.inner.provider()
    }

    fn admit(&self, head: &WebhookHead) -> Result<WebhookAdmission, WebhookError> {
        self.inner.admit(head)
    }

    fn receipts(&self, call: &WebhookCall) -> Result<Vec<Receipt>, WebhookError> {
        let mut receipts = self.inner.receipts(call)?;
        let came = receipts.len();
        receipts.retain(|receipt| is_reference(&receipt.provider_ref));
        if receipts.len() < came {
            let (provider, dropped) = (self.inner.provider(), came - receipts.len());
            tracing::warn!(provider, dropped, "receipts with a reference that cannot be taken");
        }
        for receipt in &mut receipts {
            let (provider, reference) = (&receipt.provider, &receipt.provider_ref);
            receipt.provider_ref = digest(&*self.vault, provider, reference);
        }
        Ok(receipts)
    }

    fn handshake(&self, head: &WebhookHead) -> Result<String, WebhookError> {
        self.inner.handshake(head)
    }
}

#[cfg(test)]
#[path = "references_tests.rs"]
mod tests;
