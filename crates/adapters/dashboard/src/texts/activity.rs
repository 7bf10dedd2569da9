//! What the pages of activity say around what happened.

use dwar_app::explain::Tone;
use dwar_kernel::KeyMode;
use dwar_otp::{DeliveryStatus, OtpState};

pub(crate) const TITLE: &str = "Activity";
pub(crate) const LEAD: &str =
    "Requested codes, and why each did or did not arrive. Numbers are masked.";
pub(crate) const SEARCH: &str = "Why did a code not arrive?";
pub(crate) const SEARCH_HINT: &str =
    "Enter the number. It is sent in the form, never in a URL, and is not stored.";
pub(crate) const PHONE: &str = "Phone number";
pub(crate) const MODE: &str = "Mode";
pub(crate) const FIND_OUT: &str = "Find out";
pub(crate) const INVALID_PHONE: &str =
    "That is not an Indian mobile number: ten digits, the first 6 to 9, with or without +91.";
pub(crate) const FILTERS: &str = "Show";
pub(crate) const ALL: &str = "All";
pub(crate) const LIVE: &str = "Live";
pub(crate) const TEST: &str = "Test";
pub(crate) const STATUS: &str = "Status";
pub(crate) const CHANNEL: &str = "Channel";
pub(crate) const PROVIDER: &str = "Provider";
pub(crate) const APPLY: &str = "Apply";
pub(crate) const CLEAR: &str = "Show all";
pub(crate) const LATEST: &str = "Latest requests";
pub(crate) const WHEN: &str = "When";
pub(crate) const WAY: &str = "Sent by";
pub(crate) const CODE: &str = "Code";
pub(crate) const COST: &str = "Cost";
pub(crate) const UNREADABLE: &str = "cannot be read";
pub(crate) const NO_WAY: &str = "no provider";
pub(crate) const THROUGH: &str = "through";
pub(crate) const OLDER: &str = "Older requests";
pub(crate) const GO_ON: &str = "Search further back";
pub(crate) const LOOKED: &str = "Searched";
pub(crate) const REQUESTS: &str = "requests";
pub(crate) const EMPTY: &str =
    "No code has been requested yet. Send one in the playground, or with a key of this project.";
pub(crate) const TO_PLAYGROUND: &str = "Open the playground";
pub(crate) const NOTHING_OLDER: &str = "There are no older requests on record.";
pub(crate) const NONE_WANTED: &str = "None of the searched requests matches.";
pub(crate) const REFUSED_LATELY: &str = "Refused in the last hour";
pub(crate) const PAUSE: &str = "Pause";
pub(crate) const GOES_ON: &str = "Live";
pub(crate) const PAUSED: &str = "Paused";
pub(crate) const OFFLINE: &str = "Not live: reload to see what is new";
pub(crate) const GAP: &str = "There are more than fit on this page: reload to see all";
pub(crate) const FREE: &str = "free";

pub(crate) const STORY: &str = "What happened";
pub(crate) const STORY_LEAD: &str = "Everything on record about one number, newest first.";
pub(crate) const BACK: &str = "All activity";
pub(crate) const NEXT: &str = "The next code";
pub(crate) const NUMBER: &str = "Number";
pub(crate) const UNMASK: &str = "Show the number";
pub(crate) const UNMASK_HINT: &str = "This is recorded in the audit log.";
pub(crate) const WRONG_CODES: &str = "Counted wrong codes";
pub(crate) const IN_A_ROW: &str = "in a row";
pub(crate) const IN_PERIOD: &str = "in this period";
pub(crate) const REFUSED: &str = "Refused";
pub(crate) const AT: &str = "at";
pub(crate) const BETWEEN: &str = "between";
pub(crate) const AND: &str = "and";
pub(crate) const NEXT_AT: &str = "The next is allowed at";
pub(crate) const NOTHING: &str = "Nothing is on record about this number here: no code was requested recently, and none was refused.";
pub(crate) const NOTHING_NEXT: [&str; 3] = [
    "Compare the number with the one in the app, digit by digit.",
    "Try the other mode: test keys and live keys are separate.",
    "If the app says that it requested a code, the request never reached Dwar: check the app's own server for errors.",
];
pub(crate) const LIFT: &str = "Remove the delay after wrong codes…";
pub(crate) const LIFT_NOW: &str = "Remove it now";
pub(crate) const LIFT_WORD: &str = "lift";
pub(crate) const LIFT_STOPS: [&str; 3] = [
    "The count of wrong codes for this number starts again, so an attacker can guess again.",
    "Make sure that you are talking to the owner of the number.",
    "A code that is locked stays locked: the person asks for a new one.",
];
pub(crate) const LIFTED: &str = "Removed. The next code can be requested as usual.";
pub(crate) const NOT_LIFTED: &str = "You typed a different word, so nothing was changed.";

pub(crate) const fn mode(mode: KeyMode) -> &'static str {
    match mode {
        KeyMode::Live => LIVE,
        KeyMode::Test => TEST,
    }
}

/// Every status, with its words.
pub(crate) const STATUSES: [DeliveryStatus; 4] = [
    DeliveryStatus::Queued,
    DeliveryStatus::Sent,
    DeliveryStatus::Delivered,
    DeliveryStatus::Failed,
];

pub(crate) const fn status(status: DeliveryStatus) -> (Tone, &'static str) {
    match status {
        DeliveryStatus::Queued => (Tone::Warn, "On its way"),
        DeliveryStatus::Sent => (Tone::Plain, "Sent"),
        DeliveryStatus::Delivered => (Tone::Good, "Delivered"),
        DeliveryStatus::Failed => (Tone::Bad, "Failed"),
    }
}

pub(crate) const fn state(state: OtpState) -> (Tone, &'static str) {
    match state {
        OtpState::Active => (Tone::Plain, "Not used"),
        OtpState::Locked => (Tone::Bad, "Locked"),
        OtpState::Used => (Tone::Good, "Verified"),
        OtpState::Superseded => (Tone::Plain, "Replaced"),
        OtpState::Void => (Tone::Plain, "Void"),
    }
}

/// Shown to those who see masked numbers, before the instant at which one more search is possible.
pub(crate) fn searches_left(remaining: u32) -> String {
    let numbers = if remaining == 1 { "number" } else { "numbers" };
    format!(
        "Each number you search for is in the audit log. You can search for {remaining} more {numbers} \
         now; another is free at"
    )
}
