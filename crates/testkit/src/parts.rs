use crate::{ClearVault, FixedClock, SeededEntropy, minutes, seconds};
use async_trait::async_trait;
use dwar_app::{
    Limits, ModeLimits, NewAdminToken, OtpPolicy, Parts, Policies, PriceList, Retention,
    SessionPolicy, SigningKeyPolicy, Stores, Toolbox,
};
use dwar_defaults::number;
use dwar_event::SwitchOff;
use dwar_kernel::{Sealed, StoreError, Timestamp};
use dwar_operator::Access;
use dwar_otp::idempotency::Lifetimes;
use dwar_otp::{CodeKeys, GuessPolicy, TestQuota};
use dwar_ratelimit::{Quota, SendQuota};
use dwar_session::{
    AccessToken, Algorithm, Claims, InvalidToken, JwkSet, PresentedToken, SigningKey, TokenSigner,
};
use dwar_wallet::Paise;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// What `config.default.toml` says, in the words of the use cases. The binary says it in the same words
/// of what is configured, and a test of it holds the two together.
pub const POLICIES: Policies = Policies {
    limits: Limits {
        live: mode("limits.live"),
        test: mode("limits.test"),
        guesses: GuessPolicy {
            slow_from: count(GUESSES, "slow_from"),
            slow_pace: span(GUESSES, "slow_seconds"),
            slower_from: count(GUESSES, "slower_from"),
            slower_pace: span(GUESSES, "slower_seconds"),
            stop_at: count(GUESSES, "stop_at"),
            stop_for: span(GUESSES, "stop_seconds"),
            stop_pace: span(GUESSES, "stop_pace_seconds"),
            period: span(GUESSES, "period_seconds"),
        },
    },
    otp: OtpPolicy { lifetime: span("otp", "lifetime_seconds") },
    session: SessionPolicy {
        access: span("session", "access_seconds"),
        refresh: span("session", "refresh_seconds"),
        session: span("session", "session_seconds"),
        leeway: span("session", "leeway_seconds"),
        replay: span("session", "replay_seconds"),
    },
    signing_keys: SigningKeyPolicy {
        algorithm: Algorithm::Es256,
        publish_before: span("tokens", "publish_before_seconds"),
        // Clocks of verifiers may be a minute behind.
        publish_after: span("session", "access_seconds").saturating_add(minutes(1)),
    },
    prices: PriceList {
        whatsapp: Paise(number("prices", "whatsapp_paise") as i64),
        sms: Paise(number("prices", "sms_paise") as i64),
    },
    idempotency: Lifetimes { lease: seconds(60), keep: hours("idempotency_hours") },
    switch_off: Some(SwitchOff {
        after: span("events", "disable_after_seconds"),
        failures: count("events", "disable_after_failures"),
    }),
    retention: Retention {
        requests: hours("requests_hours"),
        guesses: span(GUESSES, "period_seconds"),
        sessions: hours("sessions_hours"),
        sends: span(GUESSES, "stop_pace_seconds"),
        idempotency: hours("idempotency_hours"),
        audit: days("audit_days"),
        calls: days("calls_days"),
        holds: LEASE
            .saturating_add(RECEIPT_WINDOW)
            .saturating_mul(2)
            .saturating_add(span("gateways", "grace_seconds")),
        tests: Some(TestQuota {
            kept: count("retention", "test_records"),
            in_use: span("limits.test", "send_window_seconds"),
        }),
    },
};

const GUESSES: &str = "limits.guesses";
/// How long a call to a provider may be silent before another process takes it for lost.
pub(crate) const LEASE: Duration = Duration::from_millis(number("gateways", "call_timeout_ms"))
    .saturating_add(span("gateways", "grace_seconds"));
pub(crate) const RECEIPT_WINDOW: Duration = span("gateways", "fallback_window_seconds");

const fn mode(section: &str) -> ModeLimits {
    let window = span(section, "send_window_seconds");
    let reach = count(section, "send_reach");
    ModeLimits {
        send: SendQuota {
            places: Quota { limit: count(section, "send"), window },
            reach: if reach > 0 { Some(Quota { limit: reach, window }) } else { None },
        },
        max_wrong: count(section, "verify_attempts"),
        sends: Some(per_minute(section, "sends_per_minute")),
        verifies: Some(per_minute(section, "verifies_per_minute")),
        validate: per_minute(section, "validate_per_minute"),
        general: per_minute(section, "general_per_minute"),
    }
}

const fn per_minute(section: &str, key: &str) -> Quota {
    Quota { limit: count(section, key), window: minutes(1) }
}

const fn count(section: &str, key: &str) -> u32 {
    number(section, key) as u32
}

const fn span(section: &str, key: &str) -> Duration {
    seconds(number(section, key))
}

const fn hours(key: &str) -> Duration {
    minutes(60 * number("retention", key))
}

const fn days(key: &str) -> Duration {
    minutes(24 * 60 * number("retention", key))
}

/// Everything that use cases are built from, over `stores`: the documented policies, the doubles
/// of this crate for the rest.
pub fn parts(stores: Stores, clock: &Arc<FixedClock>) -> Parts {
    Parts {
        tools: Toolbox {
            clock: Arc::<FixedClock>::clone(clock),
            entropy: Arc::new(SeededEntropy::new(11)),
            vault: Arc::new(ClearVault),
        },
        stores,
        signer: Arc::new(ListSigner::default()),
        codes: Arc::new(CodeKeys::new([7; 32], [])),
        policies: POLICIES,
    }
}

/// A signer that signs nothing and keeps a list of what it was asked to.
#[derive(Debug, Default)]
pub struct ListSigner(Mutex<HashMap<String, Claims>>);

#[async_trait]
impl TokenSigner for ListSigner {
    async fn sign(&self, claims: &Claims) -> Result<AccessToken, StoreError> {
        let token = claims.token.to_string();
        let mut list = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        list.insert(token.clone(), claims.clone());
        Ok(AccessToken::new(token))
    }

    fn read(&self, token: AccessToken) -> PresentedToken {
        let list = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let session = list.get(token.expose()).map(|claims| claims.session);
        PresentedToken::unchecked(token, session)
    }

    async fn verify(
        &self,
        presented: &PresentedToken,
        now: Timestamp,
    ) -> Result<Result<Claims, InvalidToken>, StoreError> {
        let list = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let claims = list.get(presented.token.expose()).filter(|claims| now < claims.expires_at);
        Ok(claims.cloned().ok_or(InvalidToken))
    }

    async fn public_keys(&self, _: Timestamp) -> Result<JwkSet, StoreError> {
        Ok(JwkSet { json: r#"{"keys":[]}"#.to_owned(), etag: "none".to_owned() })
    }

    fn generate(
        &self,
        algorithm: Algorithm,
        now: Timestamp,
        signs_from: Timestamp,
    ) -> Result<SigningKey, StoreError> {
        Ok(SigningKey {
            kid: now.timestamp_millis().to_string(),
            algorithm,
            private: Sealed(Vec::new()),
            created_at: now,
            signs_from,
            signs_until: None,
            published_until: None,
        })
    }
}

/// A token of the admin API to be made, which may not delegate.
pub const fn new_token(name: &str, access: Access, lifetime: Duration) -> NewAdminToken<'_> {
    NewAdminToken { name, access, lifetime, may_delegate: false }
}
