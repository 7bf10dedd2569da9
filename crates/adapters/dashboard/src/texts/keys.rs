use super::common::DestructiveFormTexts;

pub(crate) const TITLE: &str = "Keys";
pub(crate) const LEAD: &str =
    "One API key per mode. Only a digest is stored, so a key is shown once, when it is created.";
pub(crate) const LIVE: (&str, &str) =
    ("Live key", "Sends real messages, which are charged. Keep it on your server.");
pub(crate) const TEST: (&str, &str) =
    ("Test key", "Runs the whole flow in the sandbox. Nothing is sent or charged.");
pub(crate) const KEY: &str = "Key";
pub(crate) const LIVE_STOPS: DestructiveFormTexts = DestructiveFormTexts {
    summary: "Regenerate key…",
    consequences: &[
        "The current key stops working immediately, on every server. Nobody can log in until you deploy the new one.",
        "Existing sessions are kept, but validate, refresh and logout also fail until then.",
        "The old key cannot be restored.",
    ],
    button: "Regenerate key",
};
pub(crate) const TEST_STOPS: DestructiveFormTexts = DestructiveFormTexts {
    summary: "Regenerate key…",
    consequences: &[
        "The current key stops working immediately. Tests and builds that use it fail until they have the new one.",
        "The old key cannot be restored.",
    ],
    button: "Regenerate key",
};
pub(crate) const CURL: &str = "Try it with curl";
pub(crate) const VARIABLE: &str = "Put the key into the variable";
pub(crate) const CHARGED: &str = "Enter a number of your own: this sends a real message";
pub(crate) const TRY: &str = "Send a code:";
pub(crate) const FRESH: &str = "Your new key";
pub(crate) const FRESH_ONCE: &str =
    "Copy it now. You will not see it again, and the old key no longer works.";
pub(crate) const REPLACED_BEFORE: &str = "This key was already replaced. Nothing was changed.";
