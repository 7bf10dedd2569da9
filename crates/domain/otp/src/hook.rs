use crate::{Code, WebhookCall, WebhookHead};
use dwar_kernel::{Phone, Timestamp, WebhookSecret};
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

/// Why a proven call of another system comes to nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HookRefusal {
    /// The body is not in that system's format.
    Unreadable,
    /// It names no Indian mobile number.
    InvalidPhone,
    /// The code is not 4 to 10 digits.
    InvalidCode,
    /// The phone has had as many codes as it may.
    PhoneLimited,
    /// The project has had as many sends as it may in this minute.
    ProjectLimited,
    /// Every channel failed. Nothing was charged.
    Undelivered,
    /// The service cannot send now, which the person who waits cannot change: no balance, a store out of
    /// reach, a lifetime that the registered text does not have.
    Unavailable,
}

/// How another system asks for its code to be delivered. Pure: no waiting, no store.
pub trait HookFormat: Send + Sync {
    /// Whether there can be a body that makes a call with this head a proven one: what it shows has the right
    /// shape, and a time that it names is near. Judged before the hook is looked up.
    fn fits(&self, head: &WebhookHead, now: Timestamp) -> bool;

    /// Whether the head alone shows one of these secrets, judged in constant time; `None` if the proof is over
    /// the body, too.
    fn shows(&self, secrets: &[WebhookSecret], head: &WebhookHead) -> Option<bool>;

    /// Whether the call shows one of these secrets, judged in constant time and over the raw body, before
    /// anything of it is parsed.
    fn proves(&self, secrets: &[WebhookSecret], call: &WebhookCall, now: Timestamp) -> bool;

    /// The number and the code of a proven call.
    ///
    /// # Errors
    /// [`HookRefusal::Unreadable`], [`HookRefusal::InvalidPhone`] or [`HookRefusal::InvalidCode`].
    fn read(&self, body: &[u8]) -> Result<(Phone, Code), HookRefusal>;

    /// For how long the very same body is a repetition of the first call, not a new one.
    fn repeats_for(&self) -> Duration;

    /// The body of a 200, as the other system reads it; `None` for a refusal if it reads the status, and so is
    /// refused as a caller of the API is.
    fn answer(&self, outcome: Result<(), HookRefusal>) -> Option<String>;
}
