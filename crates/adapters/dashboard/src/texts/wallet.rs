use dwar_wallet::EntryKind;

pub(crate) const TITLE: &str = "Wallet";
pub(crate) const LEAD: &str =
    "Prepaid, in whole paise. Each movement has a line, and the balance is their sum.";
pub(crate) const AVAILABLE: &str = "Available";
pub(crate) const BALANCE: &str = "Balance";
pub(crate) const HELD: &str = "Held for sends under way";
pub(crate) const CREDIT: &str = "Pay in";
pub(crate) const CREDIT_HINT: &str = "A reference counts once: the same one again changes nothing.";
pub(crate) const AMOUNT: &str = "Amount in ₹";
pub(crate) const REFERENCE: &str = "Reference";
pub(crate) const REFERENCE_EXAMPLE: &str = "Invoice 2026-11-17";
pub(crate) const PAY_IN: &str = "Pay in";
pub(crate) const NO_AMOUNT: &str = "The amount is rupees with at most two decimals, more than zero and at most a thousand crore. \
     Nothing was paid in.";
pub(crate) const NO_REFERENCE: &str = "A reference is needed, so that the same payment cannot be booked twice: 1 to 200 visible \
     characters on one line.";
pub(crate) const TOO_MUCH: &str =
    "No balance may be more than a thousand crore rupees. Nothing was paid in.";
pub(crate) const DONE: &[(&str, &str)] = &[
    ("credited", "Paid in."),
    ("known", "This reference was booked before, so nothing was paid in."),
];
pub(crate) const STATEMENT: &str = "Statement, newest first";
pub(crate) const EMPTY: &str =
    "No movement yet. Pay in above; each send with a live key then appears here.";
pub(crate) const WHEN: &str = "When";
pub(crate) const WHAT: &str = "What";
pub(crate) const FOR: &str = "For";
pub(crate) const CHANGE: &str = "Change";
pub(crate) const ON_HOLD: &str = "On hold";
pub(crate) const AFTER: &str = "Balance";

pub(crate) const fn kind(kind: EntryKind) -> &'static str {
    match kind {
        EntryKind::Credit => "Paid in",
        EntryKind::Hold => "Held",
        EntryKind::Capture => "Spent",
        EntryKind::Release => "Released",
        EntryKind::Refund => "Refunded",
        EntryKind::Adjustment => "Corrected",
    }
}
