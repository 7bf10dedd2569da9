use async_trait::async_trait;
use dwar_kernel::{Clock, KeyMode, Vault};
use dwar_otp::sandbox::{InboxMessage, SandboxInbox, Scenario};
use dwar_otp::{Channel, Gateway, Message, Outcome, Reason, Receipt, Report};
use std::error::Error;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::mpsc::Sender;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

const PROVIDER: &str = "sandbox";

/// How the sandbox behaves in time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SandboxOptions {
    /// From acceptance to receipt.
    pub receipt_after: Duration,
    /// The same for [`Scenario::SlowDelivery`]; under the fallback window, or SMS is tried too.
    pub slow_receipt_after: Duration,
    /// Receipts that may be pending at once; above it messages are refused as
    /// [`Reason::ProviderThrottled`].
    pub max_pending: usize,
}

impl Default for SandboxOptions {
    fn default() -> Self {
        Self {
            receipt_after: Duration::from_millis(300),
            slow_receipt_after: Duration::from_secs(5),
            max_pending: 10_000,
        }
    }
}

/// Plays the [`Scenario`] of each number for test keys, on both channels, and sends nothing.
///
/// An accepted message is in the inbox before the answer. What becomes of it follows as a
/// [`Receipt`] with the attempt's id for reference. Pending receipts live in memory: a restart
/// loses them, as a real provider may, and the fallback window covers for that.
pub struct SandboxGateway {
    inbox: Arc<dyn SandboxInbox>,
    vault: Arc<dyn Vault>,
    clock: Arc<dyn Clock>,
    receipts: Sender<Receipt>,
    options: SandboxOptions,
    pending: Arc<Semaphore>,
}

impl SandboxGateway {
    /// A gateway that deposits into `inbox`, sealed by `vault`, and reports over `receipts`; it
    /// works as well when nobody listens there.
    pub fn new(
        inbox: Arc<dyn SandboxInbox>,
        vault: Arc<dyn Vault>,
        clock: Arc<dyn Clock>,
        receipts: Sender<Receipt>,
        options: SandboxOptions,
    ) -> Self {
        let pending = Arc::new(Semaphore::new(options.max_pending.min(Semaphore::MAX_PERMITS)));
        Self { inbox, vault, clock, receipts, options, pending }
    }

    async fn accept(&self, message: Message, then: Report, after: Duration) -> Outcome {
        // Taken before the deposit, so that a message whose receipt cannot be kept is not in the
        // inbox either.
        let Ok(permit) = Arc::clone(&self.pending).try_acquire_owned() else {
            return Outcome::Refused(Reason::ProviderThrottled);
        };
        let deposit = InboxMessage::seal(self.vault.as_ref(), &message, self.clock.now());
        if let Err(error) = self.inbox.deposit(message.project, deposit).await {
            let error: &(dyn Error + 'static) = &error;
            tracing::warn!(error, otp = %message.otp, "the sandbox inbox took no message");
            return Outcome::Refused(Reason::ProviderUnavailable);
        }
        let provider_ref = message.attempt.to_string();
        let receipt = Receipt {
            provider: PROVIDER.to_owned(),
            provider_ref: provider_ref.clone(),
            report: then,
        };
        self.report_later(receipt, after, permit);
        Outcome::Accepted { provider_ref: Some(provider_ref), awaits_receipt: true }
    }

    fn report_later(&self, receipt: Receipt, after: Duration, permit: OwnedSemaphorePermit) {
        let receipts = self.receipts.clone();
        tokio::spawn(async move {
            tokio::time::sleep(after).await;
            if receipts.send(receipt).await.is_err() {
                tracing::debug!("nobody listens to the receipts of the sandbox");
            }
            drop(permit);
        });
    }
}

impl fmt::Debug for SandboxGateway {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "SandboxGateway({:?})", self.options)
    }
}

/// Plays the scenario of the message's number. A live key's message is refused as
/// [`Reason::ProviderAuth`]: nobody may be charged for, or read in the inbox, what it stands for.
#[async_trait]
impl Gateway for SandboxGateway {
    fn provider(&self) -> String {
        PROVIDER.to_owned()
    }

    async fn deliver(&self, message: Message) -> Outcome {
        if message.mode != KeyMode::Test {
            return Outcome::Refused(Reason::ProviderAuth);
        }
        let options = &self.options;
        match Play::of(Scenario::of(&message.phone), message.channel) {
            Play::Refuse(reason) => Outcome::Refused(reason),
            Play::Accept(then) => self.accept(message, then, options.receipt_after).await,
            Play::AcceptSlowly(then) => {
                self.accept(message, then, options.slow_receipt_after).await
            }
        }
    }
}

/// What one channel does in a scenario.
enum Play {
    Refuse(Reason),
    Accept(Report),
    AcceptSlowly(Report),
}

impl Play {
    fn of(scenario: Scenario, channel: Channel) -> Self {
        match (scenario, channel) {
            (Scenario::SmsDelivers | Scenario::BothFail, Channel::Whatsapp) => {
                Self::Refuse(Reason::NotOnChannel)
            }
            (Scenario::BothFail, Channel::Sms) => Self::Refuse(Reason::RejectedNumber),
            (Scenario::LateFailure, Channel::Whatsapp) => {
                Self::Accept(Report::Failed(Reason::NotOnChannel))
            }
            // Money is the caller's to check: were it to forget, the code must still not land.
            (Scenario::InsufficientBalance, _) => Self::Refuse(Reason::RejectedNumber),
            (Scenario::SlowDelivery, _) => Self::AcceptSlowly(Report::Delivered),
            (Scenario::Delivered, _)
            | (Scenario::SmsDelivers | Scenario::LateFailure, Channel::Sms) => {
                Self::Accept(Report::Delivered)
            }
        }
    }
}

#[cfg(test)]
#[path = "sandbox_tests.rs"]
mod tests;
