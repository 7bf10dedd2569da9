pub(crate) const TITLE: &str = "Identities";
pub(crate) const LEAD: &str =
    "Phone numbers that were verified at least once. Live and test are separate.";
pub(crate) const PHONE: &str = "Phone number or identity id";
pub(crate) const MODE: &str = "Mode";
pub(crate) const LIVE: &str = "Live";
pub(crate) const TEST: &str = "Test";
pub(crate) const LOOK_UP: &str = "Look up";
pub(crate) const START: &str =
    "Enter a number to see whether it has logged in here. Your search is not stored.";
pub(crate) const NOBODY: &str = "Nobody here has verified this number, or the identity was erased.";
pub(crate) const ID: &str = "Id";
pub(crate) const NUMBER: &str = "Phone number";
pub(crate) const FIRST: &str = "First verified";
pub(crate) const LAST: &str = "Last verified";
pub(crate) const SESSIONS: &str = "Sessions";
pub(crate) const ERASE: &str = "Erase…";
pub(crate) const ERASE_NOW: &str = "Erase for good";
pub(crate) const ERASE_WORD: &str = "erase";
pub(crate) const ERASE_STOPS: [&str; 3] = [
    "Every session of this person ends at once.",
    "The number is deleted from every table of this project and mode; only amounts of money are kept.",
    "A later login makes a new identity with another id. This cannot be undone.",
];
pub(crate) const WRONG_WORD: &str = "You typed a different word, so nothing was erased.";
pub(crate) const ERASED: &str = "Erased. Sessions that ended:";
