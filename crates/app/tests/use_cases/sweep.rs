use crate::common::{FREE, World, accepted, broken, charged, down};
use dwar_app::{ClockWatch, Retention, Sweep, SweepResult};
use dwar_event::{FeedBound, MockCallLog, MockEventFeed};
use dwar_kernel::KeyMode;
use dwar_otp::idempotency::MockIdempotencyStore;
use dwar_otp::{
    AttemptStatus, Channel, Delivery, DeliveryStatus, MockRefusalStore, MockTestQuotaStore, Otp,
    Reason, RefusedSends, Report, TestQuota,
};
use dwar_ratelimit::{MockGuardStore, MockRequestLimiter};
use dwar_testkit::{FixedClock, Fixtures, MS, START, minutes, seconds};
use dwar_wallet::{OpenHold, Paise, Settlement};
use mockall::predicate::eq;
use std::mem::take;
use std::sync::Arc;

const KEEP: Retention = Retention {
    requests: minutes(1),
    guesses: minutes(2),
    sessions: minutes(3),
    sends: minutes(4),
    idempotency: minutes(5),
    calls: minutes(10),
    feed: minutes(11),
    feed_bound: FeedBound { live: 9, test: 8 },
    holds: minutes(6),
    tests: Some(TestQuota { kept: 7, in_use: minutes(8) }),
};

fn sweep(world: &mut World) -> Sweep {
    Sweep {
        deliver: world.deliver(),
        sessions: Arc::new(take(&mut world.sessions)),
        requests: Arc::new(MockRequestLimiter::new()),
        idempotency: Arc::new(MockIdempotencyStore::new()),
        test_quota: Arc::new(MockTestQuotaStore::new()),
        calls: Arc::new(MockCallLog::new()),
        feed: Arc::new(MockEventFeed::new()),
        refusals: Arc::new(MockRefusalStore::new()),
        guard: Arc::new(MockGuardStore::new()),
        retention: KEEP,
    }
}

fn due(world: &mut World, otps: Vec<Otp>) {
    world
        .otps
        .expect_claim_due()
        .with(eq(START), eq(seconds(30)), eq(100))
        .times(1)
        .returning(move |_, _, _| Ok(otps.clone()));
    world.knows_project().applies_reports();
}

/// A world with one stale hold whose request has this delivery, or is gone.
fn stale(delivery: Option<Delivery>) -> World {
    let mut world = World::live();
    let mut otp = world.make.otp(&world.line);
    let (project, send) = (otp.project_mode.project, otp.id);
    let hold = OpenHold { project, send, relayed: false, amount: Paise(30), since: START };
    let holds = world.wallets.expect_stale_holds().with(eq(START - KEEP.holds), eq(None), eq(100));
    holds.times(1).returning(move |_, _, _| Ok(vec![hold]));
    let find = world.otps.expect_find().with(eq(project.in_mode(KeyMode::Live)), eq(send));
    find.returning(move |_, _| {
        Ok(delivery.clone().map(|delivery| {
            otp.delivery = delivery;
            otp.clone()
        }))
    });
    world.knows_project();
    world
}

async fn settle(world: &mut World) -> u64 {
    sweep(world).settle_stale_holds().await.unwrap()
}

#[tokio::test]
async fn a_message_without_its_receipt_goes_out_by_sms() {
    let mut world = World::live();
    let otp = world.sent_by_whatsapp();
    due(&mut world, vec![otp]);
    world.sms(accepted());
    assert_eq!(sweep(&mut world).follow_up().await.unwrap(), 1);
    assert_eq!((world.messages()[0].channel, world.ends()), (Channel::Sms, vec![charged(20)]));
}

#[tokio::test]
async fn a_call_that_was_lost_is_given_up_and_free() {
    let mut world = World::live();
    let otp = world.on_record();
    due(&mut world, vec![otp]);
    assert_eq!(sweep(&mut world).follow_up().await.unwrap(), 1);
    // It is unknown whether the phone got the message, so the place is kept.
    assert_eq!(world.ends(), [FREE]);
    let delivery = world.stored().delivery;
    assert_eq!(delivery.status, DeliveryStatus::Failed);
    assert_eq!(delivery.attempts[0].status, AttemptStatus::Failed);
    assert_eq!(delivery.attempts[0].reason, Some(Reason::Unknown));
}

