//! Shared by the tests of this crate: a vault that hides nothing, and a store in memory.

use crate::JosekitSigner;
use async_trait::async_trait;
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use dwar_kernel::{
    Digest, KeyMode, ProjectMode, Purpose, Sealed, StoreError, Timestamp, Unsealable, Vault,
};
use dwar_session::{
    AccessToken, Algorithm, Claims, InvalidToken, KeyState, SigningKey, SigningKeyStore,
    TokenSigner,
};
use josekit::jwk::Jwk;
use josekit::jws::{ES256, EdDSA, JwsSigner, RS256};
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};
use std::sync::{Arc, Mutex};

pub(crate) const ISSUER: &str = "https://auth.example";
/// The issuer of the project of [`claims`].
pub(crate) const OWN_ISSUER: &str = "https://auth.example/p/0190a5d4-7c1e-7000-8000-000000000004";
pub(crate) const ALGORITHMS: [Algorithm; 3] =
    [Algorithm::Es256, Algorithm::EdDsa, Algorithm::Rs256];

pub(crate) fn at(seconds: i64) -> Timestamp {
    Timestamp::from_timestamp(1_800_000_000 + seconds, 0).unwrap()
}

pub(crate) fn id<T: std::str::FromStr<Err: std::fmt::Debug>>(last: u8) -> T {
    format!("0190a5d4-7c1e-7000-8000-0000000000{last:02}").parse().unwrap()
}

/// Claims that are valid from second 0 to second 900.
pub(crate) fn claims() -> Claims {
    Claims {
        token: id(1),
        session: id(2),
        identity: id(3),
        project_mode: ProjectMode { project: id(4), mode: KeyMode::Test },
        issued_at: at(0),
        expires_at: at(900),
    }
}

/// Like [`claims`], in live mode, where a project may have an issuer of its own.
pub(crate) fn live_claims() -> Claims {
    let claims = claims();
    Claims { project_mode: ProjectMode { mode: KeyMode::Live, ..claims.project_mode }, ..claims }
}

/// The payload of [`claims`] on the wire.
pub(crate) fn payload() -> Value {
    json!({
        "iss": ISSUER,
        "aud": "0190a5d4-7c1e-7000-8000-000000000004",
        "sub": "0190a5d4-7c1e-7000-8000-000000000003",
        "client_id": "0190a5d4-7c1e-7000-8000-000000000004",
        "sid": "0190a5d4-7c1e-7000-8000-000000000002",
        "jti": "0190a5d4-7c1e-7000-8000-000000000001",
        "mode": "test",
        "iat": 1_800_000_000,
        "exp": 1_800_000_900,
    })
}

/// Binds values to purpose and context like a real vault, but keeps the text readable.
pub(crate) struct PlainVault;

fn bound(purpose: Purpose, context: &[u8]) -> Vec<u8> {
    [format!("{purpose:?} ").as_bytes(), context, b"\0"].concat()
}

impl Vault for PlainVault {
    fn seal(&self, purpose: Purpose, context: &[u8], plain: &[u8]) -> Sealed {
        Sealed([&bound(purpose, context), plain].concat())
    }

    fn open(&self, purpose: Purpose, context: &[u8], it: &Sealed) -> Result<Vec<u8>, Unsealable> {
        let plain = it.0.strip_prefix(bound(purpose, context).as_slice());
        plain.map(<[u8]>::to_vec).ok_or(Unsealable)
    }

    fn digest(&self, _: Purpose, parts: &[&[u8]]) -> Digest {
        Digest(Sha256::digest(parts.concat()).into())
    }
}

#[derive(Default)]
pub(crate) struct Keys(pub(crate) Mutex<Vec<SigningKey>>);

#[async_trait]
impl SigningKeyStore for Keys {
    async fn keys(&self, now: Timestamp) -> Result<Vec<SigningKey>, StoreError> {
        let keys = self.0.lock().unwrap().clone();
        Ok(keys.into_iter().filter(|key| key.state(now) != KeyState::Gone).collect())
    }

