use dwar_operator::Role;

pub(crate) const TITLE: &str = "Team";
pub(crate) const LEAD: &str = "People with access to this installation, and their roles.";
pub(crate) const DONE: &[(&str, &str)] = &[
    ("changed", "Role changed. Changes apply immediately."),
    ("removed", "Removed and signed out everywhere."),
];
pub(crate) const LINK_FOR: &str = "Invite link for";
pub(crate) const LINK_ONCE: &str =
    "Send it over a channel you trust. You will not see it again. It works once, until";
pub(crate) const YOU: &str = "You";
pub(crate) const LAST_IN: &str = "Last signed in";
pub(crate) const NEVER_IN: &str = "Never signed in";
pub(crate) const OWNER_OF_ALL: &str = "Owner of the installation";
pub(crate) const TWO_FACTORS: &str = "Two-factor";
pub(crate) const ONE_FACTOR: &str = "Password only";
pub(crate) const CHANGE: &str = "Change role";
pub(crate) const SAVE: &str = "Save";
pub(crate) const WHERE: &str = "Project";
pub(crate) const EVERYWHERE: &str = "All projects (owner of the installation)";
pub(crate) const ROLE: &str = "Role";
pub(crate) const NO_ROLE: &str = "None";
pub(crate) const NAME: &str = "Name";
pub(crate) const INVITE: &str = "Invite a person";
pub(crate) const INVITE_HINT: &str =
    "You get a link to send them. They use it to choose a password.";
pub(crate) const INVITE_BUTTON: &str = "Create invite link";
pub(crate) const REMOVE: &str = "Remove from team";
pub(crate) const REMOVE_STOPS: [&str; 2] = [
    "They are signed out everywhere immediately and lose access.",
    "Their past actions stay in the audit log.",
];
pub(crate) const WRONG_WORD: &str = "The name you typed does not match. Nothing was changed.";

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
        Role::Owner => "Full access to the project.",
        Role::Member => "Everything except keys, money and the team.",
        Role::Support => "Finds out why a code did not arrive. Phone numbers are masked.",
        Role::Viewer => "Views figures and settings and changes nothing. Phone numbers are masked.",
    }
}
