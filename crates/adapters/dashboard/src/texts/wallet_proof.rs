//! Texts of the ledger check on the wallet's page.

pub(crate) const TITLE: &str = "Ledger check";
pub(crate) const NEVER: &str =
    "Not checked yet. A check adds up every ledger entry and compares the sums with the wallet.";
pub(crate) const SOUND: &str = "The ledger matches the wallet.";
pub(crate) const UNSOUND: &str = "The ledger does not match the wallet. This is a bug: do not change the database, and report it.";
pub(crate) const WHEN: &str = "Checked";
pub(crate) const BY: &str = "by";
pub(crate) const ENTRIES: &str = "Entries: checked / in the ledger";
pub(crate) const BALANCE: &str = "Balance: ledger / wallet";
pub(crate) const HELD: &str = "Reserved: ledger / wallet";
pub(crate) const OPEN: &str = "Reserved by codes being sent";
pub(crate) const PROVE: &str = "Run check";
pub(crate) const RUNNING: &str = "A check has been running since";
