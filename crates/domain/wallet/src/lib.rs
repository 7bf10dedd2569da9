//! Prepaid balance of a project: money, holds and ledger entries.
//!
//! ```
//! use dwar_kernel::{EntryId, OtpId, ProjectId, read_instant};
//! use dwar_wallet::{Balance, HoldOutcome, OpenHold, Paise, Settlement, Wallet};
//!
//! let now = read_instant("2026-11-27T08:00:00Z").unwrap();
//! let project = ProjectId::first_at(now);
//! let balance = Balance { balance: Paise(100), held: Paise::ZERO };
//! let mut wallet = Wallet::new(project, balance);
//!
//! // A send sets the price of its dearest channel aside.
//! let (send, entry) = (OtpId::first_at(now), EntryId::first_at(now));
//! let hold = OpenHold { project, send, relayed: false, amount: Paise(25), since: now };
//! assert_eq!(wallet.hold(&hold, entry).unwrap().outcome, HoldOutcome::Held);
//! assert_eq!(wallet.balance.available(), Paise(75));
//!
//! // WhatsApp carried it, which is cheaper: the rest is given back, with an entry of its own.
//! let end = Settlement::Capture(Paise(20));
//! let step = wallet.settle(Some(hold), end, [entry, entry], now).unwrap();
//! assert_eq!(step.entries.len(), 2);
//! assert_eq!(wallet.balance, Balance { balance: Paise(80), held: Paise::ZERO });
//! ```

mod closing;
mod closing_store;
mod day_spend;
mod ledger;
mod ledger_store;
mod month;
mod ports;
mod proof;
mod reference;
mod statement;
mod wallet;

pub use closing::{Closable, Closed, Closing, FileDigest};
pub use closing_store::*;
pub use day_spend::DaySpend;
pub use dwar_kernel::{Amount, InvalidAmount, Paise};
pub use ledger::{
    Adjusted, Adjustment, Balance, BalanceLevel, Correction, Credit, Credited, EntryKind,
    HoldOutcome, InvalidCorrection, LedgerAudit, LedgerEntry, OpenHold, Refunded, Settlement,
};
pub use ledger_store::*;
pub use month::{InvalidMonth, Month};
pub use ports::*;
pub use proof::{LedgerProof, LedgerSum, ProofRun, ProofStart, WalletSnapshot};
pub use reference::{InvalidReference, Reference};
pub use statement::{GroupedLine, StatementCursor, StatementFilter, StatementLine};
pub use wallet::{ImpossibleBalance, Movement, Wallet};
