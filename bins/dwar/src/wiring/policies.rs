//! Configuration in the words of the use cases.

use crate::config::{self, Config, ConfigError, invalid};
use dwar_app::{
    Limits, ModeLimits, OtpPolicy, Policies, PriceList, Retention, SessionPolicy, SigningKeyPolicy,
};
use dwar_otp::idempotency::Lifetimes;
use dwar_otp::{GuessPolicy, TestQuota};
use dwar_ratelimit::{Quota, SendQuota};
use dwar_wallet::Paise;
use std::time::Duration;

const HOUR: u64 = 3_600;
/// Clocks of verifiers may be a little behind.
const VERIFIER_SKEW: Duration = Duration::from_secs(60);

/// Everything the use cases go by.
pub fn all(config: &Config) -> Result<Policies, ConfigError> {
    let session = &config.session;
    Ok(Policies {
        limits: limits(&config.limits),
        otp: OtpPolicy { lifetime: Duration::from_secs(config.otp.lifetime_seconds) },
        session: SessionPolicy {
            access: Duration::from_secs(session.access_seconds),
            refresh: Duration::from_secs(session.refresh_seconds),
            session: Duration::from_secs(session.session_seconds),
            leeway: Duration::from_secs(session.leeway_seconds),
            replay: Duration::from_secs(session.replay_seconds),
        },
        signing_keys: signing_keys(config)?,
        prices: PriceList {
            whatsapp: Paise(config.prices.whatsapp_paise.into()),
            sms: Paise(config.prices.sms_paise.into()),
        },
        idempotency: idempotency(&config.retention),
        switch_off: config.events.switch_off(),
        retention: retention(config),
    })
}

const fn limits(limits: &config::Limits) -> Limits {
    let guesses = &limits.guesses;
    Limits {
        live: mode(&limits.live),
        test: mode(&limits.test),
        guesses: GuessPolicy {
            slow_from: guesses.slow_from,
            slow_pace: Duration::from_secs(guesses.slow_seconds),
            slower_from: guesses.slower_from,
            slower_pace: Duration::from_secs(guesses.slower_seconds),
            stop_at: guesses.stop_at,
            stop_for: Duration::from_secs(guesses.stop_seconds),
            stop_pace: Duration::from_secs(guesses.stop_pace_seconds),
            period: Duration::from_secs(guesses.period_seconds),
        },
    }
}

const fn mode(limits: &config::ModeLimits) -> ModeLimits {
    let minute = Duration::from_secs(60);
    let window = Duration::from_secs(limits.send_window_seconds);
    let reach = Quota { limit: limits.send_reach, window };
    ModeLimits {
        send: SendQuota {
            places: Quota { limit: limits.send, window },
            reach: if limits.send_reach > 0 { Some(reach) } else { None },
        },
        max_wrong: limits.verify_attempts,
        sends: ceiling(limits.sends_per_minute),
        verifies: ceiling(limits.verifies_per_minute),
        validate: Quota { limit: limits.validate_per_minute, window: minute },
        general: Quota { limit: limits.general_per_minute, window: minute },
    }
}

/// 0 stands for none.
const fn ceiling(per_minute: u32) -> Option<Quota> {
    match per_minute {
        0 => None,
        limit => Some(Quota { limit, window: Duration::from_secs(60) }),
    }
}

fn signing_keys(config: &Config) -> Result<SigningKeyPolicy, ConfigError> {
    let algorithm = config.tokens.algorithm.parse();
    Ok(SigningKeyPolicy {
        algorithm: algorithm
            .map_err(|_| invalid("tokens.algorithm", "is ES256, EdDSA or RS256"))?,
        publish_before: Duration::from_secs(config.tokens.publish_before_seconds),
        publish_after: Duration::from_secs(config.session.access_seconds) + VERIFIER_SKEW,
    })
}

const fn idempotency(retention: &config::Retention) -> Lifetimes {
    Lifetimes {
        lease: Duration::from_secs(60),
        keep: Duration::from_secs(retention.idempotency_hours * HOUR),
    }
}

/// How long a call to a provider may be silent before another process takes it for lost.
pub const fn lease(gateways: &dwar_gateways::Settings) -> Duration {
    gateways.call_timeout.saturating_add(gateways.grace)
}

/// Nothing goes before its last use: a send counts for the longest window in force, a hold for
/// longer than any send takes to its end, both channels and the wait for a receipt included.
fn retention(config: &Config) -> Retention {
    let hours = |hours: u64| Duration::from_secs(hours * HOUR);
    let seconds = Duration::from_secs;
    let gateways = &config.gateways;
    let Limits { live, test, guesses } = limits(&config.limits);
    let windows = [
        live.send.places.window,
        test.send.places.window,
        guesses.slow_pace,
        guesses.slower_pace,
        guesses.stop_pace,
    ];
    let in_use = idempotency(&config.retention).lease.max(test.send.places.window);
    let kept = config.retention.test_records;
    Retention {
        requests: hours(config.retention.requests_hours).max(seconds(config.otp.lifetime_seconds)),
        // Counts in a row and periods are over this long after the last wrong code.
        guesses: guesses.period.max(guesses.stop_for),
        sessions: hours(config.retention.sessions_hours),
        sends: windows.into_iter().max().unwrap_or_default(),
        idempotency: hours(config.retention.idempotency_hours),
        audit: hours(config.retention.audit_days.saturating_mul(24)),
        calls: hours(config.retention.calls_days.saturating_mul(24)),
        holds: (lease(gateways) + gateways.fallback_window) * 2 + gateways.grace,
        // 0 stands for none.
        tests: (kept > 0).then_some(TestQuota { kept, in_use }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Whoever tests with them has what a service has that nobody configured.
    #[test]
    fn the_policies_of_testkit_are_those_of_the_defaults() {
        let config = config::load(None, std::iter::empty::<(String, String)>()).unwrap();
        let (ours, theirs) = (all(&config).unwrap(), dwar_testkit::POLICIES);
        assert_eq!(format!("{ours:#?}"), format!("{theirs:#?}"));
    }
}
