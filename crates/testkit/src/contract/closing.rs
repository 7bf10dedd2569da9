//! Promises of [`dwar_wallet::ClosingStore`].

use super::wallet::{balance_of, hold};
use super::{ROUNDS, count};
use crate::scene::Scene;
use crate::{MS, START, Stores, race, seconds};
use dwar_kernel::{OtpId, ProjectId, Timestamp};
use dwar_wallet::{
    Adjusted, Adjustment, Closable, Closing, ClosingStore, Credit, Credited, EntryKind, FileDigest,
    HoldOutcome, LedgerAudit, LedgerSum, Month, Paise, Refunded, Settlement, StatementFilter,
    StatementLine,
};
use std::collections::BTreeSet;
use std::sync::Arc;

fn month() -> Month {
    Month::of(START).unwrap()
}

impl Scene {
    fn closing_store(&self) -> &dyn ClosingStore {
        &*self.stores.console.closings
    }

    /// A send at this instant that held 30 and was charged 20 of them.
    async fn charged_at(&self, at: Timestamp) -> OtpId {
        let send: OtpId = self.make.id_at(at);
        let held = hold(&*self.stores.logins, self.holding(send, 30), at).await;
        assert_eq!(held, HoldOutcome::Held);
        let (entries, capture) = ([self.make.id(), self.make.id()], Settlement::Capture(Paise(20)));
        let wallets = &self.stores.wallets;
        assert!(wallets.settle(self.project, send, capture, entries, at).await.unwrap());
        send
    }

    async fn refund_of(&self, send: OtpId) -> Refunded {
        let (entry, now) = (self.make.id(), START + seconds(1));
        self.stores.wallets.refund(self.project, send, entry, now).await.unwrap()
    }

    async fn booked_lines(&self) -> Vec<StatementLine> {
        let (ledger, all) = (&self.stores.console.ledger, StatementFilter::default());
        let mut lines = ledger.lines(self.project, all, None, 10_000).await.unwrap();
        lines.sort_by_key(|line| line.position);
        lines
    }

    /// A closing of that month, begun like in the use case.
    async fn to_close(&self, month: Month) -> Closing {
        let exported = self.closing_store().closable(self.project, month).await.unwrap().unwrap();
        Closing::begin(self.make.id(), (self.project, month), exported, FileDigest([7; 32]))
    }

    async fn begin_closing(&self, month: Month) -> Closing {
        let closing = self.to_close(month).await;
        assert!(self.closing_store().begin_closing(closing).await.unwrap());
        closing
    }

    async fn close_month(&self, month: Month) -> Closing {
        self.begin_closing(month).await;
        self.closing_store().close(self.project, month).await.unwrap().unwrap()
    }

    async fn whole_sum(&self) -> LedgerSum {
        self.stores.console.ledger.sum(self.project, 0, u64::MAX >> 1).await.unwrap()
    }

    /// Makes sends around both ends of the month, to the millisecond, with a credit before them and a
    /// correction after each.
    async fn around_the_month(&self) -> Vec<OtpId> {
        self.credit(10_000).await;
        let (first, after) = (month().since(), month().until());
        let mut sends = Vec::new();
        for at in [first - MS, first, START, after - MS, after] {
            sends.push(self.charged_at(at).await);
            assert_eq!(self.adjust(1).await, Adjusted::Booked);
        }
        sends
    }
}

