use argon2::password_hash::phc::PasswordHash as Phc;
use argon2::password_hash::{PasswordHasher as _, PasswordVerifier as _};
use argon2::{Algorithm, Argon2, Params, Version};
use async_trait::async_trait;
use dwar_kernel::{Entropy, StoreError};
use dwar_operator::{Hashing, Origin, Password, PasswordHash, PasswordHasher};
use dwar_turns::AdmissionQueue;
use std::sync::Arc;

/// OWASP Password Storage Cheat Sheet, argon2id: 19 MiB, two passes, one lane.
const MEMORY_KIB: u32 = 19_456;
const PASSES: u32 = 2;
const LANES: u32 = 1;
const SALT: usize = 16;

/// Most passwords that are hashed at once: 38 MiB, and on a small machine every core.
const AT_ONCE: usize = 2;
/// Most passwords that may wait. The last of them waits about as long as a person will.
const WAITING: usize = 16;

/// The hash with which a password is compared if there is none: our costs and a random digest.
const NOBODY: &str = "$argon2id$v=19$m=19456,t=2,p=1$6W4x2n0Vw8mF5b1qTzKkRw$\
                      8Zq3vYt1lXo7cPpN2uHsEwJ4rBd6Ga0kMf9iQyLxTjU";

/// Hashes passwords with argon2id, each with a new salt.
///
/// At most two passwords are hashed at once and sixteen wait, so that a flood of attempts exhausts
/// neither memory nor threads. Origins take turns. In a full queue the origin with the most places
/// gives one up for another, so a flood of one origin delays another by two hashes.
#[derive(Clone)]
pub struct Argon2Hasher {
    entropy: Arc<dyn Entropy>,
    queue: Arc<AdmissionQueue<Origin>>,
}

impl Argon2Hasher {
    /// Makes a hasher that draws its salts from `entropy`.
    pub fn new(entropy: Arc<dyn Entropy>) -> Self {
        Self { entropy, queue: AdmissionQueue::new(AT_ONCE, WAITING) }
    }

    /// Runs the work in its turn, on a thread that may block.
    async fn in_turn<T: Send + 'static>(
        &self,
        origin: Origin,
        work: impl FnOnce() -> Result<T, StoreError> + Send + 'static,
    ) -> Result<Hashing<T>, StoreError> {
        let Some(permit) = self.queue.enter(origin).await else { return Ok(Hashing::Busy) };
        // The permit moves into the job: if the caller gives up, the work still continues.
        let done = tokio::task::spawn_blocking(move || {
            let _held = permit;
            work()
        });
        done.await.map_err(|cause| StoreError::Failed(Box::new(cause)))?.map(Hashing::Done)
    }
}

#[async_trait]
impl PasswordHasher for Argon2Hasher {
    async fn hash(
        &self,
        password: Password,
        origin: Origin,
    ) -> Result<Hashing<PasswordHash>, StoreError> {
        let mut salt = [0; SALT];
        self.entropy.fill(&mut salt);
        self.in_turn(origin, move || {
            let params = Params::new(MEMORY_KIB, PASSES, LANES, None).map_err(failed)?;
            let argon2 = Argon2::new(Algorithm::Argon2id, Version::V0x13, params);
            let hash = argon2.hash_password_with_salt(password.expose().as_bytes(), &salt);
            let hash: Phc = hash.map_err(failed)?;
            Ok(PasswordHash::new(hash.to_string()))
        })
        .await
    }

    async fn verify(
        &self,
        password: Password,
        hash: Option<PasswordHash>,
        origin: Origin,
    ) -> Result<Hashing<bool>, StoreError> {
        self.in_turn(origin, move || {
            let stored = hash.as_ref().map_or(NOBODY, PasswordHash::as_str);
            let stored = Phc::new(stored).map_err(failed)?;
            let bytes = password.expose().as_bytes();
            // With the costs given in the hash.
            let same = Argon2::default().verify_password(bytes, &stored).is_ok();
            Ok(same && hash.is_some())
        })
        .await
    }
}

fn failed(cause: impl std::fmt::Display) -> StoreError {
    StoreError::Failed(format!("argon2: {cause}").into())
}

#[cfg(test)]
#[path = "hasher_tests.rs"]
mod tests;
