use super::{balance, balance_of, checked_ledger, hold};
use crate::contract::count;
use crate::scene::Scene;
use crate::{MS, START, Stores, any_project, race, seconds};
use dwar_event::{Event, EventKind, Subject};
use dwar_kernel::{Timestamp, read_instant};
use dwar_project::ProjectChange;
use dwar_wallet::{HoldOutcome, OpenHold, Paise, Refunded, Settlement};
use std::sync::Arc;
use std::time::Duration;

const DAY: Duration = Duration::from_secs(24 * 60 * 60);
/// Races at the edge of a limit: the place where a missing lock shows is small.
const EDGES: u32 = 200;

/// Noon in India.
fn noon() -> Timestamp {
    read_instant("2027-01-15T12:00:00+05:30").unwrap()
}

fn midnight() -> Timestamp {
    read_instant("2027-01-16T00:00:00+05:30").unwrap()
}

impl Scene {
    async fn spends_at_most(&self, limit: Option<i64>) {
        let change =
            ProjectChange { daily_spend: Some(limit.map(Paise)), ..ProjectChange::default() };
        let projects = &self.stores.projects;
        let changed = projects.change(self.project, change, any_project()).await.unwrap();
        assert!(changed.done().is_some());
    }

    async fn hold_at(&self, paise: i64, now: Timestamp) -> HoldOutcome {
        hold(&*self.stores.logins, self.holding(self.make.id_at(now), paise), now).await
    }

    async fn held_at(&self, paise: i64, now: Timestamp) -> OpenHold {
        let send = self.make.id_at(now);
        let held = hold(&*self.stores.logins, self.holding(send, paise), now).await;
        assert_eq!(held, HoldOutcome::Held);
        OpenHold { project: self.project, send, relayed: false, amount: Paise(paise), since: now }
    }

    async fn ends_at(&self, hold: &OpenHold, settlement: Settlement, now: Timestamp) {
        let entries = [self.make.id(), self.make.id()];
        let wallets = &self.stores.wallets;
        assert!(wallets.settle(self.project, hold.send, settlement, entries, now).await.unwrap());
    }

    async fn spent(&self, now: Timestamp) -> i64 {
        self.stores.wallets.day_spend(self.project).await.unwrap().on(now).spent.0
    }
}

/// The limit allows its last paisa and not one more. A refusal changes nothing, and a changed limit counts at
/// once. Without a limit, and in other projects, everything is allowed.
pub async fn the_limit_of_a_day_is_exact(stores: &Stores) {
    let (scene, stranger) = (Scene::open(stores).await, Scene::open(stores).await);
    for scene in [&scene, &stranger] {
        scene.credit(1_000).await;
    }
    assert_eq!(scene.spent(START).await, 0);
    assert_eq!(scene.hold_at(40, noon()).await, HoldOutcome::Held);
    scene.spends_at_most(Some(100)).await;
    assert_eq!(scene.spent(noon()).await, 40, "what was spent before counts too");
    for _ in 0..2 {
        assert_eq!(scene.hold_at(61, noon()).await, HoldOutcome::SpendLimited);
    }
    assert_eq!(balance_of(stores, scene.project).await, balance(1_000, 40));
    assert_eq!(scene.hold_at(60, noon()).await, HoldOutcome::Held);
    assert_eq!(scene.hold_at(1, noon()).await, HoldOutcome::SpendLimited);
    assert_eq!(
        scene.hold_at(901, noon()).await,
        HoldOutcome::Insufficient,
        "the wallet comes first"
    );
    assert_eq!(stranger.hold_at(101, noon()).await, HoldOutcome::Held);

    scene.spends_at_most(Some(101)).await;
    assert_eq!(scene.hold_at(1, noon()).await, HoldOutcome::Held);
    scene.spends_at_most(Some(0)).await;
    assert_eq!(scene.hold_at(1, noon()).await, HoldOutcome::SpendLimited);
    scene.spends_at_most(None).await;
    assert_eq!(scene.hold_at(500, noon()).await, HoldOutcome::Held);
    assert_eq!((scene.spent(noon()).await, stranger.spent(noon()).await), (601, 101));
    assert_eq!(checked_ledger(stores, scene.project).await.len(), 1 + 4);
}

/// A day begins at midnight in India. An instance whose clock is behind counts for the day that has begun.
pub async fn a_day_begins_at_midnight_in_india(stores: &Stores) {
    let scene = Scene::open(stores).await;
    scene.credit(1_000).await;
    scene.spends_at_most(Some(100)).await;
    assert_eq!(scene.hold_at(100, midnight() - MS).await, HoldOutcome::Held);
    assert_eq!(scene.hold_at(1, midnight() - MS).await, HoldOutcome::SpendLimited);
    assert_eq!(scene.hold_at(60, midnight()).await, HoldOutcome::Held);
    assert_eq!(scene.hold_at(41, midnight() - MS).await, HoldOutcome::SpendLimited);
    assert_eq!(scene.hold_at(40, midnight() - MS).await, HoldOutcome::Held);
    assert_eq!(scene.hold_at(1, midnight() + DAY - MS).await, HoldOutcome::SpendLimited);
    assert_eq!((scene.spent(midnight()).await, scene.spent(midnight() + DAY).await), (100, 0));
    assert_eq!(scene.hold_at(100, midnight() + DAY).await, HoldOutcome::Held);
}

