use crate::{Reason, Report};
use dwar_kernel::{AttemptId, OtpId, ProjectMode, ReceiptId, Timestamp};
use std::time::Duration;

/// A provider's delivery report on a message that it had accepted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Receipt {
    pub provider: String,
    pub provider_ref: String,
    pub report: Report,
}

impl Receipt {
    /// The report as words for a table column: status and reason.
    pub fn words(&self) -> (&'static str, Option<&'static str>) {
        match &self.report {
            Report::Accepted { .. } => ("sent", None),
            Report::Delivered => ("delivered", None),
            Report::Failed(reason) => ("failed", Some(reason.as_str())),
            // A receipt never contains this report: providers do not report timeouts.
            Report::Overdue { .. } => ("failed", Some(Reason::Timeout.as_str())),
        }
    }

    /// The receipt that [`Receipt::words`] wrote; `None` for other words.
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

/// The delivery attempt that a report is about. The report is a receipt, or says that the attempt is overdue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReceiptTarget {
    pub project_mode: ProjectMode,
    pub otp: OtpId,
    pub attempt: AttemptId,
}

/// A stored receipt that is still to be applied.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeptReceipt {
    pub id: ReceiptId,
    pub receipt: Receipt,
    pub received_at: Timestamp,
}

/// Most unknown receipts that are kept; beyond that the oldest are dropped. A provider may report on messages
/// of its account that Dwar never sent.
pub const MAX_UNKNOWN: u32 = 20_000;

/// A receipt may arrive before the answer to the call that sent the message. A receipt that is
/// unknown for longer than this is about a message of another system.
const UNKNOWN_FOR: Duration = Duration::from_secs(600);
/// Least time until the next check of an unknown receipt, unless the receipt expires before.
const SHORTEST_WAIT: Duration = Duration::from_secs(1);

impl KeptReceipt {
    /// Longest wait of a receipt, for its message or for the worker that applies it.
    pub const LONGEST_WAIT: Duration = Duration::from_secs(120);

    /// When to check again a receipt whose message is not on record at `now`: after one second, then each
    /// time at four times its age, at most two minutes later. `None` once the receipt is ten minutes old.
    pub fn next_check(received_at: Timestamp, now: Timestamp) -> Option<Timestamp> {
        let over = received_at + UNKNOWN_FOR;
        let age = (now - received_at).to_std().unwrap_or_default();
        let wait = (age * 3).clamp(SHORTEST_WAIT, Self::LONGEST_WAIT);
        (now < over).then(|| (now + wait).min(over))
    }

    /// Whether applying this receipt may call the next provider: it reports a failure or a timeout.
    pub const fn may_call_next_provider(&self) -> bool {
        matches!(self.receipt.report, Report::Failed(_) | Report::Overdue { .. })
    }
}

/// Most receipts that one claim may return, by kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReceiptRoom {
    /// Receipts that [may call the next provider](KeptReceipt::may_call_next_provider).
    pub calling: u32,
    pub others: u32,
}

/// How many unknown receipts a review dropped, by cause.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ReceiptReview {
    pub expired: u64,
    /// Dropped as the oldest, because there were too many.
    pub crowded_out: u64,
}

/// Stored receipts whose message is not on record.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct UnknownReceipts {
    pub count: u64,
    pub oldest: Option<Timestamp>,
}

/// Head of a webhook call from a provider: all that is known before its body is read.
///
/// No `Debug`: queries may hold secrets.
#[derive(Clone)]
pub struct WebhookHead {
    /// Path and query exactly as received: `/webhooks/twilio?…`.
    pub path_and_query: String,
    pub query: Vec<(String, String)>,
    /// Headers by lower-case name, in order. Headers that are not valid text are left out.
    pub headers: Vec<(String, String)>,
}

impl WebhookHead {
    /// Value of the header with this lower-case name; `None` if it is absent or repeated.
    pub fn header(&self, name: &str) -> Option<&str> {
        only(&self.headers, name)
    }

    /// Value of the query parameter with this name; `None` if it is absent or repeated.
    pub fn parameter(&self, name: &str) -> Option<&str> {
        only(&self.query, name)
    }
}

/// A webhook call from a provider.
///
/// No `Debug`: bodies name phone numbers, and queries may hold secrets.
#[derive(Clone)]
pub struct WebhookCall {
    pub head: WebhookHead,
    /// The raw body; signatures cover exactly these bytes.
    pub body: Vec<u8>,
}

/// What a webhook call may do after its head was checked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WebhookAdmission {
    /// Longest body in bytes that this provider sends; longer bodies are refused.
    pub longest_body: usize,
    /// Whether the head alone authenticates the call (a token). A signature authenticates it only
    /// together with the body: until the body has arrived, the caller is unknown.
    pub proven: bool,
}

fn only<'pairs>(pairs: &'pairs [(String, String)], name: &str) -> Option<&'pairs str> {
    let mut found = pairs.iter().filter(|(known, _)| known == name);
    match (found.next(), found.next()) {
        (Some((_, value)), None) => Some(value),
        _ => None,
    }
}

/// The webhook call is not from the provider, or cannot be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum WebhookError {
    /// Signature, token or secret is missing or wrong.
    #[error("the call is not authenticated")]
    Unauthenticated,
    /// The call is authentic, but contains no readable receipt.
    #[error("the call cannot be read")]
    Unreadable,
}

/// Reads webhook calls of one provider. Pure: no waiting, no store.
pub trait ReceiptSource: Send + Sync {
    /// The provider's name; also the last part of its webhook path.
    fn provider(&self) -> String;

    /// Judges a call by its head, before its body is read. A token is checked completely and in constant
    /// time, a signature by its presence and exact shape.
    ///
    /// # Errors
    /// MUST be [`WebhookError::Unauthenticated`] if no body could authenticate the call.
    fn admit(&self, head: &WebhookHead) -> Result<WebhookAdmission, WebhookError>;

    /// The receipts in one authenticated call. An authentic call without a final status (an intermediate
    /// status, a message from a user) gives none.
    ///
    /// # Errors
    /// MUST be [`WebhookError::Unauthenticated`] unless the call is proven to be the provider's, in constant
    /// time and before anything is parsed.
    fn receipts(&self, call: &WebhookCall) -> Result<Vec<Receipt>, WebhookError>;

    /// Answers a provider's subscription handshake, a call without a body. Most providers have no handshake.
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
        // A clock that was set back leads to an early check.
        let early = received - Duration::from_secs(9);
        assert_eq!(KeptReceipt::next_check(received, early), Some(early + SHORTEST_WAIT));
        let last = received + UNKNOWN_FOR - Duration::from_millis(1);
        assert_eq!(KeptReceipt::next_check(received, last), Some(received + UNKNOWN_FOR));
    }
}
