use super::hold;
use crate::scene::{Scene, ledger_of};
use crate::{MS, START, SeededEntropy, Stores, any_project};
use dwar_kernel::{Entropy, EntryId, Event, OtpId, Timestamp};
use dwar_login::NewSend;
use dwar_project::ProjectChange;
use dwar_wallet::{
    Adjustment, Audit, Balance, Correction, Credit, EntryKind, HoldOutcome, Impossible,
    LedgerEntry, Movement, OpenHold, Paise, Reference, Settlement, Wallet,
};
use std::fmt::Debug;

const CASES: u64 = 24;
const STEPS: u32 = 60;

/// What the aggregate says of everything that was asked so far.
struct Books {
    wallet: Wallet,
    ledger: Vec<LedgerEntry>,
    holds: Vec<OpenHold>,
    events: Vec<Event>,
    sends: Vec<OtpId>,
}

impl Books {
    fn enter<T>(&mut self, moved: Result<Movement<T>, Impossible>) -> T {
        let moved = moved.unwrap();
        self.ledger.extend(moved.entries);
        self.events.extend(moved.event);
        moved.outcome
    }

    /// What the one entry of this kind and reference added to the balance.
    fn amount(&self, kind: EntryKind, reference: &Reference) -> Option<Paise> {
        let mut known = self.ledger.iter();
        known.find(|entry| (entry.kind, &entry.reference) == (kind, reference)).map(|e| e.amount)
    }
}

/// Draws what is asked, close to where the answer changes.
struct Draw(SeededEntropy);

impl Draw {
    fn below(&self, bound: i64) -> i64 {
        let mut bytes = [0; 4];
        self.0.fill(&mut bytes);
        i64::from(u32::from_le_bytes(bytes)) % bound
    }

    /// Just under, at or over the edge, or anything up to 150, a little below nothing too.
    fn around(&self, edge: i64) -> i64 {
        match self.below(3) {
            0 => self.below(153) - 2,
            _ => edge + self.below(3) - 1,
        }
    }

    fn of<T: Copy>(&self, known: &[T], fresh: T) -> T {
        let place = usize::try_from(self.below(8)).unwrap();
        known.iter().rev().nth(place).copied().unwrap_or(fresh)
    }
}

/// Fresh: whatever is asked of a wallet, in whatever order, its answers, its ledger, its holds and
/// what is told of it are those of [`Wallet`].
pub async fn every_step_is_what_the_aggregate_says(stores: &Stores) {
    let mut told = 0;
    for seed in 0..CASES {
        let (scene, draw) = (Scene::open(stores).await, Draw(SeededEntropy::new(seed)));
        scene.stores.events.add_endpoint(scene.make.endpoint(scene.project)).await.unwrap();
        let balance = Balance::default();
        let wallet = Wallet { project: scene.project, balance, low_balance: None };
        let (ledger, holds, events, sends) = (vec![], vec![], vec![], vec![]);
        let mut books = Books { wallet, ledger, holds, events, sends };
        for step in 0..STEPS {
            let (said, wanted) = ask(&scene, &draw, &mut books, START + MS * step).await;
            assert_eq!(said, wanted, "seed {seed}, step {step}");
            let stored = stores.wallets.balance(scene.project).await.unwrap();
            assert_eq!(stored, books.wallet.balance, "seed {seed}, step {step}: {said}");
        }
        let mut ledger = ledger_of(&*scene.stores.ledger, scene.project).await;
        ledger.reverse();
        assert_eq!(ledger, books.ledger, "seed {seed}");
        let mut holds = stores.wallets.stale_holds(START + MS * STEPS, 1_000).await.unwrap();
        holds.retain(|hold| hold.project == scene.project);
        assert_eq!(holds, books.holds, "seed {seed}");
        assert_eq!(scene.told_events().await, books.events, "seed {seed}");
        told += books.events.len();
    }
    assert!(told > 24, "only {told} crossings");
    let clean = Audit { projects: CASES, difference: Paise::ZERO };
    assert_eq!(stores.wallets.audit().await.unwrap(), clean);
}

/// Asks the store and the aggregate for the same; gives both answers.
async fn ask(scene: &Scene, draw: &Draw, books: &mut Books, now: Timestamp) -> (String, String) {
    let (store, project) = (&scene.stores.wallets, scene.project);
    let (owned, free) = (books.wallet.balance.balance.0, books.wallet.balance.available().0);
    let reference: Reference = format!("reference {}", draw.below(12)).parse().unwrap();
    let (id, entries): (EntryId, [EntryId; 2]) =
        (scene.make.id(), [(); 2].map(|()| scene.make.id()));
    match draw.below(12) {
        0..=1 => {
            let known = books.amount(EntryKind::Credit, &reference).is_some();
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
            let amount = Paise(amount);
            let wanted = books.wallet.hold(send, amount, id, now);
            let wanted = books.enter(wanted);
            if wanted == HoldOutcome::Held {
                books.holds.push(OpenHold { project, send, amount, since: now });
            }
            books.sends.push(send);
            (format!("{said:?}"), format!("{wanted:?}"))
        }
        6..=8 => {
            let send = draw.of(&books.sends, scene.make.id());
            let place = books.holds.iter().position(|hold| hold.send == send);
            let held = place.map(|place| books.holds.remove(place).amount);
            let settlement = match draw.below(4) {
                0 => Settlement::Release,
                _ => Settlement::Capture(Paise(draw.around(held.unwrap_or_default().0))),
            };
            let said = store.settle(project, send, settlement, entries, now).await;
            let wanted = books.wallet.settle(send, held, settlement, entries, now);
            both(said, books.enter(wanted))
        }
        9 => {
            let send = draw.of(&books.sends, scene.make.id());
            let captured = books.amount(EntryKind::Capture, &send.into());
            let captured = captured.map(|amount| Paise(-amount.0));
            let refunded = books.amount(EntryKind::Refund, &send.into()).is_some();
            let said = store.refund(project, send, id, now).await;
            let wanted = books.wallet.refund(send, captured, refunded, id, now);
            both(said, books.enter(wanted))
        }
        10 => {
            let known = books.amount(EntryKind::Adjustment, &reference).is_some();
            let amount = [draw.around(20), -draw.around(free)][usize::from(free > 50)];
            let amount = Correction::try_from(if amount == 0 { 1 } else { amount }).unwrap();
            let adjustment = Adjustment { id, amount, reference };
            let said = store.adjust(project, adjustment.clone(), now).await;
            let wanted = books.wallet.adjust(&adjustment, known, now);
            both(said, books.enter(wanted))
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
