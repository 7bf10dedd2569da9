pub(crate) const TITLE: &str = "Your account";
pub(crate) const LEAD: &str = "How you sign in, and where you are signed in.";
pub(crate) const DONE: &[(&str, &str)] = &[
    ("password", "Password changed. You were signed out everywhere else."),
    ("totp", "Two-factor authentication is on. You were signed out everywhere else."),
    ("passkey", "Passkey added. You can sign in with it now."),
    ("no-passkey", "Passkey removed. You were signed out everywhere else."),
    ("no-totp", "Two-factor authentication is off."),
];
pub(crate) const NO_PASSWORD_YET: &str =
    "You signed in with a link. Set a password to be able to sign in again.";
pub(crate) const CURRENT: &str = "Current password";
pub(crate) const NEW: &str = "New password";
pub(crate) const NEW_HINT: &str = "At least 12 characters.";
pub(crate) const NOT_THE_SAME: &str = "The passwords do not match. Nothing was changed.";
pub(crate) const CHANGE: &str = "Set password";
pub(crate) const TOTP: &str = "Two-factor authentication";
pub(crate) const TOTP_ON: &str = "On";
pub(crate) const TOTP_HINT: &str =
    "Asks for a code from an authenticator app in addition to your password.";
pub(crate) const TOTP_ADD: &str = "Add an authenticator app";
pub(crate) const TOTP_REMOVE: &str = "Remove authenticator app";
pub(crate) const TOTP_SCAN: &str = "Scan this with your authenticator app";
pub(crate) const TOTP_OR: &str = "Or enter this secret by hand:";
pub(crate) const TOTP_CODE: &str = "Code shown in the app";
pub(crate) const TOTP_CONFIRM: &str = "Turn on";
pub(crate) const SESSIONS: &str = "Active sessions";
pub(crate) const UNKNOWN_DEVICE: &str = "Unknown browser";
pub(crate) const SINCE: &str = "since";
pub(crate) const THIS_ONE: &str = "This browser";
pub(crate) const SIGN_OUT_EVERYWHERE: &str = "Sign out everywhere";
