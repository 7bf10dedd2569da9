pub(crate) const TITLE: &str = "Your account";
pub(crate) const LEAD: &str = "How you sign in, and where you are signed in.";
pub(crate) const DONE: &[(&str, &str)] = &[
    ("password", "Your password is changed. Every other session of yours has ended."),
    ("totp", "Your second factor is on. Every other session of yours has ended."),
    ("passkey", "Added. You can sign in with it from now on."),
    ("no-passkey", "Removed. Other sessions of yours have ended."),
    ("no-totp", "Your second factor is removed."),
];
pub(crate) const PASSWORD: &str = "Password";
pub(crate) const NO_PASSWORD_YET: &str =
    "You signed in with a link. Set a password so that you can come back.";
pub(crate) const CURRENT: &str = "Current password";
pub(crate) const NEW: &str = "New password";
pub(crate) const NEW_HINT: &str = "At least 12 characters.";
pub(crate) const AGAIN: &str = "Repeat it";
pub(crate) const NOT_THE_SAME: &str = "The two passwords are not the same, so nothing was changed.";
pub(crate) const CHANGE: &str = "Set password";
pub(crate) const TOTP: &str = "Second factor";
pub(crate) const TOTP_ON: &str = "on";
pub(crate) const TOTP_HINT: &str = "A code of an authenticator app in addition to your password. The password alone is then not enough.";
pub(crate) const TOTP_ADD: &str = "Add an authenticator app";
pub(crate) const TOTP_REMOVE: &str = "Remove it";
pub(crate) const TOTP_SCAN: &str = "Scan this with your authenticator app";
pub(crate) const TOTP_OR: &str = "Or type this secret into it:";
pub(crate) const TOTP_CODE: &str = "The code it shows now";
pub(crate) const TOTP_CONFIRM: &str = "Switch it on";
pub(crate) const SESSIONS: &str = "Signed in";
pub(crate) const SINCE: &str = "Since";
pub(crate) const THIS_ONE: &str = "this browser";
pub(crate) const SIGN_OUT_EVERYWHERE: &str = "Sign out everywhere";
