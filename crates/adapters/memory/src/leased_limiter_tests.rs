use super::*;
use crate::MemoryQuotaLeases;
use dwar_ratelimit::RequestScope;
use dwar_testkit::{Fixtures, START, race, seconds};
use std::sync::atomic::{AtomicBool, AtomicUsize};
use std::time::Duration;

const QUOTA: Quota = Quota { limit: 160, window: seconds(60) };
const BLOCK: usize = 10;

/// A slow lease store whose shares can be withdrawn.
#[derive(Default)]
struct Far {
    shares: MemoryQuotaLeases,
    away: AtomicBool,
    asked: AtomicUsize,
}

#[async_trait]
impl QuotaLeases for Far {
    async fn exchange(
        &self,
        requests: Vec<(RequestKey, LeaseRequest)>,
    ) -> Result<Vec<Option<Grant>>, StoreError> {
        self.asked.fetch_add(1, Ordering::Relaxed);
        tokio::time::sleep(Duration::from_millis(5)).await;
        if self.away.load(Ordering::Relaxed) {
            return Err(StoreError::Unavailable("away".to_owned()));
        }
        self.shares.exchange(requests).await
    }

    async fn sweep_shares(&self) -> Result<u64, StoreError> {
        self.shares.sweep_shares().await
    }
}

struct World {
    far: Arc<Far>,
    limiter: Arc<LeasedRequestLimiter>,
    key: RequestKey,
}

impl World {
    fn new() -> Self {
        let (far, make) = (Arc::<Far>::default(), Fixtures::random());
        let limiter = Arc::new(LeasedRequestLimiter::new(far.clone(), make.id()));
        let key = RequestKey { key: make.id(), scope: RequestScope::Validate };
        Self { far, limiter, key }
    }

    fn away(&self, away: bool) {
        self.far.away.store(away, Ordering::Relaxed);
    }

    fn asked(&self) -> usize {
        self.far.asked.swap(0, Ordering::Relaxed)
    }

    async fn hit(&self, now: Timestamp) -> Result<Admission, StoreError> {
        self.limiter.hit(self.key, QUOTA, now).await
    }

    /// How many of this many concurrent hits were admitted, and how many failed.
    async fn crowd(&self, count: usize) -> (usize, usize) {
        let answers = race(count, |_| {
            let (limiter, key) = (Arc::clone(&self.limiter), self.key);
            async move { limiter.hit(key, QUOTA, START).await }
        })
        .await;
        let admitted = answers.iter().flatten().filter(|it| it.admitted).count();
        (admitted, answers.iter().filter(|it| it.is_err()).count())
    }

    async fn settle(&self) {
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

#[tokio::test(start_paused = true)]
async fn of_many_who_find_no_place_one_asks() {
    let world = World::new();
    assert_eq!(world.crowd(BLOCK).await, (BLOCK, 0));
    world.settle().await;
    // The first block, and the request made when half of it was used.
    assert_eq!(world.asked(), 2);
    assert_eq!(world.crowd(500).await, (160 - BLOCK, 0));
    world.settle().await;
    assert!(world.asked() <= 2 * 16, "a trip per block at most, and one ahead of it");
    // Alone with the whole quota, the limiter has nothing to ask for.
    assert_eq!((world.crowd(500).await, world.asked()), ((0, 0), 0));
}

#[tokio::test(start_paused = true)]
async fn places_are_there_before_they_are_needed() {
    let world = World::new();
    world.hit(START).await.unwrap();
    world.asked();
    let began = Instant::now();
    for _ in 1..160 {
        let before = Instant::now();
        assert!(world.hit(START).await.unwrap().admitted);
        assert_eq!(before.elapsed(), Duration::ZERO, "a request waited");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    assert!(began.elapsed() < Duration::from_secs(2));
    assert!((15..=32).contains(&world.asked()));
}

#[tokio::test(start_paused = true)]
async fn without_an_answer_what_is_held_is_used_and_nothing_beyond_it() {
    let world = World::new();
    assert!(world.hit(START).await.unwrap().admitted);
    world.away(true);
    let began = Instant::now();
    assert_eq!(world.crowd(200).await, (BLOCK - 1, 201 - BLOCK));
    // All wait for one answer, not one after another.
    assert!(began.elapsed() < Duration::from_millis(30), "{:?}", began.elapsed());
    assert!(matches!(world.hit(START).await, Err(StoreError::Unavailable(_))));
    world.away(false);
    assert_eq!(world.crowd(500).await, (160 - BLOCK, 0));
}

#[tokio::test(start_paused = true)]
async fn an_outage_longer_than_the_lease_admits_nothing_and_is_over_by_itself() {
    let world = World::new();
    assert!(world.hit(START).await.unwrap().admitted);
    world.away(true);
    assert!(world.limiter.renew_leases(START + LEASE / 2).await.is_err());
    assert!(world.hit(START + LEASE - Duration::from_millis(1)).await.unwrap().admitted);
    assert!(world.hit(START + LEASE).await.is_err());
    world.away(false);
    assert_eq!(world.hit(START + LEASE).await.unwrap().remaining, 157);
}

/// A process that was suspended, or whose clock was set back.
#[tokio::test(start_paused = true)]
async fn a_share_ends_by_the_steady_clock_too() {
    let world = World::new();
    assert!(world.hit(START).await.unwrap().admitted);
    world.away(true);
    tokio::time::advance(LEASE - Duration::from_millis(20)).await;
    assert!(world.hit(START).await.unwrap().admitted);
    tokio::time::advance(Duration::from_millis(20)).await;
    assert!(world.hit(START - LEASE).await.is_err());
}

#[tokio::test(start_paused = true)]
async fn a_caller_who_hangs_up_leaves_room_for_the_next() {
    let world = World::new();
    let hung_up = tokio::time::timeout(Duration::from_millis(1), world.hit(START)).await;
    assert!(hung_up.is_err());
    assert!(world.hit(START).await.unwrap().admitted);
}

#[tokio::test(start_paused = true)]
async fn what_is_used_is_renewed_with_one_call_and_idle_keys_cost_nothing() {
    let world = World::new();
    let keys: Vec<RequestKey> =
        (0..100).map(|_| RequestKey { key: Fixtures::random().id(), ..world.key }).collect();
    for key in &keys {
        world.limiter.hit(*key, QUOTA, START).await.unwrap();
    }
    world.asked();
    world.limiter.renew_leases(START + LEASE / 2 - Duration::from_millis(1)).await.unwrap();
    assert_eq!(world.asked(), 0);
    for key in &keys {
        assert!(world.limiter.hit(*key, QUOTA, START + LEASE / 2).await.unwrap().admitted);
    }
    world.limiter.renew_leases(START + LEASE / 2).await.unwrap();
    assert_eq!(world.asked(), 1);
    // No more requests arrive: the share is returned once.
    for second in 6..60 {
        world.limiter.renew_leases(START + seconds(second)).await.unwrap();
    }
    assert_eq!(world.asked(), 1);
    world.far.shares.pass(seconds(70));
    world.limiter.sweep(START + seconds(70)).await.unwrap();
    assert_eq!((world.limiter.keys.len(), world.far.shares.keys()), (0, 0));
}
