use dwar_operator::Role;

pub(crate) const TITLE: &str = "Team";
pub(crate) const LEAD: &str = "Who may look after this installation, and what each of them may do.";
pub(crate) const DONE: &[(&str, &str)] = &[
    ("changed", "Changed. It counts from their next request on."),
    ("removed", "Removed, and signed out everywhere."),
];
pub(crate) const LINK_FOR: &str = "The link for";
pub(crate) const LINK_ONCE: &str =
    "Send it to them by a way you trust. It is shown this once, works once, and until";
pub(crate) const YOU: &str = "you";
pub(crate) const LAST_IN: &str = "Last signed in";
pub(crate) const NEVER_IN: &str = "Has not signed in yet";
pub(crate) const OWNER_OF_ALL: &str = "Owner of the installation";
pub(crate) const TWO_FACTORS: &str = "two factors";
pub(crate) const ONE_FACTOR: &str = "password only";
pub(crate) const CHANGE: &str = "Change role";
pub(crate) const SAVE: &str = "Save";
pub(crate) const WHERE: &str = "Where";
pub(crate) const EVERYWHERE: &str = "Everywhere (owner of the installation)";
pub(crate) const ROLE: &str = "Role";
pub(crate) const NO_ROLE: &str = "None";
pub(crate) const NAME: &str = "Name";
pub(crate) const INVITE: &str = "Invite somebody";
pub(crate) const INVITE_HINT: &str = "You get a link to send them. With it they choose a password.";
pub(crate) const INVITE_BUTTON: &str = "Make a link";
pub(crate) const REMOVE: &str = "Remove…";
pub(crate) const REMOVE_STOPS: [&str; 2] = [
    "They are signed out everywhere, at once, and cannot come back.",
    "What they did stays in the audit log.",
];
pub(crate) const WRONG_WORD: &str = "The name you typed is another one, so nothing was changed.";

pub(crate) const fn role(role: Role) -> &'static str {
    match role {
        Role::Owner => "Owner",
        Role::Member => "Member",
        Role::Support => "Support",
        Role::Viewer => "Viewer",
    }
}

pub(crate) const fn role_means(role: Role) -> &'static str {
    match role {
        Role::Owner => "Everything in the project.",
        Role::Member => "Everything but keys, money and the team.",
        Role::Support => "Finds out why a code did not arrive. Sees no phone number.",
        Role::Viewer => "Looks at figures and settings, changes nothing. Sees no phone number.",
    }
}
