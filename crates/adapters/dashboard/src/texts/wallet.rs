use dwar_wallet::EntryKind;

pub(crate) const TITLE: &str = "Wallet";
pub(crate) const LEAD: &str =
    "Prepaid balance. Every movement is an entry in the ledger, and the balance is their sum.";
pub(crate) const AVAILABLE: &str = "Available";
pub(crate) const BALANCE: &str = "Balance";
pub(crate) const HELD: &str = "On hold for sends in progress";
pub(crate) const DONE: &[(&str, &str)] = &[
    ("credited", "Credit added."),
    ("refunded", "Charge refunded."),
    ("adjusted", "Balance corrected."),
    ("known", "This reference was already used. Nothing was booked."),
    ("refunded-before", "This charge was already refunded. Nothing was booked."),
];
pub(crate) const STATEMENT: &str = "Statement, newest first";
pub(crate) const EMPTY: &str =
    "No entries yet. Add credit above; each send with a live key then appears here.";
pub(crate) const WHEN: &str = "Time";
pub(crate) const WHAT: &str = "Type";
pub(crate) const FOR: &str = "Reference";
pub(crate) const CHANGE: &str = "Amount";
pub(crate) const ON_HOLD: &str = "On hold";
pub(crate) const RELAY: &str = "(relay)";
pub(crate) const AFTER: &str = "Balance";

pub(crate) const fn kind(kind: EntryKind) -> &'static str {
    match kind {
        EntryKind::Credit => "Credit",
        EntryKind::Hold => "Hold",
        EntryKind::Capture => "Capture",
        EntryKind::Release => "Release",
        EntryKind::Refund => "Refund",
        EntryKind::Adjustment => "Adjustment",
        EntryKind::Closed => "Closed month",
    }
}
pub(crate) const NOT_OF_TESTS: &str =
    "Test mode is never charged. This wallet pays for codes sent with the live key.";
