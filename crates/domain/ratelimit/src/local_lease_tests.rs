//! Compares one instance with the plain window, and several instances with a plain log of all admissions.

use super::*;
use crate::QuotaShares;
use proptest::collection::vec;
use proptest::prelude::*;
use uuid::Uuid;

const START: i64 = 1_800_000_000_000;

fn instant(millis: i64) -> Timestamp {
    Timestamp::from_timestamp_millis(START + millis).unwrap()
}

/// An instance, and how many milliseconds its clock is ahead of that of the shares.
#[derive(Clone, Debug)]
struct Instance {
    holder: InstanceId,
    local_lease: LocalLease,
    ahead: i64,
    number: u64,
    /// A request in flight, with its grant once it has one.
    flight: Option<(LeaseRequest, Timestamp, Option<Grant>)>,
}

impl Instance {
    fn new(number: u128, ahead: i64) -> Self {
        let holder = Uuid::from_u128(number).into();
        let local_lease = LocalLease::default();
        Self { holder, local_lease, ahead, number: 0, flight: None }
    }

    fn now(&self, time: i64) -> Timestamp {
        instant(time + self.ahead)
    }

    fn begin(&mut self, time: i64, spare: bool) {
        if self.flight.is_none() {
            self.number += 1;
            let now = self.now(time);
            let asking = RenewalRequest { holder: self.holder, number: self.number, now };
            self.flight = Some((self.local_lease.lease_request(asking, spare), now, None));
        }
    }

    fn finish(&mut self) {
        match self.flight.take() {
            Some((lease_request, asked_at, Some(grant))) => {
                self.local_lease.granted(&lease_request, asked_at, grant)
            }
            unanswered => self.flight = unanswered,
        }
    }
}

/// The whole simulation: instances, stored shares, and a log of admissions.
struct World {
    time: i64,
    quota: Quota,
    instances: Vec<Instance>,
    shares: QuotaShares,
    /// Requests that no instance waits for any more, and that may still arrive.
    strays: Vec<LeaseRequest>,
    log: Vec<i64>,
    born: u128,
}

#[derive(Clone, Copy, Debug)]
enum Move {
    Pass(i64),
    Hit(usize, u8),
    /// The same number of requests, waiting for places if necessary.
    Use(usize, u8),
    Tend(usize),
    Arrive(usize),
    Answer(usize),
    GiveUp(usize),
    Stray(usize),
    Die(usize),
    Leave(usize),
}

impl World {
    fn new(quota: Quota, clocks: &[i64]) -> Self {
        let instances = (1..).zip(clocks).map(|(id, ahead)| Instance::new(id, *ahead)).collect();
        Self {
            time: 0,
            quota,
            instances,
            shares: QuotaShares::default(),
            strays: Vec::new(),
            log: Vec::new(),
            born: 100,
        }
    }

    fn go(&mut self, step: Move) {
        let (time, count) = (self.time, self.instances.len());
        let now = instant(time);
        match step {
            Move::Pass(millis) => self.time += millis,
            Move::Hit(who, times) => (0..times).for_each(|_| self.hit(who % count)),
            Move::Use(who, times) => {
                for _ in 0..times {
                    self.go(Move::Arrive(who));
                    self.go(Move::Answer(who));
                    self.hit(who % count);
                }
            }
            Move::Tend(who) => {
                let one = &mut self.instances[who % count];
                if let Some(spare) =
                    one.local_lease.due(one.now(time)).filter(|_| one.flight.is_none())
                {
                    one.begin(time, spare);
                }
            }
            Move::Arrive(who) => {
                if let Some((lease_request, _, grant)) = &mut self.instances[who % count].flight {
                    *grant = grant.or_else(|| self.shares.exchange(lease_request, now));
                }
            }
            Move::Answer(who) => self.instances[who % count].finish(),
            Move::GiveUp(who) => {
                let flight = self.instances[who % count].flight.take();
                self.strays.extend(flight.map(|(lease_request, ..)| lease_request));
            }
            Move::Stray(number) if !self.strays.is_empty() => {
                let lease_request = self.strays.remove(number % self.strays.len());
                self.shares.exchange(&lease_request, now);
            }
            Move::Stray(_) => {}
            Move::Die(who) => {
                self.born += 1;
                let Instance { ahead, .. } = self.instances[who % count];
                self.strays.extend(self.instances[who % count].flight.take().map(|it| it.0));
                self.instances[who % count] = Instance::new(self.born, ahead);
            }
            Move::Leave(who) => {
                self.instances[who % count].begin(time, false);
                self.go(Move::Arrive(who));
                self.go(Move::Answer(who));
            }
        }
    }

