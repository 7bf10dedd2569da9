//! Prints, for each algorithm, one JSON line with a key set and a token that is valid for 15
//! minutes. `tests/interop/offline.sh` passes them to other libraries.
#![allow(clippy::print_stdout)]

use async_trait::async_trait;
use dwar_josekit::JosekitSigner;
use dwar_kernel::{
    Digest, KeyMode, ProjectMode, Purpose, Sealed, StoreError, Timestamp, Unsealable, Vault,
};
use dwar_session::{Algorithm, Claims, SigningKey, SigningKeyStore, TokenSigner};
use serde_json::json;
use std::error::Error;
use std::sync::Arc;
use std::time::{Duration, UNIX_EPOCH};
use tokio::sync::Mutex;

const ISSUER: &str = "https://auth.example";

/// Keys live only as long as this process, so they need no sealing.
struct Plain;

impl Vault for Plain {
    fn seal(&self, _: Purpose, _: &[u8], plain: &[u8]) -> Sealed {
        Sealed(plain.to_vec())
    }

    fn open(&self, _: Purpose, _: &[u8], sealed: &Sealed) -> Result<Vec<u8>, Unsealable> {
        Ok(sealed.0.clone())
    }

    fn digest(&self, _: Purpose, _: &[&[u8]]) -> Digest {
        Digest([0; 32])
    }
}

#[derive(Default)]
struct Keys(Mutex<Vec<SigningKey>>);

#[async_trait]
impl SigningKeyStore for Keys {
    async fn keys(&self, _: Timestamp) -> Result<Vec<SigningKey>, StoreError> {
        Ok(self.0.lock().await.clone())
    }

    async fn add_first(&self, key: SigningKey, _: Timestamp) -> Result<bool, StoreError> {
        self.0.lock().await.push(key);
        Ok(true)
    }

    async fn rotate(&self, key: SigningKey, _: Timestamp) -> Result<(), StoreError> {
        self.0.lock().await.push(key);
        Ok(())
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let seconds = i64::try_from(UNIX_EPOCH.elapsed()?.as_secs())?;
    let now = Timestamp::from_timestamp(seconds, 0).ok_or("the clock is out of range")?;
    for algorithm in [Algorithm::Es256, Algorithm::EdDsa, Algorithm::Rs256] {
        let keys = Arc::new(Keys::default());
        let signer = JosekitSigner::new(Arc::clone(&keys) as _, Arc::new(Plain), ISSUER);
        keys.add_first(signer.generate(algorithm, now, now)?, now).await?;
        let claims = Claims {
            token: "0190a5d4-7c1e-7000-8000-000000000001".parse()?,
            session: "0190a5d4-7c1e-7000-8000-000000000002".parse()?,
            identity: "0190a5d4-7c1e-7000-8000-000000000003".parse()?,
            project_mode: ProjectMode {
                project: "0190a5d4-7c1e-7000-8000-000000000004".parse()?,
                mode: KeyMode::Test,
            },
            issued_at: now,
            expires_at: now + Duration::from_secs(900),
        };
        let line = json!({
            "alg": algorithm.as_str(),
            "issuer": ISSUER,
            "audience": claims.project_mode.project.to_string(),
            "token": signer.sign(&claims, None).await?.expose(),
            "jwks": signer.public_keys(now).await?.json,
        });
        println!("{line}");
    }
    Ok(())
}
