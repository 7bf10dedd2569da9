use derive_more::Debug;
use dwar_kernel::{BlindIndex, Digest, ProjectMode, Sealed, Timestamp};
use std::str::FromStr;
use std::time::Duration;

/// The `Idempotency-Key` header of a client: 1 to 255 visible ASCII characters.
#[derive(Clone, Debug, PartialEq, Eq)]
#[debug("IdempotencyKey(…)")]
pub struct IdempotencyKey(String);

/// Parse error: the header is empty, too long or not visible ASCII.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MalformedKey;

/// Parse error: the `reference` of a body is empty, too long or not visible ASCII.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a reference is 1 to 128 visible ASCII characters")]
pub struct MalformedReference;

impl IdempotencyKey {
    /// Most characters of a `reference`; a header may have 255.
    pub const LONGEST_REFERENCE: usize = 128;

    /// The idempotency key from the `reference` field of a body, for callers that cannot set a header per
    /// request: 1 to 128 visible ASCII characters.
    ///
    /// # Errors
    /// [`MalformedReference`] for anything else.
    pub fn of_reference(text: &str) -> Result<Self, MalformedReference> {
        let key = text.parse().ok().filter(|_| text.len() <= Self::LONGEST_REFERENCE);
        key.ok_or(MalformedReference)
    }

    /// The key in clear; only to make a digest of it.
    pub fn expose(&self) -> &str {
        &self.0
    }
}

impl FromStr for IdempotencyKey {
    type Err = MalformedKey;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let valid = (1..=255).contains(&text.len()) && text.bytes().all(|b| b.is_ascii_graphic());
        if valid { Ok(Self(text.to_owned())) } else { Err(MalformedKey) }
    }
}

/// Where a record is stored: one key of one route in one project and mode.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct IdempotencySlot {
    pub project_mode: ProjectMode,
    pub route: &'static str,
    pub key: Digest,
}

/// Lifetimes of a record. By default an answer is kept for a day (docs/contract.md), longer than clients go
/// on repeating a request. A first request has a minute to finish, longer than any request takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lifetimes {
    /// A first request without an answer after this long is considered dead.
    pub lease: Duration,
    /// An answer is repeated for this long after the first request began.
    pub keep: Duration,
}

impl Default for Lifetimes {
    fn default() -> Self {
        Self { lease: Duration::from_secs(60), keep: Duration::from_secs(24 * 3_600) }
    }
}

/// A request that holds a slot, and its answer once it has one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IdempotencyRecord {
    pub fingerprint: Digest,
    /// Blind index of the phone in the request, so that erasing the phone erases the record.
    pub phone: BlindIndex,
    pub began_at: Timestamp,
    pub answer: Option<Sealed>,
}

/// Result of asking for a slot: do the work, wait, or repeat an answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum IdempotencyDecision {
    /// The slot belongs to this request, which must complete or abandon it.
    Fresh,
    /// Another request with this key is still running.
    Running,
    Reused,
    Replay(Sealed),
}

impl IdempotencyRecord {
    /// What a later request with the same key gets; `None` if it may take over the slot.
    pub fn judge(
        &self,
        fingerprint: Digest,
        lifetimes: Lifetimes,
        now: Timestamp,
    ) -> Option<IdempotencyDecision> {
        let age = (now - self.began_at).to_std().unwrap_or_default();
        match &self.answer {
            _ if age >= lifetimes.keep => None,
            _ if self.fingerprint != fingerprint => Some(IdempotencyDecision::Reused),
            Some(answer) => Some(IdempotencyDecision::Replay(answer.clone())),
            None if age >= lifetimes.lease => None,
            None => Some(IdempotencyDecision::Running),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIFETIMES: Lifetimes =
        Lifetimes { lease: Duration::from_secs(60), keep: Duration::from_secs(86_400) };

    fn at(seconds: i64) -> Timestamp {
        Timestamp::from_timestamp(1_800_000_000 + seconds, 0).unwrap()
    }

    fn record(answer: Option<Sealed>) -> IdempotencyRecord {
        IdempotencyRecord {
            fingerprint: Digest([1; 32]),
            phone: BlindIndex([9; 32]),
            began_at: at(0),
            answer,
        }
    }

    #[test]
    fn replays_the_same_and_refuses_the_other() {
        let answer = Sealed(vec![7]);
        let done = record(Some(answer.clone()));
        let last = at(86_399);
        assert_eq!(
            done.judge(Digest([1; 32]), LIFETIMES, last),
            Some(IdempotencyDecision::Replay(answer))
        );
        assert_eq!(done.judge(Digest([2; 32]), LIFETIMES, last), Some(IdempotencyDecision::Reused));
        assert_eq!(done.judge(Digest([2; 32]), LIFETIMES, at(86_400)), None);
    }

    #[test]
    fn a_reference_is_the_key_of_a_header_within_a_shorter_bound() {
        for text in ["r", "a-b/c:1", &"x".repeat(128)] {
            let key = IdempotencyKey::of_reference(text);
            assert_eq!(key.ok(), text.parse().ok(), "{text}");
        }
        for text in ["", " ", "a b", "ä", "a\n", &"x".repeat(129)] {
            assert_eq!(IdempotencyKey::of_reference(text), Err(MalformedReference), "{text}");
        }
    }

    #[test]
    fn a_dead_first_request_gives_its_slot_up() {
        let open = record(None);
        assert_eq!(
            open.judge(Digest([1; 32]), LIFETIMES, at(59)),
            Some(IdempotencyDecision::Running)
        );
        assert_eq!(open.judge(Digest([1; 32]), LIFETIMES, at(60)), None);
    }
}
