use crate::refusals::refusals;
use dwar_kernel::{KeyMode, OtpId, Timestamp};
use dwar_otp::{Channel, DeliveryStatus};
use dwar_ratelimit::{Admission, SendBound};

/// The answer to a send: a code that a provider has accepted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SentOtp {
    pub otp: OtpId,
    /// Mode of the key; in test mode no phone is reached.
    pub mode: KeyMode,
    pub status: DeliveryStatus,
    pub channel: Option<Channel>,
    /// The first instant at which the code no longer works.
    pub expires_at: Timestamp,
    /// Whole seconds until `expires_at`, as of the first answer.
    pub expires_in: i64,
    /// State of the phone's limit after this send; `None` if the first answer to an `Idempotency-Key` is
    /// repeated.
    pub admission: Option<Admission>,
}

/// A send that the limits of the phone refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SendRefusal {
    pub bound: SendBound,
    pub admission: Admission,
}

refusals! {
    SendOtpError {
        /// The limit of the phone is reached, or its wrong guesses allow no send now.
        RateLimited(SendRefusal) = "too many codes for this phone number",
        /// Nothing was sent or charged. Holds the state of the limit, or `None` if the first answer to an
        /// `Idempotency-Key` is repeated.
        InsufficientBalance(Option<Admission>) = "the wallet balance is too low",
        /// The limit of the day on the project's spend. Nothing was sent or charged. Holds the state of the limit
        /// of the phone, or `None` as above.
        SpendLimitReached(Option<Admission>) = "the project's spend of the day has reached its limit",
        /// Nothing was charged. Holds the state of the limit, or `None` as above.
        Undeliverable(Option<Admission>) = "no channel could deliver the code",
        /// The guard asks for a proof that a person wants the code. Nothing was sent, counted or charged.
        ProofRequired = "a proof is required",
        Conflict = "the first request with this key is still running",
        Reused = "the key was used with another body",
    }
}

const POOR: &str = "insufficient_balance";
const SPEND_LIMIT: &str = "spend_limit_reached";
const LOST: &str = "undeliverable";

/// Stored form of an answer, to repeat it: only for answers that tell the outcome of a code. After any other
/// refusal nothing was done, and the next request may do the work.
pub(crate) fn first_answer(outcome: &Result<SentOtp, SendOtpError>) -> Option<String> {
    match outcome {
        Ok(sent) => {
            let channel = sent.channel.map_or("", Channel::as_str);
            let (status, expires_at) = (sent.status.as_str(), sent.expires_at.timestamp_millis());
            Some(format!("{} {status} {channel} {expires_at} {}", sent.otp, sent.expires_in))
        }
        Err(SendOtpError::InsufficientBalance(_)) => Some(POOR.to_owned()),
        Err(SendOtpError::SpendLimitReached(_)) => Some(SPEND_LIMIT.to_owned()),
        Err(SendOtpError::Undeliverable(_)) => Some(LOST.to_owned()),
        Err(_) => None,
    }
}

/// Parses what [`first_answer`] wrote; `None` if it cannot be read.
pub(crate) fn again(answer: &[u8], mode: KeyMode) -> Option<Result<SentOtp, SendOtpError>> {
    let text = std::str::from_utf8(answer).ok()?;
    match text {
        POOR => return Some(Err(SendOtpError::InsufficientBalance(None))),
        SPEND_LIMIT => return Some(Err(SendOtpError::SpendLimitReached(None))),
        LOST => return Some(Err(SendOtpError::Undeliverable(None))),
        _ => {}
    }
    let mut words = text.split(' ');
    Some(Ok(SentOtp {
        mode,
        otp: words.next()?.parse().ok()?,
        status: DeliveryStatus::from_word(words.next()?)?,
        channel: Channel::from_word(words.next()?),
        expires_at: Timestamp::from_timestamp_millis(words.next()?.parse().ok()?)?,
        expires_in: words.next()?.parse().ok()?,
        admission: None,
    }))
}
