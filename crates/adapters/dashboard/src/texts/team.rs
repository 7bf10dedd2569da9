use super::common::DestructiveFormTexts;
use dwar_operator::{Area, Permission, Role};

pub(crate) const TITLE: &str = "Team";
pub(crate) const LEAD: &str = "People with access to this installation, and their roles.";
pub(crate) const DONE: &[(&str, &str)] = &[
    ("changed", "Role changed. Changes apply immediately."),
    ("unlocked", "Unlocked. They can try to sign in now."),
    ("removed", "Removed and signed out everywhere."),
];
pub(crate) const LINK_FOR: &str = "Invite link for";
pub(crate) const LINK_ONCE: &str =
    "Send it over a channel you trust. You will not see it again. It works once, until";
pub(crate) const YOU: &str = "You";
pub(crate) const LAST_IN: &str = "Last signed in";
pub(crate) const LINK_UNTIL: &str = "Invited. The link works until";
pub(crate) const LINK_OVER: &str = "Invited. The link has expired.";
pub(crate) const RESET_UNTIL: &str = "Sign-in was reset. The link works until";
pub(crate) const NO_PASSWORD: &str = "No password";
pub(crate) const PASSKEY: &str = "Passkey";
pub(crate) const SLOWED: &str =
    "More than 100 sign-ins with this name failed. Browsers that are new to them wait until";
pub(crate) const SLOWED_NOT: &str = "Known browsers and passkeys are let in.";
pub(crate) const UNLOCK: &str = "Unlock";
pub(crate) const RESET: &str = "Lost password or phone?";
pub(crate) const RESET_HINT: &str = "On the server, this command removes their password, \
                                     second factor, passkeys and sessions, and prints a link \
                                     for a new password. No page can do this, because it would \
                                     allow taking over any account.";
pub(crate) const NEW_LINK: &str = "New link";
pub(crate) const REVOKE: &str = "Revoke";
pub(crate) const OWNER_OF_ALL: &str = "Owner of the installation";
pub(crate) const TWO_FACTORS: &str = "Two-factor";
pub(crate) const ONE_FACTOR: &str = "Password only";
pub(crate) const CHANGE: &str = "Change role";
pub(crate) const WHERE: &str = "Project";
pub(crate) const EVERYWHERE: &str = "All projects (owner of the installation)";
pub(crate) const ROLE: &str = "Role";
pub(crate) const NO_ROLE: &str = "None";
pub(crate) const INVITE: &str = "Invite a person";
pub(crate) const INVITE_HINT: &str =
    "You get a link to send them. They use it to choose a password.";
pub(crate) const INVITE_BUTTON: &str = "Create invite link";
pub(crate) const REMOVE: DestructiveFormTexts = DestructiveFormTexts {
    summary: "Remove…",
    consequences: &[
        "They are signed out everywhere immediately and lose access.",
        "Their past actions stay in the audit log.",
    ],
    button: "Remove from team",
};
pub(crate) const CONFIRM_TITLE: &str = "Confirm the new role";
pub(crate) const CONFIRM_LEAD: &str = "Changes apply immediately.";
pub(crate) const CONFIRM: &str = "Change role";
pub(crate) const WILL_BE_ABLE: &str = "will be able to";
pub(crate) const EVERYTHING_EVERYWHERE: &str =
    "do everything in every project, and to invite and remove other owners of the installation";
pub(crate) const WRONG_WORD: &str = "The name you typed does not match. Nothing was changed.";

pub(crate) fn locked(places: u32) -> String {
    let places = if places == 1 {
        "1 browser or network".to_owned()
    } else {
        format!("{places} browsers or networks")
    };
    format!("Locked in {places} after failed sign-ins, until")
}

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
        Role::Member => "Everything except keys, hooks, endpoints of events, money and the team.",
        Role::Support => "Finds out why a code did not arrive. Phone numbers are masked.",
        Role::Viewer => "Views figures and settings and changes nothing. Phone numbers are masked.",
    }
}

/// What an operator will be able to do in a project, as the end of a sentence.
pub(crate) fn will_be_able(gained: &[Permission], owner: bool, project: &str) -> String {
    if owner {
        return format!(
            "do everything in {project}, including keys, hooks, endpoints of events, money and the team"
        );
    }
    let mut words: Vec<&str> = gained.iter().map(|permission| allows(*permission)).collect();
    words.dedup();
    let last = words.pop().unwrap_or_default();
    let words =
        if words.is_empty() { last.to_owned() } else { format!("{} and {last}", words.join(", ")) };
    format!("{words} in {project}")
}

const fn allows(permission: Permission) -> &'static str {
    match permission {
        Permission::See(Area::Overview) | Permission::Change(Area::Overview) => "see figures",
        Permission::See(Area::Activity) => "find out why a code did not arrive",
        Permission::Change(Area::Activity) => "clear failed attempts of numbers",
        Permission::See(Area::Settings) => "see settings",
        Permission::Change(Area::Settings) => "change settings",
        Permission::See(Area::Keys) => "see keys",
        Permission::Change(Area::Keys) => "replace keys, hooks and endpoints of events",
        Permission::See(Area::Money) => "see prices and the wallet",
        Permission::Change(Area::Money) => "change prices and the wallet",
        Permission::See(Area::Identities) => "look up identities",
        Permission::Change(Area::Identities) => "erase identities",
        Permission::See(Area::Playground) | Permission::Change(Area::Playground) => {
            "use the playground"
        }
        Permission::See(Area::Team) => "see the team",
        Permission::Change(Area::Team) => "change the team",
        Permission::Unmask => "see phone numbers",
    }
}
