pub(crate) const TITLE: &str = "Audit log";
pub(crate) const LEAD: &str = "Every change made on a page, by API or on the command line, recorded before it takes effect. Contains no secrets or phone numbers.";
pub(crate) const HEADS: [&str; 5] = ["Time", "User", "Action", "Target", "Change"];
pub(crate) const EMPTY: &str = "No changes yet.";
pub(crate) const OLDER: &str = "Older";
pub(crate) const NOTHING: &str = "none";
