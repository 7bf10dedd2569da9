pub(crate) const TITLE: &str = "Admin tokens";
pub(crate) const LEAD: &str = "Bearer tokens for programs that use the admin API. Each has a role of its own and an end, and stands in the audit log by its name.";
pub(crate) const DONE: &[(&str, &str)] =
    &[("revoked", "The token is revoked. Its next request is refused.")];
pub(crate) const EMPTY: &str =
    "There is no token yet. Make one below for a script or a pipeline that runs Dwar.";
pub(crate) const FRESH: &str = "The new token";
pub(crate) const FRESH_ONCE: &str =
    "Copy it now: it is shown this once. Send it as Authorization: Bearer.";
pub(crate) const EVERYTHING: &str = "everything";
pub(crate) const MADE_BY: &str = "Made by";
pub(crate) const EXPIRES: &str = "Expires";
pub(crate) const EXPIRED: &str = "expired";
pub(crate) const USED: &str = "Last used";
pub(crate) const NEVER: &str = "never";
pub(crate) const FROM: &str = "from";
pub(crate) const GONE: &str = "a project that is not there";
pub(crate) const MAKE: &str = "Make a token";
pub(crate) const MAKE_HINT: &str = "Give it the least that does, and no longer than it is needed.";
pub(crate) const NAME: &str = "Name";
pub(crate) const ROLE: &str = "What it may do";
pub(crate) const OWNER_OF_ALL: &str = "Everything, everywhere";
pub(crate) const PROJECTS: &str = "In these projects";
pub(crate) const PROJECTS_HINT: &str = "Means nothing for a token that may do everything.";
pub(crate) const DAYS: &str = "Days until it expires";
pub(crate) const DAYS_HINT: &str = "1 to 366.";
pub(crate) const NO_DAYS: &str = "Days are a number from 1 to 366. Nothing was made.";
pub(crate) const MAY_DELEGATE: &str = "may invite operators and make tokens";
pub(crate) const DELEGATE: &str = "It may invite operators and make tokens";
pub(crate) const DELEGATE_HINT: &str = "Whoever gets hold of such a token can keep the access they find when it expires or is revoked. \
     Leave it off unless the program is there for that.";
pub(crate) const MAKE_BUTTON: &str = "Make token";
pub(crate) const REVOKE: &str = "Revoke";
pub(crate) const REVOKE_STOPS: [&str; 2] = [
    "The next request with this token is refused.",
    "Whatever uses it stops working until it has another one.",
];
pub(crate) const WRONG_WORD: &str = "The name was not the same, so nothing was revoked.";
