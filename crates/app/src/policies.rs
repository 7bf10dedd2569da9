use crate::{Limits, ModeLimits, OtpPolicy, Retention, SessionPolicy, SigningKeyPolicy};
use dwar_event::SwitchOff;
use dwar_kernel::{Paise, PriceList};
use dwar_otp::idempotency::Lifetimes;
use dwar_otp::{GuessPolicy, TestQuota};
use dwar_ratelimit::{Quota, SendQuota};
use dwar_session::Algorithm;
use std::time::Duration;

/// Clocks of verifiers may be a little behind.
const VERIFIER_SKEW: Duration = Duration::from_secs(60);
/// How long a request with an `Idempotency-Key` may take before another may take its place.
const SLOT_LEASE: Duration = Duration::from_secs(60);
/// How long its answer is kept: clients that retry give up within a day (docs/contract.md).
const FIRST_ANSWERS: Duration = Duration::from_secs(24 * 3_600);
/// How long a refresh with the same `Idempotency-Key` gives the same pair (docs/contract.md).
const REPLAY: Duration = Duration::from_secs(60);
/// How long what endpoints were told can be told again; its phone numbers are kept, sealed, as long.
const CALLS: Duration = Duration::from_secs(7 * 24 * 3_600);
/// Beyond the time that a call took, for writing down what the provider said.
const MARGIN: Duration = Duration::from_secs(2);
/// A day, so that nobody who sleeps loses an endpoint, and never for a few calls alone.
const SWITCH_OFF: SwitchOff =
    SwitchOff { after: Duration::from_secs(24 * 3_600), failures: 10 };

/// Every number and choice that the use cases go by.
#[derive(Clone, Debug)]
pub struct Policies {
    /// How often each thing may be asked for.
    pub limits: Limits,
    /// How long codes live.
    pub otp: OtpPolicy,
    /// How long a call to a provider may be silent before another process takes it for lost.
    pub lease: Duration,
    /// How long a receipt is waited for before the next channel is tried; `None` waits for none.
    pub receipt_window: Option<Duration>,
    /// How long sessions and their tokens live.
    pub session: SessionPolicy,
    /// What tokens name as their issuer (`tokens.issuer`).
    pub issuer: String,
    /// How signing keys overlap.
    pub signing_keys: SigningKeyPolicy,
    /// What a message costs unless its project has its own price.
    pub prices: PriceList,
    /// How long first answers are kept.
    pub idempotency: Lifetimes,
    /// When an endpoint that keeps failing is switched off; `None` is never.
    pub switch_off: Option<SwitchOff>,
    /// How long what is over stays on record.
    pub retention: Retention,
}

impl Policies {
    /// The policies for these settings; `number` gives the value of a key of `config.default.toml`,
    /// such as `limits.live.send`. A value that does not fit becomes the largest one that does.
    pub fn of(number: impl Fn(&str) -> u64, algorithm: Algorithm, issuer: String) -> Self {
        let settings = Settings(number);
        let (count, seconds) = (|key: &str| settings.count(key), |key: &str| settings.seconds(key));
        let limits = settings.limits();
        let call = Duration::from_millis((settings.0)("gateways.call_timeout_ms"));
        let grace = call.saturating_add(MARGIN);
        let (lease, window) =
            (call.saturating_add(grace), seconds("gateways.fallback_window_seconds"));
        let access = seconds("session.access_seconds");
        Self {
            retention: settings.retention(&limits, (lease, window, grace)),
            limits,
            otp: OtpPolicy { lifetime: seconds("otp.lifetime_seconds") },
            lease,
            receipt_window: (!window.is_zero()).then_some(window),
            session: SessionPolicy {
                access,
                refresh: seconds("session.refresh_seconds"),
                session: seconds("session.session_seconds"),
                leeway: seconds("session.leeway_seconds"),
                replay: REPLAY,
            },
            issuer,
            signing_keys: SigningKeyPolicy {
                algorithm,
                publish_before: seconds("tokens.publish_before_seconds"),
                publish_after: access.saturating_add(VERIFIER_SKEW),
            },
            prices: PriceList {
                whatsapp: Paise(count("prices.whatsapp_paise").into()),
                sms: Paise(count("prices.sms_paise").into()),
            },
            idempotency: Lifetimes { lease: SLOT_LEASE, keep: FIRST_ANSWERS },
            switch_off: Some(SWITCH_OFF),
        }
    }
}

