use crate::key;
use crate::ring_cache::RingCache;
use crate::token::{self, Unverified};
use async_trait::async_trait;
use dwar_kernel::{StoreError, Timestamp, Vault};
use dwar_session::{
    AccessToken, Algorithm, Claims, InvalidToken, JwkSet, SigningKey, SigningKeyStore, TokenSigner,
};
use std::fmt;
use std::sync::Arc;

/// Makes and checks access tokens with the keys of a [`SigningKeyStore`].
///
/// # Freshness
/// The keys are kept parsed and read anew when they are older than one second, so a rotation by
/// another process holds for every request that begins a second later. A token or an instant for
/// which no key is known has the store read at once, at most once a second.
///
/// # When the store is out of reach
/// Keys that were read within the last five minutes go on serving, as any verifier with a cached
/// JWK Set would; a request waits for the store at most 0.2 s. No token is called good that should
/// not be: the session behind it is asked for in its own store, and a key leaves on the millisecond
/// of its `published_until`, known or not yet read. Only a key that is withdrawn *during* such an
/// outage counts for up to five minutes more. After that, or with none read yet, the store's error
/// comes through.
///
/// # What is checked
/// At most 4 KiB in three parts; the header exactly as this service writes it for a published key
/// (so `alg` is that key's, `typ` is `at+jwt`, there is no `crit`); the signature; every claim
/// present and of its type; `iss` equal; `aud` equal to `client_id`; `iat` before `exp`; `exp`
/// after `now`, `nbf`, if any, not after it, with no skew. `iat` may lie ahead of `now`, since two
/// instances' clocks differ and `exp` bounds the harm.
///
/// ECDSA lets anybody turn a valid signature into a second one, so a token's text identifies
/// nothing: revocation goes by `sid` and `jti`.
pub struct JosekitSigner {
    ring: RingCache,
    vault: Arc<dyn Vault>,
    issuer: String,
}

/// No key signs at the instant.
#[derive(Debug, thiserror::Error)]
#[error("no signing key is active at {0}")]
struct NoActiveKey(Timestamp);

impl JosekitSigner {
    /// A signer that writes `issuer` as `iss` and accepts nothing else there.
    pub fn new(
        store: Arc<dyn SigningKeyStore>,
        vault: Arc<dyn Vault>,
        issuer: impl Into<String>,
    ) -> Self {
        Self { ring: RingCache::new(store, Arc::clone(&vault)), vault, issuer: issuer.into() }
    }
}

impl fmt::Debug for JosekitSigner {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "JosekitSigner({})", self.issuer)
    }
}

#[async_trait]
impl TokenSigner for JosekitSigner {
    async fn sign(&self, claims: &Claims) -> Result<AccessToken, StoreError> {
        let instant = claims.issued_at;
        let mut ring = self.ring.ring(instant).await?;
        if ring.active(instant).is_none() {
            ring = self.ring.after_miss(instant).await?.unwrap_or(ring);
        }
        let key = ring.active(instant);
        let key = key.ok_or_else(|| StoreError::Failed(Box::new(NoActiveKey(instant))))?;
        token::sign(key, &self.issuer, claims)
    }

    async fn verify(
        &self,
        token: &AccessToken,
        now: Timestamp,
    ) -> Result<Result<Claims, InvalidToken>, StoreError> {
        let Ok(token) = Unverified::split(token) else {
            return Ok(Err(InvalidToken));
        };
        let mut ring = self.ring.ring(now).await?;
        if ring.by_header(token.header, now).is_none() {
            ring = self.ring.after_miss(now).await?.unwrap_or(ring);
        }
        Ok(match ring.by_header(token.header, now) {
            Some(key) => token.verify(key, &self.issuer, now),
            None => Err(InvalidToken),
        })
    }

    async fn public_keys(&self, now: Timestamp) -> Result<JwkSet, StoreError> {
        Ok(self.ring.ring(now).await?.jwks(now))
    }

    /// Draws from OpenSSL's generator, seeded by the operating system; RS256 takes some tenths of a
    /// second of computing.
    fn generate(
        &self,
        algorithm: Algorithm,
        now: Timestamp,
        signs_from: Timestamp,
    ) -> Result<SigningKey, StoreError> {
        let (kid, private) = key::generate(algorithm)?;
        let sealed = key::seal(self.vault.as_ref(), &kid, &private);
        key::wipe(private);
        Ok(SigningKey {
            algorithm,
            private: sealed,
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
