//! Texts of a project's overview.

use dwar_activity::{Grain, Period};

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
pub(crate) const MEDIAN_DELIVERY: &str = "Median time to deliver";
pub(crate) const FAILED: &str = "Failed messages";
pub(crate) const REFUSED: &str = "Refused sends";
pub(crate) const COST_PER_LOGIN: &str = "Cost per login";
/// After an amount.
pub(crate) const EACH: &str = "per login";

pub(crate) const RANGE: &str = "Other time range";
pub(crate) const RANGE_HINT: &str =
    "Indian time. Figures are kept for 61 days: by the hour, and by the minute for two days.";
pub(crate) const SHOW: &str = "Show";
pub(crate) const MOMENT: &str = "%-d %b %Y, %-I:%M %P";
pub(crate) const NO_SUCH_RANGE: &str = "There are no figures for that time range: it has to begin before it ends, in the past, and within the last 61 days. These are the last 24 hours.";
pub(crate) const COMPARED: &str = "Compared with the same length of time before it.";
pub(crate) const NOT_COMPARED: &str =
    "Earlier figures are no longer kept, so there is no comparison.";
pub(crate) const OF_SENDS: [&str; 2] = ["of sends", "sent"];
/// As above, where some providers send no receipts.
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
pub(crate) const CHART_KEYS: &str =
    "; arrow keys move between points, Enter opens the requests of one";
pub(crate) const CHART_NUMBERS: &str = "Show as table";

pub(crate) const CAUSES: &str = "Failed messages and refused sends";
pub(crate) const NO_CAUSES: &str = "No message failed, and no send was refused.";
pub(crate) const CAUSES_HINT: &str = "A message that failed counts here even if another provider then delivered the code. Counts lead to the requests while these are kept.";
pub(crate) const BY_CAUSE: &str = "By reason";

pub(crate) const ROUTES: &str = "By channel and provider";
pub(crate) const ROUTES_HINT: &str = "A message that falls back to another provider counts as sent for both. The verification and its time count for the provider that carried the code last.";
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

pub(crate) const fn point(grain: Grain) -> &'static str {
    match grain {
        Grain::Minute => "Every five minutes",
        Grain::Hour => "Hourly",
        Grain::Day => "Daily",
    }
}
