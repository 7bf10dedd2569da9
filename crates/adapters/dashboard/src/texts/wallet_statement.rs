//! The words of the statement.

pub(crate) const FROM: &str = "From";
pub(crate) const UNTIL: &str = "Until, included";
pub(crate) const KIND: &str = "Kind";
pub(crate) const EVERY_KIND: &str = "Every kind";
pub(crate) const REFERENCE: &str = "Reference or OTP id";
pub(crate) const SHOW: &str = "Show";
pub(crate) const DAYS: &str = "Days begin at midnight in India (UTC+05:30).";
pub(crate) const NOTHING: &str = "No entry matches. Choose more days, or every kind.";
pub(crate) const OLDER: &str = "Older";
pub(crate) const DOWNLOAD: &str = "Download these as CSV";