#[tokio::test]
async fn more_than_a_batch_is_followed_up_at_once() {
    let mut world = World::live();
    let otp = world.sent_by_whatsapp();
    let mut batches = [100, 100, 3].into_iter();
    let claim = world.otps.expect_claim_due().times(3);
    claim.returning(move |_, _, limit| {
        let count = batches.next().unwrap();
        assert!(count <= limit);
        Ok(vec![otp.clone(); count as usize])
    });
    world.knows_project().applies_reports();
    world.sms(accepted());
    assert_eq!(sweep(&mut world).follow_up().await.unwrap(), 203);
}

#[tokio::test]
async fn a_lost_test_call_leaves_the_wallet_alone() {
    let mut world = World::test();
    let otp = world.on_record();
    due(&mut world, vec![otp]);
    assert_eq!(sweep(&mut world).follow_up().await.unwrap(), 1);
    assert_eq!((world.stored().delivery.status, world.ends()), (DeliveryStatus::Failed, vec![]));
}

#[tokio::test]
async fn a_receipt_that_comes_between_claim_and_report_opens_no_attempt_and_ends_nothing_again() {
    let mut world = World::live();
    let claimed = world.sent_by_whatsapp();
    due(&mut world, vec![claimed.clone()]);
    // The stored request has changed since the sweep claimed it.
    let (first, route) = (claimed.delivery.attempts[0].id, world.make.route());
    world.kept.lock().unwrap()[0].report(first, Report::Delivered, &route, first, START);
    assert_eq!(sweep(&mut world).follow_up().await.unwrap(), 1);
    assert_eq!((world.stored().delivery.attempts.len(), world.ends()), (1, vec![]));
    assert_eq!(world.stored().delivery.status, DeliveryStatus::Delivered);
}

#[tokio::test]
async fn every_request_that_is_due_is_followed_up() {
    let mut world = World::live();
    let otps = vec![world.on_record(), world.on_record(), world.on_record()];
    due(&mut world, otps);
    assert_eq!(sweep(&mut world).follow_up().await.unwrap(), 3);
    assert_eq!(world.ends(), [FREE; 3]);
    let kept = world.kept.lock().unwrap();
    assert!(kept.iter().all(|otp| otp.delivery.status == DeliveryStatus::Failed));
}

#[tokio::test]
async fn nothing_due_is_nothing_done() {
    let mut world = World::live();
    due(&mut world, vec![]);
    assert_eq!(sweep(&mut world).follow_up().await.unwrap(), 0);
}

#[tokio::test]
async fn a_request_of_a_project_that_is_gone_is_left() {
    let mut world = World::live();
    let otp = world.on_record();
    due(&mut world, vec![otp]);
    world.projects.checkpoint();
    world.projects.expect_find().times(1).returning(|_| Ok(None));
    assert!(sweep(&mut world).follow_up().await.is_ok());
    assert_eq!(world.stored().delivery.status, DeliveryStatus::Queued);
}

#[tokio::test]
async fn a_store_failure_ends_the_round() {
    let mut world = World::live();
    world.otps.expect_claim_due().returning(|_, _, _| Err(down()));
    assert!(sweep(&mut world).follow_up().await.is_err());
}

#[tokio::test]
async fn a_request_that_cannot_be_followed_up_holds_up_nobody() {
    let mut world = World::live();
    let otps = vec![world.on_record(), world.on_record(), world.on_record()];
    let project = world.caller.project.clone();
    due(&mut world, otps);
    world.projects.checkpoint();
    let mut answers = vec![Ok(Some(project.clone())), Err(broken()), Ok(Some(project))];
    world.projects.expect_find().times(3).returning(move |_| answers.pop().unwrap());
    assert_eq!(sweep(&mut world).follow_up().await.unwrap(), 2);
    assert_eq!(world.ends(), [FREE; 2]);
}

