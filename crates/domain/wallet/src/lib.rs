//! Prepaid balance of a project: money, hold, ledger entry.

#![warn(missing_docs)]

mod ledger;
mod ledger_store;
mod ports;
mod proof;
mod statement;
mod wallet;

pub use dwar_kernel::{InvalidAmount, Paise};
pub use ledger::{
    Adjusted, Adjustment, Audit, Balance, Credit, EntryKind, HoldOutcome, LedgerEntry, OpenHold,
    Refunded, Settlement,
};
pub use ledger_store::*;
pub use ports::*;
pub use proof::{LedgerProof, LedgerSum, ProofRun, ProofStart, WalletStand};
pub use statement::{StatementCursor, StatementFilter, StatementLine};
pub use wallet::{Impossible, Movement, Wallet};