/// Numbers by their key.
struct Settings<N>(N);

impl<N: Fn(&str) -> u64> Settings<N> {
    fn count(&self, key: &str) -> u32 {
        (self.0)(key).try_into().unwrap_or(u32::MAX)
    }

    fn seconds(&self, key: &str) -> Duration {
        Duration::from_secs((self.0)(key))
    }

    /// A setting whose unit is this many `hours`.
    fn hours(&self, key: &str, hours: u64) -> Duration {
        Duration::from_secs((self.0)(key).saturating_mul(hours * 3_600))
    }

    fn limits(&self) -> Limits {
        let count = |key: &str| self.count(&format!("limits.guesses.{key}"));
        let seconds = |key: &str| self.seconds(&format!("limits.guesses.{key}"));
        Limits {
            live: self.mode("live"),
            test: self.mode("test"),
            guesses: GuessPolicy {
                slow_from: count("slow_from"),
                slow_pace: seconds("slow_seconds"),
                slower_from: count("slower_from"),
                slower_pace: seconds("slower_seconds"),
                stop_at: count("stop_at"),
                stop_for: seconds("stop_seconds"),
                stop_pace: seconds("stop_pace_seconds"),
                period: seconds("period_seconds"),
            },
        }
    }

    fn mode(&self, mode: &str) -> ModeLimits {
        let count = |key: &str| self.count(&format!("limits.{mode}.{key}"));
        let quota = |key: &str, window| Quota { limit: count(key), window };
        let (minute, window) =
            (Duration::from_secs(60), self.seconds(&format!("limits.{mode}.send_window_seconds")));
        // 0 means none.
        let ceiling = |quota: Quota| (quota.limit > 0).then_some(quota);
        ModeLimits {
            send: SendQuota {
                places: quota("send", window),
                reach: ceiling(quota("send_reach", window)),
            },
            max_wrong: count("verify_attempts"),
            sends: ceiling(quota("sends_per_minute", minute)),
            verifies: ceiling(quota("verifies_per_minute", minute)),
            validate: quota("validate_per_minute", minute),
            general: quota("general_per_minute", minute),
        }
    }

    /// Nothing is dropped before its last use: a send counts for the longest window in force, a
    /// hold stays longer than any send takes to its end, both channels and the wait for a receipt
    /// included.
    fn retention(
        &self,
        Limits { live, test, guesses }: &Limits,
        (lease, window, grace): (Duration, Duration, Duration),
    ) -> Retention {
        let windows = [
            live.send.places.window,
            test.send.places.window,
            guesses.slow_pace,
            guesses.slower_pace,
            guesses.stop_pace,
        ];
        let kept = self.count("retention.test_records");
        let in_use = SLOT_LEASE.max(test.send.places.window);
        Retention {
            requests: self
                .hours("retention.requests_hours", 1)
                .max(self.seconds("otp.lifetime_seconds")),
            // Counts in a row and periods are over this long after the last wrong code.
            guesses: guesses.period.max(guesses.stop_for),
            sessions: self.hours("retention.requests_hours", 1),
            sends: windows.into_iter().max().unwrap_or_default(),
            idempotency: FIRST_ANSWERS,
            audit: self.hours("retention.audit_days", 24),
            calls: CALLS,
            holds: lease.saturating_add(window).saturating_mul(2).saturating_add(grace),
            // 0 means none.
            tests: (kept > 0).then_some(TestQuota { kept, in_use }),
        }
    }
}
