use crate::{
    Channel, Code, GuessBudget, KeptReceipt, Otp, Reason, ReceiptRoom, ReceiptTarget, Reviewed,
    UnknownReceipts,
};
use async_trait::async_trait;
use derive_more::Debug;
use dwar_kernel::{
    AttemptId, BlindIndex, OtpId, Phone, ProjectId, ProjectMode, ReceiptId, StoreError, Timestamp,
};
use std::time::Duration;

/// Keeps codes, their guesses and their delivery.
#[cfg_attr(feature = "mocks", mockall::automock)]
#[async_trait]
pub trait OtpStore: Send + Sync {
    /// Forgets the wrong guesses counted for a phone and gives them, or `None` if there were none.
    ///
    /// No guess that was counted before this may be counted again after it.
    async fn forget_guesses(
        &self,
        world: ProjectMode,
        phone: BlindIndex,
    ) -> Result<Option<GuessBudget>, StoreError>;

    /// The request with this id in this project and mode, or `None`.
    async fn find(&self, world: ProjectMode, otp: OtpId) -> Result<Option<Otp>, StoreError>;

    /// The attempt that a provider means by its reference; of several with the same one, the newest
    /// by [`AttemptId`], whatever was reported on the others since.
    async fn find_attempt(
        &self,
        provider: String,
        provider_ref: String,
    ) -> Result<Option<ReceiptTarget>, StoreError>;

    /// Requests of every project that are due at `now`, oldest first, each handed to one caller:
    /// a request given out is not due again before `lease` has passed.
    async fn claim_due(
        &self,
        now: Timestamp,
        lease: Duration,
        limit: u32,
    ) -> Result<Vec<Otp>, StoreError>;

    /// Has requests that are due later than `later_than` due at `to`; gives their number.
    ///
    /// Only what was written by a clock that was ahead can be due so late. Nothing that another step has read is written
    /// over by this, as with any other change.
    async fn bring_forward(&self, later_than: Timestamp, to: Timestamp) -> Result<u64, StoreError>;

    /// Withdraws every code that is in force at `now`, of every project, by [`Otp::withdraw`]; gives
    /// their number. For a database from a backup: they may have been used since.
    async fn withdraw_all(&self, now: Timestamp) -> Result<u64, StoreError>;

    /// Drops requests made before `requests_before`, by what their ids say, and guess counts last
    /// raised before `guesses_before`; gives the number of requests.
    async fn sweep(
        &self,
        requests_before: Timestamp,
        guesses_before: Timestamp,
    ) -> Result<u64, StoreError>;
}

/// The request that a report is about, as far as the caller knows it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reported {
    Id(ProjectId, OtpId),
    /// All of it, as it was issued or as the last report left it: a store may skip loading it, as
    /// long as it makes sure that nothing has changed since.
    Seen(Box<Otp>),
}

impl Reported {
    /// The tenant and the id.
    pub fn key(&self) -> (ProjectId, OtpId) {
        match self {
            Self::Id(project, otp) => (*project, *otp),
            Self::Seen(otp) => (otp.world.project, otp.id),
        }
    }
}

/// Keeps receipts from their arrival until they are applied: a provider is answered as soon as they
/// are on disk.
///
/// A receipt is known once an attempt with its provider and reference is on record. It may arrive
/// before that: then it MUST become known, and due, in the step that puts the reference on record.
#[cfg_attr(feature = "mocks", mockall::automock)]
#[async_trait]
pub trait ReceiptStore: Send + Sync {
    /// Puts receipts on record, all or none. One that repeats what a receipt on record says about
    /// the same message is not kept again.
    async fn keep(&self, receipts: Vec<KeptReceipt>) -> Result<(), StoreError>;

    /// The longest due known receipts, each handed to one caller: one given out is not given out
    /// again before `lease` has passed, and none before an older one about the same message is
    /// done.
    ///
    /// The number of unknown ones on record MUST make no difference.
    async fn claim(
        &self,
        now: Timestamp,
        lease: Duration,
        room: ReceiptRoom,
    ) -> Result<Vec<KeptReceipt>, StoreError>;

    /// Has receipts, known or not, that are due later than `later_than` due at `to`; gives their number.
    async fn bring_forward(&self, later_than: Timestamp, to: Timestamp) -> Result<u64, StoreError>;

    /// Takes a receipt off the record; repetition is harmless.
    async fn done(&self, receipt: ReceiptId) -> Result<(), StoreError>;

    /// Reviews unknown receipts: those whose attempt was put on record in the meantime become
    /// known, the others wait as [`KeptReceipt::next_check`] says or are dropped, and beyond `most`
    /// of them the oldest are dropped. Bounded work: the rest is left for the next review.
    async fn review(&self, now: Timestamp, most: u32) -> Result<Reviewed, StoreError>;

    /// How many are unknown, and since when.
    async fn unknown(&self) -> Result<UnknownReceipts, StoreError>;
}