    fn hit(&mut self, who: usize) {
        let (time, quota, one) = (self.time, self.quota, &mut self.instances[who]);
        match one.local_lease.hit(quota, one.now(time)) {
            LeaseDecision::Admitted { .. } => self.admitted(),
            LeaseDecision::Refused(_) => {}
            LeaseDecision::Ask => one.begin(time, true),
        }
    }

    fn admitted(&mut self) {
        let window = i64::try_from(self.quota.window.as_millis()).unwrap();
        self.log.push(self.time);
        let taken = self.log.iter().filter(|at| self.time < **at + window).count();
        let limit = usize::try_from(self.quota.limit).unwrap();
        assert!(taken <= limit, "{taken} of {limit} at {}", self.time);
    }
}

fn moves() -> impl Strategy<Value = Move> {
    let who = 0..3_usize;
    prop_oneof![
        3 => (1..3_000_i64).prop_map(Move::Pass),
        1 => (3_000..30_000_i64).prop_map(Move::Pass),
        8 => (who.clone(), 1..12_u8).prop_map(|(who, times)| Move::Hit(who, times)),
        4 => (who.clone(), 1..20_u8).prop_map(|(who, times)| Move::Use(who, times)),
        3 => who.clone().prop_map(Move::Tend),
        8 => who.clone().prop_map(Move::Arrive),
        8 => who.clone().prop_map(Move::Answer),
        1 => who.clone().prop_map(Move::GiveUp),
        1 => who.clone().prop_map(Move::Stray),
        1 => who.clone().prop_map(Move::Die),
        1 => who.prop_map(Move::Leave),
    ]
}

fn quotas() -> impl Strategy<Value = Quota> {
    let windows = prop_oneof![Just(60_000), Just(7_000), 1_000..20_000_u64];
    (0..60_u32, windows)
        .prop_map(|(limit, window)| Quota { limit, window: Duration::from_millis(window) })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1_000, ..ProptestConfig::default() })]

    /// Whichever instance dies, is suspended or misses an answer, and whatever the clocks show.
    #[test]
    fn several_never_admit_more_than_the_quota(
        quota in quotas(),
        clocks in vec(-90_000..90_000_i64, 3),
        steps in vec(moves(), 1..250),
    ) {
        let mut world = World::new(quota, &clocks);
        steps.into_iter().for_each(|step| world.go(step));
    }

    /// One instance is as exact as the plain window, whatever its clock does.
    #[test]
    fn whoever_is_alone_admits_as_the_window_does(
        limits in vec(0..40_u32, 1..4),
        steps in vec((0..12_u8, 0..30_000_i64), 1..200),
    ) {
        let (mut one, mut shares, mut plain) =
            (Instance::new(1, 0), QuotaShares::default(), Window::default());
        let (mut time, mut kept) = (0, 0);
        for (turn, (kind, millis)) in steps.into_iter().enumerate() {
            // By the clock of the shares time passes evenly.
            kept += 50;
            time += match kind {
                0 => -millis,
                1 => millis,
                _ => millis / 100,
            };
            let quota = Quota { limit: limits[turn % limits.len()], window: Duration::from_secs(10) };
            let answer = loop {
                match one.local_lease.hit(quota, instant(time)) {
                    LeaseDecision::Admitted { admission, .. } | LeaseDecision::Refused(admission) => break admission,
                    LeaseDecision::Ask => one.begin(time, true),
                }
                let (lease_request, ..) = one.flight.clone().unwrap();
                let grant = shares.exchange(&lease_request, instant(kept));
                one.flight.as_mut().unwrap().2 = grant;
                one.finish();
            };
            prop_assert_eq!(answer, plain.hit(quota, instant(time)));
            if let Some(spare) = one.local_lease.due(instant(time)) {
                one.begin(time, spare);
                one.flight.as_mut().unwrap().2 =
                    shares.exchange(&one.flight.clone().unwrap().0, instant(kept));
                one.finish();
            }
        }
    }
}

