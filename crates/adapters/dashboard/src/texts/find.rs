//! The search for pages, projects, ids and numbers.

use dwar_kernel::KeyMode;

pub(crate) const TITLE: &str = "Search";
pub(crate) const LEAD: &str = "Pages, projects, ids, or a whole phone number.";
pub(crate) const WHAT: &str = "Page, project, ID or phone number";
pub(crate) const KEYS: &str = "Ctrl K";
pub(crate) const NUMBER: &str = "Press Enter to see what happened to this number.";
pub(crate) const NOTHING: &str =
    "Nothing found. An ID has to be whole; a phone number is searched for within a project.";
pub(crate) const PROJECT: &str = "Project";
pub(crate) const REQUEST: &str = "Request";
pub(crate) const IDENTITY: &str = "Identity";
pub(crate) const ENDPOINT: &str = "Event endpoint";
pub(crate) const KEY: &str = "Key ID";

pub(crate) const fn key(mode: KeyMode) -> &'static str {
    match mode {
        KeyMode::Live => "Live key",
        KeyMode::Test => "Test key",
    }
}
