use super::{balance, balance_of, checked_ledger, hold};
use crate::contract::{CROWD, ROUNDS, count};
use crate::scene::Scene;
use crate::{START, Stores, race, seconds};
use dwar_wallet::{
    Adjusted, Adjustment, Amount, Credit, Credited, EntryKind, HoldOutcome, LedgerEntry, Paise,
    Refunded, Settlement,
};
use std::sync::Arc;

/// A refund returns exactly the captured amount of a send, once, with an entry of its own.
pub async fn a_refund_gives_back_what_was_captured(stores: &Stores) {
    let scene = Scene::open(stores).await;
    scene.credit(100).await;
    let bystander = scene.captured(10).await;
    let (send, entry, later) = (scene.held(50).await, scene.make.id(), START + seconds(9));
    assert!(scene.settle(send, Settlement::Capture(Paise(30))).await);
    let refunded = stores.wallets.refund(scene.project, send, entry, later).await.unwrap();
    assert_eq!(refunded, Refunded::Refunded(Paise(30)));
    let wanted = LedgerEntry {
        id: entry,
        kind: EntryKind::Refund,
        amount: Paise(30),
        held: Paise::ZERO,
        after: balance(90, 0),
        reference: send.into(),
        relayed: false,
        at: later,
    };
    assert_eq!(checked_ledger(stores, scene.project).await[0], wanted);
    for _ in 0..2 {
        assert_eq!(scene.refund(send).await, Refunded::Already);
    }
    assert_eq!(checked_ledger(stores, scene.project).await[0], wanted);
    assert_eq!(scene.refund(bystander).await, Refunded::Refunded(Paise(10)));
    assert_eq!(balance_of(stores, scene.project).await, balance(100, 0));
}

/// Money that was only held, released, or captured in another project cannot be refunded.
pub async fn a_refund_needs_a_capture(stores: &Stores) {
    let (scene, stranger) = (Scene::open(stores).await, Scene::open(stores).await);
    assert_eq!(scene.refund(scene.make.id()).await, Refunded::NothingCaptured);
    scene.credit(100).await;
    stranger.credit(100).await;
    let (held, released) = (scene.held(20).await, scene.held(20).await);
    assert!(scene.settle(released, Settlement::Release).await);
    let elsewhere = stranger.captured(20).await;
    for send in [held, released, elsewhere, scene.make.id()] {
        assert_eq!(scene.refund(send).await, Refunded::NothingCaptured);
    }
    assert_eq!(balance_of(stores, scene.project).await, balance(100, 20));
    assert_eq!(balance_of(stores, stranger.project).await, balance(80, 0));
    assert_eq!(checked_ledger(stores, scene.project).await.len(), 4);
}

/// Exactly one of fifty concurrent refunds of one send returns the money.
pub async fn refunds_at_once_give_back_once(stores: &Stores) {
    for _ in 0..ROUNDS {
        let scene = Scene::open(stores).await;
        scene.credit(100).await;
        let send = scene.captured(30).await;
        let answers = race(50, |_| {
            let (store, project) = (Arc::clone(&stores.wallets), scene.project);
            let entry = scene.make.id();
            async move { store.refund(project, send, entry, START).await.unwrap() }
        })
        .await;
        assert_eq!(count(&answers, |answer| *answer == Refunded::Refunded(Paise(30))), 1);
        assert_eq!(count(&answers, |answer| *answer == Refunded::Already), answers.len() - 1);
        assert_eq!(balance_of(stores, scene.project).await, balance(100, 0));
        checked_ledger(stores, scene.project).await;
    }
}

