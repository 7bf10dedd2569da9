use super::{Answer, counted, stored};
use crate::contract::ROUNDS;
use crate::scene::Scene;
use crate::{CODE, MS, START, Stores, WRONG_CODE, race, seconds};
use dwar_kernel::{KeyMode, OtpId, Timestamp};
use dwar_otp::{Delivery, GuessBudget, GuessPolicy, Otp, Report};
use std::collections::BTreeSet;
use std::sync::Arc;

const LEASE: std::time::Duration = seconds(45);

impl Scene {
    /// Issues a request at `now` that is due 30 seconds later.
    async fn due(&self, mode: KeyMode, now: Timestamp) -> OtpId {
        let line = self.make.line(self.project.in_mode(mode));
        self.issue(self.make.otp_with(&line, CODE, now)).await.id
    }

    async fn claim(&self, now: Timestamp, limit: u32) -> Vec<OtpId> {
        let claimed = self.stores.otps.claim_due(now, LEASE, limit).await.unwrap();
        claimed.into_iter().map(|otp| otp.id).collect()
    }
}

/// Fresh: due requests of all projects and modes are claimed oldest first, up to the limit.
pub async fn claim_due_is_oldest_first_and_bounded(stores: &Stores) {
    let (one, two) = (Scene::open(stores).await, Scene::open(stores).await);
    let third = one.due(KeyMode::Live, START + seconds(2)).await;
    let first = two.due(KeyMode::Test, START).await;
    let second = two.due(KeyMode::Live, START + seconds(1)).await;
    let settled = one.line();
    let settled = Otp {
        delivery: Delivery { due_at: None, ..one.make.otp(&settled).delivery },
        ..one.make.otp(&settled)
    };
    one.issue(settled).await;
    let now = START + seconds(100);
    assert_eq!(one.claim(now, 0).await, []);
    assert_eq!(one.claim(now, 2).await, [first, second]);
    assert_eq!(one.claim(now, 2).await, [third]);
    assert_eq!(one.claim(now, 2).await, []);
}

/// Fresh: a request is due from the exact instant on, and again when the lease ends; a lease that ends too
/// late is brought forward.
pub async fn claim_due_keeps_the_instant_and_the_lease(stores: &Stores) {
    let scene = Scene::open(stores).await;
    let id = scene.due(KeyMode::Live, START).await;
    let due = START + scene.make.route().lease;
    assert_eq!(scene.claim(due - MS, 9).await, []);
    assert_eq!(scene.claim(due, 9).await, [id]);
    assert_eq!(scene.claim(due, 9).await, []);
    assert_eq!(scene.claim(due + LEASE - MS, 9).await, []);
    assert_eq!(scene.claim(due + LEASE, 9).await, [id]);
    let end = due + LEASE * 2;
    assert_eq!(stores.otps.bring_forward(end, START).await.unwrap(), 0);
    assert_eq!(stores.otps.bring_forward(end - MS, due).await.unwrap(), 1);
    assert_eq!(scene.claim(due - MS, 9).await, []);
    assert_eq!(scene.claim(due, 9).await, [id]);
}

/// Fresh: a claim returns the whole request, and a report ends the claiming.
pub async fn a_claimed_request_can_be_worked_on(stores: &Stores) {
    let scene = Scene::open(stores).await;
    let line = scene.line();
    let otp = scene.issued(&line).await;
    let now = START + seconds(30);
    let claimed = stores.otps.claim_due(now, LEASE, 9).await.unwrap();
    let delivery = Delivery { due_at: claimed[0].delivery.due_at, ..otp.delivery.clone() };
    assert_eq!(claimed, [Otp { delivery, ..otp.clone() }]);
    scene.reports(&otp, 0, Report::Delivered, now).await.unwrap();
    assert_eq!(scene.claim(now + LEASE, 9).await, []);
    assert_eq!(scene.try_code(&line, CODE).await, Answer::Accepted);
}

