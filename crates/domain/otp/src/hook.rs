use crate::{Code, WebhookCall, WebhookHead};
use dwar_kernel::{Phone, Timestamp, WebhookSecret, words};
use std::ops::RangeInclusive;
use std::time::Duration;

/// Lifetime of a relayed code: 60 to 3,600 seconds. A relayed code is not sent after that.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RelayLifetime(Duration);

impl RelayLifetime {
    /// Shortest and longest lifetime in seconds, both inclusive.
    pub const SECONDS: RangeInclusive<u64> = 60..=3_600;
    /// The bounds in words, for error messages of every field that has them.
    pub const RULE: &str = "a whole number of seconds from 60 to 3600";

    /// A lifetime of whole seconds; `None` outside [`RelayLifetime::SECONDS`].
    pub fn from_seconds(seconds: u64) -> Option<Self> {
        Self::SECONDS.contains(&seconds).then(|| Self(Duration::from_secs(seconds)))
    }

    /// The lifetime as a [`Duration`] of whole seconds.
    pub const fn duration(self) -> Duration {
        self.0
    }
}

words! {
    /// Why the call of another login system is refused.
    HookRefusal {
        /// The body is longer than the limit, so the signature of the call was not checked.
        TooLarge = "too_large",
        /// The body is not in the format of the hook's system.
        Unreadable = "unreadable",
        /// The body names no Indian mobile number.
        InvalidPhone = "invalid_phone",
        /// The code is not 4 to 10 digits.
        InvalidCode = "invalid_code",
        /// The phone has reached its limit.
        PhoneLimited = "phone_limited",
        /// The project has reached its limit of sends per minute.
        ProjectLimited = "project_limited",
        /// Every channel failed. Nothing was charged.
        Undelivered = "undelivered",
        /// The wallet is empty. The answer does not say so, because the person who waits for the
        /// code cannot change it.
        InsufficientBalance = "insufficient_balance",
        /// The project's spend of the day has reached its limit, which the answer does not say either.
        SpendLimitReached = "spend_limit_reached",
        /// The service cannot send now: a store does not answer, or no registered text names this
        /// lifetime.
        Unavailable = "unavailable",
    }
}

words! {
    /// Why a call does not prove that it comes from the hook's system. Only the log says it, never
    /// an answer.
    HookFault {
        /// There is no such hook, or its project is archived.
        UnknownHook = "unknown_hook",
        /// A part of the proof is missing, repeated or malformed.
        Shape = "shape",
        /// The signed time differs too much from the current time.
        Time = "time",
        /// The signature or the bearer secret matches no secret of the hook.
        Signature = "signature",
    }
}

/// A delivery that another login system asks for.
#[derive(Clone, Debug)]
pub struct HookMessage {
    pub phone: Phone,
    pub code: Code,
    /// Whether the code is a second factor; these have a lifetime of their own.
    pub is_mfa: bool,
}

/// The request format of one login system. Pure: no waiting, no store.
pub trait HookFormat: Send + Sync {
    /// Checks the head of a call before the hook is looked up: the proof has the right shape, and a signed
    /// time is close to `now`. A head that fails cannot belong to a proven call, whatever its body.
    ///
    /// # Errors
    /// [`HookFault::Shape`] or [`HookFault::Time`].
    fn fits(&self, head: &WebhookHead, now: Timestamp) -> Result<(), HookFault>;

    /// Whether the head contains one of `secrets`, compared in constant time; `None` if the proof
    /// covers the body too.
    fn shows(&self, secrets: &[WebhookSecret], head: &WebhookHead) -> Option<bool>;

    /// Whether the call is proven by one of `secrets`, checked in constant time over the raw body, before the
    /// body is parsed.
    fn proves(&self, secrets: &[WebhookSecret], call: &WebhookCall, now: Timestamp) -> bool;

    /// Parses the body of a proven call.
    ///
    /// # Errors
    /// [`HookRefusal::Unreadable`], [`HookRefusal::InvalidPhone`] or [`HookRefusal::InvalidCode`].
    fn read(&self, body: &[u8]) -> Result<HookMessage, HookRefusal>;

    /// For how long an identical body counts as a repetition of the first call.
    fn repeat_window(&self) -> Duration;

    /// The body of a 200 answer in the format of the other system. `None` for a refusal means that the other
    /// system reads the HTTP status, so that it is refused like a caller of the API.
    fn answer(&self, outcome: Result<(), HookRefusal>) -> Option<String>;
}
