//! The words of the proof on the wallet's page.

pub(crate) const TITLE: &str = "Does the ledger add up?";
pub(crate) const NEVER: &str =
    "Not checked yet. A proof adds up every entry and compares the sums with the wallet.";
pub(crate) const SOUND: &str = "The ledger adds up to the wallet.";
pub(crate) const UNSOUND: &str = "The ledger does not add up to the wallet. This is a bug: do not change the database, and report it.";
pub(crate) const WHEN: &str = "Proved";
pub(crate) const BY: &str = "by";
pub(crate) const ENTRIES: &str = "Entries: added up / in the ledger";
pub(crate) const BALANCE: &str = "Balance: sum of entries / wallet";
pub(crate) const HELD: &str = "On hold: sum of entries / wallet";
pub(crate) const OPEN: &str = "Open holds";
pub(crate) const PROVE: &str = "Prove it now";
pub(crate) const RUNNING: &str = "A proof is running since";
pub(crate) const LOOK_AGAIN: &str = "Check again";
