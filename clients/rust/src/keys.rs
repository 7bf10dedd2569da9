use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use base64ct::{Base64UrlUnpadded, Encoding};
use ring::signature::{
    ECDSA_P256_SHA256_FIXED, ED25519, RSA_PKCS1_2048_8192_SHA256, RsaPublicKeyComponents,
    UnparsedPublicKey,
};
use serde::Deserialize;

use crate::answers::{PublicKey, PublicKeys};
use crate::client::public_keys;
use crate::clock::{Clock, ElapsedTime};
use crate::flight::Flight;
use crate::transport::Transport;
use crate::{Error, Result};

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
/// How long a fetch may run before calls go on with stale keys.
const PATIENCE: Duration = Duration::from_millis(500);
/// Longest use of a fetched key set: older keys may have been withdrawn.
const TOO_OLD: Duration = Duration::from_secs(3600);

/// The published keys, fetched once, no matter how many callers wait. Keys that this version cannot
/// use are left out.
pub(crate) struct KeySet {
    pub transport: Transport,
    cache: Mutex<Cache>,
}

type Keys = HashMap<String, Arc<VerifyingKey>>;

struct Cache {
    clock: ElapsedTime,
    keys: Keys,
    fetched_at: Duration,
    fetch_again_at: Duration,
    unknown_again_at: Duration,
    fetching: Option<Flight<()>>,
    /// Error of the last fetch, if it failed.
    failure: Option<Error>,
}

impl KeySet {
    pub fn new(transport: Transport, clock: Clock) -> Self {
        let cache = Cache {
            clock: ElapsedTime::new(clock),
            keys: Keys::new(),
            fetched_at: Duration::ZERO,
            fetch_again_at: Duration::ZERO,
            unknown_again_at: Duration::ZERO,
            fetching: None,
            failure: None,
        };
        Self { transport, cache: Mutex::new(cache) }
    }

    /// Fails without keys that were fetched within the last hour. Fails for an unknown `kid` if the
    /// last fetch failed, since the key may have been published meanwhile.
    pub async fn find(self: &Arc<Self>, kid: &str) -> Result<Option<Arc<VerifyingKey>>> {
        if let Some(fetching) = self.refresh_if_too_old() {
            fetching.wait().await?;
        }
        if let Some(fetching) = self.refresh_if_stale() {
            fetching.wait_for(PATIENCE).await?;
        }
        if let Some(fetching) = self.refresh_if_unknown(kid) {
            fetching.wait().await?;
        }
        let cache = self.cache();
        match (cache.keys.get(kid), &cache.failure) {
            (None, Some(failure)) => Err(failure.clone()),
            (key, _) => Ok(key.cloned()),
        }
    }

    fn refresh_if_too_old(self: &Arc<Self>) -> Option<Flight<()>> {
        let mut cache = self.cache();
        cache.are_too_old().then(|| self.refresh(&mut cache))
    }

    fn refresh_if_stale(self: &Arc<Self>) -> Option<Flight<()>> {
        let mut cache = self.cache();
        (cache.clock.now() >= cache.fetch_again_at).then(|| self.refresh(&mut cache))
    }

    /// Calls during a fetch wait for it, since the new set may contain the key.
    fn refresh_if_unknown(self: &Arc<Self>, kid: &str) -> Option<Flight<()>> {
        let mut cache = self.cache();
        if cache.keys.contains_key(kid) {
            return None;
        }
        let now = cache.clock.now();
        // A fetch that panicked, or whose runtime was shut down, has ended but is still stored.
        let is_lost = cache.fetching.as_ref().is_some_and(Flight::is_over);
        if now < cache.unknown_again_at && !is_lost {
            return cache.fetching.clone();
        }
        cache.unknown_again_at = now + ASKED_AGAIN;
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
        let fetched = published.and_then(|published| all_usable(&published));
        let mut cache = self.cache();
        cache.fetching = None;
        cache.failure = fetched.as_ref().err().cloned();
        let now = cache.clock.now();
        match fetched {
            Ok(keys) => {
                cache.keys = keys;
                cache.fetched_at = now;
                cache.fetch_again_at = now + CACHED_FOR;
            }
            Err(error) if cache.are_too_old() => return Err(error),
            Err(_) => cache.fetch_again_at = now + ASKED_AGAIN,
        }
        Ok(())
    }

    fn cache(&self) -> MutexGuard<'_, Cache> {
        self.cache.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Cache {
    fn are_too_old(&mut self) -> bool {
        self.keys.is_empty() || self.clock.now() - self.fetched_at >= TOO_OLD
    }
}

/// A public key, used only with its own algorithm.
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

/// Refuses a set without a usable key: the service always publishes one.
fn all_usable(published: &PublicKeys) -> Result<Keys> {
    let keys: Keys = published.keys.iter().filter_map(usable).collect();
    if keys.is_empty() {
        return Err(Error::incomplete("the answer has no key that can be used"));
    }
    Ok(keys)
}

fn usable(key: &PublicKey) -> Option<(String, Arc<VerifyingKey>)> {
    let verifying = verifying_key(key).filter(|_| key.purpose == "sig")?;
    Some((key.kid.clone(), Arc::new(verifying)))
}

/// Nothing for a key that this version does not know or cannot read.
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
