pub(crate) const TITLE: &str = "Projects";
pub(crate) const LEAD: &str = "Each project has its own keys, wallet, messages and team.";
pub(crate) const EMPTY: &str =
    "No projects yet. Create one on the server; the command prints its API keys:";
pub(crate) const COMMAND: &str = "dwar project create --name Acme --balance-rupees 100";
pub(crate) const NONE_SO_CALLED: &str = "No projects match this name.";
pub(crate) const NAME: &str = "Name";
pub(crate) const FIND: &str = "Find";
pub(crate) const MORE: &str = "More projects";
pub(crate) const AVAILABLE: &str = "available";
pub(crate) const MADE: &str = "Created";
