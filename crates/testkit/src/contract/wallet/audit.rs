use super::{
    corrections_at_once_take_what_no_hold_needs, hold, holds_at_once_never_exceed_the_balance,
};
use crate::contract::{ROUNDS, count};
use crate::scene::Scene;
use crate::{MS, START, Stores, race};
use dwar_kernel::OtpId;
use dwar_wallet::{Adjusted, HoldOutcome, LedgerAudit, OpenHold, Paise, Refunded, Settlement};

/// Fresh: open holds since before the instant come oldest first, of all projects, up to the limit,
/// and continue after any of them.
pub async fn stale_holds_are_oldest_first_and_bounded(stores: &Stores) {
    let (one, two) = (Scene::open(stores).await, Scene::open(stores).await);
    for scene in [&one, &two] {
        scene.credit(1_000).await;
    }
    let held = async |scene: &Scene, age: u32| {
        let since = START + MS * age;
        let send: OtpId = scene.make.id_at(since);
        let (project, amount) = (scene.project, Paise(30));
        let asked = hold(&*stores.logins, scene.holding(send, amount.0), since).await;
        assert_eq!(asked, HoldOutcome::Held);
        OpenHold { project, send, relayed: false, amount, since }
    };
    let third = held(&one, 2).await;
    let first = held(&two, 0).await;
    let second = held(&one, 1).await;
    let ended = held(&one, 0).await;
    assert!(one.settle(ended.send, Settlement::Release).await);

    let stale = |before, limit| stores.wallets.stale_holds(before, None, limit);
    assert_eq!(stale(START, 9).await.unwrap(), []);
    assert_eq!(stale(START + MS, 9).await.unwrap(), [first]);
    assert_eq!(stale(START + MS * 2, 9).await.unwrap(), [first, second]);
    assert_eq!(stale(START + MS * 3, 9).await.unwrap(), [first, second, third]);
    assert_eq!(stale(START + MS * 3, 2).await.unwrap(), [first, second]);
    let rest = |after: OpenHold| stores.wallets.stale_holds(START + MS * 3, Some(after.send), 9);
    assert_eq!(rest(first).await.unwrap(), [second, third]);
    assert_eq!(rest(ended).await.unwrap().last(), Some(&third));
    assert_eq!(rest(third).await.unwrap(), []);
}

/// Fresh: an audit counts the wallets and finds no difference, after many concurrent bookings too.
pub async fn an_audit_finds_every_wallet_in_order(stores: &Stores) {
    assert_eq!(stores.wallets.audit().await.unwrap(), LedgerAudit::default());
    let scene = Scene::open(stores).await;
    assert_eq!(stores.wallets.audit().await.unwrap(), LedgerAudit::default());
    scene.credit(100).await;
    scene.held(40).await;
    holds_at_once_never_exceed_the_balance(stores).await;
    let projects = 1 + u64::try_from(ROUNDS).unwrap();
    let clean = LedgerAudit { projects, difference: Paise::ZERO };
    assert_eq!(stores.wallets.audit().await.unwrap(), clean);
}

/// Fresh: an audit finds no difference after refunds and corrections, up and down, alone and concurrently.
pub async fn an_audit_finds_corrections_in_order(stores: &Stores) {
    let scene = Scene::open(stores).await;
    scene.credit(100).await;
    let send = scene.captured(30).await;
    scene.held(20).await;
    assert_eq!(scene.refund(send).await, Refunded::Refunded(Paise(30)));
    assert_eq!(scene.adjust(15).await, Adjusted::Booked);
    assert_eq!(scene.adjust(-95).await, Adjusted::Booked);
    assert_eq!(scene.adjust(-1).await, Adjusted::Insufficient);
    corrections_at_once_take_what_no_hold_needs(stores).await;
    let projects = 1 + u64::try_from(ROUNDS).unwrap();
    let clean = LedgerAudit { projects, difference: Paise::ZERO };
    assert_eq!(stores.wallets.audit().await.unwrap(), clean);
}

/// Fresh: an audit during bookings sees every movement whole.
pub async fn an_audit_sees_movements_whole(stores: &Stores) {
    let scene = Scene::open(stores).await;
    scene.credit(100_000).await;
    let clean = LedgerAudit { projects: 1, difference: Paise::ZERO };
    for _ in 0..ROUNDS {
        let answers = race(100, |number| {
            let (stores, project, send) = (stores.clone(), scene.project, scene.make.id());
            let holding = scene.holding(send, 30);
            let entries = [scene.make.id(), scene.make.id()];
            async move {
                if number % 4 == 0 {
                    return stores.wallets.audit().await.unwrap();
                }
                hold(&*stores.logins, holding, START).await;
                let capture = Settlement::Capture(Paise(20));
                stores.wallets.settle(project, send, capture, entries, START).await.unwrap();
                clean
            }
        })
        .await;
        assert_eq!(count(&answers, |audit| *audit == clean), answers.len());
    }
}
