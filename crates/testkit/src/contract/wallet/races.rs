use super::{balance, balance_of, checked_ledger, hold};
use crate::contract::{CROWD, ROUNDS, count};
use crate::scene::Scene;
use crate::{START, Stores, race};
use dwar_kernel::OtpId;
use dwar_wallet::{Amount, Credit, Credited, HoldOutcome, Paise, Settlement};
use std::sync::Arc;

/// Two hundred concurrent holds succeed exactly as far as the balance covers them. After all of these are
/// captured concurrently, the ledger adds up to the rest.
pub async fn holds_at_once_never_exceed_the_balance(stores: &Stores) {
    for _ in 0..ROUNDS {
        let scene = Scene::open(stores).await;
        scene.credit(7 * 30 + 29).await;
        let sends: Vec<OtpId> = (0..CROWD).map(|_| scene.make.id()).collect();
        let answers = race(CROWD, |number| {
            let (store, holding) = (Arc::clone(&stores.logins), scene.holding(sends[number], 30));
            async move { hold(&*store, holding, START).await }
        })
        .await;
        assert_eq!(count(&answers, |answer| *answer == HoldOutcome::Held), 7);
        assert_eq!(balance_of(stores, scene.project).await, balance(239, 210));
        checked_ledger(stores, scene.project).await;

        let settled = race(CROWD, |number| {
            let (store, project, send) =
                (Arc::clone(&stores.wallets), scene.project, sends[number]);
            let (entries, capture) =
                ([scene.make.id(), scene.make.id()], Settlement::Capture(Paise(30)));
            async move { store.settle(project, send, capture, entries, START).await.unwrap() }
        })
        .await;
        for (held, settled) in answers.into_iter().zip(settled) {
            assert_eq!(held == HoldOutcome::Held, settled);
        }
        assert_eq!(balance_of(stores, scene.project).await, balance(29, 0));
        assert_eq!(checked_ledger(stores, scene.project).await.len(), 1 + 7 + 7);
    }
}

/// Exactly one of many concurrent captures and releases of one hold counts.
pub async fn endings_at_once_end_a_hold_once(stores: &Stores) {
    let scene = Scene::open(stores).await;
    scene.credit(10_000).await;
    for _ in 0..ROUNDS * 2 {
        let before = balance_of(stores, scene.project).await.balance.0;
        let send = scene.held(30).await;
        let answers = race(50, |number| {
            let (store, project) = (Arc::clone(&stores.wallets), scene.project);
            let entries = [scene.make.id(), scene.make.id()];
            let capture = Settlement::Capture(Paise(20));
            let settlement = if number % 2 == 0 { capture } else { Settlement::Release };
            async move { store.settle(project, send, settlement, entries, START).await.unwrap() }
        })
        .await;
        assert_eq!(count(&answers, |ended| *ended), 1);
        let captured = answers.iter().position(|ended| *ended).unwrap() % 2 == 0;
        let left = if captured { before - 20 } else { before };
        assert_eq!(balance_of(stores, scene.project).await, balance(left, 0));
        checked_ledger(stores, scene.project).await;
    }
}

/// Concurrent credits pay in once for each reference, and no credit is lost.
pub async fn credits_at_once_pay_in_once_each(stores: &Stores) {
    for _ in 0..ROUNDS {
        let scene = Scene::open(stores).await;
        let references: Vec<_> = (0..5).map(|_| scene.make.credit(Paise(100))).collect();
        let answers = race(50, |number| {
            let (store, project) = (Arc::clone(&stores.wallets), scene.project);
            let credit = Credit { id: scene.make.id(), ..references[number % 5].clone() };
            async move { store.credit(project, credit, START).await.unwrap() }
        })
        .await;
        assert_eq!(count(&answers, |paid| *paid == Credited::Booked), references.len());
        assert_eq!(balance_of(stores, scene.project).await, balance(500, 0));
        assert_eq!(checked_ledger(stores, scene.project).await.len(), references.len());
    }
}

/// Concurrent credits, holds, captures and releases leave a wallet that adds up.
pub async fn a_mixture_at_once_adds_up(stores: &Stores) {
    for _ in 0..ROUNDS {
        let scene = Scene::open(stores).await;
        scene.credit(300).await;
        let spent = race(60, |number| {
            let (stores, project) = (stores.clone(), scene.project);
            let (credit, send) = (scene.make.credit(Paise(10)), scene.make.id());
            let holding = scene.holding(send, 25);
            let entries = [scene.make.id(), scene.make.id()];
            async move {
                let store = &stores.wallets;
                if number % 3 == 0 {
                    let credited = store.credit(project, credit, START).await.unwrap();
                    assert_eq!(credited, Credited::Booked);
                    return 0;
                }
                let held = hold(&*stores.logins, holding, START).await;
                let capture = Settlement::Capture(Paise(20));
                let settlement = if number % 3 == 1 { capture } else { Settlement::Release };
                let ended = store.settle(project, send, settlement, entries, START).await.unwrap();
                assert_eq!(ended, held == HoldOutcome::Held);
                if ended && number % 3 == 1 { 20 } else { 0 }
            }
        })
        .await;
        let left = 300 + 20 * 10 - spent.iter().sum::<i64>();
        assert_eq!(balance_of(stores, scene.project).await, balance(left, 0));
        checked_ledger(stores, scene.project).await;
    }
}

/// Concurrent credits never raise the balance above its bound, no matter how many credits there are.
pub async fn credits_at_once_stay_within_the_bound(stores: &Stores) {
    for _ in 0..ROUNDS {
        let scene = Scene::open(stores).await;
        let answers = race(CROWD, |_| {
            let (store, project) = (Arc::clone(&stores.wallets), scene.project);
            let credit = scene.make.credit(Paise(Amount::MOST.0 / 7));
            async move { store.credit(project, credit, START).await.unwrap() }
        })
        .await;
        assert_eq!(count(&answers, |answer| *answer == Credited::Booked), 7);
        assert_eq!(count(&answers, |answer| *answer == Credited::TooMuch), CROWD - 7);
        assert_eq!(checked_ledger(stores, scene.project).await.len(), 7);
    }
}
