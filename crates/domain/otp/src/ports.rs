use crate::{
    Channel, Code, GuessBudget, KeptReceipt, Otp, Reason, ReceiptReview, ReceiptRoom,
    ReceiptTarget, UnknownReceipts,
};
use async_trait::async_trait;
use derive_more::Debug;
use dwar_kernel::{
    AttemptId, BlindIndex, OtpId, Phone, ProjectId, ProjectMode, ReceiptId, StoreError, Timestamp,
};
use std::time::Duration;

/// Keeps requests with their codes, guesses and deliveries.
#[cfg_attr(feature = "mocks", mockall::automock)]
#[async_trait]
pub trait OtpStore: Send + Sync {
    /// Deletes the guess budget of a phone and returns it; `None` if there was none.
    ///
    /// A guess that was counted before this call MUST NOT count again after it.
    async fn forget_guesses(
        &self,
        project_mode: ProjectMode,
        phone: BlindIndex,
    ) -> Result<Option<GuessBudget>, StoreError>;

    /// The request with this id in this project and mode, or `None`.
    async fn find(&self, project_mode: ProjectMode, otp: OtpId) -> Result<Option<Otp>, StoreError>;

    /// The attempt with this reference of a provider. If several attempts have the same reference,
    /// the newest by [`AttemptId`], no matter what was reported on the others since.
    async fn find_attempt(
        &self,
        provider: String,
        provider_ref: String,
    ) -> Result<Option<ReceiptTarget>, StoreError>;

    /// Claims requests of all projects that are due at `now`, oldest first. Each is handed to one caller and
    /// is not due again before `lease` has passed.
    async fn claim_due(
        &self,
        now: Timestamp,
        lease: Duration,
        limit: u32,
    ) -> Result<Vec<Otp>, StoreError>;

    /// Makes requests that are due later than `later_than` due at `to`; returns how many.
    ///
    /// Only a clock that was ahead can have set so late a time. Like every change, this MUST NOT overwrite
    /// what another step has read.
    async fn bring_forward(&self, later_than: Timestamp, to: Timestamp) -> Result<u64, StoreError>;

    /// Withdraws every code of all projects that is in force at `now`, by [`Otp::withdraw`]; returns how
    /// many. Used on a database that was restored from a backup: its codes may have been used since.
    async fn withdraw_all(&self, now: Timestamp) -> Result<u64, StoreError>;

    /// Deletes requests made before `requests_before`, judged by the time in their ids, and guess budgets
    /// last raised before `guesses_before`; returns the number of deleted requests.
    async fn sweep(
        &self,
        requests_before: Timestamp,
        guesses_before: Timestamp,
    ) -> Result<u64, StoreError>;
}

/// The request that a report is about, as far as the caller knows it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ReportedRequest {
    Id(ProjectId, OtpId),
    /// The whole request, as issued or as the last report left it. A store may skip loading it if it makes
    /// sure that the request has not changed since.
    Seen(Box<Otp>),
}

impl ReportedRequest {
    /// Project and id of the request, by which stores find it.
    pub fn key(&self) -> (ProjectId, OtpId) {
        match self {
            Self::Id(project, otp) => (*project, *otp),
            Self::Seen(otp) => (otp.project_mode.project, otp.id),
        }
    }
}

/// Keeps receipts from their arrival until they are applied, so that a provider gets its answer as soon as
/// the receipts are on disk.
///
/// A receipt is known once an attempt with its provider and reference is on record. If the receipt arrives
/// earlier, it MUST become known, and due, in the same step that records the reference.
#[cfg_attr(feature = "mocks", mockall::automock)]
#[async_trait]
pub trait ReceiptStore: Send + Sync {
    /// Stores receipts, all or none. A receipt that repeats the report of a stored one on the same message is
    /// not stored again.
    async fn keep(&self, receipts: Vec<KeptReceipt>) -> Result<(), StoreError>;

    /// Claims due known receipts, the longest overdue first. Each is handed to one caller and not again
    /// before `lease` has passed, and none before an older receipt on the same message is done.
    ///
    /// The number of unknown receipts MUST NOT affect this call.
    async fn claim(
        &self,
        now: Timestamp,
        lease: Duration,
        room: ReceiptRoom,
    ) -> Result<Vec<KeptReceipt>, StoreError>;

    /// Makes receipts, known or not, that are due later than `later_than` due at `to`; returns how many.
    async fn bring_forward(&self, later_than: Timestamp, to: Timestamp) -> Result<u64, StoreError>;

    /// Deletes a receipt that was applied. Repeating the call is harmless.
    async fn done(&self, receipt: ReceiptId) -> Result<(), StoreError>;

    /// Reviews unknown receipts. A receipt whose attempt is on record by now becomes known; the others wait
    /// as [`KeptReceipt::next_check`] says, or are dropped. Beyond `most` unknown receipts the oldest are
    /// dropped. One call does bounded work and leaves the rest to the next.
    async fn review(&self, now: Timestamp, most: u32) -> Result<ReceiptReview, StoreError>;

