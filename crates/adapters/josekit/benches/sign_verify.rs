//! Measures signing and verifying an access token, compared with the bare OpenSSL operation on the
//! same bytes. The difference is ours (JSON, base64url, look-up of the key) and josekit's.
#![allow(clippy::unwrap_used)]

use async_trait::async_trait;
use criterion::{Criterion, criterion_group, criterion_main};
use dwar_josekit::JosekitSigner;
use dwar_kernel::{
    Digest, KeyMode, ProjectMode, Purpose, Sealed, StoreError, Timestamp, Unsealable, Vault,
};
use dwar_session::{AccessToken, Algorithm, Claims, SigningKey, SigningKeyStore, TokenSigner};
use openssl::ec::{EcGroup, EcKey};
use openssl::hash::MessageDigest;
use openssl::nid::Nid;
use openssl::pkey::{PKey, Private, Public};
use openssl::rsa::Rsa;
use openssl::sign::{Signer, Verifier};
use std::hash::{BuildHasher, RandomState};
use std::hint::black_box;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::runtime::{Builder, Runtime};

struct Plain;

impl Vault for Plain {
    fn seal(&self, _: Purpose, _: &[u8], plain: &[u8]) -> Sealed {
        Sealed(plain.to_vec())
    }

    fn open(&self, _: Purpose, _: &[u8], sealed: &Sealed) -> Result<Vec<u8>, Unsealable> {
        Ok(sealed.0.clone())
    }

    /// A different digest each time, so that no token is recognised.
    fn digest(&self, _: Purpose, _: &[&[u8]]) -> Digest {
        let mut digest = [0; 32];
        digest[..8].copy_from_slice(&RandomState::new().hash_one(0).to_le_bytes());
        Digest(digest)
    }
}

#[derive(Default)]
struct Keys(Mutex<Vec<SigningKey>>);

#[async_trait]
impl SigningKeyStore for Keys {
    async fn keys(&self, _: Timestamp) -> Result<Vec<SigningKey>, StoreError> {
        Ok(self.0.lock().unwrap().clone())
    }

    async fn add_first(&self, key: SigningKey, _: Timestamp) -> Result<bool, StoreError> {
        self.0.lock().unwrap().push(key);
        Ok(true)
    }

    async fn rotate(&self, key: SigningKey, _: Timestamp) -> Result<(), StoreError> {
        self.0.lock().unwrap().push(key);
        Ok(())
    }
}

fn at(seconds: i64) -> Timestamp {
    Timestamp::from_timestamp(1_800_000_000 + seconds, 0).unwrap()
}

fn claims() -> Claims {
    let id = "0190a5d4-7c1e-7000-8000-000000000001";
    Claims {
        token: id.parse().unwrap(),
        session: id.parse().unwrap(),
        identity: id.parse().unwrap(),
        project_mode: ProjectMode { project: id.parse().unwrap(), mode: KeyMode::Live },
        issued_at: at(0),
        expires_at: at(900),
    }
}

struct Floor {
    private: PKey<Private>,
    public: PKey<Public>,
    digest: Option<MessageDigest>,
}

impl Floor {
    fn new(algorithm: Algorithm) -> Self {
        let group = EcGroup::from_curve_name(Nid::X9_62_PRIME256V1).unwrap();
        let (private, digest) = match algorithm {
            Algorithm::Es256 => {
                let key = EcKey::generate(&group).unwrap();
                (PKey::from_ec_key(key).unwrap(), Some(MessageDigest::sha256()))
            }
            Algorithm::EdDsa => (PKey::generate_ed25519().unwrap(), None),
            Algorithm::Rs256 => {
                let key = Rsa::generate(3_072).unwrap();
                (PKey::from_rsa(key).unwrap(), Some(MessageDigest::sha256()))
            }
        };
        let public = PKey::public_key_from_der(&private.public_key_to_der().unwrap()).unwrap();
        Self { private, public, digest }
    }

    fn sign(&self, message: &[u8]) -> Vec<u8> {
        let mut signer = match self.digest {
            Some(digest) => Signer::new(digest, &self.private).unwrap(),
            None => Signer::new_without_digest(&self.private).unwrap(),
        };
        signer.sign_oneshot_to_vec(message).unwrap()
    }

    fn verify(&self, message: &[u8], signature: &[u8]) -> bool {
        let mut verifier = match self.digest {
            Some(digest) => Verifier::new(digest, &self.public).unwrap(),
            None => Verifier::new_without_digest(&self.public).unwrap(),
        };
        verifier.verify_oneshot(signature, message).unwrap()
    }
}

fn prepare(runtime: &Runtime, algorithm: Algorithm) -> (JosekitSigner, AccessToken) {
    let keys = Arc::new(Keys::default());
    let signer = JosekitSigner::new(Arc::clone(&keys) as _, Arc::new(Plain), "https://dwar.test");
    let key = signer.generate(algorithm, at(-600), at(-600)).unwrap();
    let token = runtime.block_on(async {
        keys.add_first(key, at(-600)).await.unwrap();
        signer.sign(&claims(), None).await.unwrap()
    });
    (signer, token)
}

fn sign_verify(criterion: &mut Criterion) {
    let runtime = Builder::new_current_thread().enable_time().build().unwrap();
    for algorithm in [Algorithm::Es256, Algorithm::EdDsa, Algorithm::Rs256] {
        let (signer, token) = prepare(&runtime, algorithm);
        let floor = Floor::new(algorithm);
        let message = token.expose().rsplit_once('.').unwrap().0.as_bytes();
        let signature = floor.sign(message);
        let claims = claims();

        let mut group = criterion.benchmark_group(algorithm.as_str());
        group.bench_function("sign", |bench| {
            bench.iter(|| runtime.block_on(signer.sign(black_box(&claims), None)).unwrap());
        });
        group.bench_function("sign floor (openssl)", |bench| {
            bench.iter(|| floor.sign(black_box(message)));
        });
        group.bench_function("verify", |bench| {
            bench.iter(|| {
                let presented = signer.read(black_box(&token).clone());
                runtime.block_on(signer.verify(&presented, at(1))).unwrap().unwrap()
            });
        });
        group.bench_function("verify floor (openssl)", |bench| {
            bench.iter(|| assert!(floor.verify(black_box(message), &signature)));
        });
        group.finish();
    }
}

criterion_group! {
    name = benches;
    config = Criterion::default()
        .sample_size(20)
        .warm_up_time(Duration::from_millis(300))
        .measurement_time(Duration::from_secs(1));
    targets = sign_verify
}
criterion_main!(benches);