/// Fresh: under many concurrent callers each due request goes to exactly one, and none is forgotten.
pub async fn claim_due_hands_each_request_to_one_caller(stores: &Stores) {
    let scene = Scene::open(stores).await;
    for round in 0..ROUNDS {
        let mut wanted = BTreeSet::new();
        for _ in 0..60 {
            wanted.insert(scene.due(KeyMode::Live, START).await);
        }
        // Every round is later than the leases of the previous one.
        let now = START + seconds(100) + LEASE * u32::try_from(round * 2).unwrap();
        let answers = race(80, |_| {
            let store = Arc::clone(&stores.otps);
            async move { store.claim_due(now, seconds(86_400), 1).await.unwrap() }
        })
        .await;
        let mut claimed: Vec<_> = answers.iter().flatten().map(|otp| otp.id).collect();
        assert!(answers.iter().all(|answer| answer.len() <= 1));
        claimed.extend(scene.claim_rest(now).await);
        assert_eq!(claimed.len(), wanted.len());
        assert_eq!(claimed.into_iter().collect::<BTreeSet<_>>(), wanted);
    }
}

impl Scene {
    async fn claim_rest(&self, now: Timestamp) -> Vec<OtpId> {
        let rest = self.stores.otps.claim_due(now, seconds(86_400), 1_000).await.unwrap();
        rest.into_iter().map(|otp| otp.id).collect()
    }
}

/// Fresh: a sweep deletes requests made before the instant, not those made at it.
pub async fn sweep_drops_old_requests(stores: &Stores) {
    let scene = Scene::open(stores).await;
    let (old, kept) = (scene.line(), scene.line());
    let old = scene.issue(scene.make.otp_with(&old, CODE, START - MS)).await;
    let kept = scene.issue(scene.make.otp_with(&kept, CODE, START)).await;
    assert_eq!(stores.otps.sweep(START - MS, START).await.unwrap(), 0);
    assert_eq!(stores.otps.sweep(START, START).await.unwrap(), 1);
    assert_eq!(stored(stores, &old).await, None);
    assert_eq!(stored(stores, &kept).await, Some(kept));
    assert_eq!(stores.otps.sweep(START, START).await.unwrap(), 0);
}

/// Fresh: a sweep deletes guess budgets last raised before the instant, and does not count them as requests.
pub async fn sweep_drops_old_guess_counts(stores: &Stores) {
    let scene = Scene::open(stores).await;
    let (old, kept) = (scene.line(), scene.line());
    let instant = START + seconds(60);
    for (line, now) in [(&old, instant - MS), (&kept, instant)] {
        scene.issued(line).await;
        scene.try_at(line, WRONG_CODE, GuessPolicy::OFF, now).await;
    }
    assert_eq!(stores.otps.sweep(START, instant).await.unwrap(), 0);
    assert_eq!(counted(stores, &old).await, GuessBudget::default());
    let counted = counted(stores, &kept).await;
    assert_eq!((counted.wrong, counted.last_wrong_at), (1, Some(instant)));
}

/// Fresh: codes that could still be entered are withdrawn, of all projects and modes; used, locked and
/// expired ones are unchanged.
pub async fn withdraw_all_takes_the_codes_in_force(stores: &Stores) {
    let scene = Scene::open(stores).await;
    let (line, used, locked) = (scene.line(), scene.line(), scene.line());
    for line in scene.elsewhere(&line).await.iter().chain([&line, &used, &locked]) {
        scene.issued(line).await;
    }
    assert_eq!(scene.try_code(&used, CODE).await, Answer::Accepted);
    while scene.try_code(&locked, WRONG_CODE).await != Answer::Locked {}
    let late = START + seconds(86_400);
    assert_eq!(stores.otps.withdraw_all(late).await.unwrap(), 0);
    assert_eq!(stores.otps.withdraw_all(START + seconds(1)).await.unwrap(), 3);
    assert_eq!(stores.otps.withdraw_all(START + seconds(1)).await.unwrap(), 0);
    assert_eq!(scene.try_code(&line, CODE).await, Answer::NotFound);
    assert_eq!(scene.try_code(&locked, CODE).await, Answer::Locked);
    let again = scene.issued(&line).await;
    assert_eq!(stored(stores, &again).await, Some(again));
    assert_eq!(scene.try_code(&line, CODE).await, Answer::Accepted);
}
