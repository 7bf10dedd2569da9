use crate::{Code, WebhookCall, WebhookHead};
use dwar_kernel::{Phone, Timestamp, WebhookSecret, words};
use std::ops::RangeInclusive;
use std::time::Duration;

/// How long a code of somebody else works: 60 to 3,600 seconds. Nothing is sent after that.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RelayLifetime(Duration);

impl RelayLifetime {
    /// Its bounds, in seconds.
    pub const SECONDS: RangeInclusive<u64> = 60..=3_600;
    /// The same, for people.
    pub const RULE: &str = "a whole number of seconds from 60 to 3600";

    /// A lifetime of whole seconds; `None` outside of the bounds.
    pub fn from_seconds(seconds: u64) -> Option<Self> {
        Self::SECONDS.contains(&seconds).then(|| Self(Duration::from_secs(seconds)))
    }

    /// As a duration.
    pub const fn duration(self) -> Duration {
        self.0
    }
}

words! {
    /// Why a call of another system comes to nothing.
    HookRefusal {
        /// The body is longer than any that is read, so nobody knows whether the call is proven.
        TooLarge = "too_large",
        /// The body is not in that system's format.
        Unreadable = "unreadable",
        /// It names no Indian mobile number.
        InvalidPhone = "invalid_phone",
        /// The code is not 4 to 10 digits.
        InvalidCode = "invalid_code",
        /// The phone has had as many codes as it may.
        PhoneLimited = "phone_limited",
        /// The project has had as many sends as it may in this minute.
        ProjectLimited = "project_limited",
        /// Every channel failed. Nothing was charged.
        Undelivered = "undelivered",
        /// The wallet is empty, which the person who waits cannot change and is not told.
        InsufficientBalance = "insufficient_balance",
        /// The service cannot send now: a store is out of reach, or no registered text has this lifetime.
        Unavailable = "unavailable",
    }
}

words! {
    /// What was wrong with a call that is not taken for one of the hook's. For the log: no answer says it.
    HookFault {
        /// There is no such hook, or its project is archived.
        UnknownHook = "unknown_hook",
        /// What the proof consists of is absent, there twice or malformed.
        Shape = "shape",
        /// The signed time is too far from now.
        Time = "time",
        /// No secret of the hook made the signature, or was shown.
        Signature = "signature",
    }
}

/// What another system asks to be delivered.
#[derive(Clone, Debug)]
pub struct HookMessage {
    pub phone: Phone,
    pub code: Code,
    /// Whether the code is that of a second factor, whose lifetime is one of its own.
    pub is_mfa: bool,
}

/// How another system asks for its code to be delivered. Pure: no waiting, no store.
pub trait HookFormat: Send + Sync {
    /// Whether there can be a body that makes a call with this head a proven one: what it shows has the right
    /// shape, and a time that it names is near. Judged before the hook is looked up.
    ///
    /// # Errors
    /// [`HookFault::Shape`] or [`HookFault::Time`].
    fn fits(&self, head: &WebhookHead, now: Timestamp) -> Result<(), HookFault>;

    /// Whether the head alone shows one of these secrets, judged in constant time; `None` if the proof is over
    /// the body, too.
    fn shows(&self, secrets: &[WebhookSecret], head: &WebhookHead) -> Option<bool>;

    /// Whether the call shows one of these secrets, judged in constant time and over the raw body, before
    /// anything of it is parsed.
    fn proves(&self, secrets: &[WebhookSecret], call: &WebhookCall, now: Timestamp) -> bool;

    /// What a proven call asks for.
    ///
    /// # Errors
    /// [`HookRefusal::Unreadable`], [`HookRefusal::InvalidPhone`] or [`HookRefusal::InvalidCode`].
    fn read(&self, body: &[u8]) -> Result<HookMessage, HookRefusal>;

    /// For how long the very same body is a repetition of the first call, not a new one.
    fn repeats_for(&self) -> Duration;

    /// The body of a 200, as the other system reads it; `None` for a refusal if it reads the status, and so is
    /// refused as a caller of the API is.
    fn answer(&self, outcome: Result<(), HookRefusal>) -> Option<String>;
}
