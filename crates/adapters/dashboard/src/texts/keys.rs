pub(crate) const TITLE: &str = "Keys";
pub(crate) const LEAD: &str =
    "One key per mode. Only a digest is stored, so a key is shown only once, when it is made.";
pub(crate) const LIVE: (&str, &str) =
    ("Live key", "Sends real messages and is charged. Keep it on your server.");
pub(crate) const TEST: (&str, &str) =
    ("Test key", "Runs the whole flow in the sandbox. Nothing is sent, nothing is charged.");
pub(crate) const KEY: &str = "Key";
pub(crate) const MADE: &str = "Made";
pub(crate) const USED: &str = "Last used";
pub(crate) const FROM: &str = "from";
pub(crate) const NEVER_USED: &str = "Not yet";
pub(crate) const REGENERATE: &str = "Regenerate…";
pub(crate) const REGENERATE_NOW: &str = "Regenerate now";
pub(crate) const LIVE_STOPS: [&str; 3] = [
    "The current key stops working at once, on every server: no new logins until the new key is in place.",
    "People who are logged in stay so in their apps, but validate, refresh and logout are refused too until then.",
    "The old key cannot be restored.",
];
pub(crate) const TEST_STOPS: [&str; 2] = [
    "The current key stops working at once: tests and builds that use it fail until they have the new one.",
    "The old key cannot be restored.",
];
pub(crate) const FRESH: &str = "This is the new key";
pub(crate) const FRESH_ONCE: &str =
    "Copy it now. It is shown only once, and the old one no longer works.";
pub(crate) const WRONG_WORD: &str =
    "The name you typed is not the project's name, so nothing was changed.";
pub(crate) const REPLACED_BEFORE: &str =
    "This key had been replaced already, so nothing was changed.";
