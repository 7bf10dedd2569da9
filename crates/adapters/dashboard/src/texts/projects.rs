pub(crate) const TITLE: &str = "Projects";
pub(crate) const LEAD: &str = "Each has its own keys, wallet, texts and people.";
pub(crate) const EMPTY: &str =
    "There is no project yet. A command on the server makes one and prints its keys:";
pub(crate) const COMMAND: &str = "dwar project create --name Acme --balance-rupees 100";
pub(crate) const NONE_SO_CALLED: &str = "You have no project with that name.";
pub(crate) const NAME: &str = "Name";
pub(crate) const FIND: &str = "Find";
pub(crate) const MORE: &str = "More projects";
pub(crate) const AVAILABLE: &str = "available";
pub(crate) const MADE: &str = "made";
