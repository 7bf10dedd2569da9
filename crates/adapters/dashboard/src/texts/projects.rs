pub(crate) const TITLE: &str = "Projects";
pub(crate) const LEAD: &str = "Each project has its own keys, wallet, messages and team.";
pub(crate) const EMPTY: &str = "No projects yet. Create the first one to get its API keys.";
pub(crate) const NO_ACCESS: &str =
    "You have no access to a project yet. Ask an owner of one to invite you.";
pub(crate) const NONE_HERE: &str = "No projects here.";
pub(crate) const NONE_SO_CALLED: &str = "No projects match this name.";
pub(crate) const NAME: &str = "Name";
pub(crate) const FIND: &str = "Find";
pub(crate) const MORE: &str = "More projects";
pub(crate) const AVAILABLE: &str = "available";
pub(crate) const MADE: &str = "Created";
pub(crate) const WHICH: &str = "Which projects";
pub(crate) const IN_USE: &str = "Active";
pub(crate) const ARCHIVED: &str = "Archived";
pub(crate) const ARCHIVED_AT: &str = "Archived";