#[tokio::test]
async fn a_store_out_of_reach_holds_up_everybody() {
    let mut world = World::live();
    let otps = (0..40).map(|_| world.on_record()).collect();
    due(&mut world, otps);
    world.projects.checkpoint();
    // At most as many as run concurrently.
    world.projects.expect_find().times(1..=16).returning(|_| Err(down()));
    assert!(sweep(&mut world).follow_up().await.is_err());
}

/// Two stale holds; the store fails like this on the project of the first one.
fn two_stale(failure: fn() -> dwar_kernel::StoreError) -> World {
    let mut world = World::live();
    let [one, two] = [(); 2].map(|()| OpenHold {
        project: world.line.project_mode.project,
        send: world.make.id(),
        relayed: false,
        amount: Paise(30),
        since: START,
    });
    world.wallets.expect_stale_holds().returning(move |_, _, _| Ok(vec![one, two]));
    world.otps.expect_find().returning(|_, _| Ok(None));
    let mut answers = vec![Ok(Some(world.caller.project.clone())), Err(failure())];
    world.projects.expect_find().returning(move |_| answers.pop().unwrap());
    world
}

#[tokio::test]
async fn a_hold_that_cannot_be_settled_holds_up_nobody() {
    let mut world = two_stale(broken);
    world.settles(Settlement::Release);
    assert_eq!(settle(&mut world).await, 1);
}

#[tokio::test]
async fn more_holds_than_a_batch_are_settled_at_once_and_what_stays_hides_none() {
    let mut world = World::live();
    let (project, amount) = (world.line.project_mode.project, Paise(30));
    let hold = |n: u32| {
        let send = world.make.id_at(START + MS * n);
        OpenHold { project, send, relayed: false, amount, since: START }
    };
    // The first hundred belong to sends that are still under way.
    let all: Vec<OpenHold> = (0..203).map(hold).collect();
    let (under_way, mut otp) = (all[100].send, world.make.otp(&world.line));
    otp.delivery = told(None);
    world.wallets.expect_stale_holds().times(3).returning(move |_, after, limit| {
        let rest = all.iter().filter(|hold| after.is_none_or(|after| after < hold.send));
        Ok(rest.take(limit as usize).copied().collect())
    });
    let of = move |send| (send < under_way).then(|| otp.clone());
    world.otps.expect_find().returning(move |_, send| Ok(of(send)));
    world.knows_project();
    world.wallets.expect_settle().times(103).returning(|_, _, _, _, _| Ok(true));
    assert_eq!(settle(&mut world).await, 103);
}

#[tokio::test]
async fn a_store_out_of_reach_leaves_every_hold() {
    let sweep = sweep(&mut two_stale(down));
    assert!(sweep.settle_stale_holds().await.is_err());
}

/// State of a delivery without further hops after this report of its provider.
fn told(report: Option<Report>) -> Delivery {
    let make = Fixtures::seeded(5);
    let (route, first) = (make.route(), make.id());
    let mut delivery = Delivery::begin(&route, first, START);
    if let Some(report) = report {
        delivery.report(first, report, false, &route, first, START);
    }
    delivery
}

#[tokio::test]
async fn a_stale_hold_ends_as_its_request_did() {
    for (report, settlement, is_forgiven) in [
        (Report::Delivered, Settlement::Capture(Paise(30)), false),
        (Report::Failed(Reason::NotOnChannel), Settlement::Release, true),
        (Report::Failed(Reason::Timeout), Settlement::Release, false),
    ] {
        let mut world = stale(Some(told(Some(report))));
        world.settles(settlement);
        if is_forgiven {
            world.forgives();
        }
        assert_eq!(settle(&mut world).await, 1);
    }
}

#[tokio::test]
async fn a_stale_hold_whose_request_is_gone_is_released_and_one_on_its_way_is_left_alone() {
    let mut gone = stale(None);
    gone.settles(Settlement::Release);
    assert_eq!(settle(&mut gone).await, 1);
    assert_eq!(settle(&mut stale(Some(told(None)))).await, 0);
}

