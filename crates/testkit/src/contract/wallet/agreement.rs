use super::{Books, hold};
use crate::contract::draw::Draw;
use crate::scene::Scene;
use crate::{START, Stores, any_project, minutes};
use dwar_kernel::{EntryId, OtpId, Timestamp};
use dwar_login::NewSend;
use dwar_project::ProjectChange;
use dwar_wallet::{
    Adjustment, Correction, Credit, EntryKind, LedgerAudit, OpenHold, Paise, Reference, Settlement,
};
use std::fmt::Debug;
use std::time::Duration;

const CASES: u64 = 24;
const STEPS: u32 = 60;
/// Between steps, so that a day ends within each case.
const PAUSE: Duration = minutes(20);

/// Fresh: for any steps in any order, answers, ledger, holds and events are those of [`dwar_wallet::Wallet`].
pub async fn every_step_is_what_the_aggregate_says(stores: &Stores) {
    let mut told = 0;
    for seed in 0..CASES {
        let (scene, draw) = (Scene::open(stores).await, Draw::new(seed));
        scene.stores.events.add_endpoint(scene.make.endpoint(scene.project)).await.unwrap();
        let (mut books, mut sends) = (Books::of(scene.project), Vec::new());
        for step in 0..STEPS {
            let now = START + PAUSE * step;
            let (said, wanted) = ask(&scene, &draw, &mut books, &mut sends, now).await;
            assert_eq!(said, wanted, "seed {seed}, step {step}");
            let stored = stores.wallets.balance(scene.project).await.unwrap();
            assert_eq!(stored, books.wallet.balance, "seed {seed}, step {step}: {said}");
            let spend = stores.wallets.day_spend(scene.project).await.unwrap();
            assert_eq!(spend, books.wallet.spend, "seed {seed}, step {step}: {said}");
        }
        books.check(stores, START + PAUSE * STEPS, &format!("seed {seed}")).await;
        books.events.sort_by_key(|event| (event.at, event.id()));
        assert_eq!(scene.told_events().await, books.events, "seed {seed}");
        told += books.events.len();
    }
    assert!(told > 24, "only {told} crossings");
    let clean = LedgerAudit { projects: CASES, difference: Paise::ZERO };
    assert_eq!(stores.wallets.audit().await.unwrap(), clean);
}

/// Asks the store and the aggregate for the same step; returns both answers.
async fn ask(
    scene: &Scene,
    draw: &Draw,
    books: &mut Books,
    sends: &mut Vec<OtpId>,
    now: Timestamp,
) -> (String, String) {
    let (store, project) = (&scene.stores.wallets, scene.project);
    let (owned, free) = (books.wallet.balance.balance.0, books.wallet.balance.available().0);
    let reference: Reference = format!("reference {}", draw.below(12)).parse().unwrap();
    let (id, entries): (EntryId, [EntryId; 2]) =
        (scene.make.id(), [(); 2].map(|()| scene.make.id()));
    match draw.below(13) {
        0..=1 => {
            let known = books.entry(EntryKind::Credit, &reference).is_some();
            let credit =
                Credit { id, reference, ..scene.make.credit(Paise(draw.around(100).max(0))) };
            let said = store.credit(project, credit.clone(), now).await;
            let wanted = books.wallet.credit(&credit, known, now);
            both(said, books.enter(wanted))
        }
        2..=5 => {
            let (send, amount) = (scene.make.id_at(now), draw.around(free.min(40)).max(1));
            let asked = NewSend { entry: id, ..scene.holding(send, amount) };
            let said = hold(&*scene.stores.logins, asked, now).await;
            sends.push(send);
            let amount = Paise(amount);
            let own = OpenHold { project, send, relayed: false, amount, since: now };
            (format!("{said:?}"), format!("{:?}", books.hold(own, id)))
        }
        6..=8 => {
            let send = draw.of(sends, scene.make.id());
            let held = books.of_send(send).0.map(|hold| hold.amount);
            let settlement = match draw.below(4) {
                0 => Settlement::Release,
                _ => Settlement::Capture(Paise(draw.around(held.unwrap_or_default().0))),
            };
            let said = store.settle(project, send, settlement, entries, now).await;
            both(said, books.settle(send, settlement, entries, now))
        }
        9 => {
            let send = draw.of(sends, scene.make.id());
            let said = store.refund(project, send, id, now).await;
            both(said, books.refund(send, id, now))
        }
        10 => {
            let known = books.entry(EntryKind::Adjustment, &reference).is_some();
            let amount = [draw.around(20), -draw.around(free)][usize::from(free > 50)];
            let amount = Correction::try_from(if amount == 0 { 1 } else { amount }).unwrap();
            let adjustment = Adjustment { id, amount, reference };
            let said = store.adjust(project, adjustment.clone(), now).await;
            let wanted = books.wallet.adjust(&adjustment, known, now);
            both(said, books.enter(wanted))
        }
        11 => {
            let daily_spend = (draw.below(4) > 0).then(|| Paise(20 + draw.below(200)));
            let change =
                ProjectChange { daily_spend: Some(daily_spend), ..ProjectChange::default() };
            books.wallet.daily_spend = daily_spend;
            let said = scene.stores.projects.change(project, change, any_project()).await;
            (format!("{:?}", said.unwrap().done().unwrap().daily_spend), format!("{daily_spend:?}"))
        }
        _ => {
            let low_balance = (draw.below(8) > 0).then(|| Paise(draw.around(owned)));
            let change =
                ProjectChange { low_balance: Some(low_balance), ..ProjectChange::default() };
            books.wallet.low_balance = low_balance;
            let said = scene.stores.projects.change(project, change, any_project()).await;
            (format!("{:?}", said.unwrap().done().unwrap().low_balance), format!("{low_balance:?}"))
        }
    }
}

fn both<T: Debug, E: Debug>(said: Result<T, E>, wanted: T) -> (String, String) {
    (format!("{:?}", said.unwrap()), format!("{wanted:?}"))
}
