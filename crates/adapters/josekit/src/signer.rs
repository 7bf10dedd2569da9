use crate::key::{self, Key};
use crate::key_ring_cache::KeyRingCache;
use crate::token::{self, Unverified};
use async_trait::async_trait;
use dwar_kernel::{Digest, Purpose, StoreError, Timestamp, TokenProfile, Vault};
use dwar_session::{
    AccessToken, Algorithm, Claims, InvalidToken, JwkSet, PresentedToken, Signature, SigningKey,
    SigningKeyStore, TokenSigner,
};
use quick_cache::sync::Cache;
use std::sync::Arc;

/// Makes and checks access tokens with the keys of a [`SigningKeyStore`].
///
/// # Freshness
/// Parsed keys are cached for one second, so a rotation by another process takes effect for every
/// request that begins a second later. A token or an instant without a known key causes an
/// immediate read of the store, at most once a second.
///
/// # When the store is unavailable
/// Keys that were read within the last five minutes are still used, as any verifier with a cached
/// JWK Set would use them. A request waits for the store at most 0.2 s. No invalid token is
/// accepted: its session is looked up in its own store, and a key expires on the millisecond of its
/// `published_until`, even before a new read. Only a key that is withdrawn *during* such an outage
/// is accepted for up to five minutes more. After that, or if no keys were read yet, the store's
/// error is returned.
///
/// # What is checked
/// At most 4 KiB in three parts; the header exactly as this service writes it for a published key
/// (so `alg` is that key's, `typ` is `at+jwt` or `JWT`, there is no `crit`); the signature; every claim
/// present and of its type; `iss` equal, or for a live token that of its project, and only there
/// `typ: JWT`; `aud` equal to `client_id`; `iat` before `exp`; `exp` after `now`, `nbf`, if any, not
/// after it, with no skew. `iat` may lie ahead of `now`, since two instances' clocks differ and `exp`
/// bounds the harm.
///
/// Cheap checks come first; the signature, about 60 µs of a processor, comes last.
///
/// # What is remembered
/// Whether the signature of a token is valid, for the most recent [`KNOWN_TOKENS`] and
/// [`KNOWN_FORGERIES`] that were made, checked or presented: a signature does not change, and a
/// `kid` is a digest of its key. Time, key and everything outside the token are checked each time.
/// A token with an unknown key is not remembered.
///
/// ECDSA lets anyone turn a valid signature into a second one, so a token's text identifies
/// nothing: revocation uses `sid` and `jti`.
pub struct JosekitSigner {
    ring: KeyRingCache,
    vault: Arc<dyn Vault>,
    issuer: String,
    /// By a keyed digest of the whole text, so that nobody can search for two texts with the same
    /// digest.
    known: Cache<Digest, Signature>,
    /// Separate from the others, so that invalid tokens never displace valid ones.
    forged: Cache<Digest, ()>,
}

/// Most tokens with a valid signature that are remembered.
const KNOWN_TOKENS: usize = 100_000;
/// Most tokens with an invalid signature that are remembered: enough for clients that repeat a
/// broken one.
const KNOWN_FORGERIES: usize = 10_000;

impl JosekitSigner {
    /// Makes a signer that writes `issuer` as `iss`, or the issuer of a project with an issuer of
    /// its own, and accepts no other.
    pub fn new(
        store: Arc<dyn SigningKeyStore>,
        vault: Arc<dyn Vault>,
        issuer: impl Into<String>,
    ) -> Self {
        let ring = KeyRingCache::new(store, Arc::clone(&vault));
        let (known, forged) = (Cache::new(KNOWN_TOKENS), Cache::new(KNOWN_FORGERIES));
        Self { ring, vault, issuer: issuer.into(), known, forged }
    }

    /// The key that signs at `instant`.
    async fn active(&self, instant: Timestamp) -> Result<Arc<Key>, StoreError> {
        let mut ring = self.ring.ring(instant).await?;
        if ring.active(instant).is_none() {
            ring = self.ring.after_miss(instant).await?.unwrap_or(ring);
        }
        let none = || StoreError::Failed(format!("no signing key is active at {instant}").into());
        ring.active(instant).map(Arc::clone).ok_or_else(none)
    }

    fn digest(&self, token: &AccessToken) -> Digest {
        self.vault.digest(Purpose::AccessToken, &[token.expose().as_bytes()])
    }

