//! Texts about an identity's sessions.

use super::common::DestructiveFormTexts;

pub(crate) const TITLE: &str = "Sessions";
pub(crate) const LEAD: &str =
    "Logins of one identity, newest first. Ending a session takes effect immediately.";
pub(crate) const HEADS: [&str; 5] = ["Started", "Last refreshed", "Expires", "Status", "Action"];
pub(crate) const COUNTS: &str = "Active";
pub(crate) const ENDED: &str = "Ended";
pub(crate) const END: &str = "End";
pub(crate) const END_WORD: &str = "end all";
pub(crate) const END_ALL: DestructiveFormTexts = DestructiveFormTexts {
    summary: "End all sessions…",
    consequences: &[
        "Every app and browser of this person is signed out on its next request.",
        "The identity is kept. They can log in again with a code.",
    ],
    button: "End all sessions",
};
pub(crate) const WRONG_WORD: &str = "The text you typed does not match. Nothing was changed.";
pub(crate) const DONE: &[(&str, &str)] = &[
    ("ended", "Session ended. Its tokens no longer work."),
    ("none", "No active sessions to end."),
];
pub(crate) const EMPTY: &str =
    "No sessions on record. Ended sessions are deleted after a day by default.";
pub(crate) const BACK: &str = "Back to identities";
