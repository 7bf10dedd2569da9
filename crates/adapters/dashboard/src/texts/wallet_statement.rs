//! The words of the statement.

pub(crate) const FROM: &str = "From (IST)";
pub(crate) const UNTIL: &str = "To (IST)";
pub(crate) const KIND: &str = "Kind";
pub(crate) const EVERY_KIND: &str = "Every kind";
pub(crate) const REFERENCE: &str = "Reference or OTP id";
pub(crate) const SHOW: &str = "Show";
pub(crate) const DAYS: &str = "Dates are days in Indian time (IST, UTC+05:30). The last day is included.";
pub(crate) const NOTHING: &str = "No entry matches. Choose more days, or every kind.";
pub(crate) const OLDER: &str = "Older";
pub(crate) const DOWNLOAD: &str = "Download these as CSV";
