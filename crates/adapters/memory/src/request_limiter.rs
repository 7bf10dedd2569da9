use async_trait::async_trait;
use dwar_kernel::{StoreError, Timestamp};
use dwar_ratelimit::{Admission, Quota, RequestKey, RequestLimiter, Window};
use std::collections::HashMap;
use std::collections::hash_map::RandomState;
use std::hash::BuildHasher;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// Enough that look-ups of different keys hardly ever meet at one lock.
const SHARDS: usize = 64;

/// Counts the requests of this process alone.
///
/// Several instances admit the quota each; a restart begins anew (docs/contract.md, Limits).
///
/// Memory: a byte or two per request admitted in the last window, twice that while a window grows.
/// A key that uses all four of its windows up holds 45 kB at most with the default limits; the
/// whole process holds what it admitted in a minute, some 2.5 MB at 20,000 requests a second.
///
/// Locks: a key's window has its own. The lock of a shard is held for a look-up only, never while
/// a window is judged or swept, so a flood with one key delays no other.
#[derive(Debug)]
pub struct MemoryRequestLimiter {
    shards: [Mutex<Shard>; SHARDS],
    hasher: RandomState,
}

type Shard = HashMap<RequestKey, Arc<Mutex<Occupied>>>;

/// A key's window, with the length it was last judged by: a sweep has no quota to ask.
#[derive(Debug, Default)]
struct Occupied {
    window: Window,
    length: Duration,
}

impl Occupied {
    fn expire(&mut self, now: Timestamp) -> bool {
        self.window.expire(self.length, now)
    }
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

    fn window(&self, key: RequestKey) -> Arc<Mutex<Occupied>> {
        Arc::clone(lock(self.shard(&key)).entry(key).or_default())
    }
}

impl Default for MemoryRequestLimiter {
    fn default() -> Self {
        Self::new()
    }
}

/// A thread that panicked left at worst one admission uncounted; refusing everybody is no remedy.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Whether a window may be forgotten. Nobody can take it out of the locked shard meanwhile, so one
/// that is nobody else's stays so; one that is may be about to count a request.
fn is_idle(window: &mut Arc<Mutex<Occupied>>, now: Timestamp) -> bool {
    Arc::get_mut(window)
        .is_some_and(|window| window.get_mut().unwrap_or_else(PoisonError::into_inner).expire(now))
}

#[async_trait]
impl RequestLimiter for MemoryRequestLimiter {
    async fn hit(
        &self,
        key: RequestKey,
        quota: Quota,
        now: Timestamp,
    ) -> Result<Admission, StoreError> {
        let window = self.window(key);
        let mut occupied = lock(&window);
        occupied.length = quota.window;
        Ok(occupied.window.hit(quota, now))
    }

    async fn sweep(&self, now: Timestamp) -> Result<(), StoreError> {
        for shard in &self.shards {
            // The long work, dropping what has expired, goes on without the shard's lock.
            let windows: Vec<_> = lock(shard).values().map(Arc::clone).collect();
            for window in windows {
                lock(&window).expire(now);
            }
            lock(shard).retain(|_, window| !is_idle(window, now));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use dwar_ratelimit::RequestScope;
    use dwar_testkit::{Fixtures, MS, START, minutes};

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
    async fn a_window_that_is_being_judged_is_not_forgotten() {
        let (limiter, key) = (MemoryRequestLimiter::new(), key());
        limiter.hit(key, QUOTA, START).await.unwrap();
        let judging = limiter.window(key);
        limiter.sweep(START + QUOTA.window).await.unwrap();
        lock(&judging).window.hit(QUOTA, START + QUOTA.window);
        drop(judging);
        assert!(!limiter.hit(key, QUOTA, START + QUOTA.window).await.unwrap().admitted);
    }

    /// The flood is a window whose lock is never free, with a hit that waits for it; so many others
    /// meet it in every shard.
    #[tokio::test]
    async fn a_key_whose_window_is_busy_delays_no_other() {
        let (limiter, busy) = (Arc::new(MemoryRequestLimiter::new()), key());
        let window = limiter.window(busy);
        let flooded = lock(&window);
        let hit = |keys: Vec<RequestKey>| {
            let limiter = Arc::clone(&limiter);
            let (done, finished) = std::sync::mpsc::channel();
            std::thread::spawn(move || {
                let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
                for key in keys {
                    runtime.block_on(limiter.hit(key, QUOTA, START)).unwrap();
                }
                done.send(()).unwrap();
            });
            finished
        };
        let waiting = hit(vec![busy]);
        // The limiter, this test, and the hit that has found its window.
        while Arc::strong_count(&window) < 3 {
            std::thread::yield_now();
        }
        let others = hit((0..1_000).map(|_| key()).collect());
        others.recv_timeout(Duration::from_secs(20)).expect("others waited for a busy key");
        drop(flooded);
        waiting.recv_timeout(Duration::from_secs(20)).unwrap();
    }

    #[tokio::test]
    async fn a_poisoned_lock_keeps_counting() {
        let (limiter, key) = (Arc::new(MemoryRequestLimiter::new()), key());
        assert!(limiter.hit(key, QUOTA, START).await.unwrap().admitted);
        let (poisoner, poisoned) = (Arc::clone(&limiter), limiter.window(key));
        let crash = std::thread::spawn(move || {
            let _held = (poisoner.shard(&key).lock(), poisoned.lock());
            panic!("while the locks are held");
        });
        assert!(crash.join().is_err());
        assert!(limiter.shard(&key).is_poisoned() && limiter.window(key).is_poisoned());
        assert!(!limiter.hit(key, QUOTA, START).await.unwrap().admitted);
        limiter.sweep(START + QUOTA.window).await.unwrap();
        assert!(limiter.hit(key, QUOTA, START + QUOTA.window).await.unwrap().admitted);
    }
}