    /// Number of unknown receipts, and when the oldest of them arrived.
    async fn unknown(&self) -> Result<UnknownReceipts, StoreError>;
}

/// A message that carries a code to a phone.
#[derive(Clone, Debug)]
#[debug("Message({otp} over {channel} to {phone})")]
pub struct Message {
    pub otp: OtpId,
    /// Sent as client reference to providers that accept one.
    pub attempt: AttemptId,
    /// Project and mode; messages of test keys go to the sandbox only.
    pub project_mode: ProjectMode,
    pub channel: Channel,
    pub phone: Phone,
    pub phone_index: BlindIndex,
    /// Only the code, for channels whose templates take nothing else.
    pub code: Code,
    /// The whole text, for channels that send free text.
    pub text: String,
    pub brand: String,
    /// BCP 47 tag of the text's language, such as `en` or `hi`.
    pub language: String,
    pub minutes: u32,
    /// Content template id (DLT) of the project's own text; `None` means the configured one.
    pub template_id: Option<String>,
}

/// A provider's answer to a message.
///
/// `Debug` omits the reference, since it is text of the provider.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    Accepted {
        /// The provider's id of the message, for receipts; `None` if it gave none.
        #[debug("{:?}", provider_ref.as_ref().map(|_| "…"))]
        provider_ref: Option<String>,
        awaits_receipt: bool,
    },
    Refused(Reason),
    /// The provider did not accept the message and asks not to be called for this long: the fault is the
    /// provider's, not one number's.
    Busy(Reason, Duration),
}

impl Outcome {
    /// The answer as words for the log: `accepted` or `refused`, with the reason.
    pub const fn words(&self) -> (&'static str, Option<&'static str>) {
        match self {
            Self::Accepted { .. } => ("accepted", None),
            Self::Refused(reason) | Self::Busy(reason, _) => ("refused", Some(reason.as_str())),
        }
    }
}

/// Result of probing a provider: whether it answers at all.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Probe {
    /// HTTP status of the answer; `None` if no answer came.
    pub status: Option<u16>,
    pub took: Duration,
}

impl Probe {
    /// Whether the provider seems to work: it answered with a status below 500.
    pub fn is_answered(&self) -> bool {
        self.status.is_some_and(|status| status < 500)
    }
}

/// Recent calls to a provider, as counted by this process.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ProviderHealth {
    /// Remaining pause of the circuit breaker; `None` while the provider is called.
    pub paused_for: Option<Duration>,
    pub calls: u32,
    /// Number of these calls that failed through the provider's fault.
    pub faults: u32,
    /// Median duration of recent calls; `None` without calls.
    pub median: Option<Duration>,
    /// Recent messages that the provider refused for a reason other than the number, newest first.
    pub refusals: Vec<ProviderRefusal>,
}

/// One message that a provider refused, with its answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ProviderRefusal {
    pub age: Duration,
    pub reason: Reason,
    /// HTTP status of the answer; `None` if no answer came.
    pub status: Option<u16>,
    /// The provider's own error code, if it gave one.
    pub code: Option<i64>,
}

/// Looks up and probes the providers that are configured.
#[cfg_attr(feature = "mocks", mockall::automock)]
#[async_trait]
pub trait Providers: Send + Sync {
    /// Names of all configured providers that carry messages over `channel`.
    fn names(&self, channel: Channel) -> Vec<String>;

    /// Names of the providers for `channel` that serve projects without a choice of their own, in order.
    fn defaults(&self, channel: Channel) -> Vec<String>;

    /// BCP 47 tags of the languages for which a WhatsApp provider has a template, each once.
    fn template_languages(&self) -> Vec<String>;

    /// Remaining pause of the circuit breaker of this provider; `None` while it is called. Each process
    /// counts only its own calls.
    fn paused_for(&self, provider: &str) -> Option<Duration>;

    /// Recent calls to this provider. Each process counts only its own calls.
    fn health(&self, provider: &str) -> ProviderHealth;

    /// Probes the provider; an answer ends its pause. `None` if the provider cannot be probed.
    async fn probe(&self, provider: &str) -> Option<Probe>;
}

/// Hands messages to one provider, over any of its channels.
#[cfg_attr(feature = "mocks", mockall::automock)]
#[async_trait]
pub trait Gateway: Send + Sync {
    /// The provider's name in the configuration and in attempts.
    fn provider(&self) -> String;

    /// Hands over one message. Every failure is an [`Outcome::Refused`] or [`Outcome::Busy`] with its reason.
    /// The caller enforces the time limit.
    ///
    /// The reason MUST say whether the message may still arrive. With [`Reason::Timeout`] and
    /// [`Reason::Unknown`] the provider may have sent it: it did not answer in time, the connection broke
    /// after the request was written, a gateway in between lost the answer, or the answer cannot be parsed.
    /// With every other reason nothing was sent: the provider was never called, or it refused.
    async fn deliver(&self, message: Message) -> Outcome;

    /// Probes whether the provider answers at all, without credentials and without a message; `None` if it
    /// cannot be probed.
    async fn probe(&self) -> Option<Probe> {
        None
    }
}
