//! Texts of the checklist of a new project.

use dwar_console::FirstStep;

pub(crate) const TITLE: &str = "Get started";
pub(crate) const DONE: &str = "done";
pub(crate) const OPTIONAL: &str = "(optional)";

/// The name of a step, and what it takes.
pub(crate) const fn step(step: FirstStep) -> (&'static str, &'static str) {
    match step {
        FirstStep::TestCode => (
            "Verify a test code",
            "Send one in the playground and type it in. Nothing is sent or charged.",
        ),
        FirstStep::Key => (
            "Call the API with a key",
            "Send a code from your server. The test key works the same way as the live one.",
        ),
        FirstStep::Provider => (
            "Connect a provider",
            "Add WhatsApp or SMS credentials to the configuration of the service. Then choose it in the settings.",
        ),
        FirstStep::LiveCode => (
            "Deliver a live code",
            "Send one to your own phone: dwar try --live, with the live key.",
        ),
        FirstStep::Endpoint => (
            "Add an event endpoint",
            "Your server learns of deliveries, verifications and ended sessions.",
        ),
    }
}
