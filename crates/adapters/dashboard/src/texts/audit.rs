pub(crate) const TITLE: &str = "Audit log";
pub(crate) const LEAD: &str = "Every change, by page, API or command line, recorded before it was made. It holds no secrets and no phone numbers.";
pub(crate) const HEADS: [&str; 5] = ["When", "Who", "What", "Of what", "Before → after"];
pub(crate) const EMPTY: &str = "Nothing has been changed yet. What you change shows up here.";
pub(crate) const OLDER: &str = "Older";
pub(crate) const NOTHING: &str = "none";
