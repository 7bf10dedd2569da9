//! What is said of each thing, in the admin API and by `--json` on the command line alike.

mod key;
mod ledger;
mod page;
mod project;
mod wallet;

pub use key::{Key, NewKey};
pub use ledger::{BegunProof, LedgerProof, LedgerProofs, RunningProof, WalletEntry};
pub use page::Page;
pub use project::{CreatedProject, ProjectSettings, ProjectSummary, UnlockedPhone};
pub use wallet::{MovedWallet, Wallet, WalletProof};

use chrono::SecondsFormat;
use dwar_kernel::Timestamp;
use std::fmt::Display;

/// An id as text.
pub(crate) fn id(id: impl Display) -> String {
    id.to_string()
}

/// An instant as the public API writes it: RFC 3339, UTC.
pub fn instant(at: Timestamp) -> String {
    at.to_rfc3339_opts(SecondsFormat::AutoSi, true)
}
