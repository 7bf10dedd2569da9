use super::*;
use crate::tests::{Keys, PlainVault, at, key};
use async_trait::async_trait;
use dwar_kernel::TokenType;
use dwar_session::{Algorithm, MockSigningKeyStore, SigningKey};
use std::sync::Mutex as StdMutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use tokio::time::{advance, sleep};

#[derive(Clone, Copy, PartialEq)]
enum Health {
    Up,
    Down,
    Frozen,
}

/// A store that can be broken and counts its reads.
struct Fragile {
    keys: Keys,
    health: StdMutex<Health>,
    reads: AtomicUsize,
}

impl Fragile {
    fn new() -> Arc<Self> {
        let keys = Keys(StdMutex::new(vec![key(Algorithm::Es256)]));
        Arc::new(Self { keys, health: StdMutex::new(Health::Up), reads: AtomicUsize::default() })
    }

    fn set(&self, health: Health) {
        *self.health.lock().unwrap() = health;
    }

    fn reads(&self) -> usize {
        self.reads.load(Ordering::Relaxed)
    }
}

#[async_trait]
impl SigningKeyStore for Fragile {
    async fn keys(&self, now: Timestamp) -> Result<Vec<SigningKey>, StoreError> {
        self.reads.fetch_add(1, Ordering::Relaxed);
        let health = *self.health.lock().unwrap();
        match health {
            Health::Up => sleep(Duration::from_millis(2)).await,
            Health::Down => return Err(StoreError::Unavailable("down".to_owned())),
            Health::Frozen => {
                sleep(Duration::from_secs(5)).await;
                return Err(StoreError::Unavailable("frozen".to_owned()));
            }
        }
        self.keys.keys(now).await
    }

    async fn add_first(&self, key: SigningKey, now: Timestamp) -> Result<bool, StoreError> {
        self.keys.add_first(key, now).await
    }

    async fn rotate(&self, key: SigningKey, retire_until: Timestamp) -> Result<(), StoreError> {
        self.keys.rotate(key, retire_until).await
    }
}

fn cache(store: &Arc<Fragile>) -> KeyRingCache {
    KeyRingCache::new(Arc::clone(store) as _, Arc::new(PlainVault))
}

/// How far the test's clock moved while `call` ran.
async fn waited<T>(call: impl Future<Output = T>) -> (T, Duration) {
    let begun = Instant::now();
    (call.await, begun.elapsed())
}

#[tokio::test(start_paused = true)]
async fn the_store_is_read_once_a_second_however_many_ask() {
    let store = Fragile::new();
    let cache = cache(&store);
    for second in 1..=3 {
        let asking = (0..50).map(|_| {
            let cache = cache.clone();
            tokio::spawn(async move { cache.ring(at(0)).await.is_ok() })
        });
        for asked in asking.collect::<Vec<_>>() {
            assert!(asked.await.unwrap());
        }
        assert_eq!(store.reads(), second);
        advance(Duration::from_millis(990)).await;
        cache.ring(at(0)).await.unwrap();
        assert_eq!(store.reads(), second);
        advance(Duration::from_millis(10)).await;
    }
}

