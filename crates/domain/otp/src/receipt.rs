use crate::{Reason, Report};
use dwar_kernel::{AttemptId, OtpId, ProjectMode, ReceiptId, Timestamp};
use std::time::Duration;

/// What a provider reports about a message it had accepted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Receipt {
    pub provider: String,
    pub provider_ref: String,
    pub report: Report,
}

impl Receipt {
    /// The report as words for a table: what became of it, and why.
    pub fn words(&self) -> (&'static str, Option<&'static str>) {
        match &self.report {
            Report::Accepted { .. } => ("sent", None),
            Report::Delivered => ("delivered", None),
            Report::Failed(reason) => ("failed", Some(reason.as_str())),
            // No provider reports that it is late.
            Report::Overdue { .. } => ("failed", Some(Reason::Timeout.as_str())),
        }
    }

    /// The receipt that [`Receipt::words`] stand for.
    pub fn from_words(
        provider: String,
        provider_ref: String,
        report: &str,
        reason: Option<&str>,
    ) -> Option<Self> {
        let report = match (report, reason) {
            ("sent", None) => Report::Accepted { provider_ref: None, awaits_receipt: true },
            ("delivered", None) => Report::Delivered,
            ("failed", Some(reason)) => Report::Failed(Reason::from_word(reason)?),
            _ => return None,
        };
        Some(Self { provider, provider_ref, report })
    }
}

/// The attempt that a receipt, or another report from outside, is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReceiptTarget {
    pub world: ProjectMode,
    pub otp: OtpId,
    pub attempt: AttemptId,
}

/// A receipt on record until it has been applied.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeptReceipt {
    pub id: ReceiptId,
    pub receipt: Receipt,
    pub received_at: Timestamp,
}

/// The most receipts that are kept about messages not on record; beyond that the oldest are
/// dropped. A provider may report on everything that its account sends.
pub const MAX_UNKNOWN: u32 = 20_000;

/// A receipt may overtake the answer to the call that it is about; after this it is not about ours.
const UNKNOWN_FOR: Duration = Duration::from_secs(600);
const FIRST_CHECK: Duration = Duration::from_secs(1);
const LAST_WAIT: Duration = Duration::from_secs(120);

impl KeptReceipt {
    /// The longest that a receipt waits: for its message, or for the one that applies it.
    pub const LONGEST_WAIT: Duration = LAST_WAIT;

    /// When a receipt whose message is not on record at `now` is checked again: after a second, and
    /// then each time at four times its age, two minutes later at most. `None` once it is ten
    /// minutes old and still unknown.
    pub fn next_check(received_at: Timestamp, now: Timestamp) -> Option<Timestamp> {
        let over = received_at + UNKNOWN_FOR;
        let age = (now - received_at).to_std().unwrap_or_default();
        let wait = (age * 3).clamp(FIRST_CHECK, LAST_WAIT);
        (now < over).then(|| (now + wait).min(over))
    }

    /// Whether this receipt may call the next provider when it is applied.
    pub const fn may_call_on(&self) -> bool {
        matches!(self.receipt.report, Report::Failed(_) | Report::Overdue { .. })
    }
}

/// How many receipts one claim may give out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReceiptRoom {
    /// How many that [may call the next provider](KeptReceipt::may_call_on).
    pub calling: u32,
    pub others: u32,
}

/// What a review of unknown receipts dropped.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Reviewed {
    pub expired: u64,
    /// How many were the oldest of too many.
    pub crowded_out: u64,
}

/// Receipts on record about messages that are not.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct UnknownReceipts {
    pub count: u64,
    pub oldest: Option<Timestamp>,
}

/// The head of a provider's call to us: all that is known before a byte of its body is read.
///
/// No `Debug`: queries may hold secrets.
#[derive(Clone)]
pub struct WebhookHead {
    /// Path and query as the provider sent them: `/webhooks/twilio?…`.
    pub path_and_query: String,
    pub query: Vec<(String, String)>,
    /// Headers by lower-case name, in order; those that are not text are left out.
    pub headers: Vec<(String, String)>,
}