/// The holds, captures and releases of the closed month become one entry with their sum; nothing else
/// changes.
pub async fn a_closed_month_leaves_one_entry_with_its_sum(stores: &Stores) {
    let scene = Scene::open(stores).await;
    scene.around_the_month().await;
    let (before, sum) = (scene.booked_lines().await, scene.whole_sum().await);
    let wallet = balance_of(stores, scene.project).await;

    let begun = scene.begin_closing(month()).await;
    assert_eq!(begun.exported.entries, 9);
    assert_eq!(scene.booked_lines().await, before, "it stands for nothing yet");
    let closed = scene.closing_store().close(scene.project, month()).await.unwrap().unwrap();
    let mut wanted = begun;
    let mut kept: Vec<StatementLine> = before.clone();
    kept.retain(|line| !wanted.take(line.position, &line.entry));
    assert_eq!(closed, wanted);
    assert!(closed.is_complete());
    assert_eq!(closed.closed.sums.balance, Paise(-60));
    assert_eq!(scene.closing_store().closings(scene.project).await.unwrap(), [closed]);

    kept.extend(StatementLine::of_closing(&closed));
    kept.sort_by_key(|line| line.position);
    assert_eq!(scene.booked_lines().await, kept);
    assert_eq!(balance_of(stores, scene.project).await, wallet);
    assert_eq!(scene.whole_sum().await, LedgerSum { closed: 9, ..sum });
    let snapshot = stores.console.ledger.snapshot(scene.project).await.unwrap();
    assert_eq!((snapshot.position, snapshot.closed), (sum.entries, 9));
    let only = StatementFilter { kind: Some(EntryKind::Closed), ..StatementFilter::default() };
    for (since, until, found) in [
        (None, None, 1),
        (Some(closed.closed.at), None, 1),
        (Some(closed.closed.at + MS), None, 0),
        (None, Some(closed.closed.at), 0),
        (Some(month().since()), Some(month().until()), 1),
    ] {
        let filter = StatementFilter { since, until, ..only.clone() };
        let lines = stores.console.ledger.lines(scene.project, filter, None, 9).await.unwrap();
        assert_eq!(lines.len(), found, "{since:?} {until:?}");
    }
    let reference = Some("2027-01".parse().unwrap());
    let filter = StatementFilter { reference, ..StatementFilter::default() };
    let lines = stores.console.ledger.lines(scene.project, filter, None, 9).await.unwrap();
    assert_eq!(lines, Vec::from_iter(StatementLine::of_closing(&closed)));
}

/// Bookings after a closed month work as before, and the next month can be closed too.
pub async fn months_are_closed_one_after_another(stores: &Stores) {
    let scene = Scene::open(stores).await;
    scene.around_the_month().await;
    let sum = scene.whole_sum().await;
    let [earlier, later] = [month().since() - MS, month().until()].map(|at| Month::of(at).unwrap());
    let mut closed = 0;
    for month in [earlier, month(), later] {
        closed += scene.close_month(month).await.closed.entries;
        assert_eq!(scene.whole_sum().await, LedgerSum { closed, ..sum });
    }
    assert_eq!(closed, 15);
    let kinds: Vec<_> = scene.booked_lines().await.iter().map(|line| line.entry.kind).collect();
    assert_eq!(count(&kinds, |kind| *kind == EntryKind::Closed), 3);
    assert_eq!(count(&kinds, |kind| kind.is_closable()), 0);
    scene.credit(5).await;
    let send = scene.charged_at(START).await;
    let positions: Vec<_> = scene.booked_lines().await.iter().map(|line| line.position).collect();
    let once: BTreeSet<_> = positions.iter().collect();
    assert_eq!(once.len(), positions.len());
    assert_eq!(positions.last(), Some(&(sum.entries + 4)));
    assert_eq!(scene.refund_of(send).await, Refunded::Refunded(Paise(20)));
}

/// A month is closed once, and one month at a time; late entries of a closed month stay separate.
pub async fn a_month_is_closed_once(stores: &Stores) {
    let scene = Scene::open(stores).await;
    scene.around_the_month().await;
    let (next, store) = (Month::of(month().until()).unwrap(), scene.closing_store());
    assert_eq!(store.close(scene.project, month()).await.unwrap(), None, "none is on record");
    let other = scene.to_close(next).await;
    let begun = scene.begin_closing(month()).await;
    assert!(!store.begin_closing(other).await.unwrap(), "one is not complete");
    let again = Closing { id: scene.make.id(), ..begun };
    assert!(!store.begin_closing(again).await.unwrap());
    let closed = store.close(scene.project, month()).await.unwrap();
    assert!(!store.begin_closing(again).await.unwrap());
    let late = scene.charged_at(START).await;
    assert_eq!(store.close(scene.project, month()).await.unwrap(), closed);
    assert_eq!(store.closings(scene.project).await.unwrap(), Vec::from_iter(closed));
    let lines = scene.booked_lines().await;
    assert_eq!(count(&lines, |line| line.entry.reference == late.into()), 3);
    assert_eq!(scene.refund_of(late).await, Refunded::Refunded(Paise(20)));
    assert!(store.begin_closing(other).await.unwrap());
}

