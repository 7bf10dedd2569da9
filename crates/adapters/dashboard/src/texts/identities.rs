use super::common::DestructiveFormTexts;

pub(crate) const TITLE: &str = "Identities";
pub(crate) const LEAD: &str =
    "People who have verified a phone number. Live and test are separate.";
pub(crate) const PHONE: &str = "Phone number or identity ID";
pub(crate) const LOOK_UP: &str = "Look up";
pub(crate) const START: &str = "Shows whether the number has logged in. Your search is not stored.";
pub(crate) const LATEST: &str = "Verified recently";
pub(crate) const LATEST_LEAD: &str = "The last 20 at most. Select one to see its sessions.";
pub(crate) const LOOKED_BACK_TO: &str = "Searched the codes of the time since";
pub(crate) const NONE_YET: &str =
    "Nobody has verified a code recently. Identities appear here after their first login.";
pub(crate) const NOBODY: &str =
    "No identity found. The number was never verified here, or the identity was erased.";
pub(crate) const ID: &str = "Identity ID";
pub(crate) const FIRST: &str = "First verified";
pub(crate) const LAST: &str = "Last verified";
pub(crate) const SESSIONS: &str = "Sessions";
pub(crate) const ERASE_WORD: &str = "erase";
pub(crate) const ERASE: DestructiveFormTexts = DestructiveFormTexts {
    summary: "Erase identity…",
    consequences: &[
        "All sessions of this person end immediately.",
        "The phone number is deleted from this project and mode. Only amounts of money are kept.",
        "If they log in again, they get a new identity with a different ID. This cannot be undone.",
    ],
    button: "Erase permanently",
};
pub(crate) const WRONG_WORD: &str = "The word you typed does not match. Nothing was erased.";
pub(crate) const ERASED: &str = "Identity erased. Sessions ended:";
