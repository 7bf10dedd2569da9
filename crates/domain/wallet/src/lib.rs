//! Prepaid balance of a project: money, hold, ledger entry.

mod ledger;
mod ports;
mod wallet;

pub use dwar_kernel::{InvalidAmount, Paise};
pub use ledger::{
    Adjusted, Adjustment, Audit, Balance, Credit, EntryKind, HoldOutcome, LedgerEntry, OpenHold,
    Refunded, Settlement,
};
#[cfg(feature = "mocks")]
pub use ports::MockWalletStore;
pub use ports::WalletStore;
pub use wallet::{Impossible, Movement, Wallet};