#[tokio::test(start_paused = true)]
async fn a_rotation_is_seen_after_a_second_and_known_keys_are_not_parsed_again() {
    let store = Fragile::new();
    let cache = cache(&store);
    let before = cache.ring(at(0)).await.unwrap();
    let next = key(Algorithm::EdDsa);
    store.rotate(next.clone(), at(900)).await.unwrap();
    assert_ne!(
        cache.ring(at(0)).await.unwrap().active(at(0)).unwrap().kid,
        next.kid.as_str().into()
    );
    advance(FRESH).await;
    let after = cache.ring(at(0)).await.unwrap();
    assert_eq!(after.active(at(0)).unwrap().kid, next.kid.as_str().into());
    let old = before.active(at(0)).unwrap();
    for token_type in TokenType::ALL {
        let found = after.by_header(old.header(token_type), at(0)).unwrap();
        assert!(std::ptr::eq(old.as_ref(), found), "{token_type}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_miss_has_the_store_read_at_once_but_not_twice_a_second() {
    let store = Fragile::new();
    let cache = cache(&store);
    cache.ring(at(0)).await.unwrap();
    assert!(cache.after_miss(at(0)).await.unwrap().is_some());
    for _ in 0..100 {
        assert!(cache.after_miss(at(0)).await.unwrap().is_none());
    }
    assert_eq!(store.reads(), 2);
    advance(FRESH).await;
    assert!(cache.after_miss(at(0)).await.unwrap().is_some());
    assert_eq!(store.reads(), 3);
}

#[tokio::test(start_paused = true)]
async fn without_a_ring_the_error_comes_through_and_the_next_call_tries_again() {
    let mut store = MockSigningKeyStore::new();
    let mut answers = vec![Ok(vec![]), Err(StoreError::Unavailable("down".to_owned()))];
    store.expect_keys().times(2).returning(move |_| answers.pop().unwrap());
    let cache = KeyRingCache::new(Arc::new(store), Arc::new(PlainVault));
    assert!(matches!(cache.ring(at(0)).await, Err(StoreError::Unavailable(_))));
    assert!(cache.ring(at(0)).await.is_ok());
}

#[tokio::test(start_paused = true)]
async fn without_a_ring_a_frozen_store_holds_each_caller_up_once() {
    let store = Fragile::new();
    store.set(Health::Frozen);
    let cache = cache(&store);
    let (refused, time) = waited(async {
        let asking = (0..50).map(|_| {
            let cache = cache.clone();
            tokio::spawn(async move { cache.ring(at(0)).await.is_err() })
        });
        let mut refused = 0;
        for asked in asking.collect::<Vec<_>>() {
            refused += usize::from(asked.await.unwrap());
        }
        refused
    })
    .await;
    assert_eq!((refused, store.reads()), (50, 1));
    assert!(time < Duration::from_secs(6), "{time:?}");
}

#[tokio::test(start_paused = true)]
async fn a_frozen_store_costs_one_short_wait_and_then_none() {
    let store = Fragile::new();
    let cache = cache(&store);
    cache.ring(at(0)).await.unwrap();
    store.set(Health::Frozen);
    advance(FRESH).await;
    let (ring, time) = waited(cache.ring(at(0))).await;
    assert!(ring.is_ok() && time <= PATIENCE + Duration::from_millis(1), "{time:?}");
    for _ in 0..200 {
        let (ring, time) = waited(cache.ring(at(0))).await;
        assert!(ring.is_ok() && time.is_zero(), "{time:?}");
        advance(Duration::from_millis(100)).await;
    }
    // One read began before the failure was known, and at most one every five seconds since.
    assert!(store.reads() <= 2 + 1 + 4, "{}", store.reads());
}

#[tokio::test(start_paused = true)]
async fn a_store_that_is_down_is_asked_once_a_second_until_the_grace_is_over() {
    let store = Fragile::new();
    let cache = cache(&store);
    cache.ring(at(0)).await.unwrap();
    store.set(Health::Down);
    advance(Duration::from_secs(290)).await;
    for _ in 0..90 {
        assert!(cache.ring(at(0)).await.is_ok());
        advance(Duration::from_millis(100)).await;
    }
    assert!((2..=11).contains(&store.reads()), "{}", store.reads());
    advance(Duration::from_secs(1)).await;
    assert!(matches!(cache.ring(at(0)).await, Err(StoreError::Unavailable(_))));
}

#[tokio::test(start_paused = true)]
async fn a_store_that_is_back_is_believed_within_a_second_of_asking() {
    let store = Fragile::new();
    let cache = cache(&store);
    cache.ring(at(0)).await.unwrap();
    store.set(Health::Down);
    advance(FRESH).await;
    cache.ring(at(0)).await.unwrap();
    store.set(Health::Up);
    let next = key(Algorithm::Es256);
    store.rotate(next.clone(), at(900)).await.unwrap();
    advance(FRESH).await;
    cache.ring(at(0)).await.unwrap();
    sleep(Duration::from_millis(10)).await;
    assert_eq!(
        cache.ring(at(0)).await.unwrap().active(at(0)).unwrap().kid,
        next.kid.as_str().into()
    );
}
