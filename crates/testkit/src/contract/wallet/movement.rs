use super::{balance, balance_of, checked_ledger, hold};
use crate::scene::{Scene, ledger_of};
use crate::{START, Stores, seconds};
use dwar_wallet::{
    Balance, Credit, Credited, EntryKind, HoldOutcome, LedgerEntry, Paise, Settlement,
};
use std::collections::BTreeMap;

/// A project that was never credited has no money and can hold none.
pub async fn a_project_without_a_wallet_has_nothing(stores: &Stores) {
    let scene = Scene::open(stores).await;
    assert_eq!(scene.hold(scene.make.id(), 1).await, HoldOutcome::Insufficient);
    assert!(!scene.settle(scene.make.id(), Settlement::Release).await);
    assert_eq!(balance_of(stores, scene.project).await, Balance::default());
    assert_eq!(ledger_of(&*stores.console.ledger, scene.project).await, []);
}

/// Balances of many projects are returned together: exactly of the given ones, with a wallet or
/// without.
pub async fn balances_are_told_of_the_projects_asked_for(stores: &Stores) {
    let scene = Scene::open(stores).await;
    scene.credit(500).await;
    scene.held(200).await;
    let (poor, other) = (scene.another().await, scene.another().await);
    let credit = scene.make.credit(Paise(7));
    let credited = stores.wallets.credit(other, credit, START).await.unwrap();
    assert_eq!(credited, Credited::Booked);
    let wallets = &stores.wallets;
    let told = wallets.balances(vec![poor, scene.project]).await.unwrap();
    let wanted = [(scene.project, balance(500, 200)), (poor, Balance::default())];
    assert_eq!(told, BTreeMap::from(wanted));
    assert_eq!(wallets.balances(Vec::new()).await.unwrap(), BTreeMap::new());
}

/// A reference pays in once per project; the repetition changes nothing.
pub async fn a_reference_pays_in_once(stores: &Stores) {
    let scene = Scene::open(stores).await;
    let credit = scene.make.credit(Paise(500));
    let pay_in = |project, credit| stores.wallets.credit(project, credit, START);
    assert_eq!(pay_in(scene.project, credit.clone()).await.unwrap(), Credited::Booked);
    let again = Credit { reference: credit.reference.clone(), ..scene.make.credit(Paise(900)) };
    for known in [again.clone(), credit.clone()] {
        assert_eq!(pay_in(scene.project, known).await.unwrap(), Credited::Known);
    }
    assert_eq!(balance_of(stores, scene.project).await, balance(500, 0));
    let entry = LedgerEntry {
        id: credit.id,
        kind: EntryKind::Credit,
        amount: Paise(500),
        held: Paise::ZERO,
        after: balance(500, 0),
        reference: credit.reference,
        relayed: false,
        at: START,
    };
    assert_eq!(checked_ledger(stores, scene.project).await, [entry]);

    assert_eq!(pay_in(scene.another().await, again).await.unwrap(), Credited::Booked);
    assert_eq!(balance_of(stores, scene.project).await, balance(500, 0));
}

/// A hold succeeds up to the last available paisa, and a refused one changes nothing.
pub async fn a_hold_needs_the_whole_amount(stores: &Stores) {
    let scene = Scene::open(stores).await;
    scene.credit(100).await;
    assert_eq!(scene.hold(scene.make.id(), 101).await, HoldOutcome::Insufficient);
    scene.held(60).await;
    assert_eq!(scene.hold(scene.make.id(), 41).await, HoldOutcome::Insufficient);
    scene.held(40).await;
    assert_eq!(scene.hold(scene.make.id(), 1).await, HoldOutcome::Insufficient);
    assert_eq!(balance_of(stores, scene.project).await, balance(100, 100));
    assert_eq!(checked_ledger(stores, scene.project).await.len(), 3);
}

