//! The words about passkeys.

pub(crate) const TITLE: &str = "Passkeys";
pub(crate) const HINT: &str =
    "Sign in with a fingerprint, face or PIN of your device. Your password keeps working.";
pub(crate) const NOT_HERE: &str = "Passkeys belong to the name in dashboard.public_url, with https, \
     or to localhost on this machine. Open this page there; an address such as 127.0.0.1 cannot have any.";
pub(crate) const NO_SCRIPT: &str =
    "Passkeys need JavaScript, which is switched off in your browser.";
pub(crate) const NAME: &str = "What to call it";
pub(crate) const NAME_EXAMPLE: &str = "Laptop";
pub(crate) const ADD: &str = "Add a passkey";
pub(crate) const REMOVE: &str = "Remove";
pub(crate) const MADE: &str = "added";
pub(crate) const USED: &str = "last used";
pub(crate) const NEVER_USED: &str = "never used";
pub(crate) const USE: &str = "Sign in with a passkey";
pub(crate) const WRONG: &str = "This passkey is not known here.";
pub(crate) const FAILED: &str = "The browser gave no passkey. Nothing was changed.";
