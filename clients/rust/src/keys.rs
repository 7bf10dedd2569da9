use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use base64ct::{Base64UrlUnpadded, Encoding};
use chrono::{DateTime, Utc};
use ring::signature::{
    ECDSA_P256_SHA256_FIXED, ED25519, RSA_PKCS1_2048_8192_SHA256, RsaPublicKeyComponents,
    UnparsedPublicKey,
};
use serde::Deserialize;

use crate::Result;
use crate::answers::{PublicKey, PublicKeys};
use crate::client::public_keys;
use crate::clock::Clock;
use crate::flight::Flight;
use crate::transport::Transport;

/// The signature of an access token: the setting `tokens.algorithm` of the service (RFC 7518, RFC 8037).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[non_exhaustive]
pub enum Algorithm {
    /// ECDSA with P-256 and SHA-256.
    #[serde(rename = "ES256")]
    Es256,
    /// Ed25519.
    #[serde(rename = "EdDSA")]
    EdDsa,
    /// RSASSA-PKCS1-v1_5 with SHA-256, 2048 bits or more.
    #[serde(rename = "RS256")]
    Rs256,
}

const CACHED_FOR: Duration = Duration::from_secs(300);
const ASKED_AGAIN: Duration = Duration::from_secs(60);

/// The published keys, fetched once however many callers wait. Keys that cannot be used are left out.
pub(crate) struct KeySet {
    pub transport: Transport,
    clock: Clock,
    cache: Mutex<Cache>,
}

#[derive(Default)]
struct Cache {
    keys: Option<HashMap<String, Arc<VerifyingKey>>>,
    fetch_again_at: DateTime<Utc>,
    unknown_again_at: DateTime<Utc>,
    fetching: Option<Flight<()>>,
}

impl KeySet {
    pub fn new(transport: Transport, clock: Clock) -> Self {
        Self { transport, clock, cache: Mutex::default() }
    }

    /// Fails only while no set was ever fetched.
    pub async fn find(self: &Arc<Self>, kid: &str) -> Result<Option<Arc<VerifyingKey>>> {
        if let Some(fetching) = self.refresh_if_old() {
            fetching.wait().await?;
        }
        if let Some(fetching) = self.refresh_if_unknown(kid) {
            fetching.wait().await?;
        }
        Ok(self.cache().keys.as_ref().and_then(|keys| keys.get(kid)).cloned())
    }

    fn refresh_if_old(self: &Arc<Self>) -> Option<Flight<()>> {
        let mut cache = self.cache();
        if cache.keys.is_some() && self.clock.now() < cache.fetch_again_at {
            return None;
        }
        Some(self.refresh(&mut cache))
    }

    /// Whoever comes while the set is being fetched waits for it, since it may have the key.
    fn refresh_if_unknown(self: &Arc<Self>, kid: &str) -> Option<Flight<()>> {
        let mut cache = self.cache();
        if cache.keys.as_ref().is_some_and(|keys| keys.contains_key(kid)) {
            return None;
        }
        if self.clock.now() < cache.unknown_again_at {
            return cache.fetching.clone();
        }
        cache.unknown_again_at = self.clock.now() + ASKED_AGAIN;
        Some(self.refresh(&mut cache))
    }

    fn refresh(self: &Arc<Self>, cache: &mut Cache) -> Flight<()> {
        if let Some(fetching) = cache.fetching.as_ref().filter(|fetching| !fetching.is_over()) {
            return fetching.clone();
        }
        let set = Arc::clone(self);
        let fetching =
            Flight::take_off(async move { set.replace(public_keys(&set.transport).await) });
        cache.fetching = Some(fetching.clone());
        fetching
    }

    fn replace(&self, published: Result<PublicKeys>) -> Result<()> {
        let mut cache = self.cache();
        cache.fetching = None;
        match published {
            Ok(published) => {
                cache.keys = Some(published.keys.iter().filter_map(usable).collect());
                cache.fetch_again_at = self.clock.now() + CACHED_FOR;
                Ok(())
            }
            Err(error) if cache.keys.is_none() => Err(error),
            Err(_) => {
                cache.fetch_again_at = self.clock.now() + ASKED_AGAIN;
                Ok(())
            }
        }
    }

    fn cache(&self) -> MutexGuard<'_, Cache> {
        self.cache.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A public key, for its own algorithm alone.
pub(crate) enum VerifyingKey {
    Es256(UnparsedPublicKey<Vec<u8>>),
    EdDsa(UnparsedPublicKey<Vec<u8>>),
    Rs256(RsaPublicKeyComponents<Vec<u8>>),
}

impl VerifyingKey {
    pub fn algorithm(&self) -> Algorithm {
        match self {
            Self::Es256(_) => Algorithm::Es256,
            Self::EdDsa(_) => Algorithm::EdDsa,
            Self::Rs256(_) => Algorithm::Rs256,
        }
    }

    pub fn verifies(&self, data: &[u8], signature: &[u8]) -> bool {
        match self {
            Self::Es256(key) | Self::EdDsa(key) => key.verify(data, signature),
            Self::Rs256(key) => key.verify(&RSA_PKCS1_2048_8192_SHA256, data, signature),
        }
        .is_ok()
    }
}

fn usable(key: &PublicKey) -> Option<(String, Arc<VerifyingKey>)> {
    let verifying = verifying_key(key).filter(|_| key.purpose == "sig")?;
    Some((key.kid.clone(), Arc::new(verifying)))
}

/// Nothing for a key of a kind that this version does not know, or that cannot be read.
fn verifying_key(key: &PublicKey) -> Option<VerifyingKey> {
    match (key.alg.as_str(), key.kty.as_str(), key.crv.as_deref()) {
        ("ES256", "EC", Some("P-256")) => {
            // The uncompressed form of a point (SEC 1 section 2.3.3).
            let point = [vec![4], bytes(&key.x)?, bytes(&key.y)?].concat();
            Some(VerifyingKey::Es256(UnparsedPublicKey::new(&ECDSA_P256_SHA256_FIXED, point)))
        }
        ("EdDSA", "OKP", Some("Ed25519")) => {
            Some(VerifyingKey::EdDsa(UnparsedPublicKey::new(&ED25519, bytes(&key.x)?)))
        }
        ("RS256", "RSA", _) => {
            let (n, e) = (bytes(&key.n)?, bytes(&key.e)?);
            Some(VerifyingKey::Rs256(RsaPublicKeyComponents { n, e }))
        }
        _ => None,
    }
}

fn bytes(field: &Option<String>) -> Option<Vec<u8>> {
    from_base64url(field.as_deref()?)
}

/// Without padding (RFC 7515 section 2).
pub(crate) fn from_base64url(text: &str) -> Option<Vec<u8>> {
    Base64UrlUnpadded::decode_vec(text).ok()
}
