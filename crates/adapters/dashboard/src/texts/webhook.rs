//! One webhook endpoint.

use dwar_event::SendFailure;

pub(crate) const TITLE: &str = "Webhook";
pub(crate) const LEAD: &str = "The events sent to this address, and its answers.";
pub(crate) const ALL_SETTINGS: &str = "All settings";
pub(crate) const DONE: &[(&str, &str)] = &[
    ("enabled", "Switched on again. It gets the events that happen from now on."),
    ("resent", "Queued again. Check the log in a moment."),
];
pub(crate) const FULL: &str = "Full phone numbers";
pub(crate) const YES: &str = "yes";
pub(crate) const NO: &str = "no, masked";
pub(crate) const ADDED: &str = "Added";
pub(crate) const SOUND: &str = "It accepts events.";
pub(crate) const FAILING: &str = "All calls to it have failed since";
pub(crate) const OFF: &str = "It kept failing, so it was switched off and gets no events. Fix it, send a test, then switch it on.";
pub(crate) const IN_A_ROW: &str = "failed in a row";
pub(crate) const TEST: &str = "Send a test";
pub(crate) const TESTED: &str = "The test was accepted. It answered";
pub(crate) const TEST_FAILED: &str = "The test was not accepted:";
pub(crate) const LOG: &str = "Calls, newest first";
pub(crate) const LOG_HINT: &str = "The newest 1,000 of the last days. An event that is sent again keeps its webhook-id, so the receiver can recognise it.";
pub(crate) const ALL: &str = "All";
pub(crate) const FAILED_ONLY: &str = "Failed only";
pub(crate) const HEADS: [&str; 6] = ["When", "Event", "Outcome", "Took", "Next try", "Again"];
pub(crate) const EMPTY: &str = "No event was sent yet. Send a test to see whether the address accepts it; events of the project follow automatically.";
pub(crate) const NONE_FAILED: &str = "No call failed.";
pub(crate) const OLDER: &str = "Older";
pub(crate) const RESEND: &str = "Send again";
pub(crate) const GONE: &str = "not on record";
pub(crate) const TRY: &str = "try";
pub(crate) const MS: &str = "ms";

/// Why a call was not taken.
pub(crate) fn failure(cause: SendFailure) -> String {
    let plain = match cause {
        SendFailure::AddressNotAllowed => "not a public https:// address",
        SendFailure::TimedOut => "no answer in time",
        SendFailure::Unresolved => "name not found",
        SendFailure::ConnectionRefused => "connection refused",
        SendFailure::Tls => "certificate or TLS not valid",
        SendFailure::Unreachable => "connection lost",
        SendFailure::Unsigned => "cannot be signed with the configured keys",
        SendFailure::Status(status) => return format!("answered {status}"),
    };
    plain.to_owned()
}
