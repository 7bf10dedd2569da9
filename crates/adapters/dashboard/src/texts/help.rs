pub(crate) const TITLE: &str = "Help";
pub(crate) const LEAD: &str = "The manual of this version.";
pub(crate) const ALL: &str = "All pages";
