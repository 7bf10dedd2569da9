//! Prepaid balance of a project: money, hold, ledger entry.

mod ledger;
mod money;
mod ports;

pub use ledger::{
    Adjusted, Adjustment, Audit, Balance, Credit, EntryKind, HoldOutcome, LedgerEntry, OpenHold,
    Refunded, Settlement,
};
pub use money::{InvalidAmount, Paise};
#[cfg(feature = "mocks")]
pub use ports::MockWalletStore;
pub use ports::WalletStore;