/// After closing, known references are still refused, and a refund is never made without its capture.
pub async fn references_outlive_their_month(stores: &Stores) {
    let scene = Scene::open(stores).await;
    let sends = scene.around_the_month().await;
    let (credit, adjustment) = (scene.make.credit(Paise(7)), scene.adjustment(-3));
    let wallets = &stores.wallets;
    let pay_in = |credit: Credit| wallets.credit(scene.project, credit, START);
    let correct = |adjustment: Adjustment| wallets.adjust(scene.project, adjustment, START);
    assert_eq!(pay_in(credit.clone()).await.unwrap(), Credited::Booked);
    assert_eq!(correct(adjustment.clone()).await.unwrap(), Adjusted::Booked);
    assert_eq!(scene.refund_of(sends[1]).await, Refunded::Refunded(Paise(20)));
    scene.close_month(month()).await;

    let before = scene.booked_lines().await;
    let credit = Credit { id: scene.make.id(), ..credit };
    assert_eq!(pay_in(credit).await.unwrap(), Credited::Known);
    let adjustment = Adjustment { id: scene.make.id(), ..adjustment };
    assert_eq!(correct(adjustment).await.unwrap(), Adjusted::Known);
    assert_eq!(scene.refund_of(sends[1]).await, Refunded::Already);
    for closed in &sends[2..4] {
        assert_eq!(scene.refund_of(*closed).await, Refunded::Closed);
    }
    let never = scene.make.id_at(month().until());
    assert_eq!(scene.refund_of(never).await, Refunded::NothingCaptured);
    assert_eq!(scene.booked_lines().await, before);
    for open in [sends[0], sends[4]] {
        assert_eq!(scene.refund_of(open).await, Refunded::Refunded(Paise(20)));
    }
}

/// Closable entries are found by their exact instant, kind and position.
pub async fn what_can_be_closed_is_found(stores: &Stores) {
    let scene = Scene::open(stores).await;
    let store = scene.closing_store();
    assert_eq!(store.oldest_closable(scene.project, START).await.unwrap(), None);
    assert_eq!(store.closable(scene.project, month()).await.unwrap(), None);
    assert_eq!(store.closings(scene.project).await.unwrap(), []);
    scene.around_the_month().await;
    let (first, after) = (month().since(), month().until());
    for (since, oldest) in [
        (Timestamp::UNIX_EPOCH, Some(first - MS)),
        (first, Some(first)),
        (first + MS, Some(START)),
        (after, Some(after)),
        (after + MS, None),
    ] {
        let found = store.oldest_closable(scene.project, since).await.unwrap();
        assert_eq!(found, oldest, "{since}");
    }
    let wanted: Vec<_> = scene.booked_lines().await;
    let wanted: Vec<_> = wanted
        .into_iter()
        .filter(|line| line.entry.kind.is_closable() && month().contains(line.entry.at))
        .collect();
    let closable = store.closable(scene.project, month()).await.unwrap().unwrap();
    let ends = (wanted[0].position, wanted[8].position);
    assert_eq!(closable, Closable { entries: 9, first: ends.0, last: ends.1 });
    let lines = |after, through| store.closable_lines(scene.project, month(), after, through);
    assert_eq!(lines(0, 1_000).await.unwrap(), wanted);
    assert_eq!(lines(ends.0, ends.1 - 1).await.unwrap(), wanted[1..8]);
    assert_eq!(lines(ends.1, 1_000).await.unwrap(), []);

    let held: OtpId = scene.make.id_at(START);
    assert!(!store.has_holds_since(scene.project, START + MS).await.unwrap());
    hold(&*stores.logins, scene.holding(held, 5), START).await;
    assert!(store.has_holds_since(scene.project, START + MS).await.unwrap());
    assert!(!store.has_holds_since(scene.project, START).await.unwrap());
    assert!(!store.has_holds_since(scene.another().await, START + MS).await.unwrap());
}

