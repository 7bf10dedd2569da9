//! Texts of the page of one provider.

use dwar_console::explain;
use dwar_otp::{ProviderRefusal, Reason};

pub(crate) const LEAD: &str = "Whether this provider accepts messages, and its latest answers.";
pub(crate) const STATE: &str = "Now";
pub(crate) const CALLED: &str = "Called";
pub(crate) const FAULTS: &str = "Failed by its fault";
pub(crate) const OF: &str = "of";
pub(crate) const NO_CALLS: &str = "no calls yet";
pub(crate) const MEDIAN: &str = "Half of the calls took at most";
pub(crate) const RECEIPTS: &str = "Receipts of the last 24 hours";
pub(crate) const ARRIVED: &str = "delivered";
pub(crate) const FAILED: &str = "failed";
pub(crate) const SILENT: &str = "none: this provider has not reported on any message";
pub(crate) const THIS_PROCESS: &str = "Calls and errors are those of this server since it started, up to 128 calls. Receipts are those of this project.";
pub(crate) const PROBE: &str = "Probe now";
pub(crate) const NO_ADDRESS: &str = "It has no address for a check.";
pub(crate) const REQUESTS: &str = "Requests by this provider";
pub(crate) const TEST: &str = "Send a test to my phone";
pub(crate) const TEST_HINT: &str = "A live code over this provider only, within the limits of \
                                    the number and at the price of a code. Its page shows the \
                                    result.";
pub(crate) const CHANNEL: &str = "Channel and price";
pub(crate) const PHONE: &str = "Your mobile number";
pub(crate) const SEND: &str = "Send test";
pub(crate) const NO_PHONE: &str = "Enter an Indian mobile number of ten digits. Nothing was sent.";
pub(crate) const ERRORS: &str = "Last errors";
pub(crate) const NO_ERRORS: &str = "None since this server started.";
pub(crate) const NO_ANSWER: &str = "No answer";
pub(crate) const HEADS: [&str; 4] = ["Time", "Status", "Code of the provider", "Meaning"];

/// The result of the check whether the provider answers.
pub(crate) fn probed(status: Option<u16>, took: &str) -> String {
    match status {
        Some(status @ 500..) => {
            format!("It answered HTTP {status} after {took}: it has an error of its own.")
        }
        Some(status) => format!(
            "It answers: HTTP {status} after {took}. This does not check its key; send a test."
        ),
        None => format!("It cannot be reached: no answer within {took}."),
    }
}

pub(crate) const fn meaning(refusal: &ProviderRefusal) -> (&'static str, &'static str) {
    let (known, advice) = explain::reason(refusal.reason);
    match (refusal.reason, refusal.status) {
        (Reason::ProviderUnavailable, Some(_)) => {
            ("the provider answered with an error of its own", advice)
        }
        (Reason::ProviderUnavailable, None) => ("the provider could not be reached", advice),
        _ => (known, advice),
    }
}
