//! Prepaid balance of a project: money, holds and ledger entries.

mod closing;
mod closing_store;
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
pub use dwar_kernel::{Amount, InvalidAmount, Paise};
pub use ledger::{
    Adjusted, Adjustment, Audit, Balance, BalanceLevel, Correction, Credit, Credited, EntryKind,
    HoldOutcome, InvalidCorrection, LedgerEntry, OpenHold, Refunded, Settlement,
};
pub use ledger_store::*;
pub use month::{InvalidMonth, Month};
pub use ports::*;
pub use proof::{LedgerProof, LedgerSum, ProofRun, ProofStart, WalletSnapshot};
pub use reference::{InvalidReference, Reference};
pub use statement::{GroupedLine, StatementCursor, StatementFilter, StatementLine};
pub use wallet::{Impossible, Movement, Wallet};
