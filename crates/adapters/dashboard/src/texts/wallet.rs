use crate::format::grouped;
use dwar_wallet::EntryKind;

pub(crate) const TITLE: &str = "Wallet";
pub(crate) const LEAD: &str = "Prepaid balance for live codes. A code reserves its price, and is charged when a provider takes it.";
pub(crate) const AVAILABLE: &str = "Available";
pub(crate) const BALANCE: &str = "Balance";
pub(crate) const HELD: &str = "Reserved for codes being sent";
pub(crate) const DONE: &[(&str, &str)] = &[
    ("credited", "Paid in."),
    ("refunded", "Charge refunded."),
    ("adjusted", "Balance corrected."),
    ("known", "This reference was already used. Nothing was changed."),
    ("refunded-before", "This charge was already refunded. Nothing was changed."),
];
pub(crate) const STATEMENT: &str = "Statement, newest first";
pub(crate) const EMPTY: &str =
    "No entries yet. Pay in above; each code sent with the live key then appears here.";
pub(crate) const FOR: &str = "Reference";
pub(crate) const CHANGE: &str = "Amount";
pub(crate) const RESERVED: &str = "Reserved";
pub(crate) const RELAY: &str = "(relay)";
pub(crate) const AFTER: &str = "Balance";

pub(crate) const NOT_CHARGED: &str = "Not charged";
pub(crate) const EMPTY_NOW: &str =
    "Too little for the next code: live codes are refused until something is paid in.";
pub(crate) const LOW_NOW: &str = "Low: the balance is below the alert of this project,";
pub(crate) const LASTS: &str = "Lasts for";
pub(crate) const PACE: &str = "at the pace of the last seven days";
pub(crate) const NO_PACE: &str = "nothing was charged in the last seven days";
pub(crate) const TODAY: &str = "Spent today";
pub(crate) const MONTHS: &str = "Spent by month, less refunds";
pub(crate) const MONTH: &str = "Month";
pub(crate) const TOTAL: &str = "Together";
pub(crate) const MONTHS_KEPT: &str =
    "By the time of the request, this month and last month; the statement has all others.";

/// Below the spend of today: the limit of the day.
pub(crate) fn of_limit(limit: &str) -> String {
    format!("of {limit}, until midnight in India")
}

pub(crate) fn days(days: u64) -> String {
    match days {
        0 => "less than a day".to_owned(),
        1 => "1 day".to_owned(),
        2..=366 => format!("{days} days"),
        _ => "more than a year".to_owned(),
    }
}

pub(crate) fn codes(number: u64) -> String {
    format!("{} {}", grouped(number), if number == 1 { "code" } else { "codes" })
}

pub(crate) const fn kind(kind: EntryKind) -> &'static str {
    match kind {
        EntryKind::Credit => "Paid in",
        EntryKind::Hold => "Reserved",
        EntryKind::Capture => "Charged",
        EntryKind::Release => "Returned",
        EntryKind::Refund => "Refunded",
        EntryKind::Adjustment => "Corrected",
        EntryKind::Closed => "Closed month",
    }
}
pub(crate) const NOT_OF_TESTS: &str =
    "Test mode is never charged. This wallet pays for codes sent with the live key.";
