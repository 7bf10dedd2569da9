pub(crate) const TITLE: &str = "Inbox";
pub(crate) const LEAD: &str = "Messages of test mode, newest first. None of them was really sent.";
pub(crate) const SEARCH: &str = "Search";
pub(crate) const PLACEHOLDER: &str = "Number, or words of the text";
pub(crate) const SEARCH_HINT: &str = "In the newest 1,000 messages.";
pub(crate) const CLEAR: &str = "Show all";
pub(crate) const MESSAGES: &str = "Messages";
pub(crate) const PHONE: &str = "Number";
pub(crate) const TEXT: &str = "Message";
pub(crate) const EMPTY: &str =
    "No messages yet. Send a code in the playground, or with a test key.";
pub(crate) const NONE_WANTED: &str = "No messages match.";
pub(crate) const NEWER: &str = "Newer messages";
pub(crate) const OLDER: &str = "Older messages";
pub(crate) const PAGES: &str = "More messages";