    async fn add_first(&self, key: SigningKey, _: Timestamp) -> Result<bool, StoreError> {
        let mut keys = self.0.lock().unwrap();
        let first = keys.is_empty();
        if first {
            keys.push(key);
        }
        Ok(first)
    }

    async fn rotate(&self, key: SigningKey, retire_until: Timestamp) -> Result<(), StoreError> {
        let mut keys = self.0.lock().unwrap();
        for old in keys.iter_mut() {
            old.signs_until.get_or_insert(key.signs_from);
            old.published_until.get_or_insert(retire_until);
        }
        keys.push(key);
        Ok(())
    }
}

pub(crate) fn signer(store: Arc<dyn SigningKeyStore>) -> JosekitSigner {
    JosekitSigner::new(store, Arc::new(PlainVault), ISSUER)
}

/// A key that has signed for long, made without a store.
pub(crate) fn key(algorithm: Algorithm) -> SigningKey {
    signer(Arc::new(Keys::default())).generate(algorithm, at(-9_000), at(-9_000)).unwrap()
}

/// A signer over a store with only that key.
pub(crate) fn signer_with(key: &SigningKey) -> JosekitSigner {
    signer(Arc::new(Keys(Mutex::new(vec![key.clone()]))))
}

pub(crate) async fn verify(
    signer: &JosekitSigner,
    token: &AccessToken,
    now: Timestamp,
) -> Result<Claims, InvalidToken> {
    signer.verify(&signer.read(token.clone()), now).await.unwrap()
}

/// Signs any content with a key. An attacker cannot do that; it shows that each check works on its
/// own.
pub(crate) struct Forge {
    pub(crate) kid: String,
    pub(crate) algorithm: Algorithm,
    pub(crate) jwk: Jwk,
}

impl Forge {
    pub(crate) fn new(key: &SigningKey) -> Self {
        let context = key.kid.as_bytes();
        let jwk = PlainVault.open(Purpose::SigningKey, context, &key.private).unwrap();
        let jwk = Jwk::from_bytes(jwk).unwrap();
        Self { kid: key.kid.clone(), algorithm: key.algorithm, jwk }
    }

    pub(crate) fn header(&self) -> Value {
        json!({ "alg": self.algorithm.as_str(), "typ": "at+jwt", "kid": self.kid })
    }

    pub(crate) fn sign(&self, header: &str, payload: &[u8]) -> AccessToken {
        let signer: Box<dyn JwsSigner> = match self.algorithm {
            Algorithm::Es256 => Box::new(ES256.signer_from_jwk(&self.jwk).unwrap()),
            Algorithm::EdDsa => Box::new(EdDSA.signer_from_jwk(&self.jwk).unwrap()),
            Algorithm::Rs256 => Box::new(RS256.signer_from_jwk(&self.jwk).unwrap()),
        };
        let signed = signed_part(header, payload);
        join(&signed, &signer.sign(signed.as_bytes()).unwrap())
    }

    pub(crate) fn with_header(&self, header: &Value) -> AccessToken {
        self.sign(&header.to_string(), payload().to_string().as_bytes())
    }

    pub(crate) fn with_payload(&self, payload: &Value) -> AccessToken {
        self.sign(&self.header().to_string(), payload.to_string().as_bytes())
    }
}

pub(crate) fn signed_part(header: &str, payload: &[u8]) -> String {
    format!("{}.{}", URL_SAFE_NO_PAD.encode(header), URL_SAFE_NO_PAD.encode(payload))
}

pub(crate) fn join(signed: &str, signature: &[u8]) -> AccessToken {
    AccessToken::new(format!("{signed}.{}", URL_SAFE_NO_PAD.encode(signature)))
}

pub(crate) fn part(token: &AccessToken, index: usize) -> Vec<u8> {
    URL_SAFE_NO_PAD.decode(token.expose().split('.').nth(index).unwrap()).unwrap()
}