    /// Checks a signature for the first time and remembers the result.
    fn check(
        &self,
        token: &AccessToken,
        parts: &Unverified<'_>,
        key: &Key,
        claims: Claims,
    ) -> bool {
        let good = parts.is_signed_by(key);
        if good {
            self.remember(token, key, claims);
        } else {
            self.forged.insert(self.digest(token), ());
        }
        good
    }

    fn remember(&self, token: &AccessToken, key: &Key, claims: Claims) {
        let good = Signature::Good { kid: Arc::clone(&key.kid), claims };
        self.known.insert(self.digest(token), good);
    }

    /// A token that was just issued is presented soon and need not be checked then. The remembered
    /// values are those that a reader would find in it.
    fn remember_own(&self, token: &AccessToken, key: &Key, now: Timestamp) {
        let read = Unverified::split(token).ok();
        if let Some(claims) = read.and_then(|parts| parts.claims(key, &self.issuer, now)) {
            self.remember(token, key, claims);
        }
    }
}

#[async_trait]
impl TokenSigner for JosekitSigner {
    async fn ready(&self, instant: Timestamp) -> Result<(), StoreError> {
        self.active(instant).await.map(drop)
    }

    async fn sign<'a>(
        &self,
        claims: &Claims,
        own: Option<&'a TokenProfile>,
    ) -> Result<AccessToken, StoreError> {
        let key = self.active(claims.issued_at).await?;
        let token = token::sign(&key, &self.issuer, claims, own)?;
        self.remember_own(&token, &key, claims.issued_at);
        Ok(token)
    }

    fn read(&self, token: AccessToken) -> PresentedToken {
        let Ok(parts) = Unverified::split(&token) else {
            return PresentedToken { token, session: None, signature: Signature::Bad };
        };
        let digest = self.digest(&token);
        let forged = || self.forged.get(&digest).map(|()| Signature::Bad);
        let signature = self.known.get(&digest).or_else(forged).unwrap_or(Signature::Unchecked);
        let session = match &signature {
            Signature::Unchecked => parts.session(),
            Signature::Good { claims, .. } => Some(claims.session),
            Signature::Bad => None,
        };
        PresentedToken { session, signature, token }
    }

    async fn verify(
        &self,
        presented: &PresentedToken,
        now: Timestamp,
    ) -> Result<Result<Claims, InvalidToken>, StoreError> {
        let PresentedToken { token, signature, .. } = presented;
        let parts = Unverified::split(token).ok().filter(|_| *signature != Signature::Bad);
        let Some(parts) = parts else { return Ok(Err(InvalidToken)) };
        let mut ring = self.ring.ring(now).await?;
        if let Signature::Good { kid, claims } = signature
            && ring.publishes(kid, now)
        {
            let timely = Some(claims).filter(|claims| now < claims.expires_at);
            return Ok(timely.cloned().ok_or(InvalidToken));
        }
        if ring.by_header(parts.header, now).is_none() {
            ring = self.ring.after_miss(now).await?.unwrap_or(ring);
        }
        let Some(key) = ring.by_header(parts.header, now) else { return Ok(Err(InvalidToken)) };
        let claims = parts.claims(key, &self.issuer, now);
        let signed = |claims: &Claims| self.check(token, &parts, key, claims.clone());
        Ok(claims.filter(signed).ok_or(InvalidToken))
    }

    fn issuer(&self, presented: &PresentedToken) -> Option<String> {
        Unverified::split(&presented.token).ok()?.issuer()
    }

    async fn public_keys(&self, now: Timestamp) -> Result<JwkSet, StoreError> {
        Ok(self.ring.ring(now).await?.jwks(now))
    }

    /// Uses OpenSSL's generator, which the operating system seeds. RS256 takes a few tenths of a
    /// second of computing.
    fn generate(
        &self,
        algorithm: Algorithm,
        now: Timestamp,
        signs_from: Timestamp,
    ) -> Result<SigningKey, StoreError> {
        let (kid, private) = key::generate(algorithm, self.vault.as_ref())?;
        Ok(SigningKey {
            algorithm,
            private,
            created_at: now,
            signs_from,
            signs_until: None,
            published_until: None,
            kid,
        })
    }
}

#[cfg(test)]
#[path = "signer_tests.rs"]
mod tests;