const HUNDRED: Quota = Quota { limit: 100, window: Duration::from_secs(60) };

impl World {
    fn plain() -> Self {
        Self::new(HUNDRED, &[0, 0, 0])
    }

    fn ask(&mut self, who: usize) {
        self.go(Move::Hit(who, 1));
        self.go(Move::Arrive(who));
        self.go(Move::Answer(who));
    }

    fn renew_leases(&mut self, who: usize) {
        self.go(Move::Tend(who));
        self.go(Move::Arrive(who));
        self.go(Move::Answer(who));
    }

    /// Hits one instance until it refuses; returns how many were admitted.
    fn drain(&mut self, who: usize) -> usize {
        let before = self.log.len();
        for _ in 0..250 {
            self.ask(who);
        }
        self.log.len() - before
    }
}

#[test]
fn a_refusal_comes_early_by_at_most_one_block_for_each_other_instance() {
    let mut world = World::plain();
    for who in [0, 1] {
        world.ask(who);
        world.go(Move::Hit(who, 1));
    }
    // Each of the two has used one place of its first block.
    let block = usize::try_from(block(HUNDRED)).unwrap();
    assert_eq!(world.drain(2), 100 - 2 * block);
    assert_eq!(world.drain(0) + world.drain(1), 2 * block - 2);
}

#[test]
fn what_nobody_uses_any_more_comes_back_within_a_tending() {
    let mut world = World::plain();
    assert_eq!((world.drain(0), world.drain(1)), (100, 0));
    // The places of the first become free, and no request needs one.
    world.time += 60_000;
    world.renew_leases(0);
    let block = usize::try_from(block(HUNDRED)).unwrap();
    assert_eq!(world.drain(1), 100 - block);
    world.time += i64::try_from(LEASE.as_millis()).unwrap() / 2;
    world.renew_leases(0);
    assert_eq!(world.drain(1), block);
}

#[test]
fn a_share_that_ended_is_not_used() {
    let mut world = World::plain();
    world.ask(0);
    let lease = i64::try_from(LEASE.as_millis()).unwrap();
    world.time += lease - 1;
    assert!(matches!(
        world.instances[0].local_lease.hit(HUNDRED, instant(lease - 1)),
        LeaseDecision::Admitted { .. }
    ));
    world.time += 1;
    assert_eq!(world.instances[0].local_lease.hit(HUNDRED, instant(lease)), LeaseDecision::Ask);
}

#[test]
fn what_is_not_needed_is_not_used_from_the_wish_on() {
    let mut world = World::plain();
    assert_eq!(world.drain(0), 100);
    // The share is renewed a second before these places become free.
    world.time = 59_000;
    world.ask(0);
    world.time = 60_000;
    let asking =
        RenewalRequest { holder: world.instances[0].holder, number: 999, now: instant(60_000) };
    let local_lease = &mut world.instances[0].local_lease;
    assert!(matches!(local_lease.hit(HUNDRED, instant(59_999)), LeaseDecision::Refused(_)));
    local_lease.lease = Some(Lease { places: 100, asked_at: instant(59_000) });
    assert_eq!(local_lease.lease_request(asking, true).hold, block(HUNDRED));
    let admitted = (0..100).filter(|_| {
        matches!(local_lease.hit(HUNDRED, instant(60_000)), LeaseDecision::Admitted { .. })
    });
    assert_eq!(admitted.count(), 6);
}

#[test]
fn places_are_asked_for_before_there_are_none() {
    let mut world = World::plain();
    world.ask(0);
    let low = |world: &mut World| {
        let step = world.instances[0].local_lease.hit(HUNDRED, instant(0));
        matches!(step, LeaseDecision::Admitted { low: true, .. })
    };
    assert_eq!([(); 6].map(|()| low(&mut world)), [false, false, true, true, true, true]);
}
