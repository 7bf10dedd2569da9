use super::common::DestructiveFormTexts;

pub(crate) const TITLE: &str = "Admin tokens";
pub(crate) const LEAD: &str = "Bearer tokens for programs that use the admin API. Each has a role and an expiry date, and appears in the audit log under its name.";
pub(crate) const DONE: &[(&str, &str)] = &[("revoked", "Token revoked. It no longer works.")];
pub(crate) const EMPTY: &str =
    "No tokens yet. Create one below for a script or pipeline that manages Dwar.";
pub(crate) const FRESH: &str = "New token:";
pub(crate) const FRESH_ONCE: &str =
    "Copy it now. You will not see it again. Send it as Authorization: Bearer.";
pub(crate) const EVERYTHING: &str = "Full access";
pub(crate) const MADE_BY: &str = "Created by";
pub(crate) const EXPIRES: &str = "Expires";
pub(crate) const GONE: &str = "Deleted project";
pub(crate) const MAKE: &str = "Create a token";
pub(crate) const MAKE_HINT: &str =
    "Grant the least access it needs, for no longer than it is needed.";
pub(crate) const ROLE: &str = "Role";
pub(crate) const OWNER_OF_ALL: &str = "Full access to everything";
pub(crate) const PROJECTS: &str = "Projects";
pub(crate) const PROJECTS_HINT: &str = "Ignored for a token with full access.";
pub(crate) const DAYS: &str = "Expires after (days)";
pub(crate) const DAYS_HINT: &str = "1 to 366.";
pub(crate) const NO_DAYS: &str = "Days must be a number from 1 to 366. Nothing was created.";
pub(crate) const MAY_DELEGATE: &str = "Can create what keeps working after it expires: keys, hooks, endpoints of events, people, \
                                       tokens";
pub(crate) const DELEGATE: &str = "Can create what keeps working after it expires: keys, hooks, endpoints of events, people, \
                                   tokens";
pub(crate) const DELEGATE_HINT: &str = "A thief of such a token can create access that \
                                        outlives it. Leave this off unless the program creates \
                                        projects, replaces keys or secrets, or invites people.";
pub(crate) const MAKE_BUTTON: &str = "Create token";
pub(crate) const REVOKE: DestructiveFormTexts = DestructiveFormTexts {
    summary: "Revoke token",
    consequences: &[
        "The token stops working immediately.",
        "Programs that use it fail until they have a new one.",
    ],
    button: "Revoke token",
};
pub(crate) const WRONG_WORD: &str = "The name you typed does not match. Nothing was revoked.";
