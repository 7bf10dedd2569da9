use super::*;
use dwar_memory::MemoryRequestLimiter;
use dwar_ratelimit::RequestScope;
use dwar_testkit::{Fixtures, START, minutes};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

const THREE: Quota = Quota { limit: 3, window: minutes(1) };

/// A limiter that can be taken away.
#[derive(Default)]
struct Shared {
    counts: MemoryRequestLimiter,
    away: AtomicBool,
    asked: AtomicUsize,
}

#[async_trait]
impl RequestLimiter for Shared {
    async fn hit(
        &self,
        key: RequestKey,
        quota: Quota,
        now: Timestamp,
    ) -> Result<Admission, StoreError> {
        self.asked.fetch_add(1, Ordering::Relaxed);
        let away = self.away.load(Ordering::Relaxed);
        // An answer under way is worth what it was when the request was made.
        tokio::time::sleep(Duration::from_millis(10)).await;
        if away {
            return Err(StoreError::Unavailable("away".to_owned()));
        }
        self.counts.hit(key, quota, now).await
    }

    async fn sweep(&self, now: Timestamp) -> Result<(), StoreError> {
        self.counts.sweep(now).await
    }
}

struct World {
    shared: Arc<Shared>,
    own: Arc<MemoryRequestLimiter>,
    limiter: FallbackRequestLimiter,
    key: RequestKey,
}

impl World {
    fn new() -> Self {
        let (shared, own) = (Arc::<Shared>::default(), Arc::<MemoryRequestLimiter>::default());
        let limiter = FallbackRequestLimiter::new(shared.clone(), own.clone());
        let key = RequestKey { key: Fixtures::random().id(), scope: RequestScope::General };
        Self { shared, own, limiter, key }
    }

    fn away(&self, away: bool) {
        self.shared.away.store(away, Ordering::Relaxed);
    }

    fn asked(&self) -> usize {
        self.shared.asked.swap(0, Ordering::Relaxed)
    }

    async fn admits(&self) -> bool {
        self.limiter.hit(self.key, THREE, START).await.unwrap().admitted
    }
}

#[tokio::test(start_paused = true)]
async fn what_was_admitted_together_counts_when_it_is_alone() {
    let world = World::new();
    assert!(world.admits().await && world.admits().await);
    world.away(true);
    assert!(world.admits().await);
    assert!(!world.admits().await);
    // Coming back it goes by the shared count, which has one place left.
    world.away(false);
    tokio::time::advance(PAUSE).await;
    assert!(world.admits().await);
    assert!(!world.admits().await);
}

#[tokio::test(start_paused = true)]
async fn what_the_shared_limiter_refuses_is_counted_nowhere() {
    let world = World::new();
    let other_instance = &world.shared.counts;
    for _ in 0..3 {
        assert!(other_instance.hit(world.key, THREE, START).await.unwrap().admitted);
    }
    assert!(!world.admits().await);
    let own = world.own.hit(world.key, THREE, START).await.unwrap();
    assert_eq!(own.remaining, 2);
}

#[tokio::test(start_paused = true)]
async fn during_a_pause_nobody_asks_and_after_it_one_does() {
    let world = World::new();
    world.away(true);
    world.admits().await;
    assert_eq!(world.asked(), 1);
    for _ in 0..5 {
        world.admits().await;
    }
    assert_eq!(world.asked(), 0);
    tokio::time::advance(PAUSE).await;
    tokio::join!(world.admits(), world.admits(), world.admits());
    assert_eq!(world.asked(), 1);
    world.away(false);
    tokio::time::advance(PAUSE).await;
    world.admits().await;
    tokio::join!(world.admits(), world.admits());
    assert_eq!(world.asked(), 3);
}

#[tokio::test(start_paused = true)]
async fn an_answer_that_was_under_way_does_not_end_the_pause() {
    let world = World::new();
    world.away(true);
    let fails = world.admits();
    let succeeds_later = async {
        tokio::time::sleep(Duration::from_millis(5)).await;
        world.away(false);
        world.admits().await
    };
    tokio::join!(fails, succeeds_later);
    assert_eq!(world.asked(), 2);
    world.admits().await;
    assert_eq!(world.asked(), 0);
}

#[tokio::test(start_paused = true)]
async fn a_probe_that_is_given_up_leaves_room_for_the_next() {
    let world = World::new();
    world.away(true);
    world.admits().await;
    world.away(false);
    tokio::time::advance(PAUSE).await;
    let hung_up = tokio::time::timeout(Duration::from_millis(1), world.admits()).await;
    assert!(hung_up.is_err());
    tokio::time::advance(PAUSE).await;
    world.asked();
    world.admits().await;
    world.admits().await;
    assert_eq!(world.asked(), 2);
}
