use crate::{SendOtpError, SentOtp};
use dwar_event::SendFailure;
use dwar_kernel::{Channel, GuardVerdict, KeyMode, words};
use dwar_otp::{DeliveryAttempt, Report};
use dwar_ratelimit::{RequestScope, SendBound};
use std::time::Duration;

/// Receives what happens as it happens, to count it.
///
/// Requests call these methods on their way: an implementation MUST neither wait nor fail, and must not keep
/// its arguments. The default of each method does nothing.
pub trait Observer: Send + Sync {
    fn answered(&self, _: &AnsweredRequest) {}

    /// A request was judged by this window of its key.
    fn limited(&self, _: RequestScope, _admitted: bool) {}

    fn sent(&self, _: KeyMode, _: SendKind, _: SendEnd) {}

    /// The guard judged a send that was admitted. A refusal stands for what an enforced guard would have refused.
    fn guarded(&self, _: GuardVerdict) {}

    /// A provider was called with a message, with this result.
    fn attempted(&self, _: &DeliveryAttempt, _: &Report) {}

    /// A provider was called, and answered or timed out, after this long.
    fn called(&self, _: Channel, _provider: &str, _: Duration) {}

    /// A message goes to a further provider.
    fn fell_back(&self) {}

    /// A live message was reported as delivered, this long after it was requested.
    fn delivered(&self, _: Channel, _after: Duration) {}

    /// A code was guessed. `left` is the remaining lifetime of a right code.
    fn guessed(&self, _: KeyMode, _: GuessEnd, _left: Option<Duration>) {}

    /// A provider called a webhook, with a receipt or with something else.
    fn reported(&self, _provider: &str, _: ReceiptEnd) {}

    fn told(&self, _: Result<u16, SendFailure>, _took: Duration) {}

    /// Current number of calls to endpoints, and of claimed deliveries that wait for a place.
    fn calling(&self, _in_progress: u32, _waiting: u32) {}
}

impl Observer for () {}

/// How a request to the API ended, for counts by route and status.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AnsweredRequest {
    /// Pattern of the matched route; `None` if no route matched.
    pub route: Option<&'static str>,
    /// One of the usual methods, else `other`.
    pub method: &'static str,
    /// `None` if the client disconnected before the answer.
    pub status: Option<u16>,
    pub code: Option<&'static str>,
    pub took: Duration,
}

words! {
    /// Kind of code that a send delivers.
    SendKind {
        Otp = "otp",
        /// A code of the caller, which Dwar does not verify.
        Relay = "relay",
    }
}

words! {
    SendEnd {
        Sent = "sent",
        Undeliverable = "undeliverable",
        /// The phone had reached its limit.
        Limited = "limited",
        /// The phone had reached the bound for a day that the guard enforces.
        LimitedForTheDay = "limited_for_the_day",
        /// The guard asked for a proof.
        ProofRequired = "proof_required",
        /// Refused because it came too soon after many wrong codes.
        Paced = "paced",
        /// Refused because too many wrong codes stopped the phone.
        Stopped = "stopped",
        InsufficientBalance = "insufficient_balance",
        /// The project's spend of the day had reached its limit.
        SpendLimitReached = "spend_limit_reached",
        /// The stored first answer to an `Idempotency-Key`.
        Replayed = "replayed",
        /// The first request with an `Idempotency-Key` was still running.
        Conflict = "conflict",
        /// An `Idempotency-Key` came with another request.
        KeyReused = "key_reused",
        Error = "error",
    }
}

words! {
    GuessEnd {
        Accepted = "accepted",
        Wrong = "wrong",
        Locked = "locked",
        NotFound = "not_found",
        Error = "error",
    }
}

words! {
    /// Result of a provider's report on a message.
    ReceiptEnd {
        /// The message was sent on.
        Sent = "sent",
        Delivered = "delivered",
        /// It did not.
        Failed = "failed",
        /// The call does not prove that it is the provider's.
        Unauthenticated = "unauthenticated",
        Unreadable = "unreadable",
    }
}

impl From<&Result<SentOtp, SendOtpError>> for SendEnd {
    fn from(outcome: &Result<SentOtp, SendOtpError>) -> Self {
        match outcome {
            Ok(SentOtp { admission: Some(_), .. }) => Self::Sent,
            Ok(SentOtp { admission: None, .. })
            | Err(
                SendOtpError::InsufficientBalance(None)
                | SendOtpError::SpendLimitReached(None)
                | SendOtpError::Undeliverable(None),
            ) => Self::Replayed,
            Err(SendOtpError::Undeliverable(Some(_))) => Self::Undeliverable,
            Err(SendOtpError::InsufficientBalance(Some(_))) => Self::InsufficientBalance,
            Err(SendOtpError::SpendLimitReached(Some(_))) => Self::SpendLimitReached,
            Err(SendOtpError::RateLimited(refusal)) => match refusal.bound {
                SendBound::Limit => Self::Limited,
                SendBound::Day => Self::LimitedForTheDay,
                SendBound::Pace => Self::Paced,
                SendBound::Stop => Self::Stopped,
            },
            Err(SendOtpError::ProofRequired) => Self::ProofRequired,
            Err(SendOtpError::Conflict) => Self::Conflict,
            Err(SendOtpError::Reused) => Self::KeyReused,
            Err(SendOtpError::Store(_)) => Self::Error,
        }
    }
}

impl From<&Report> for ReceiptEnd {
    fn from(report: &Report) -> Self {
        match report {
            Report::Accepted { .. } => Self::Sent,
            Report::Delivered => Self::Delivered,
            Report::Failed(_) | Report::Overdue { .. } => Self::Failed,
        }
    }
}
