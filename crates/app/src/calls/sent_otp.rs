use crate::refusals::refusals;
use dwar_kernel::{KeyMode, OtpId, Timestamp};
use dwar_otp::{Channel, DeliveryStatus};
use dwar_ratelimit::{Admission, SendBound};

/// A code that a provider has accepted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SentOtp {
    pub otp: OtpId,
    /// Of the key that asked; in test mode no phone is reached.
    pub mode: KeyMode,
    pub status: DeliveryStatus,
    /// The channel that it took, if that is known.
    pub channel: Option<Channel>,
    /// The first instant at which the code no longer works.
    pub expires_at: Timestamp,
    /// Whole seconds until then, when this was answered first.
    pub expires_in: i64,
    /// The phone's allowance after this send; `None` if the first answer to an `Idempotency-Key`
    /// is given again.
    pub admission: Option<Admission>,
}

/// A send that was refused by the limits of the phone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SendRefusal {
    pub bound: SendBound,
    pub admission: Admission,
}

refusals! {
    /// Why no code was sent.
    SendOtpError {
        /// More than the limit, or than the phone's wrong guesses leave room for.
        RateLimited(SendRefusal) = "too many codes for this phone number",
        /// Nothing was sent or charged. Without an allowance, this is the first answer to an
        /// `Idempotency-Key`, given again.
        InsufficientBalance(Option<Admission>) = "the wallet balance is too low",
        /// Nothing was charged. Without an allowance, as above.
        Undeliverable(Option<Admission>) = "no channel could deliver the code",
        Conflict = "the first request with this key is still running",
        Reused = "the key was used with another body",
    }
}

const POOR: &str = "insufficient_balance";
const LOST: &str = "undeliverable";

/// What is kept of an answer to give it again: only answers that say what became of the code. After
/// any other refusal nothing was done, and the next request may do it.
pub(crate) fn first_answer(outcome: &Result<SentOtp, SendOtpError>) -> Option<String> {
    match outcome {
        Ok(sent) => {
            let channel = sent.channel.map_or("", Channel::as_str);
            let (status, expires_at) = (sent.status.as_str(), sent.expires_at.timestamp_millis());
            Some(format!("{} {status} {channel} {expires_at} {}", sent.otp, sent.expires_in))
        }
        Err(SendOtpError::InsufficientBalance(_)) => Some(POOR.to_owned()),
        Err(SendOtpError::Undeliverable(_)) => Some(LOST.to_owned()),
        Err(_) => None,
    }
}

/// The answer that [`first_answer`] wrote down; `None` if it cannot be read.
pub(crate) fn again(answer: &[u8], mode: KeyMode) -> Option<Result<SentOtp, SendOtpError>> {
    let text = std::str::from_utf8(answer).ok()?;
    match text {
        POOR => return Some(Err(SendOtpError::InsufficientBalance(None))),
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
