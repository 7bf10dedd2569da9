use async_trait::async_trait;
use dwar_kernel::{
    Clock, Digest, Entropy, Purpose, Sealed, SteadyClock, StoreError, Timestamp, Unsealable, Vault,
};
use dwar_operator::{Hashing, Origin, Password, PasswordHash, PasswordHasher};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};
use std::time::Duration;

/// A clock that stands still until a test moves it.
#[derive(Debug)]
pub struct FixedClock(AtomicI64);

impl FixedClock {
    /// A clock that shows `now`, in whole milliseconds.
    pub fn at(now: Timestamp) -> Self {
        Self(AtomicI64::new(now.timestamp_millis()))
    }

    /// Shows `now` from now on, whether later or earlier.
    pub fn set(&self, now: Timestamp) {
        self.0.store(now.timestamp_millis(), Ordering::SeqCst);
    }

    pub fn advance(&self, by: Duration) {
        let millis = i64::try_from(by.as_millis()).expect("a test stays within i64 milliseconds");
        self.0.fetch_add(millis, Ordering::SeqCst);
    }
}

impl Clock for FixedClock {
    fn now(&self) -> Timestamp {
        Timestamp::from_timestamp_millis(self.0.load(Ordering::SeqCst)).expect("a valid instant")
    }
}

/// A second `FixedClock` can serve as a steady clock that the test does not set.
impl SteadyClock for FixedClock {
    fn elapsed(&self) -> Duration {
        Duration::from_millis(self.0.load(Ordering::SeqCst).try_into().unwrap_or_default())
    }
}

/// Entropy that repeats itself for an equal seed (SplitMix64); never secret, safe to share.
#[derive(Debug)]
pub struct SeededEntropy(AtomicU64);

impl SeededEntropy {
    pub const fn new(seed: u64) -> Self {
        Self(AtomicU64::new(seed))
    }

    fn next(&self) -> u64 {
        const STRIDE: u64 = 0x9E37_79B9_7F4A_7C15;
        let state = self.0.fetch_add(STRIDE, Ordering::Relaxed).wrapping_add(STRIDE);
        let mixed = (state ^ (state >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }
}

impl Entropy for SeededEntropy {
    fn fill(&self, buffer: &mut [u8]) {
        for chunk in buffer.chunks_mut(8) {
            chunk.copy_from_slice(&self.next().to_le_bytes()[..chunk.len()]);
        }
    }
}

/// A vault that hides nothing: a sealed value is its purpose, its context and its plain text, and digests are
/// plain hashes. It does refuse a wrong purpose or context.
#[derive(Clone, Copy, Debug, Default)]
pub struct ClearVault;

impl Vault for ClearVault {
    fn seal(&self, purpose: Purpose, context: &[u8], plain: &[u8]) -> Sealed {
        Sealed([label(purpose, context).as_slice(), plain].concat())
    }

    fn open(
        &self,
        purpose: Purpose,
        context: &[u8],
        sealed: &Sealed,
    ) -> Result<Vec<u8>, Unsealable> {
        let plain = sealed.0.strip_prefix(label(purpose, context).as_slice());
        plain.map(<[u8]>::to_vec).ok_or(Unsealable)
    }

    fn digest(&self, purpose: Purpose, parts: &[&[u8]]) -> Digest {
        let mut digest = [0; 32];
        for (lane, out) in digest.chunks_mut(8).enumerate() {
            let mut hasher = DefaultHasher::new();
            (lane, purpose, parts).hash(&mut hasher);
            out.copy_from_slice(&hasher.finish().to_le_bytes());
        }
        Digest(digest)
    }
}

/// A hasher that does not hash, and counts the passwords that it verified.
#[derive(Debug, Default)]
pub struct PlainHasher {
    verified: AtomicU64,
}

impl PlainHasher {
    /// Number of verified passwords, with a hash or without.
    pub fn verified(&self) -> u64 {
        self.verified.load(Ordering::SeqCst)
    }
}

#[async_trait]
impl PasswordHasher for PlainHasher {
    async fn hash(
        &self,
        password: Password,
        _: Origin,
    ) -> Result<Hashing<PasswordHash>, StoreError> {
        Ok(Hashing::Done(PasswordHash::new(format!("plain {}", password.expose()))))
    }

    async fn verify(
        &self,
        password: Password,
        hash: Option<PasswordHash>,
        _: Origin,
    ) -> Result<Hashing<bool>, StoreError> {
        self.verified.fetch_add(1, Ordering::SeqCst);
        let same = |hash: PasswordHash| hash.as_str() == format!("plain {}", password.expose());
        Ok(Hashing::Done(hash.is_some_and(same)))
    }
}

fn label(purpose: Purpose, context: &[u8]) -> Vec<u8> {
    let head = format!("clear {purpose:?} {} ", context.len());
    [head.as_bytes(), context, b" "].concat()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{MS, START};

    #[test]
    fn the_clock_moves_only_when_told() {
        let clock = FixedClock::at(START);
        assert_eq!((clock.now(), clock.now()), (START, START));
        clock.advance(MS);
        assert_eq!(clock.now(), START + MS);
        clock.set(START);
        assert_eq!(clock.now(), START);
    }

    #[test]
    fn equal_seeds_give_equal_streams() {
        let draw = |entropy: &SeededEntropy| {
            let mut bytes = [0; 21];
            entropy.fill(&mut bytes);
            bytes
        };
        let (one, same, other) =
            (SeededEntropy::new(1), SeededEntropy::new(1), SeededEntropy::new(2));
        let first = draw(&one);
        assert_eq!(first, draw(&same));
        assert_ne!(first, draw(&other));
        assert_ne!(first, draw(&one));
    }

    #[test]
    fn the_vault_keeps_purposes_contexts_and_parts_apart() {
        let vault = ClearVault;
        let sealed = vault.seal(Purpose::Code, b"row", b"123456");
        assert_eq!(vault.open(Purpose::Code, b"row", &sealed), Ok(b"123456".to_vec()));
        assert_eq!(vault.open(Purpose::Phone, b"row", &sealed), Err(Unsealable));
        assert_eq!(vault.open(Purpose::Code, b"ro", &sealed), Err(Unsealable));
        let digest = |parts: &[&[u8]]| vault.digest(Purpose::ApiKey, parts);
        assert_eq!(digest(&[b"ab", b"c"]), digest(&[b"ab", b"c"]));
        assert_ne!(digest(&[b"ab", b"c"]), digest(&[b"a", b"bc"]));
        assert_ne!(digest(&[b"a"]), vault.digest(Purpose::Idempotency, &[b"a"]));
    }
}
