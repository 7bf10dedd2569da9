//! The sections that belong to no adapter; `config.default.toml` explains their settings.

use dwar_app::{Limits, ModeLimits};
use dwar_gateways::{BaseUrl, Secret};
use dwar_kernel::bounds::{LOAD, SLOW, positive, within};
use dwar_kernel::sections;
use dwar_otp::GuessPolicy;
use dwar_ratelimit::{Quota, SendQuota};
use serde::Deserialize;
use serde_with::{As, NoneAsEmptyString};
use std::time::Duration;

const PLACE: &str = "a window too short or an allowance too wide does not limit anything";
const GUESSES: &str =
    "without it, or with more, an attacker who keeps asking for codes will guess one";
const SLIP: &str = "₹100 for a message is a slip of the pen";

sections! {
    pub struct Database {
        /// May hold a password.
        pub url: Secret,
        /// May hold a password.
        pub direct_url: Secret,
        pub connections: u32 = positive(1..=500, LOAD),
        pub timeout_ms: u64 = positive(100..=30_000, SLOW),
        pub min_free_mb: u64 = within(0..=1_048_576, "keeping more than a terabyte free is a typing mistake"),
    }

    pub struct Session {
        pub access_seconds: u64 = positive(60..=3_600, "backends that check tokens locally accept one until it expires, even after a logout"),
        pub refresh_seconds: u64 = positive(3_600..=15_552_000, "a lost device stays logged in for that long; half a year at most"),
        pub session_seconds: u64 = positive(3_600..=31_622_400, "people prove their phone number at least once a year"),
        pub leeway_seconds: u64 = within(0..=60, "a stolen refresh token used within it is not noticed"),
    }

    pub struct Tokens {
        pub issuer: String,
        pub algorithm: String,
        pub publish_before_seconds: u64 = within(600..=604_800, "verifiers cache the key set for 300 s, so a new key has to be published twice as long before it signs"),
    }

    pub struct Otp {
        pub lifetime_seconds: u64 = positive(60..=900, "the longer a code lives, the longer it can be guessed, read from a lock screen or talked out of its owner"),
    }

    pub struct Guesses {
        pub slow_from: u64 = within(1..=100, GUESSES),
        pub slow_seconds: u64 = within(60..=86_400, GUESSES),
        pub slower_from: u64 = within(1..=200, GUESSES),
        pub slower_seconds: u64 = within(600..=604_800, GUESSES),
        pub stop_at: u64 = within(1..=300, GUESSES),
        pub stop_seconds: u64 = within(3_600..=2_592_000, GUESSES),
        pub stop_pace_seconds: u64 = within(3_600..=2_592_000, GUESSES),
        pub device_stop_at: u64 = within(0..=100, GUESSES),
        pub period_seconds: u64 = positive(604_800..=31_622_400, GUESSES),
    }

    pub struct Prices {
        pub whatsapp_paise: u64 = within(0..=10_000, SLIP),
        pub sms_paise: u64 = within(0..=10_000, SLIP),
    }

    pub struct Retention {
        pub requests_hours: u64 = within(1..=720, "requests hold sealed phone numbers"),
        pub audit_days: u64 = within(30..=3_660, "the audit log says who changed what, and that is asked for late"),
        pub feed_events: u64 = within(1..=1_000_000_000, "a consumer of the feed has to be able to catch up"),
        pub test_records: u64 = within(0..=10_000_000, "what test keys leave behind is of no further use"),
    }
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Secrets {
    pub master_key: Secret,
    pub master_key_file: String,
    pub older_master_keys: Vec<Secret>,
    pub lookup_key: Secret,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LimitSections {
    pub live: Live,
    pub test: Test,
    pub guesses: Guesses,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Log {
    pub format: LogFormat,
    pub level: String,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Traces {
    /// The trace collector; without one there are no traces.
    #[serde(with = "As::<NoneAsEmptyString>")]
    pub endpoint: Option<BaseUrl>,
    /// `Name: value`, or empty.
    pub header: Secret,
    /// The traced share of all requests and events, 0 to 1.
    pub ratio: f64,
}

macro_rules! mode {
    ($mode:ident, $send:expr, $window:expr, $reach:expr, $attempts:expr) => {
        sections! {
            pub struct $mode {
                pub send: u64 = $send,
                pub send_window_seconds: u64 = $window,
                pub send_reach: u64 = $reach,
                pub verify_attempts: u64 = $attempts,
                pub validate_per_minute: u64 = within(1..=10_000_000, LOAD),
                pub general_per_minute: u64 = within(1..=10_000_000, LOAD),
                pub sends_per_minute: u64 = within(0..=10_000_000, LOAD),
                pub verifies_per_minute: u64 = within(0..=10_000_000, LOAD),
            }
        }

        impl From<&$mode> for ModeLimits {
            fn from(it: &$mode) -> Self {
                let window = Duration::from_secs(it.send_window_seconds);
                let quota = |limit, window| Quota { limit: count(limit), window };
                let minute = |limit| quota(limit, Duration::from_secs(60));
                Self {
                    send: SendQuota {
                        places: quota(it.send, window),
                        reach: unless_zero(it.send_reach).map(|reach| quota(reach, window)),
                    },
                    max_wrong: count(it.verify_attempts),
                    sends: unless_zero(it.sends_per_minute).map(minute),
                    verifies: unless_zero(it.verifies_per_minute).map(minute),
                    validate: minute(it.validate_per_minute),
                    general: minute(it.general_per_minute),
                }
            }
        }
    };
}

mode!(
    Live,
    within(1..=10, "each code buys its guesses and a message to the phone's owner"),
    positive(300..=86_400, PLACE),
    within(1..=100, PLACE),
    positive(1..=10, "a code has a million possible values, and each attempt tries one")
);
mode!(
    Test,
    within(1..=100, PLACE),
    positive(60..=86_400, PLACE),
    within(0..=1_000, PLACE),
    positive(1..=100, PLACE)
);

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum LogFormat {
    Auto,
    Pretty,
    Json,
}

impl From<&LimitSections> for Limits {
    fn from(limits: &LimitSections) -> Self {
        let LimitSections { live, test, guesses } = limits;
        let seconds = Duration::from_secs;
        Self {
            live: live.into(),
            test: test.into(),
            guesses: GuessPolicy {
                slow_from: count(guesses.slow_from),
                slow_pace: seconds(guesses.slow_seconds),
                slower_from: count(guesses.slower_from),
                slower_pace: seconds(guesses.slower_seconds),
                stop_at: count(guesses.stop_at),
                stop_for: seconds(guesses.stop_seconds),
                stop_pace: seconds(guesses.stop_pace_seconds),
                period: seconds(guesses.period_seconds),
                device_stop_at: count(guesses.device_stop_at),
            },
        }
    }
}

/// Converts a number; one that does not fit becomes the largest possible.
pub fn count(number: u64) -> u32 {
    number.try_into().unwrap_or(u32::MAX)
}

/// Converts a number of which 0 means none.
pub fn unless_zero(number: u64) -> Option<u64> {
    (number > 0).then_some(number)
}