/// What is released of a hold of the day lowers what was spent; a charge, a refund, or the release of a hold
/// of the day before does not.
pub async fn only_a_release_lowers_what_was_spent(stores: &Stores) {
    let scene = Scene::open(stores).await;
    scene.credit(1_000).await;
    let (early, late) = (midnight() - MS, midnight() + seconds(1));
    let [released, charged] = [scene.held_at(30, early).await, scene.held_at(30, early).await];
    scene.ends_at(&charged, Settlement::Capture(Paise(20)), early).await;
    assert_eq!(scene.spent(early).await, 50);
    scene.spends_at_most(Some(50)).await;
    let [cheap, free] = [scene.held_at(25, late).await, scene.held_at(25, late).await];
    scene.ends_at(&released, Settlement::Release, late).await;
    assert_eq!(scene.spent(late).await, 50, "it was of yesterday");
    assert_eq!(scene.refund(charged.send).await, Refunded::Refunded(Paise(20)));
    scene.ends_at(&cheap, Settlement::Capture(Paise(20)), late).await;
    assert_eq!(scene.spent(late).await, 45);
    assert_eq!(scene.refund(cheap.send).await, Refunded::Refunded(Paise(20)));
    assert_eq!(
        scene.hold_at(6, late).await,
        HoldOutcome::SpendLimited,
        "a refund gives nothing back"
    );
    scene.ends_at(&free, Settlement::Release, late).await;
    assert_eq!(scene.spent(late).await, 20);
    assert_eq!(scene.hold_at(31, late).await, HoldOutcome::SpendLimited);
    assert_eq!(scene.hold_at(30, late).await, HoldOutcome::Held);
}

/// Two hundred times, eight sends at once ask for the last 25 paise of a day, while as much is released: one
/// gets them, or two if the release came first. Never is more spent than the limit.
pub async fn sends_at_once_never_exceed_the_limit_of_a_day(stores: &Stores) {
    let scene = Scene::open(stores).await;
    scene.credit(1_000_000).await;
    scene.spends_at_most(Some(99)).await;
    for edge in 0..EDGES {
        let now = noon() + DAY * edge;
        let first = scene.held_at(50, now).await;
        let answers = race(9, |number| {
            let (stores, project) = (stores.clone(), scene.project);
            let (holding, entries) =
                (scene.holding(scene.make.id_at(now), 25), [scene.make.id(), scene.make.id()]);
            async move {
                if number < 8 {
                    return hold(&*stores.logins, holding, now).await == HoldOutcome::Held;
                }
                let capture = Settlement::Capture(Paise(25));
                assert!(
                    stores
                        .wallets
                        .settle(project, first.send, capture, entries, now)
                        .await
                        .unwrap()
                );
                false
            }
        })
        .await;
        let held = count(&answers, |held| *held);
        assert!((1..=2).contains(&held), "round {edge}: {held}");
        assert_eq!(scene.spent(now).await, 25 + 25 * i64::try_from(held).unwrap(), "round {edge}");
        let rest = if held == 1 { 49 } else { 24 };
        assert_eq!(scene.hold_at(rest + 1, now).await, HoldOutcome::SpendLimited, "round {edge}");
        assert_eq!(scene.hold_at(rest, now).await, HoldOutcome::Held, "round {edge}");
    }
    checked_ledger(stores, scene.project).await;
}

/// Fresh: the first send that reaches 50 and 80 per cent of the limit is told, and at 100 the first that uses it up
/// or is refused by it; each once on a day, also at once, and again under another limit.
pub async fn parts_of_the_limit_are_told_once_on_a_day(stores: &Stores) {
    let scene = Scene::open(stores).await;
    scene.endpoint().await;
    scene.credit(1_000_000).await;
    assert_eq!(scene.hold_at(90, noon() - DAY).await, HoldOutcome::Held);
    assert_eq!(told(&scene).await, []);
    scene.spends_at_most(Some(100)).await;
    let hold = scene.held_at(50, noon()).await;
    let later = noon() + seconds(1);
    scene.ends_at(&hold, Settlement::Release, later).await;
    assert_eq!(scene.hold_at(79, later).await, HoldOutcome::Held);
    assert_eq!(told(&scene).await, [(50, 50, 100, noon())]);
    for _ in 0..2 {
        assert_eq!(scene.hold_at(22, later).await, HoldOutcome::SpendLimited);
    }
    assert_eq!(told(&scene).await, [(100, 79, 100, later)]);
    assert_eq!(scene.hold_at(21, later).await, HoldOutcome::Held);
    assert_eq!(told(&scene).await, [], "a part below one that was told is told no more");

    scene.spends_at_most(Some(200)).await;
    assert_eq!(scene.hold_at(60, later).await, HoldOutcome::Held);
    let wanted = [(50, 160, 200, later), (80, 160, 200, later)];
    assert_eq!(told(&scene).await, wanted, "the limit was raised");

    let tomorrow = noon() + DAY;
    let answers = race(20, |_| {
        let (store, holding) =
            (Arc::clone(&stores.logins), scene.holding(scene.make.id_at(tomorrow), 20));
        async move { super::hold(&*store, holding, tomorrow).await }
    })
    .await;
    assert_eq!(count(&answers, |held| *held == HoldOutcome::Held), 10);
    let parts = [50, 80, 100].map(|part| (part, 2 * i64::from(part), 200, tomorrow));
    let mut at_once = told(&scene).await;
    at_once.sort_unstable();
    assert_eq!(at_once, parts);
}

/// The events of the limit since the last call: part, spend, limit and time of each.
async fn told(scene: &Scene) -> Vec<(u8, i64, i64, Timestamp)> {
    let plain = |Event { project_mode, kind, subject, at }: Event| {
        assert_eq!((project_mode.project, kind), (scene.project, EventKind::SpendReached));
        let Subject::Spend { percent, spent, limit, .. } = subject else { panic!("{subject:?}") };
        (percent, spent.0, limit.0, at)
    };
    scene.told_events().await.into_iter().map(plain).collect()
}
