//! Promises of [`dwar_login::LoginStore`] about money, and those of [`dwar_wallet::WalletStore`].

mod agreement;
mod audit;
mod books;
mod correction;
mod day_spend;
mod movement;
mod races;

pub use agreement::*;
pub use audit::*;
pub(super) use books::Books;
pub use correction::*;
pub use day_spend::*;
pub use movement::*;
pub use races::*;

use crate::scene::{Scene, ledger_of};
use crate::{START, Stores};
use dwar_kernel::{EntryId, OtpId, ProjectId, Timestamp};
use dwar_login::{Cost, LoginStore, NewSend, Prepared};
use dwar_otp::Otp;
use dwar_wallet::{
    Adjusted, Adjustment, Balance, Credited, HoldOutcome, LedgerEntry, Paise, Refunded, Settlement,
};

pub(super) const fn balance(balance: i64, held: i64) -> Balance {
    Balance { balance: Paise(balance), held: Paise(held) }
}

pub(super) async fn balance_of(stores: &Stores, project: ProjectId) -> Balance {
    stores.wallets.balance(project).await.unwrap()
}

/// Asserts that the ledger adds up to the wallet, entry by entry; returns it, newest first.
pub(super) async fn checked_ledger(stores: &Stores, project: ProjectId) -> Vec<LedgerEntry> {
    let ledger = ledger_of(&*stores.console.ledger, project).await;
    let mut sum = Balance::default();
    for entry in ledger.iter().rev() {
        sum = balance(sum.balance.0 + entry.amount.0, sum.held.0 + entry.held.0);
        assert_eq!(entry.after, sum, "after {entry:?}");
        assert!(Paise::ZERO <= sum.held && sum.held <= sum.balance, "after {entry:?}");
    }
    assert_eq!(balance_of(stores, project).await, sum);
    ledger
}

/// Whether a send to a phone without limits could hold its money.
pub(super) async fn hold(store: &dyn LoginStore, send: NewSend, now: Timestamp) -> HoldOutcome {
    match store.prepare(send, now).await.unwrap() {
        Prepared::Ready(_) => HoldOutcome::Held,
        Prepared::Unaffordable(_) => HoldOutcome::Insufficient,
        Prepared::SpendLimited(_) => HoldOutcome::SpendLimited,
        Prepared::Limited(admission) => panic!("{admission:?}"),
    }
}

impl Scene {
    pub(super) async fn credit(&self, paise: i64) {
        let credit = self.make.credit(Paise(paise));
        let credited = self.stores.wallets.credit(self.project, credit, START).await.unwrap();
        assert_eq!(credited, Credited::Booked);
    }

    /// A send of a new phone that holds `paise`.
    pub(super) fn holding(&self, send: OtpId, paise: i64) -> NewSend {
        let otp = Otp { id: send, ..self.make.otp(&self.line()) };
        NewSend { cost: Cost::Hold(Paise(paise)), ..self.make.new_send_of(otp) }
    }

    async fn hold(&self, send: OtpId, paise: i64) -> HoldOutcome {
        hold(&*self.stores.logins, self.holding(send, paise), START).await
    }

    pub(super) async fn held(&self, paise: i64) -> OtpId {
        let send = self.make.id();
        assert_eq!(self.hold(send, paise).await, HoldOutcome::Held);
        send
    }

    pub(super) async fn settle(&self, send: OtpId, settlement: Settlement) -> bool {
        let entries = [self.make.id(), self.make.id()];
        let wallets = &self.stores.wallets;
        wallets.settle(self.project, send, settlement, entries, START).await.unwrap()
    }

    pub(super) async fn captured(&self, paise: i64) -> OtpId {
        let send = self.held(paise).await;
        assert!(self.settle(send, Settlement::Capture(Paise(paise))).await);
        send
    }

    pub(super) async fn refund(&self, send: OtpId) -> Refunded {
        let entry = self.make.id();
        self.stores.wallets.refund(self.project, send, entry, START).await.unwrap()
    }

    pub(super) async fn adjust(&self, paise: i64) -> Adjusted {
        self.adjust_by(self.adjustment(paise)).await
    }

    async fn adjust_by(&self, adjustment: Adjustment) -> Adjusted {
        self.stores.wallets.adjust(self.project, adjustment, START).await.unwrap()
    }

    pub(super) fn adjustment(&self, paise: i64) -> Adjustment {
        let id: EntryId = self.make.id();
        Adjustment { id, amount: paise.try_into().unwrap(), reference: id.into() }
    }
}