/// A correction changes the balance by its amount, up or down, with an entry of its own.
pub async fn a_correction_goes_up_and_down(stores: &Stores) {
    let scene = Scene::open(stores).await;
    assert_eq!(scene.adjust(-1).await, Adjusted::Insufficient);
    assert_eq!(balance_of(stores, scene.project).await, balance(0, 0));
    let mut after = 0;
    for amount in [70, -30, 5, -45] {
        after += amount;
        let (adjustment, later) = (scene.adjustment(amount), START + seconds(9));
        let (project, wallets) = (scene.project, &stores.wallets);
        let answer = wallets.adjust(project, adjustment.clone(), later).await.unwrap();
        assert_eq!(answer, Adjusted::Booked);
        let wanted = LedgerEntry {
            id: adjustment.id,
            kind: EntryKind::Adjustment,
            amount: Paise(amount),
            held: Paise::ZERO,
            after: balance(after, 0),
            reference: adjustment.reference,
            relayed: false,
            at: later,
        };
        assert_eq!(checked_ledger(stores, project).await[0], wanted);
    }
    assert_eq!(balance_of(stores, scene.project).await, balance(0, 0));
}

/// A reference corrects once per project, even with other values; a credit or a send with the same
/// name is separate.
pub async fn a_known_reference_corrects_nothing(stores: &Stores) {
    let scene = Scene::open(stores).await;
    let adjustment = scene.adjustment(50);
    assert_eq!(scene.adjust_by(adjustment.clone()).await, Adjusted::Booked);
    for amount in [50, 10, -10, -1_000] {
        let (id, amount) = (scene.make.id(), amount.try_into().unwrap());
        let again = Adjustment { id, amount, ..adjustment.clone() };
        assert_eq!(scene.adjust_by(again).await, Adjusted::Known);
    }
    assert_eq!(scene.adjust_by(adjustment.clone()).await, Adjusted::Known);
    assert_eq!(balance_of(stores, scene.project).await, balance(50, 0));

    let credit = Credit { reference: adjustment.reference.clone(), ..scene.make.credit(Paise(7)) };
    let credited = stores.wallets.credit(scene.project, credit, START).await.unwrap();
    assert_eq!(credited, Credited::Booked);
    assert_eq!(balance_of(stores, scene.project).await, balance(57, 0));
    let other = Adjustment { id: scene.make.id(), ..adjustment };
    let answer = stores.wallets.adjust(scene.another().await, other, START).await.unwrap();
    assert_eq!(answer, Adjusted::Booked);
    checked_ledger(stores, scene.project).await;
}

/// A correction takes up to the last paisa that no hold needs; a refused one changes nothing, and its
/// reference stays unused.
pub async fn a_correction_takes_what_no_hold_needs(stores: &Stores) {
    let scene = Scene::open(stores).await;
    scene.credit(100).await;
    let send = scene.held(30).await;
    let refused = scene.adjustment(-71);
    assert_eq!(scene.adjust_by(refused.clone()).await, Adjusted::Insufficient);
    assert_eq!(scene.adjust(-70).await, Adjusted::Booked);
    assert_eq!(scene.adjust(-1).await, Adjusted::Insufficient);
    assert_eq!(balance_of(stores, scene.project).await, balance(30, 30));
    assert!(scene.settle(send, Settlement::Release).await);
    scene.credit(100).await;
    assert_eq!(scene.adjust_by(refused).await, Adjusted::Booked);
    assert_eq!(balance_of(stores, scene.project).await, balance(59, 0));
    assert_eq!(checked_ledger(stores, scene.project).await.len(), 6);
}

/// Two hundred concurrent corrections downwards are booked exactly as far as the balance covers them.
pub async fn corrections_at_once_take_what_is_there(stores: &Stores) {
    for _ in 0..ROUNDS {
        let scene = Scene::open(stores).await;
        scene.credit(70).await;
        let answers = race(CROWD, |_| {
            let (store, project) = (Arc::clone(&stores.wallets), scene.project);
            let adjustment = scene.adjustment(-10);
            async move { store.adjust(project, adjustment, START).await.unwrap() }
        })
        .await;
        assert_eq!(count(&answers, |answer| *answer == Adjusted::Booked), 7);
        assert_eq!(count(&answers, |answer| *answer == Adjusted::Insufficient), CROWD - 7);
        assert_eq!(balance_of(stores, scene.project).await, balance(0, 0));
        assert_eq!(checked_ledger(stores, scene.project).await.len(), 1 + 7);
    }
}

