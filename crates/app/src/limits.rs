use dwar_kernel::KeyMode;
use dwar_otp::GuessPolicy;
use dwar_ratelimit::{Quota, RequestScope, SendQuota};
use std::time::Duration;

/// All limits of both modes; the defaults are those of docs/contract.md, Limits.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    pub live: ModeLimits,
    /// Limits of test keys, which have no guess budget.
    pub test: ModeLimits,
    /// Guess budget across resends, for live keys only.
    pub guesses: GuessPolicy,
}

/// The limits of one mode: `send` applies per phone, `max_wrong` per code, the others per API key.
#[derive(Clone, Copy, Debug)]
pub struct ModeLimits {
    pub send: SendQuota,
    /// Wrong guesses per code; the last of them locks it.
    pub max_wrong: u32,
    /// Sends per API key, to all phones together; `None` sets no ceiling.
    pub sends: Option<Quota>,
    /// Verifications per API key, for all phones together; `None` sets no ceiling.
    pub verifies: Option<Quota>,
    pub validate: Quota,
    /// Requests per API key without a limit of their own.
    pub general: Quota,
}

impl Default for Limits {
    fn default() -> Self {
        let quota = |limit, seconds| Quota { limit, window: Duration::from_secs(seconds) };
        let places = |limit| quota(limit, 600);
        Self {
            live: ModeLimits {
                send: SendQuota { places: places(3), reach: Some(places(10)) },
                max_wrong: 5,
                sends: Some(quota(6_000, 60)),
                verifies: Some(quota(12_000, 60)),
                validate: quota(3_000, 60),
                general: quota(1_000, 60),
            },
            test: ModeLimits {
                send: SendQuota { places: places(20), reach: None },
                max_wrong: 20,
                sends: Some(quota(3_000, 60)),
                verifies: Some(quota(6_000, 60)),
                validate: quota(300, 60),
                general: quota(100, 60),
            },
            guesses: GuessPolicy::default(),
        }
    }
}

impl Limits {
    /// The limits of `mode`, without the guess budget.
    pub const fn of(&self, mode: KeyMode) -> &ModeLimits {
        match mode {
            KeyMode::Live => &self.live,
            KeyMode::Test => &self.test,
        }
    }

    /// The guess budget of `mode`; test keys have none.
    pub const fn guesses(&self, mode: KeyMode) -> GuessPolicy {
        match mode {
            KeyMode::Live => self.guesses,
            KeyMode::Test => GuessPolicy::OFF,
        }
    }
}

impl ModeLimits {
    /// The quota of a request window; `None` if it is unlimited.
    pub const fn requests(&self, scope: RequestScope) -> Option<Quota> {
        match scope {
            RequestScope::Send => self.sends,
            RequestScope::Verify => self.verifies,
            RequestScope::Validate => Some(self.validate),
            RequestScope::General => Some(self.general),
        }
    }
}