/// Closing a month of one project affects no other project.
pub async fn closings_stay_inside_their_project(stores: &Stores) {
    let (scene, other) = (Scene::open(stores).await, Scene::open(stores).await);
    scene.around_the_month().await;
    let sends = other.around_the_month().await;
    let before = other.booked_lines().await;
    scene.close_month(month()).await;
    assert_eq!(other.booked_lines().await, before);
    let store = scene.closing_store();
    assert_eq!(store.close(other.project, month()).await.unwrap(), None);
    assert_eq!(store.closings(other.project).await.unwrap(), []);
    assert_eq!(store.closable(scene.another().await, month()).await.unwrap(), None);
    assert_eq!(other.refund_of(sends[2]).await, Refunded::Refunded(Paise(20)));
    assert_eq!(other.whole_sum().await.closed, 0);
}

/// Fresh: while several processes close a month beside sends, the ledger adds up at every instant.
pub async fn a_ledger_adds_up_while_months_are_closed(stores: &Stores) {
    for round in 1..=ROUNDS {
        let scene = Arc::new(Scene::open(stores).await);
        scene.credit(1_000_000).await;
        for _ in 0..60 {
            scene.charged_at(START).await;
        }
        let begun = scene.begin_closing(month()).await;
        let projects = u64::try_from(round).unwrap();
        let answers = race(24, |number| {
            let scene = Arc::clone(&scene);
            async move {
                match number % 4 {
                    0 => scene.closes(begun).await,
                    1 => {
                        for _ in 0..5 {
                            scene.charged_at(month().until() + seconds(5)).await;
                        }
                        true
                    }
                    2 => scene.adds_up().await,
                    _ => {
                        let clean = LedgerAudit { projects, difference: Paise::ZERO };
                        scene.stores.wallets.audit().await.unwrap() == clean
                    }
                }
            }
        })
        .await;
        assert_eq!(count(&answers, |sound| *sound), answers.len());
        let lines = scene.booked_lines().await;
        let kept = count(&lines, |line| month().contains(line.entry.at) && line.closing.is_none());
        assert_eq!(kept, 1, "the credit");
        assert!(scene.adds_up().await);
    }
}

impl Scene {
    async fn closes(&self, begun: Closing) -> bool {
        let closed = self.closing_store().close(self.project, begun.month).await.unwrap().unwrap();
        closed.is_complete() && closed.closed.entries == begun.exported.entries
    }

    /// Whether the entries add up to the wallet, at a moment when no closing happens.
    async fn adds_up(&self) -> bool {
        let ledger = &self.stores.console.ledger;
        loop {
            let wallet = ledger.snapshot(self.project).await.unwrap();
            let sum = ledger.sum(self.project, 0, wallet.position).await.unwrap();
            if sum.closed == wallet.closed {
                return (sum.entries, sum.position, sum.sums)
                    == (wallet.position, wallet.position, wallet.balance);
            }
        }
    }
}

/// Partial sums of a ledger can be added if both have the same number of closed entries.
pub async fn sums_say_what_was_closed(stores: &Stores) {
    let scene = Scene::open(stores).await;
    scene.around_the_month().await;
    scene.close_month(month()).await;
    let (whole, ledger) = (scene.whole_sum().await, &stores.console.ledger);
    for middle in 0..=whole.position {
        let one = ledger.sum(scene.project, 0, middle).await.unwrap();
        let other = ledger.sum(scene.project, middle, whole.position).await.unwrap();
        assert_eq!((one.closed, other.closed), (9, 9));
        assert_eq!(one.and(other), whole, "{middle}");
    }
    let nobody: ProjectId = scene.another().await;
    assert_eq!(ledger.sum(nobody, 0, 9).await.unwrap(), LedgerSum::default());
}
