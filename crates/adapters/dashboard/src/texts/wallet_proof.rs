//! The words of the proof on the wallet's page.

pub(crate) const TITLE: &str = "Does the ledger sum?";
pub(crate) const NEVER: &str =
    "Nobody has asked yet. A proof adds up every line and compares the sums with the wallet.";
pub(crate) const SOUND: &str = "The ledger sums: every line adds up to what the wallet says.";
pub(crate) const UNSOUND: &str =
    "The ledger does not sum. This is a defect; keep the database as it is and report it.";
pub(crate) const WHEN: &str = "Proved";
pub(crate) const BY: &str = "by";
pub(crate) const ENTRIES: &str = "Lines: added up / in the ledger";
pub(crate) const BALANCE: &str = "Balance: sum of lines / wallet";
pub(crate) const HELD: &str = "On hold: sum of lines / wallet";
pub(crate) const OPEN: &str = "Open holds";
pub(crate) const PROVE: &str = "Prove it now";
pub(crate) const RUNNING: &str = "A proof is running since";
pub(crate) const LOOK_AGAIN: &str = "Look again";
