//! Promises of [`dwar_ratelimit::QuotaLeases`], and of limiters that share quotas through it. Every function
//! uses keys of its own.

use super::{CROWD, count};
use crate::{Fixtures, START, race, seconds};
use dwar_kernel::{InstanceId, Timestamp};
use dwar_ratelimit::{
    Grant, LeaseRequest, Quota, QuotaLeases, RequestKey, RequestLimiter, RequestScope,
};
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

const QUOTA: Quota = Quota { limit: 320, window: seconds(60) };
/// Places of [`QUOTA`] that each instance may leave unused while others are refused.
const BLOCK: usize = 20;
const LASTS: Duration = seconds(10);

type Passing = Pin<Box<dyn Future<Output = ()> + Send>>;
type Limiter = Arc<dyn RequestLimiter>;

#[derive(Clone)]
pub struct Leases {
    pub store: Arc<dyn QuotaLeases>,
    /// Advances the clock of the store, or makes all its records older by this.
    pub pass: Arc<dyn Fn(Duration) -> Passing + Send + Sync>,
    /// A limiter of a new instance that uses these shares.
    pub instance: Arc<dyn Fn() -> Limiter + Send + Sync>,
}

impl Leases {
    async fn ask(&self, key: RequestKey, lease_request: &LeaseRequest) -> Option<Grant> {
        self.store.exchange(vec![(key, lease_request.clone())]).await.unwrap()[0]
    }

    async fn places(&self, key: RequestKey, lease_request: &LeaseRequest) -> (u32, u32) {
        let grant = self.ask(key, lease_request).await.unwrap();
        (grant.places, grant.others)
    }

    async fn pass(&self, time: Duration) {
        (self.pass)(time).await;
    }

    fn instances(&self) -> [Limiter; 3] {
        [(); 3].map(|()| (self.instance)())
    }
}

fn fresh_key() -> RequestKey {
    RequestKey { key: Fixtures::random().id(), scope: RequestScope::Validate }
}

fn holder() -> InstanceId {
    Fixtures::random().id()
}

fn lease_request(spare: u32) -> LeaseRequest {
    let (holder, number, uses) = (holder(), 1, Vec::new());
    LeaseRequest { holder, number, quota: QUOTA, uses, hold: 0, spare, lasts: LASTS }
}

async fn admitted(limiter: &Limiter, key: RequestKey, quota: Quota, now: Timestamp) -> usize {
    let mut admitted = 0;
    for _ in 0..=quota.limit {
        admitted += usize::from(limiter.hit(key, quota, now).await.unwrap().admitted);
    }
    admitted
}

/// Only shares on record for the same key and scope limit a grant.
pub async fn what_others_leave_is_granted(leases: &Leases) {
    let (key, first, second) = (fresh_key(), lease_request(200), lease_request(200));
    assert_eq!(leases.places(key, &first).await, (200, 0));
    assert_eq!(leases.places(key, &second).await, (120, 200));
    assert_eq!(leases.places(key, &lease_request(1)).await, (0, 320));
    for other in [fresh_key(), RequestKey { scope: RequestScope::Send, ..key }] {
        assert_eq!(leases.places(other, &lease_request(400)).await, (320, 0));
    }
    let less = LeaseRequest { number: 2, ..lease_request(50) };
    assert_eq!(leases.places(key, &LeaseRequest { holder: first.holder, ..less }).await, (50, 120));
    assert_eq!(leases.places(key, &lease_request(400)).await, (150, 170));
}

/// One call requests many keys, each separately, and the answers are in the same order.
pub async fn wishes_are_answered_in_their_order(leases: &Leases) {
    let keys: Vec<_> = (0..50).map(|_| fresh_key()).collect();
    let requests = |spare: u32| keys.iter().copied().zip((spare..).map(lease_request)).collect();
    let places = |grants: Vec<Option<Grant>>| -> Vec<u32> {
        grants.into_iter().map(|grant| grant.unwrap().places).collect()
    };
    let granted = places(leases.store.exchange(requests(100)).await.unwrap());
    assert_eq!(granted, (100..150).collect::<Vec<_>>());
    let granted = places(leases.store.exchange(requests(200)).await.unwrap());
    let left = (100..150).zip(200..).map(|(first, wanted): (u32, u32)| wanted.min(320 - first));
    assert_eq!(granted, left.collect::<Vec<_>>());
    assert_eq!(leases.store.exchange(Vec::new()).await.unwrap(), []);
}