/// A capture spends its amount and releases the rest, with an entry for each.
pub async fn a_capture_spends_and_gives_the_rest_back(stores: &Stores) {
    let scene = Scene::open(stores).await;
    scene.credit(100).await;
    let (send, entries) = (scene.make.id(), [scene.make.id(), scene.make.id()]);
    let wallets = &stores.wallets;
    let holding = scene.holding(send, 50);
    let held = holding.entry;
    hold(&*stores.logins, holding, START + seconds(1)).await;
    let (capture, later) = (Settlement::Capture(Paise(30)), START + seconds(2));
    assert!(wallets.settle(scene.project, send, capture, entries, later).await.unwrap());
    assert_eq!(balance_of(stores, scene.project).await, balance(70, 0));

    let ledger = checked_ledger(stores, scene.project).await;
    let entry = |id, kind, amount, held, after, at| LedgerEntry {
        id,
        kind,
        amount: Paise(amount),
        held: Paise(held),
        after,
        reference: send.into(),
        relayed: false,
        at,
    };
    let wanted = [
        entry(entries[1], EntryKind::Release, 0, -20, balance(70, 0), later),
        entry(entries[0], EntryKind::Capture, -30, -30, balance(70, 20), later),
        entry(held, EntryKind::Hold, 0, 50, balance(100, 50), START + seconds(1)),
    ];
    assert_eq!(ledger[..3], wanted);
}

/// A capture of everything, or of more, spends exactly the held amount.
pub async fn a_capture_spends_at_most_what_is_held(stores: &Stores) {
    let scene = Scene::open(stores).await;
    scene.credit(100).await;
    let bystander = scene.held(10).await;
    for (amount, left) in [(20, 80), (50, 60)] {
        let send = scene.held(20).await;
        assert!(scene.settle(send, Settlement::Capture(Paise(amount))).await);
        assert_eq!(balance_of(stores, scene.project).await, balance(left, 10));
        let newest = checked_ledger(stores, scene.project).await.swap_remove(0);
        assert_eq!((newest.kind, newest.amount), (EntryKind::Capture, Paise(-20)));
    }
    assert!(scene.settle(bystander, Settlement::Release).await);
}

/// A release returns the whole amount under the second entry's id.
pub async fn a_release_gives_everything_back(stores: &Stores) {
    let scene = Scene::open(stores).await;
    scene.credit(100).await;
    let (send, entries) = (scene.held(40).await, [scene.make.id(), scene.make.id()]);
    let release = Settlement::Release;
    let wallets = &stores.wallets;
    assert!(wallets.settle(scene.project, send, release, entries, START).await.unwrap());
    let newest = checked_ledger(stores, scene.project).await.swap_remove(0);
    let wanted = (entries[1], EntryKind::Release, Paise::ZERO, Paise(-40));
    assert_eq!((newest.id, newest.kind, newest.amount, newest.held), wanted);
    assert_eq!(balance_of(stores, scene.project).await, balance(100, 0));
    scene.held(100).await;
}

/// A hold ends once, and only from its own project.
pub async fn a_hold_ends_once(stores: &Stores) {
    let scene = Scene::open(stores).await;
    let stranger = Scene::open(stores).await;
    for scene in [&scene, &stranger] {
        scene.credit(100).await;
    }
    let bystander = stranger.held(40).await;
    for settlement in [Settlement::Capture(Paise(40)), Settlement::Release] {
        let send = scene.held(40).await;
        assert!(!stranger.settle(send, settlement).await);
        assert!(scene.settle(send, settlement).await);
        let before = balance_of(stores, scene.project).await;
        for again in [settlement, Settlement::Release, Settlement::Capture(Paise(1))] {
            assert!(!scene.settle(send, again).await);
        }
        assert_eq!(balance_of(stores, scene.project).await, before);
    }
    assert_eq!(balance_of(stores, scene.project).await, balance(60, 0));
    assert_eq!(balance_of(stores, stranger.project).await, balance(100, 40));
    assert!(stranger.settle(bystander, Settlement::Release).await);
    checked_ledger(stores, scene.project).await;
}
