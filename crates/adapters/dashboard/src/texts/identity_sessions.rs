//! The words of an identity's sessions.

pub(crate) const TITLE: &str = "Sessions";
pub(crate) const LEAD: &str =
    "The logins of one identity, newest first. Ending one takes effect with the next request.";
pub(crate) const IDENTITY: &str = "Identity";
pub(crate) const HEADS: [&str; 5] = ["Began", "Last refreshed", "Expires", "State", "Action"];
pub(crate) const NEVER: &str = "Never";
pub(crate) const COUNTS: &str = "active";
pub(crate) const ENDED: &str = "Ended";
pub(crate) const EXPIRED: &str = "Over";
pub(crate) const END: &str = "End";
pub(crate) const END_ALL: &str = "End all…";
pub(crate) const END_ALL_NOW: &str = "End all sessions";
pub(crate) const END_WORD: &str = "end all";
pub(crate) const END_STOPS: [&str; 2] = [
    "Every app and browser of this person is signed out with its next request.",
    "The identity stays: they log in again with a code.",
];
pub(crate) const WRONG_WORD: &str = "You typed a different word, so nothing was ended.";
pub(crate) const DONE: &[(&str, &str)] = &[
    ("ended", "Ended. Neither token works from now on."),
    ("none", "There was nothing left to end."),
];
pub(crate) const EMPTY: &str =
    "No session on record. Ended sessions are deleted after a day, unless configured otherwise.";
pub(crate) const OLDER: &str = "Older";
pub(crate) const BACK: &str = "Back to the look-up";
