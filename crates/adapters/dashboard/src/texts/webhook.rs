//! Texts of one endpoint of events.

use dwar_event::SendFailure;

pub(crate) const TITLE: &str = "Endpoint";
pub(crate) const LEAD: &str = "Events sent to this endpoint, and its responses.";
pub(crate) const ALL_SETTINGS: &str = "Events and hooks";
pub(crate) const DONE: &[(&str, &str)] = &[
    ("enabled", "Endpoint enabled. It receives events from now on."),
    ("resent", "Event queued. Check the log in a moment."),
];
pub(crate) const FULL: &str = "Phone numbers";
pub(crate) const YES: &str = "Full";
pub(crate) const NO: &str = "Masked";
pub(crate) const ADDED: &str = "Added";
pub(crate) const OLD_SECRET: &str = "The old secret also signs until";
pub(crate) const FAILING: &str = "All calls have failed since";
pub(crate) const OFF: &str = "It kept failing, or answered 410 (Gone), and was disabled, so it receives no events. Fix it, send a test, then enable it.";
pub(crate) const IN_A_ROW: &str = "Failed calls in a row:";
pub(crate) const TEST: &str = "Send test";
pub(crate) const TESTED: &str = "Test delivered. The endpoint responded with";
pub(crate) const TEST_FAILED: &str = "Test failed:";
pub(crate) const LOG: &str = "Calls, newest first";
pub(crate) const LOG_HINT: &str = "The newest 1,000 calls of the last days. An event that is sent again keeps its webhook-id, so the receiver can recognise it.";
pub(crate) const FAILED_ONLY: &str = "Failed only";
pub(crate) const HEADS: [&str; 6] =
    ["Time", "Event", "Result", "Duration", "Next attempt", "Action"];
pub(crate) const EMPTY: &str = "No events sent yet. Send a test to see whether the endpoint accepts it. Events of the project follow automatically.";
pub(crate) const NONE_FAILED: &str = "No failed calls.";
pub(crate) const RESEND: &str = "Send again";
pub(crate) const GONE: &str = "No longer stored";
pub(crate) const TRY: &str = "attempt";
pub(crate) const MS: &str = "ms";

pub(crate) fn failure(cause: SendFailure) -> String {
    let plain = match cause {
        SendFailure::AddressNotAllowed => "Not a public https:// URL",
        SendFailure::TimedOut => "Timed out",
        SendFailure::Unresolved => "Host name not found",
        SendFailure::ConnectionRefused => "Connection refused",
        SendFailure::Tls => "Invalid certificate or TLS",
        SendFailure::Unreachable => "Connection lost",
        SendFailure::Unsigned => "Cannot be signed with the configured keys",
        SendFailure::Status(status) => return format!("HTTP {status}"),
    };
    plain.to_owned()
}