impl WebhookHead {
    /// The only header of this lower-case name; none if it came several times.
    pub fn header(&self, name: &str) -> Option<&str> {
        only(&self.headers, name)
    }

    /// The only query parameter of this name; none if it came several times.
    pub fn parameter(&self, name: &str) -> Option<&str> {
        only(&self.query, name)
    }
}

/// A call of a provider to us, as it came in.
///
/// No `Debug`: bodies name phone numbers, and queries may hold secrets.
#[derive(Clone)]
pub struct WebhookCall {
    pub head: WebhookHead,
    /// The raw body; signatures are over exactly these bytes.
    pub body: Vec<u8>,
}

/// What a call is allowed on the strength of its head.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WebhookAdmission {
    /// The longest body that this provider ever sends, in bytes; nothing beyond is read.
    pub longest_body: usize,
    /// Whether the head alone proves who calls (a token). A signature proves it only together
    /// with the body: until that is here the caller may be anybody.
    pub proven: bool,
}

fn only<'pairs>(pairs: &'pairs [(String, String)], name: &str) -> Option<&'pairs str> {
    let mut found = pairs.iter().filter(|(known, _)| known == name);
    match (found.next(), found.next()) {
        (Some((_, value)), None) => Some(value),
        _ => None,
    }
}

/// The call is not the provider's, or not one that can be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum WebhookError {
    /// Signature, token or secret is absent or wrong.
    #[error("the call is not authenticated")]
    Unauthenticated,
    /// It is authentic, but no receipt can be read from it.
    #[error("the call cannot be read")]
    Unreadable,
}

/// Reads a provider's calls to us. Pure: no waiting, no store.
pub trait ReceiptSource: Send + Sync {
    /// The provider's name; also the last part of the address it calls.
    fn provider(&self) -> String;

    /// Judges a call by its head, before any of its body is read: a token is judged completely and
    /// in constant time, a signature by its presence and exact shape.
    ///
    /// # Errors
    /// MUST be [`WebhookError::Unauthenticated`] if no body could make the call the provider's.
    fn admit(&self, head: &WebhookHead) -> Result<WebhookAdmission, WebhookError>;

    /// The receipts of one authenticated call; an authentic call that means nothing to us (an
    /// intermediate status, a user's message) gives none.
    ///
    /// # Errors
    /// MUST be [`WebhookError::Unauthenticated`], judged in constant time and before anything is
    /// parsed, unless the call proves to be the provider's.
    fn receipts(&self, call: &WebhookCall) -> Result<Vec<Receipt>, WebhookError>;

    /// Answers a provider's subscription handshake, which has no body; most have none.
    ///
    /// # Errors
    /// As for [`ReceiptSource::receipts`].
    fn handshake(&self, _head: &WebhookHead) -> Result<String, WebhookError> {
        Err(WebhookError::Unauthenticated)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unknown_receipt_is_checked_ever_more_rarely_and_then_no_more() {
        let received = Timestamp::from_timestamp(1_800_000_000, 0).unwrap();
        let mut checks = vec![received];
        while let Some(next) = KeptReceipt::next_check(received, *checks.last().unwrap()) {
            checks.push(next);
        }
        let ages: Vec<i64> = checks.iter().map(|check| (*check - received).num_seconds()).collect();
        assert_eq!(ages, [0, 1, 4, 16, 64, 184, 304, 424, 544, 600]);
        // A clock that went backwards asks again soon.
        let early = received - Duration::from_secs(9);
        assert_eq!(KeptReceipt::next_check(received, early), Some(early + FIRST_CHECK));
        let last = received + UNKNOWN_FOR - Duration::from_millis(1);
        assert_eq!(KeptReceipt::next_check(received, last), Some(received + UNKNOWN_FOR));
    }
}