/// No place is granted to two of the instances that ask concurrently.
pub async fn exchanges_at_once_grant_every_place_once(leases: &Leases) {
    for _ in 0..4 {
        let key = fresh_key();
        let grants = race(40, |_| {
            let (leases, mut lease_request) = (leases.clone(), lease_request(15));
            async move {
                let mut held = 0;
                for number in 1..4 {
                    let used = vec![held];
                    lease_request =
                        LeaseRequest { number, hold: held, uses: used, ..lease_request };
                    held = leases.ask(key, &lease_request).await.unwrap().places;
                }
                held
            }
        })
        .await;
        assert_eq!(grants.iter().sum::<u32>(), QUOTA.limit, "{grants:?}");
        assert_eq!(leases.places(key, &lease_request(1)).await, (0, 320));
    }
}

/// A share counts in full while it is in force; after that, admissions known to have left the window no
/// longer count, and one window after its end nothing does.
pub async fn a_share_that_ended_counts_for_one_window(leases: &Leases) {
    let (key, mut uses) = (fresh_key(), vec![0; 30]);
    (uses[0], uses[10]) = (30, 70);
    let share = LeaseRequest { uses, hold: 100, ..lease_request(50) };
    assert_eq!(leases.places(key, &share).await, (150, 0));
    let mut others = Vec::new();
    for pause in [9, 25, 10, 14, 4, 9] {
        leases.pass(seconds(pause)).await;
        others.push(leases.places(key, &lease_request(0)).await.1);
    }
    assert_eq!(others, [150, 150, 80, 80, 50, 0]);
}

/// A request that arrives after a newer one changes nothing; a repeated request counts once.
pub async fn an_older_wish_changes_nothing(leases: &Leases) {
    let (key, first) = (fresh_key(), lease_request(100));
    let second = LeaseRequest { number: 2, spare: 200, ..first.clone() };
    assert_eq!(leases.places(key, &second).await, (200, 0));
    assert_eq!(leases.ask(key, &first).await, None);
    assert_eq!(leases.places(key, &second).await, (200, 0));
    assert_eq!(leases.places(key, &lease_request(0)).await, (0, 200));
    // It does not affect other requests of the same call.
    let (other, requests) =
        (fresh_key(), |other| vec![(key, first.clone()), (other, lease_request(7))]);
    let grants = leases.store.exchange(requests(other)).await.unwrap();
    assert_eq!(grants.iter().map(|it| it.map(|it| it.places)).collect::<Vec<_>>(), [None, Some(7)]);
}

/// A sweep deletes only shares that no longer count.
pub async fn a_sweep_drops_what_counts_no_more(leases: &Leases) {
    let [old, young] = [(); 2].map(|()| fresh_key());
    leases.places(old, &lease_request(10)).await;
    leases.pass(seconds(30)).await;
    leases.places(young, &lease_request(10)).await;
    leases.pass(seconds(39)).await;
    leases.store.sweep_shares().await.unwrap();
    assert_eq!(leases.places(old, &lease_request(0)).await, (0, 10));
    assert_eq!(leases.places(young, &lease_request(0)).await, (0, 10));
    leases.pass(seconds(2)).await;
    leases.store.sweep_shares().await.unwrap();
    assert_eq!(leases.places(young, &lease_request(0)).await, (0, 10));
    assert_eq!(leases.places(old, &lease_request(400)).await, (320, 0));
}

/// Three limiters, each hit by many concurrent requests, together admit exactly the quota.
pub async fn several_together_admit_the_quota(leases: &Leases) {
    for _ in 0..3 {
        let (key, instances) = (fresh_key(), leases.instances());
        let answers = race(3 * CROWD, |number| {
            let limiter = Arc::clone(&instances[number % 3]);
            async move { limiter.hit(key, QUOTA, START).await.unwrap().admitted }
        })
        .await;
        let mut total = count(&answers, |admitted| *admitted);
        assert!((320 - 3 * BLOCK..=320).contains(&total), "{total}");
        // Unused places of an instance's block stay reserved for it.
        for instance in &instances {
            total += admitted(instance, key, QUOTA, START + seconds(1)).await;
        }
        assert_eq!(total, 320);
        assert!(instances[0].hit(fresh_key(), QUOTA, START).await.unwrap().admitted);
    }
}

/// With requests one after another, a refusal comes early by at most one block per other instance.
pub async fn a_refusal_comes_early_by_a_block_at_most(leases: &Leases) {
    let (key, [one, other, third]) = (fresh_key(), leases.instances());
    for limiter in [&one, &other] {
        assert!(limiter.hit(key, QUOTA, START).await.unwrap().admitted);
    }
    let all = admitted(&third, key, QUOTA, START).await;
    assert_eq!(all, 320 - 2 * BLOCK);
    let refused = third.hit(key, QUOTA, START).await.unwrap();
    assert_eq!((refused.admitted, refused.limit, refused.remaining), (false, 320, 0));
    assert!(refused.reset > Duration::ZERO && refused.reset <= QUOTA.window);
    assert_eq!(admitted(&one, key, QUOTA, START).await, BLOCK - 1);
    assert_eq!(admitted(&other, key, QUOTA, START).await, BLOCK - 1);
}

