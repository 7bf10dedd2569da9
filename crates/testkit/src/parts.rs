use crate::{ClearVault, FixedClock, SeededEntropy, Stores};
use async_trait::async_trait;
use dwar_app::{ClockWatch, CommonPorts, Parts, Policies};
use dwar_console::{ConsoleParts, NewAdminToken};
use dwar_kernel::{Sealed, StoreError, Timestamp, TokenProfile};
use dwar_operator::Access;
use dwar_otp::CodeKeys;
use dwar_session::{
    AccessToken, Algorithm, Claims, InvalidToken, JwkSet, PresentedToken, SigningKey, TokenSigner,
};
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// Everything that use cases are built from, over `stores`, with the default policies and the doubles of this
/// crate.
pub fn parts(stores: dwar_app::Stores, clock: &Arc<FixedClock>) -> Parts {
    Parts {
        tools: CommonPorts {
            clock: Arc::<FixedClock>::clone(clock),
            watch: watch(clock),
            entropy: Arc::new(SeededEntropy::new(11)),
            vault: Arc::new(ClearVault),
            observer: Arc::new(()),
        },
        stores,
        signer: Arc::new(ListSigner::default()),
        codes: Arc::new(CodeKeys::new([7; 32], [])),
        policies: Policies::default(),
    }
}

/// Watches a clock that is also the steady clock: setting it means that the time passes.
pub fn watch(clock: &Arc<FixedClock>) -> Arc<ClockWatch> {
    Arc::new(ClockWatch::new(Arc::<FixedClock>::clone(clock), Arc::<FixedClock>::clone(clock)))
}

/// The same for the use cases of operators.
pub fn console(stores: Stores, clock: &Arc<FixedClock>) -> ConsoleParts {
    ConsoleParts { login: parts(stores.login, clock), stores: stores.console }
}

/// A signer that does not sign, and keeps a list of the claims.
#[derive(Debug, Default)]
pub struct ListSigner(Mutex<HashMap<String, Claims>>);

#[async_trait]
impl TokenSigner for ListSigner {
    async fn ready(&self, _: Timestamp) -> Result<(), StoreError> {
        Ok(())
    }

    async fn sign<'a>(
        &self,
        claims: &Claims,
        _: Option<&'a TokenProfile>,
    ) -> Result<AccessToken, StoreError> {
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

    fn issuer(&self, presented: &PresentedToken) -> Option<String> {
        let list = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        list.contains_key(presented.token.expose()).then(|| "https://otp.example.com".to_owned())
    }

    async fn public_keys(&self, _: Timestamp) -> Result<JwkSet, StoreError> {
        Ok(JwkSet {
            json: r#"{"keys":[]}"#.to_owned(),
            etag: "none".to_owned(),
            algorithms: Vec::new(),
        })
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

/// An admin token to create, which may not delegate.
pub const fn new_token(name: &str, access: Access, lifetime: Duration) -> NewAdminToken<'_> {
    NewAdminToken { name, access, lifetime, may_delegate: false }
}
