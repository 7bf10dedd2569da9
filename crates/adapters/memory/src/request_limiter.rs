use crate::shards::{Shards, lock};
use async_trait::async_trait;
use dwar_kernel::{StoreError, Timestamp};
use dwar_ratelimit::{Admission, Quota, RequestKey, RequestLimiter, Window};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

/// Limits the requests of this process by counting only its own.
///
/// Each of several instances admits the whole quota, and a restart resets the counts
/// (docs/contract.md, Limits).
///
/// Memory: a byte or two per request admitted in the last window, twice that while a window grows.
/// With the default limits a key that exhausts all four of its windows holds at most 45 kB. The
/// whole process holds one minute of admissions, about 2.5 MB at 20,000 requests a second.
///
/// Locks: each key's window has its own. The lock of a shard is held only for a look-up, never
/// while a window is judged or swept, so a flood with one key does not delay another.
#[derive(Debug, Default)]
pub struct MemoryRequestLimiter {
    windows: Shards<Mutex<StoredWindow>>,
}

/// A key's window and the length that its latest request gave. A sweep needs the length and does not know the
/// quota.
#[derive(Debug, Default)]
struct StoredWindow {
    window: Window,
    length: Duration,
}

impl StoredWindow {
    fn expire(&mut self, now: Timestamp) -> bool {
        self.window.expire(self.length, now)
    }
}

impl MemoryRequestLimiter {
    /// Makes a limiter that has counted no request.
    pub fn new() -> Self {
        Self::default()
    }
}

#[async_trait]
impl RequestLimiter for MemoryRequestLimiter {
    async fn hit(
        &self,
        key: RequestKey,
        quota: Quota,
        now: Timestamp,
    ) -> Result<Admission, StoreError> {
        let window = self.windows.of(key);
        let mut occupied = lock(&window);
        occupied.length = quota.window;
        Ok(occupied.window.hit(quota, now))
    }

    async fn sweep(&self, now: Timestamp) -> Result<(), StoreError> {
        // The long part, dropping expired entries, runs without the lock of a shard.
        self.windows.sweep(
            |window| _ = lock(window).expire(now),
            |window| window.get_mut().unwrap_or_else(PoisonError::into_inner).expire(now),
        );
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
        limiter.windows.len()
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
        let judging = limiter.windows.of(key);
        limiter.sweep(START + QUOTA.window).await.unwrap();
        lock(&judging).window.hit(QUOTA, START + QUOTA.window);
        drop(judging);
        assert!(!limiter.hit(key, QUOTA, START + QUOTA.window).await.unwrap().admitted);
    }

    /// The test itself holds the lock of the busy key's window, and one hit waits for this lock. With a
    /// thousand other keys, every shard has some of them, also the shard of the busy key.
    #[tokio::test]
    async fn a_key_whose_window_is_busy_delays_no_other() {
        let (limiter, busy) = (Arc::new(MemoryRequestLimiter::new()), key());
        let window = limiter.windows.of(busy);
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
        // Three own the window: the limiter, this test, and the hit that waits for its lock.
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
        let (poisoner, poisoned) = (Arc::clone(&limiter), limiter.windows.of(key));
        let crash = std::thread::spawn(move || {
            let _held = (poisoner.windows.shard(&key).lock(), poisoned.lock());
            panic!("while the locks are held");
        });
        assert!(crash.join().is_err());
        assert!(limiter.windows.shard(&key).is_poisoned() && limiter.windows.of(key).is_poisoned());
        assert!(!limiter.hit(key, QUOTA, START).await.unwrap().admitted);
        limiter.sweep(START + QUOTA.window).await.unwrap();
        assert!(limiter.hit(key, QUOTA, START + QUOTA.window).await.unwrap().admitted);
    }
}