#[tokio::test]
async fn the_hold_of_a_project_that_is_gone_is_left_alone() {
    let mut world = stale(None);
    world.projects.checkpoint();
    world.projects.expect_find().times(1).returning(|_| Ok(None));
    assert_eq!(settle(&mut world).await, 0);
}

#[tokio::test]
async fn while_the_clock_is_too_far_off_nothing_is_swept_or_followed_up() {
    for ahead in [seconds(30), minutes(40 * 24 * 60)] {
        let mut world = World::live();
        world.watch.compare(world.watch.moment(), START - ahead);
        let sweep = sweep(&mut world);
        assert_eq!(sweep.tidy().await.unwrap(), SweepResult::default());
        assert_eq!(sweep.follow_up().await.unwrap(), 0);
        assert_eq!(sweep.settle_stale_holds().await.unwrap(), 0);
    }
}

#[tokio::test]
async fn a_clock_that_was_set_forward_sweeps_nothing_for_it() {
    let mut world = World::live();
    world.watch = Arc::new(ClockWatch::new(world.clock.clone(), Arc::new(FixedClock::at(START))));
    world.clock.advance(minutes(40 * 24 * 60));
    tidies_as_of_start(world).await;
}

#[tokio::test]
async fn tidying_drops_what_was_kept_for_as_long_as_it_should() {
    tidies_as_of_start(World::live()).await;
}

async fn tidies_as_of_start(mut world: World) {
    let cuts = (eq(START - KEEP.requests), eq(START - KEEP.guesses));
    world.otps.expect_sweep().with(cuts.0, cuts.1).times(1).returning(|_, _| Ok(1));
    let sessions = world.sessions.expect_sweep().with(eq(START - KEEP.sessions));
    sessions.times(1).returning(|_| Ok(2));
    world.sends.expect_sweep().with(eq(START - KEEP.sends)).times(1).returning(|_| Ok(3));
    let mut idempotency = MockIdempotencyStore::new();
    let answers = idempotency.expect_sweep().with(eq(START - KEEP.idempotency));
    answers.times(1).returning(|_| Ok(4));
    let mut requests = MockRequestLimiter::new();
    requests.expect_sweep().with(eq(START)).times(1).returning(|_| Ok(()));
    let mut tests = MockTestQuotaStore::new();
    let quota = TestQuota { kept: 7, in_use: minutes(8) };
    tests.expect_trim().with(eq(quota), eq(START)).times(1).returning(|_, _| Ok(5));
    let mut calls = MockCallLog::new();
    calls.expect_sweep_calls().with(eq(START - KEEP.calls)).times(1).returning(|_| Ok(9));
    let mut feed = MockEventFeed::new();
    let trim = feed.expect_trim_feeds().with(eq(KEEP.feed_bound), eq(START - KEEP.feed));
    trim.times(1).returning(|_, _| Ok(10));
    let mut refusals = MockRefusalStore::new();
    let minutes_over = refusals.expect_sweep().with(eq(START - RefusedSends::KEPT));
    minutes_over.times(1).returning(|_| Ok(9));
    let mut guard = MockGuardStore::new();
    guard.expect_sweep_levels().with(eq(START)).times(1).returning(|_| Ok(11));
    let sweep = Sweep {
        calls: Arc::new(calls),
        feed: Arc::new(feed),
        refusals: Arc::new(refusals),
        idempotency: Arc::new(idempotency),
        requests: Arc::new(requests),
        test_quota: Arc::new(tests),
        guard: Arc::new(guard),
        ..sweep(&mut world)
    };
    let swept = SweepResult {
        requests: 1,
        sessions: 2,
        sends: 3,
        idempotency: 4,
        tests: 5,
        calls: 9,
        fed: 10,
        refusals: 9,
        levels: 11,
    };
    assert_eq!(sweep.tidy().await.unwrap(), swept);
}