/// A code on its way to a phone.
#[derive(Clone, Debug)]
#[debug("Message({otp} over {channel} to {phone})")]
pub struct Message {
    pub otp: OtpId,
    /// The attempt; a provider that takes a client reference gets this one.
    pub attempt: AttemptId,
    /// Whose message it is; those of test keys go to the sandbox alone.
    pub world: ProjectMode,
    pub channel: Channel,
    pub phone: Phone,
    pub phone_index: BlindIndex,
    /// The code, for templates that take it alone.
    pub code: Code,
    /// The whole text, for channels that take one.
    pub text: String,
    /// Who sends it, as the recipient knows them.
    pub brand: String,
    /// BCP 47 tag of the text's language, such as `en` or `hi`.
    pub language: String,
    pub minutes: u32,
    /// The id under which the operator registered the project's own text (DLT content template);
    /// `None` means the configured one.
    pub template_id: Option<String>,
}

/// A provider's answer.
///
/// `Debug` shows no reference: that is the provider's own text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    Accepted {
        /// What the provider calls it, for receipts; `None` if it gave no name.
        #[debug("{:?}", provider_ref.as_ref().map(|_| "…"))]
        provider_ref: Option<String>,
        /// Whether it will report what became of it.
        awaits_receipt: bool,
    },
    /// It did not.
    Refused(Reason),
    /// It did not, and asks not to be called for this long: it is about the provider, not about one number.
    Busy(Reason, Duration),
}

impl Outcome {
    /// The answer as words for a log: `accepted` or `refused`, and why.
    pub const fn words(&self) -> (&'static str, Option<&'static str>) {
        match self {
            Self::Accepted { .. } => ("accepted", None),
            Self::Refused(reason) | Self::Busy(reason, _) => ("refused", Some(reason.as_str())),
        }
    }
}

/// What came of asking a provider whether it answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Probe {
    /// The HTTP status of its answer; `None` if none came.
    pub status: Option<u16>,
    pub took: Duration,
}

impl Probe {
    /// Whether the provider works as far as can be told: any answer that is no error of its own.
    pub fn is_answered(&self) -> bool {
        self.status.is_some_and(|status| status < 500)
    }
}

/// How calls to a provider went lately, as this process sees it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ProviderHealth {
    /// For how long it is still passed over; `None` while it is called.
    pub paused_for: Option<Duration>,
    /// How many of its latest calls are counted.
    pub calls: u32,
    /// How many of these failed by its fault.
    pub faults: u32,
    /// Half of its latest calls took no longer; `None` without calls.
    pub median: Option<Duration>,
    /// The messages that it did not take lately for a reason that is not about the number, the newest first.
    pub refusals: Vec<ProviderRefusal>,
}

/// A message that a provider did not take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ProviderRefusal {
    pub age: Duration,
    pub reason: Reason,
    /// The HTTP status of the answer; `None` if none came.
    pub status: Option<u16>,
    /// The provider's own code, if it gave one.
    pub code: Option<i64>,
}

/// Knows the providers that are configured.
#[cfg_attr(feature = "mocks", mockall::automock)]
#[async_trait]
pub trait Providers: Send + Sync {
    /// The names of those that carry messages over `channel`.
    fn names(&self, channel: Channel) -> Vec<String>;

    /// The names of those that carry messages over `channel` for projects that name none, in order.
    fn defaults(&self, channel: Channel) -> Vec<String>;

    /// The BCP 47 tags of the languages that a provider over WhatsApp has a template for, each once.
    fn template_languages(&self) -> Vec<String>;

    /// For how long the provider of this name is still passed over, since its calls failed; `None` while
    /// it is called. Each process sees its own calls.
    fn paused_for(&self, provider: &str) -> Option<Duration>;

    /// How calls to the provider of this name went. Each process sees its own calls.
    fn health(&self, provider: &str) -> ProviderHealth;

    /// Asks the provider whether it answers; if it does, its pause is over. `None` if nobody can be asked.
    async fn probe(&self, provider: &str) -> Option<Probe>;
}

/// Hands messages to a provider.
#[cfg_attr(feature = "mocks", mockall::automock)]
#[async_trait]
pub trait Gateway: Send + Sync {
    /// The provider's name, as configured and as shown in attempts.
    fn provider(&self) -> String;

    /// Hands one message over. Every failure is a [`Outcome::Refused`] or [`Outcome::Busy`] with its reason; the
    /// caller bounds the time.
    ///
    /// The reason MUST tell whether the message may still be on its way: with [`Reason::Timeout`]
    /// and [`Reason::Unknown`] the provider may have sent it (it did not answer in time, the
    /// connection broke after the request was written, a gateway in between lost the answer, the
    /// answer cannot be understood). With every other reason nothing was sent: it was never asked,
    /// or it refused.
    async fn deliver(&self, message: Message) -> Outcome;

    /// Asks whether the provider answers at all, without credentials and without a message; `None` where nobody is
    /// there to be asked.
    async fn probe(&self) -> Option<Probe> {
        None
    }
}
