use async_trait::async_trait;
use dwar_kernel::{StoreError, Timestamp};
use dwar_ratelimit::{Admission, Quota, RequestKey, RequestLimiter, Window};
use std::collections::HashMap;
use std::collections::hash_map::RandomState;
use std::hash::BuildHasher;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// Enough that requests of different keys hardly ever meet at one lock.
const SHARDS: usize = 64;

/// Counts the requests of this process alone.
///
/// Several instances admit the quota each; a restart begins anew (decisions, Limits). Memory: one
/// instant per admitted request of the last window.
#[derive(Debug)]
pub struct MemoryRequestLimiter {
    shards: [Mutex<Shard>; SHARDS],
    hasher: RandomState,
}

type Shard = HashMap<RequestKey, Occupied>;

/// A key's window, with the length it was last judged by: a sweep has no quota to ask.
#[derive(Debug, Default)]
struct Occupied {
    window: Window,
    length: Duration,
}

impl MemoryRequestLimiter {
    /// A limiter that has seen no request.
    pub fn new() -> Self {
        let shards = std::array::from_fn(|_| Mutex::default());
        Self { shards, hasher: RandomState::new() }
    }

    fn shard(&self, key: &RequestKey) -> &Mutex<Shard> {
        let hash = self.hasher.hash_one(key);
        &self.shards[usize::try_from(hash % SHARDS as u64).unwrap_or_default()]
    }
}

impl Default for MemoryRequestLimiter {
    fn default() -> Self {
        Self::new()
    }
}

/// A thread that panicked left at worst one admission uncounted; refusing everybody is no remedy.
fn lock(shard: &Mutex<Shard>) -> MutexGuard<'_, Shard> {
    shard.lock().unwrap_or_else(PoisonError::into_inner)
}

#[async_trait]
impl RequestLimiter for MemoryRequestLimiter {
    async fn hit(
        &self,
        key: RequestKey,
        quota: Quota,
        now: Timestamp,
    ) -> Result<Admission, StoreError> {
        let mut shard = lock(self.shard(&key));
        let occupied = shard.entry(key).or_default();
        occupied.length = quota.window;
        Ok(occupied.window.hit(quota, now))
    }

    async fn sweep(&self, now: Timestamp) -> Result<(), StoreError> {
        for shard in &self.shards {
            lock(shard).retain(|_, occupied| !occupied.window.expire(occupied.length, now));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use dwar_ratelimit::RequestScope;
    use dwar_testkit::{Fixtures, MS, START, minutes};
    use std::sync::Arc;

    const QUOTA: Quota = Quota { limit: 1, window: minutes(1) };

    fn key() -> RequestKey {
        RequestKey { key: Fixtures::random().id(), scope: RequestScope::General }
    }

    fn windows(limiter: &MemoryRequestLimiter) -> usize {
        limiter.shards.iter().map(|shard| lock(shard).len()).sum()
    }

    #[tokio::test]
    async fn a_sweep_forgets_idle_keys() {
        let limiter = MemoryRequestLimiter::new();
        for _ in 0..100 {
            limiter.hit(key(), QUOTA, START).await.unwrap();
        }
        limiter.sweep(START + QUOTA.window - MS).await.unwrap();
        assert_eq!(windows(&limiter), 100);
        limiter.sweep(START + QUOTA.window).await.unwrap();
        assert_eq!(windows(&limiter), 0);
    }

    #[tokio::test]
    async fn a_poisoned_lock_keeps_counting() {
        let (limiter, key) = (Arc::new(MemoryRequestLimiter::new()), key());
        assert!(limiter.hit(key, QUOTA, START).await.unwrap().admitted);
        let (poisoner, shard) = (Arc::clone(&limiter), key);
        let crash = std::thread::spawn(move || {
            let _held = poisoner.shard(&shard).lock();
            panic!("while the lock is held");
        });
        assert!(crash.join().is_err());
        assert!(limiter.shard(&key).is_poisoned());
        assert!(!limiter.hit(key, QUOTA, START).await.unwrap().admitted);
        limiter.sweep(START + QUOTA.window).await.unwrap();
        assert!(limiter.hit(key, QUOTA, START + QUOTA.window).await.unwrap().admitted);
    }
}
