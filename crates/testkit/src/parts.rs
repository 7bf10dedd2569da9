use crate::{ClearVault, FixedClock, SeededEntropy, minutes, seconds};
use async_trait::async_trait;
use dwar_app::{
    Limits, ModeLimits, OtpPolicy, Parts, Policies, PriceList, Retention, SessionPolicy,
    SigningKeyPolicy, Stores, Toolbox,
};
use dwar_event::SwitchOff;
use dwar_kernel::{Sealed, StoreError, Timestamp};
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

/// What `config.default.toml` says, in the words of the use cases.
pub const POLICIES: Policies = Policies {
    limits: Limits {
        live: ModeLimits {
            send: SendQuota { places: per(3, minutes(10)), reach: Some(per(10, minutes(10))) },
            max_wrong: 5,
            sends: Some(per(6_000, minutes(1))),
            verifies: Some(per(12_000, minutes(1))),
            validate: per(3_000, minutes(1)),
            general: per(1_000, minutes(1)),
        },
        test: ModeLimits {
            send: SendQuota { places: per(20, minutes(10)), reach: None },
            max_wrong: 20,
            sends: Some(per(3_000, minutes(1))),
            verifies: Some(per(6_000, minutes(1))),
            validate: per(300, minutes(1)),
            general: per(100, minutes(1)),
        },
        guesses: GuessPolicy {
            slow_from: 30,
            slow_pace: minutes(10),
            slower_from: 60,
            slower_pace: minutes(60),
            stop_at: 100,
            stop_for: days(1),
            stop_pace: minutes(12 * 60),
            period: days(30),
        },
    },
    otp: OtpPolicy { lifetime: minutes(10) },
    session: SessionPolicy {
        access: minutes(15),
        refresh: days(30),
        session: days(90),
        leeway: seconds(10),
        replay: seconds(60),
    },
    signing_keys: SigningKeyPolicy {
        algorithm: Algorithm::Es256,
        publish_before: minutes(60),
        publish_after: minutes(16),
    },
    prices: PriceList { whatsapp: Paise(30), sms: Paise(20) },
    idempotency: Lifetimes { lease: seconds(60), keep: days(1) },
    switch_off: Some(SwitchOff { after: days(1), failures: 20 }),
    retention: Retention {
        requests: days(1),
        guesses: days(30),
        sessions: days(1),
        sends: minutes(12 * 60),
        idempotency: days(1),
        audit: days(365),
        calls: days(7),
        holds: minutes(5),
        tests: Some(TestQuota { kept: 1_000, in_use: minutes(10) }),
    },
};

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

const fn per(limit: u32, window: Duration) -> Quota {
    Quota { limit, window }
}

const fn days(count: u64) -> Duration {
    minutes(count * 24 * 60)
}
