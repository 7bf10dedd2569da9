use crate::Stores;
use crate::contract::MANY;
use crate::scene::ledger_of;
use dwar_kernel::{EntryId, Event, OtpId, ProjectId, Timestamp};
use dwar_wallet::{
    Balance, EntryKind, HoldOutcome, ImpossibleBalance, LedgerEntry, Movement, OpenHold, Paise,
    Reference, Refunded, Settlement, Wallet,
};

/// The expected state of one wallet by the aggregate.
pub(in crate::contract) struct Books {
    pub wallet: Wallet,
    pub ledger: Vec<LedgerEntry>,
    pub holds: Vec<OpenHold>,
    pub events: Vec<Event>,
}

impl Books {
    pub const fn of(project: ProjectId) -> Self {
        let balance = Balance { balance: Paise::ZERO, held: Paise::ZERO };
        let wallet = Wallet::new(project, balance);
        Self { wallet, ledger: Vec::new(), holds: Vec::new(), events: Vec::new() }
    }

    pub fn enter<T>(&mut self, moved: Result<Movement<T>, ImpossibleBalance>) -> T {
        let moved = moved.unwrap();
        self.ledger.extend(moved.entries);
        self.events.extend(moved.events);
        moved.outcome
    }

    /// The one entry of this kind and reference.
    pub fn entry(&self, kind: EntryKind, reference: &Reference) -> Option<&LedgerEntry> {
        self.ledger.iter().find(|entry| (entry.kind, &entry.reference) == (kind, reference))
    }

    /// The open hold of a send, its capture, and whether it was refunded.
    pub fn of_send(&self, send: OtpId) -> (Option<OpenHold>, Option<LedgerEntry>, bool) {
        let hold = self.holds.iter().find(|hold| hold.send == send).copied();
        let capture = self.entry(EntryKind::Capture, &send.into()).cloned();
        let refunded = self.entry(EntryKind::Refund, &send.into()).is_some();
        (hold, capture, refunded)
    }

    pub fn hold(&mut self, hold: OpenHold, entry: EntryId) -> HoldOutcome {
        let moved = self.wallet.hold(&hold, entry);
        let held = self.enter(moved);
        if held == HoldOutcome::Held {
            self.holds.push(hold);
        }
        held
    }

    pub fn settle(
        &mut self,
        send: OtpId,
        settlement: Settlement,
        entries: [EntryId; 2],
        now: Timestamp,
    ) -> bool {
        let (hold, ..) = self.of_send(send);
        self.holds.retain(|hold| hold.send != send);
        let moved = self.wallet.settle(hold, settlement, entries, now);
        self.enter(moved)
    }

    pub fn refund(&mut self, send: OtpId, entry: EntryId, now: Timestamp) -> Refunded {
        let (_, capture, refunded) = self.of_send(send);
        let moved = self.wallet.refund(capture.as_ref(), refunded, entry, now);
        self.enter(moved)
    }

    /// Asserts that the store has the same entries, and the same holds as of an instant.
    pub async fn check(&self, stores: &Stores, until: Timestamp, case: &str) {
        let project = self.wallet.project;
        let mut ledger = ledger_of(&*stores.console.ledger, project).await;
        ledger.reverse();
        assert_eq!(ledger, self.ledger, "{case}");
        let found = stores.wallets.stale_holds(until, None, MANY).await.unwrap();
        let sorted = |mut holds: Vec<OpenHold>| {
            holds.sort_by_key(|hold| (hold.since, hold.send));
            holds
        };
        let own = found.into_iter().filter(|hold| hold.project == project);
        assert_eq!(sorted(own.collect()), sorted(self.holds.clone()), "{case}");
    }
}
