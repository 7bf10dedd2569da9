//! Texts about passkeys.

pub(crate) const TITLE: &str = "Passkeys";
pub(crate) const HINT: &str =
    "Sign in with your device's fingerprint, face or PIN. Your password keeps working.";
pub(crate) const NOT_HERE: &str = "Passkeys need the host name in dashboard.public_url over https, or localhost on this machine. \
     Open this page there; passkeys do not work with an address such as 127.0.0.1.";
pub(crate) const NO_SCRIPT: &str = "Passkeys need JavaScript, which is turned off in your browser.";
pub(crate) const NAME: &str = "Name of the passkey";
pub(crate) const NAME_EXAMPLE: &str = "Laptop";
pub(crate) const ADD: &str = "Add passkey";
pub(crate) const REMOVE: &str = "Remove";
pub(crate) const MADE: &str = "added";
pub(crate) const USED: &str = "last used";
pub(crate) const NEVER_USED: &str = "never used";
pub(crate) const NOT_ASKED: &str = "The service did not answer. Try again.";
pub(crate) const KNOWN: &str = "This device has a passkey for this account already.";
pub(crate) const NOT_READ: &str =
    "The browser made a passkey but did not hand it over. Update the browser, or use another one.";
pub(crate) const FAILED: &str = "The browser did not provide a passkey. Nothing was changed.";
