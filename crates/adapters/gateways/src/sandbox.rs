use async_trait::async_trait;
use dwar_kernel::{Clock, Entropy, KeyMode, ReceiptId, Vault};
use dwar_otp::sandbox::{InboxMessage, SandboxInbox, Scenario};
use dwar_otp::{
    Channel, Gateway, KeptReceipt, Message, Outcome, Reason, Receipt, ReceiptStore, Report,
};
use std::error::Error;
use std::sync::Arc;
use std::time::Duration;

const PROVIDER: &str = "sandbox";

/// Delay of a receipt after acceptance: short enough for a person who watches, long enough to be
/// seen as separate.
const RECEIPT_AFTER: Duration = Duration::from_millis(300);
/// The same for [`Scenario::SlowDelivery`]. Shorter than the default fallback window, or SMS would
/// be tried too.
const SLOW_RECEIPT_AFTER: Duration = Duration::from_secs(5);

/// Simulates the [`Scenario`] of each number for test keys, on both channels, and sends nothing.
///
/// Before the answer, an accepted message is in the inbox and its receipt is recorded with the
/// arrival time of the scenario. The receipt is applied like those of every provider, on any
/// instance, even after a restart. Its reference is the attempt's id.
pub struct SandboxGateway {
    pub inbox: Arc<dyn SandboxInbox>,
    pub receipts: Arc<dyn ReceiptStore>,
    pub vault: Arc<dyn Vault>,
    pub clock: Arc<dyn Clock>,
    pub entropy: Arc<dyn Entropy>,
}

impl SandboxGateway {
    /// The behaviour of one channel in a scenario: it refuses, or accepts and later sends this
    /// report.
    fn play(scenario: Scenario, channel: Channel) -> Result<(Report, Duration), Reason> {
        match (scenario, channel) {
            (Scenario::SmsDelivers | Scenario::BothFail, Channel::Whatsapp) => {
                Err(Reason::NotOnChannel)
            }
            (Scenario::BothFail, Channel::Sms) => Err(Reason::RejectedNumber),
            (Scenario::LateFailure, Channel::Whatsapp) => {
                Ok((Report::Failed(Reason::NotOnChannel), RECEIPT_AFTER))
            }
            // The caller checks the balance. Even if it did not, the code must not arrive.
            (Scenario::InsufficientBalance, _) => Err(Reason::RejectedNumber),
            (Scenario::SlowDelivery, _) => Ok((Report::Delivered, SLOW_RECEIPT_AFTER)),
            (Scenario::Delivered | Scenario::ProofRequired, _)
            | (Scenario::SmsDelivers | Scenario::LateFailure, Channel::Sms) => {
                Ok((Report::Delivered, RECEIPT_AFTER))
            }
        }
    }

    async fn accept(&self, message: Message, then: Report, after: Duration) -> Outcome {
        let now = self.clock.now();
        let provider_ref = message.attempt.to_string();
        let provider = PROVIDER.to_owned();
        let receipt = KeptReceipt {
            id: ReceiptId::new(now, self.entropy.as_ref()),
            receipt: Receipt { provider, provider_ref: provider_ref.clone(), report: then },
            received_at: now + after,
        };
        let deposit = InboxMessage::seal(self.vault.as_ref(), &message, now);
        let landed = async {
            // A receipt of a message that was not deposited matches nothing and is dropped later.
            self.receipts.keep(vec![receipt]).await?;
            self.inbox.deposit(message.project_mode.project, deposit).await
        };
        if let Err(error) = landed.await {
            let error: &(dyn Error + 'static) = &error;
            tracing::warn!(error, otp = %message.otp, "the sandbox could not store a message");
            return Outcome::Refused(Reason::ProviderUnavailable);
        }
        Outcome::Accepted { provider_ref: Some(provider_ref), awaits_receipt: true }
    }
}

/// Simulates the scenario of the message's number. A live key's message is refused as
/// [`Reason::ProviderAuth`]: it must be neither charged nor readable in the inbox.
#[async_trait]
impl Gateway for SandboxGateway {
    fn provider(&self) -> String {
        PROVIDER.to_owned()
    }

    async fn deliver(&self, message: Message) -> Outcome {
        if message.project_mode.mode != KeyMode::Test {
            return Outcome::Refused(Reason::ProviderAuth);
        }
        match Self::play(Scenario::of(&message.phone), message.channel) {
            Ok((then, after)) => self.accept(message, then, after).await,
            Err(reason) => Outcome::Refused(reason),
        }
    }
}

#[cfg(test)]
#[path = "sandbox_tests.rs"]
mod tests;
