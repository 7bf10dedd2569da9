//! Texts of the pages of activity.

use super::common::DestructiveFormTexts;
use dwar_console::explain::Tone;
use dwar_kernel::KeyMode;
use dwar_otp::{DeliveryStatus, OtpState};

pub(crate) const TITLE: &str = "Activity";
pub(crate) const LEAD: &str =
    "Codes as they are requested, and what happened to each. Phone numbers are masked.";
pub(crate) const SEARCH: &str = "Why did a code not arrive?";
pub(crate) const SEARCH_HINT: &str =
    "The number is sent in the request body, never in a URL, and is not stored.";
pub(crate) const FIND_OUT: &str = "Search";
pub(crate) const INVALID_PHONE: &str =
    "Enter an Indian mobile number: ten digits starting with 6 to 9, with or without +91.";
pub(crate) const STATUS: &str = "Status";
pub(crate) const CLEAR: &str = "Clear filters";
pub(crate) const LATEST: &str = "Latest requests";
pub(crate) const WAY: &str = "Sent by";
pub(crate) const STATE: &str = "State";
pub(crate) const ANY_REASON: &str = "Any failed message";
pub(crate) const VIEWS: &str = "Views";
pub(crate) const REFUSED_SENDS: &str = "Refused sends, by minute";
pub(crate) const NONE_REFUSED: &str =
    "No send was refused. Refused sends are kept for a day, and their counts in the overview.";
pub(crate) const REFUSED_THEN: &str = "Refused in this time";
pub(crate) const WHEN_REFUSED: &str = "Show when";
/// After a number.
pub(crate) const ABOVE: &str = "new above";
pub(crate) const COST: &str = "Cost";
pub(crate) const NO_WAY: &str = "No provider";
pub(crate) const THROUGH: &str = "via";
pub(crate) const OLDER: &str = "Older requests";
pub(crate) const GO_ON: &str = "Search further back";
pub(crate) const LOOKED: &str = "Searched";
pub(crate) const REQUESTS: &str = "requests";
pub(crate) const BACK_TO: &str = "back to";
pub(crate) const NOTHING_OLDER: &str = "No older requests.";
pub(crate) const NONE_WANTED: &str = "No requests match these filters.";
pub(crate) const REFUSED_LATELY: &str = "Refused in the last hour";
pub(crate) const PAUSE: &str = "Pause";
pub(crate) const PAUSED: &str = "Paused";
pub(crate) const GAP: &str = "Some requests are not shown. Reload the page to see them all.";
pub(crate) const FREE: &str = "Free";

pub(crate) const STORY: &str = "Request history";
pub(crate) const STORY_LEAD: &str = "Everything on record for one phone number, newest first.";
pub(crate) const BACK: &str = "All activity";
pub(crate) const NEXT: &str = "Next code";
pub(crate) const UNMASK: &str = "Show number";
pub(crate) const UNMASK_HINT: &str = "This is recorded in the audit log.";
pub(crate) const WRONG_CODES: &str = "Failed attempts";
pub(crate) const IN_A_ROW: &str = "in a row";
pub(crate) const SINCE: &str = "since";
pub(crate) const REFUSED: &str = "Refused";
pub(crate) const AT: &str = "at";
pub(crate) const BETWEEN: &str = "between";
pub(crate) const AND: &str = "and";
pub(crate) const NEXT_AT: &str = "The next request is allowed at";
pub(crate) const NOTHING: &str = "Nothing on record for this number: no code was requested recently, and no request was refused.";
pub(crate) const NOTHING_NEXT: [&str; 3] = [
    "Check that the number is the one used in the app, digit by digit.",
    "Try the other mode: live and test requests are separate.",
    "If the app did request a code, the request never reached Dwar. Check the logs of the app's server.",
];
pub(crate) const LIFT_WORD: &str = "clear";
pub(crate) const LIFT: DestructiveFormTexts = DestructiveFormTexts {
    summary: "Clear failed attempts…",
    consequences: &[
        "The count of failed attempts for this number starts from zero, so an attacker can guess again.",
        "Make sure you are talking to the owner of the number.",
        "A locked code stays locked. The user has to request a new one.",
    ],
    button: "Clear failed attempts",
};
pub(crate) const LIFTED: &str = "Failed attempts cleared. The next code can be requested as usual.";

pub(crate) const STATUSES: [DeliveryStatus; 4] = [
    DeliveryStatus::Queued,
    DeliveryStatus::Sent,
    DeliveryStatus::Delivered,
    DeliveryStatus::Failed,
];

pub(crate) const fn mode(mode: KeyMode) -> &'static str {
    match mode {
        KeyMode::Live => "Live",
        KeyMode::Test => "Test",
    }
}

pub(crate) const VIEW_NAMES: [&str; 5] = ["All", "Failed", "Refused", "Verified", "Unused"];

pub(crate) const fn status(status: DeliveryStatus) -> (Tone, &'static str) {
    match status {
        DeliveryStatus::Queued => (Tone::Warn, "Queued"),
        DeliveryStatus::Sent => (Tone::Plain, "Sent"),
        DeliveryStatus::Delivered => (Tone::Good, "Delivered"),
        DeliveryStatus::Failed => (Tone::Bad, "Failed"),
    }
}

pub(crate) const fn state(state: OtpState) -> (Tone, &'static str) {
    match state {
        OtpState::Active => (Tone::Plain, "Unused"),
        OtpState::Locked => (Tone::Bad, "Locked"),
        OtpState::Used => (Tone::Good, "Verified"),
        OtpState::Superseded => (Tone::Plain, "Replaced"),
        OtpState::Void => (Tone::Plain, "Withdrawn"),
        OtpState::Relayed => (Tone::Plain, "Relayed"),
    }
}

/// Shown to operators who see masked numbers, before the instant at which one more search is
/// possible.
pub(crate) fn searches_left(remaining: u32) -> String {
    let searches = if remaining == 1 { "search" } else { "searches" };
    format!(
        "Each search is recorded in the audit log. {remaining} {searches} left; another becomes available at"
    )
}

pub(crate) const fn empty(mode: KeyMode) -> &'static str {
    match mode {
        KeyMode::Live => "No codes requested with the live key yet.",
        KeyMode::Test => {
            "No codes requested in test mode yet. Send one from the playground, or with the test key."
        }
    }
}
