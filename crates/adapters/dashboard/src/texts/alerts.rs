//! Texts of the bar of open alerts.

pub(crate) const TITLE: &str = "Needs attention";
pub(crate) const MORE: &str = "more";
pub(crate) const REST: &str = "The admin API and `dwar doctor` list all of them.";
pub(crate) const SINCE: &str = "Since";
