use crate::key::Key;
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use dwar_kernel::{StoreError, Timestamp, Vault};
use dwar_session::{Algorithm, JwkSet, KeyState, SigningKey};
use sha2::{Digest, Sha256};
use std::sync::Arc;

/// The keys as read from the store at one instant, oldest first. The state of each is computed at
/// each use, so that it changes on the millisecond.
#[derive(Debug)]
pub(crate) struct KeyRing {
    records: Vec<SigningKey>,
    keys: Vec<Arc<Key>>,
}

impl KeyRing {
    /// Opens `records`. Keys in `previous` are not parsed again, because a kid is the key's digest.
    ///
    /// # Errors
    /// [`StoreError`] if any key is unusable: silently signing with another one would be worse.
    pub(crate) fn open(
        records: Vec<SigningKey>,
        previous: Option<&Self>,
        vault: &dyn Vault,
    ) -> Result<Self, StoreError> {
        let known = |kid: &str| previous.and_then(|ring| ring.keys.iter().find(|k| *k.kid == *kid));
        let keys = records.iter().map(|record| match known(&record.kid) {
            Some(key) => Ok(Arc::clone(key)),
            None => Key::open(record, vault).map(Arc::new),
        });
        let keys = keys.collect::<Result<_, _>>()?;
        Ok(Self { records, keys })
    }

    /// The key that signs at `now`.
    pub(crate) fn active(&self, now: Timestamp) -> Option<&Arc<Key>> {
        let kid = &SigningKey::active(&self.records, now)?.kid;
        self.keys.iter().find(|key| *key.kid == **kid)
    }

    /// The published key whose tokens have this `header`.
    ///
    /// The header of a key is a constant text for each type, so comparing it checks `alg`, `typ` and `kid` at
    /// once and leaves no room for `crit`, `jwk`, `jku`, `x5u` or a second spelling (RFC 8725).
    pub(crate) fn by_header(&self, header: &str, now: Timestamp) -> Option<&Key> {
        self.published(now).find(|key| key.token_type(header).is_some())
    }

    /// Tells whether tokens of this key are valid at `now`.
    pub(crate) fn publishes(&self, kid: &str, now: Timestamp) -> bool {
        self.published(now).any(|key| *key.kid == *kid)
    }

    /// The public keys that are published at `now`.
    pub(crate) fn jwks(&self, now: Timestamp) -> JwkSet {
        let keys: Vec<_> = self.published(now).map(|key| key.public.as_str()).collect();
        let json = format!(r#"{{"keys":[{}]}}"#, keys.join(","));
        let etag = URL_SAFE_NO_PAD.encode(Sha256::digest(&json));
        JwkSet { json, etag, algorithms: self.algorithms(now).collect() }
    }

    fn algorithms(&self, now: Timestamp) -> impl Iterator<Item = Algorithm> {
        let published =
            self.records.iter().filter(move |record| record.state(now) != KeyState::Gone);
        Algorithm::ALL
            .into_iter()
            .filter(move |one| published.clone().any(|it| it.algorithm == *one))
    }

    fn published(&self, now: Timestamp) -> impl Iterator<Item = &Key> {
        let all = self.records.iter().zip(&self.keys);
        all.filter(move |(record, _)| record.state(now) != KeyState::Gone)
            .map(|(_, key)| key.as_ref())
    }
}