/// Concurrent corrections downwards and holds succeed exactly as far as the balance covers all of them
/// together.
pub async fn corrections_at_once_take_what_no_hold_needs(stores: &Stores) {
    for _ in 0..ROUNDS {
        let scene = Scene::open(stores).await;
        scene.credit(79).await;
        let answers = race(CROWD, |number| {
            let (stores, project) = (stores.clone(), scene.project);
            let (holding, adjustment) = (scene.holding(scene.make.id(), 10), scene.adjustment(-10));
            async move {
                if number % 2 == 0 {
                    return hold(&*stores.logins, holding, START).await == HoldOutcome::Held;
                }
                let adjusted = stores.wallets.adjust(project, adjustment, START).await;
                adjusted.unwrap() == Adjusted::Booked
            }
        })
        .await;
        assert_eq!(count(&answers, |done| *done), 7);
        let held = answers.iter().step_by(2).filter(|done| **done).count();
        let held = i64::try_from(held).unwrap() * 10;
        assert_eq!(balance_of(stores, scene.project).await, balance(9 + held, held));
        checked_ledger(stores, scene.project).await;
    }
}

/// A correction, up or down, that is sent many times concurrently is booked once.
pub async fn one_correction_at_once_is_booked_once(stores: &Stores) {
    let scene = Scene::open(stores).await;
    scene.credit(100).await;
    for (amount, left) in [(10, 110), (-10, 100)].repeat(ROUNDS / 2) {
        let adjustment = scene.adjustment(amount);
        let answers = race(50, |_| {
            let (store, project) = (Arc::clone(&stores.wallets), scene.project);
            let adjustment = Adjustment { id: scene.make.id(), ..adjustment.clone() };
            async move { store.adjust(project, adjustment, START).await.unwrap() }
        })
        .await;
        assert_eq!(count(&answers, |answer| *answer == Adjusted::Booked), 1);
        assert_eq!(count(&answers, |answer| *answer == Adjusted::Known), answers.len() - 1);
        assert_eq!(balance_of(stores, scene.project).await, balance(left, 0));
    }
    checked_ledger(stores, scene.project).await;
}

/// A balance grows up to [`Amount::MOST`] and not beyond: a booking of any kind that would exceed
/// it is refused and leaves no trace.
pub async fn a_balance_stays_within_its_bound(stores: &Stores) {
    let scene = Scene::open(stores).await;
    scene.credit(100).await;
    let send = scene.captured(10).await;
    let rest = Amount::MOST.0 - 90;
    let (credit, adjustment) = (scene.make.credit(Paise(rest + 1)), scene.adjustment(rest + 1));
    let pay_in = |credit| stores.wallets.credit(scene.project, credit, START);
    assert_eq!(pay_in(credit.clone()).await.unwrap(), Credited::TooMuch);
    assert_eq!(scene.adjust_by(adjustment.clone()).await, Adjusted::TooMuch);
    assert_eq!(balance_of(stores, scene.project).await, balance(90, 0));
    scene.credit(rest).await;
    assert_eq!(scene.refund(send).await, Refunded::TooMuch);
    assert_eq!(scene.adjust(1).await, Adjusted::TooMuch);
    assert_eq!(balance_of(stores, scene.project).await, balance(Amount::MOST.0, 0));
    assert_eq!(checked_ledger(stores, scene.project).await.len(), 4);
    assert_eq!(scene.adjust(-Amount::MOST.0).await, Adjusted::Booked);
    assert_eq!(scene.refund(send).await, Refunded::Refunded(Paise(10)));
    assert_eq!(scene.adjust(-10).await, Adjusted::Booked);
    assert_eq!(pay_in(credit).await.unwrap(), Credited::Booked, "its reference was not used up");
    assert_eq!(checked_ledger(stores, scene.project).await.len(), 8);
}