/// The places of a dead instance come back, unused ones too.
pub async fn the_places_of_the_dead_come_back(leases: &Leases) {
    let (key, [dead, living, _]) = (fresh_key(), leases.instances());
    assert_eq!(admitted(&dead, key, QUOTA, START).await, 320);
    drop(dead);
    assert_eq!(admitted(&living, key, QUOTA, START).await, 0);
    // Nothing of it counts after its lease and one more window.
    leases.pass(seconds(71)).await;
    assert_eq!(admitted(&living, key, QUOTA, START + seconds(71)).await, 320);
}

/// An instance that leaves returns its unused places; used ones count until they leave the window.
pub async fn whoever_leaves_gives_back_what_is_not_used(leases: &Leases) {
    let (key, [leaving, staying, _]) = (fresh_key(), leases.instances());
    for _ in 0..30 {
        assert!(leaving.hit(key, QUOTA, START).await.unwrap().admitted);
    }
    leaving.leave(START + seconds(1)).await.unwrap();
    assert_eq!(admitted(&staying, key, QUOTA, START + seconds(1)).await, 290);
    leases.pass(seconds(30)).await;
    assert_eq!(admitted(&staying, key, QUOTA, START + seconds(31)).await, 0);
    leases.pass(seconds(30)).await;
    assert_eq!(admitted(&staying, key, QUOTA, START + seconds(60)).await, 30);
}

/// An instance that was suspended for longer than its lease does not use its old share.
pub async fn whoever_sleeps_past_its_lease_asks_anew(leases: &Leases) {
    let (key, [sleeper, awake, _]) = (fresh_key(), leases.instances());
    assert!(sleeper.hit(key, QUOTA, START).await.unwrap().admitted);
    assert_eq!(admitted(&awake, key, QUOTA, START).await, 320 - BLOCK);
    for time in 1..15 {
        leases.pass(seconds(5)).await;
        awake.hit(key, QUOTA, START + seconds(5 * time)).await.unwrap();
        awake.renew_leases(START + seconds(5 * time)).await.unwrap();
    }
    // Its block came back and was used.
    let now = START + seconds(75);
    leases.pass(seconds(5)).await;
    let before = awake.hit(key, QUOTA, now).await.unwrap();
    assert_eq!(admitted(&awake, key, QUOTA, now).await, before.remaining as usize);
    assert_eq!(before.remaining, 320 - 4);
    assert_eq!(admitted(&sleeper, key, QUOTA, now).await, 0);
}

/// Instances that are reconfigured one after the other soon apply the narrower quota.
pub async fn a_changed_quota_holds_with_the_next_wish(leases: &Leases) {
    let (key, [old, new, _]) = (fresh_key(), leases.instances());
    let narrow = Quota { limit: 160, ..QUOTA };
    for _ in 0..100 {
        assert!(old.hit(key, QUOTA, START).await.unwrap().admitted);
    }
    let admitted_by_new = admitted(&new, key, narrow, START).await;
    assert!((160 - 100 - BLOCK..=60).contains(&admitted_by_new), "{admitted_by_new}");
    let wide = admitted(&new, key, QUOTA, START + seconds(1)).await + admitted_by_new;
    assert!((320 - 100 - BLOCK..=220).contains(&wide), "{wide}");
}

/// A share is renewed as long as it is used, and returned when it is not.
pub async fn tending_keeps_what_is_used_alone(leases: &Leases) {
    let (key, [one, other, _]) = (fresh_key(), leases.instances());
    for second in 0..30 {
        let now = START + seconds(second);
        assert!(one.hit(key, QUOTA, now).await.unwrap().admitted);
        one.renew_leases(now).await.unwrap();
        leases.pass(seconds(1)).await;
    }
    let second = |second| START + seconds(second);
    let first = admitted(&other, key, QUOTA, second(30)).await;
    assert!((320 - 30 - BLOCK..=290).contains(&first), "{first}");
    // The first instance gets no requests any more.
    for now in 30..40 {
        one.renew_leases(second(now)).await.unwrap();
        leases.pass(seconds(1)).await;
    }
    assert_eq!(admitted(&other, key, QUOTA, second(40)).await, 290 - first);
}
