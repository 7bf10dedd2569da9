use dwar_kernel::KeyMode;
use dwar_otp::GuessPolicy;
use dwar_ratelimit::{Quota, RequestScope, SendQuota};

/// Every limit of both modes (docs/contract.md, Limits).
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// For live keys.
    pub live: ModeLimits,
    /// For test keys, which have no guess budget.
    pub test: ModeLimits,
    /// Wrong codes across resends; live keys only.
    pub guesses: GuessPolicy,
}

/// The limits of one mode.
#[derive(Clone, Copy, Debug)]
pub struct ModeLimits {
    /// Codes sent per phone.
    pub send: SendQuota,
    /// Wrong guesses per code; the last of them locks it.
    pub max_wrong: u32,
    /// Sends per API key, whichever the phone; `None` sets no ceiling.
    pub sends: Option<Quota>,
    /// Verifications per API key, whichever the phone; `None` sets no ceiling.
    pub verifies: Option<Quota>,
    /// Requests to validate per API key.
    pub validate: Quota,
    /// All other requests per API key that have no limit of their own.
    pub general: Quota,
}

impl Limits {
    /// The limits of a mode.
    pub const fn of(&self, mode: KeyMode) -> &ModeLimits {
        match mode {
            KeyMode::Live => &self.live,
            KeyMode::Test => &self.test,
        }
    }

    /// The guess budget of a mode: a test key may guess as it likes.
    pub const fn guesses(&self, mode: KeyMode) -> GuessPolicy {
        match mode {
            KeyMode::Live => self.guesses,
            KeyMode::Test => GuessPolicy::OFF,
        }
    }
}

impl ModeLimits {
    /// The quota of a request window, if there is one.
    pub const fn requests(&self, scope: RequestScope) -> Option<Quota> {
        match scope {
            RequestScope::Send => self.sends,
            RequestScope::Verify => self.verifies,
            RequestScope::Validate => Some(self.validate),
            RequestScope::General => Some(self.general),
        }
    }
}
