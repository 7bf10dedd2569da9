//! The overview of a project.

use dwar_activity::Period;

pub(crate) const TITLE: &str = "Overview";
pub(crate) const LEAD: &str = "Messages sent, delivered and verified, and what they cost.";
pub(crate) const WHICH_PERIOD: &str = "Period";

pub(crate) const SENDS: &str = "Sends";
/// After a number.
pub(crate) const RELAYED: &str = "relayed";
pub(crate) const DELIVERED: &str = "Delivered";
pub(crate) const VERIFIED: &str = "Verified";
pub(crate) const SPENT: &str = "Spend";
pub(crate) const CONVERSION: &str = "Sent → verified";
pub(crate) const MEDIAN: &str = "Median time to verify";
/// After a percentage, and after a number.
pub(crate) const OF_SENDS: [&str; 2] = ["of sends", "sent"];
/// The same where some providers send no receipts.
pub(crate) const OF_TOLD: [&str; 2] = ["of sends with receipts", "with receipts"];
pub(crate) const NO_RECEIPTS: &str = "No receipts from this provider";

pub(crate) const FRESH: &str = "Updated";
pub(crate) const AGO: &str = "ago";
pub(crate) const NOT_YET: &str = "Not available yet. The first figures appear within a minute.";
pub(crate) const STALE: &str = "These figures are more than a minute old because counting has fallen behind. Run `dwar doctor --online` to find out why.";
pub(crate) const CATCHING_UP: &str =
    "Counting was interrupted. Figures for earlier hours are still being filled in.";

pub(crate) const CHART: &str = "Over time";
pub(crate) const CHART_ZONE: &str = "Indian time (IST)";
pub(crate) const CHART_KEYS: &str = "Over time; arrow keys move between bars";
pub(crate) const CHART_NUMBERS: &str = "Show as table";
pub(crate) const FROM: &str = "From";

pub(crate) const ROUTES: &str = "By channel and provider";
pub(crate) const ROUTES_HINT: &str = "A message that falls back to another provider counts as sent for both. The verification and its time count for the provider that carried the code last.";
pub(crate) const CHANNEL: &str = "Channel";
pub(crate) const PROVIDER: &str = "Provider";
pub(crate) const MESSAGES: &str = "Messages";

pub(crate) const EMPTY_LIVE: &str = "No codes sent with the live key in this period or the one before. Codes of the playground and the test key are shown in test mode.";
pub(crate) const EMPTY_TEST: &str = "No codes sent in test mode in this period or the one before.";
pub(crate) const TO_PLAYGROUND: &str = "Send one in the playground";
pub(crate) const TO_KEYS: &str = "View live key";

pub(crate) const SAME: &str = "No change";
pub(crate) const NEW: &str = "None before";
pub(crate) const MORE: &str = "more than before";
pub(crate) const LESS: &str = "less than before";
pub(crate) const POINTS: &str = "percentage points";

pub(crate) const fn period(period: Period) -> &'static str {
    match period {
        Period::Hour => "Last hour",
        Period::Day => "Last 24 hours",
        Period::Month => "Last 30 days",
    }
}

pub(crate) const fn compared(period: Period) -> &'static str {
    match period {
        Period::Hour => "Compared with the previous hour.",
        Period::Day => "Compared with the previous 24 hours.",
        Period::Month => "Compared with the previous 30 days.",
    }
}

pub(crate) const fn point(period: Period) -> &'static str {
    match period {
        Period::Hour => "Every five minutes",
        Period::Day => "Hourly",
        Period::Month => "Daily",
    }
}
