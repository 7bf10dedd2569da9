use crate::contract::wallet::checked_ledger;
use crate::contract::{ROUNDS, count};
use crate::scene::Scene;
use crate::{START, Stores, any_project, race, seconds};
use dwar_event::{Event, EventKind, Subject};
use dwar_kernel::{EntryId, KeyMode, OtpId, ProjectId, Timestamp};
use dwar_project::ProjectChange;
use dwar_wallet::{Adjusted, Paise, Settlement};
use std::sync::Arc;

/// The event of a balance that became low.
const fn low(
    project: ProjectId,
    entry: EntryId,
    (balance, threshold): (i64, i64),
    at: Timestamp,
) -> Event {
    let subject = Subject::Wallet { entry, balance: Paise(balance), threshold: Paise(threshold) };
    Event { project_mode: project.in_mode(KeyMode::Live), kind: EventKind::WalletLow, subject, at }
}

impl Scene {
    pub(in crate::contract) async fn low_under(&self, threshold: Option<i64>) {
        let change =
            ProjectChange { low_balance: Some(threshold.map(Paise)), ..ProjectChange::default() };
        let changed =
            self.stores.projects.change(self.project, change, any_project()).await.unwrap();
        assert!(changed.done().is_some());
    }

    /// Holds `held` and captures `spent` of it a second later; returns the id of the capture.
    async fn spend(&self, held: i64, spent: i64) -> EntryId {
        let (send, entries) = (self.held(held).await, [self.make.id(), self.make.id()]);
        let (capture, now) = (Settlement::Capture(Paise(spent)), START + seconds(1));
        let wallets = &self.stores.wallets;
        assert!(wallets.settle(self.project, send, capture, entries, now).await.unwrap());
        entries[0]
    }
}

/// Fresh: the capture that takes the balance below the threshold is recorded. No hold, release, refund or
/// later capture is, until the balance has been above it again.
pub async fn a_low_balance_is_recorded_once_per_crossing(stores: &Stores) {
    let scene = Scene::open(stores).await;
    scene.endpoint().await;
    scene.credit(100).await;
    scene.spend(10, 10).await;
    assert_eq!(scene.told().await, []);

    scene.low_under(Some(50)).await;
    let (held, released) = (scene.held(45).await, scene.held(45).await);
    assert!(scene.settle(released, Settlement::Release).await);
    assert!(scene.settle(held, Settlement::Release).await);
    scene.spend(40, 40).await;
    assert_eq!(scene.told().await, [], "50 is not under 50");
    let entry = scene.spend(20, 1).await;
    let wanted = low(scene.project, entry, (49, 50), START + seconds(1));
    assert_eq!(scene.told_events().await, [wanted]);
    let charged = scene.captured(9).await;
    scene.refund(charged).await;
    scene.captured(9).await;
    assert_eq!(scene.told().await, [], "it was low before");

    scene.credit(10).await;
    let entry = scene.spend(10, 10).await;
    let wanted = low(scene.project, entry, (40, 50), START + seconds(1));
    assert_eq!(scene.told_events().await, [wanted]);

    // Raising the threshold above the balance does not count as a crossing, and without a threshold there is none.
    scene.low_under(Some(1_000)).await;
    scene.spend(5, 5).await;
    scene.credit(1_000).await;
    scene.low_under(None).await;
    scene.spend(1_000, 1_000).await;
    assert_eq!(scene.told().await, []);
}

/// Fresh: a correction downwards crosses the threshold like a capture. A refused, repeated or upward
/// correction does not, and thresholds of other projects do not matter.
pub async fn a_correction_crosses_the_threshold_too(stores: &Stores) {
    let (scene, stranger) = (Scene::open(stores).await, Scene::open(stores).await);
    for scene in [&scene, &stranger] {
        scene.endpoint().await;
        scene.credit(100).await;
    }
    scene.low_under(Some(50)).await;
    assert_eq!(stranger.adjust(-90).await, Adjusted::Booked);
    assert_eq!(scene.adjust(-101).await, Adjusted::Insufficient);
    assert_eq!(scene.adjust(-50).await, Adjusted::Booked);
    assert_eq!(scene.told().await, []);

    let (adjustment, now) = (scene.adjustment(-1), START + seconds(1));
    let entry = adjustment.id;
    for wanted in [Adjusted::Booked, Adjusted::Known] {
        let answer = stores.wallets.adjust(scene.project, adjustment.clone(), now).await.unwrap();
        assert_eq!(answer, wanted);
    }
    assert_eq!(scene.told_events().await, [low(scene.project, entry, (49, 50), now)]);
    for amount in [-1, 1, -1] {
        assert_eq!(scene.adjust(amount).await, Adjusted::Booked);
    }
    assert_eq!(scene.told().await, []);
}

/// Fresh: of concurrent captures and corrections that take a balance below its threshold exactly one is
/// recorded, the one that crossed it; the ledger is unbroken.
pub async fn captures_at_once_cross_the_threshold_once(stores: &Stores) {
    for _ in 0..ROUNDS {
        let scene = Scene::open(stores).await;
        scene.endpoint().await;
        scene.low_under(Some(245)).await;
        scene.credit(440).await;
        let mut sends: Vec<OtpId> = Vec::new();
        for _ in 0..20 {
            sends.push(scene.held(12).await);
        }
        let answers = race(40, |number| {
            let (store, project) = (Arc::clone(&stores.wallets), scene.project);
            let (send, entries) = (sends[number / 2], [scene.make.id(), scene.make.id()]);
            let adjustment = scene.adjustment(-10);
            async move {
                if number % 2 == 0 {
                    let capture = Settlement::Capture(Paise(10));
                    return store.settle(project, send, capture, entries, START).await.unwrap();
                }
                store.adjust(project, adjustment, START).await.unwrap() == Adjusted::Booked
            }
        })
        .await;
        assert_eq!(count(&answers, |done| *done), 40);
        let ledger = checked_ledger(stores, scene.project).await;
        let crossing = |entry: &&dwar_wallet::LedgerEntry| {
            entry.amount.0 < 0 && entry.after.balance == Paise(240)
        };
        let entry = ledger.iter().find(crossing).unwrap().id;
        assert_eq!(scene.told_events().await, [low(scene.project, entry, (240, 245), START)]);
    }
}
