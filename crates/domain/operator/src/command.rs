use crate::{Access, Area, Permission};
use dwar_kernel::{ProjectId, words};
use std::fmt;

/// The access that a command requires of its caller.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RequiredAccess {
    /// None: the answer contains only what the caller may see.
    Any,
    /// A signed-in operator: the command concerns the operator's own account.
    Own,
    /// Access to the team of some project; further checks depend on the operator concerned.
    Team,
    Installation,
    /// Access to the machine, so only the command line.
    Machine,
    Project(Permission),
}

/// What a command creates, or reactivates, that works by itself: it keeps working after the token
/// that created it has expired, or the operator was removed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CreatedCredential {
    Nothing,
    Key,
    /// An address that another login system calls to have its codes delivered, with its secret.
    Hook,
    Webhook,
    /// An operator who can sign in, and also the removal of that ability.
    Operator,
    Token,
}

/// Declares all commands from one table of what each needs and makes.
macro_rules! commands {
    ($($(#[$doc:meta])* $variant:ident = $word:literal, $need:expr, makes $made:ident;)+) => {
        words! {
            /// What operators can do, in all three interfaces: the command line, the admin API, the
            /// dashboard. The words are the operation ids of the admin API.
            Command { $($(#[$doc])* $variant = $word,)+ }
        }

        impl Command {
            /// The access that the command requires of its caller.
            pub const fn needs(self) -> RequiredAccess {
                match self { $(Self::$variant => $need,)+ }
            }

            /// What the command creates that works by itself. A token may give commands other than
            /// [`CreatedCredential::Nothing`] only if it may delegate: then a thief of any other token keeps
            /// nothing after it expires.
            pub const fn makes(self) -> CreatedCredential {
                match self { $(Self::$variant => CreatedCredential::$made,)+ }
            }
        }
    };
}

const fn see(area: Area) -> RequiredAccess {
    RequiredAccess::Project(Permission::See(area))
}

const fn change(area: Area) -> RequiredAccess {
    RequiredAccess::Project(Permission::Change(area))
}

commands! {
    /// The projects that the caller may see.
    ListProjects = "list_projects", RequiredAccess::Any, makes Nothing;
    CreateProject = "create_project", RequiredAccess::Installation, makes Key;
    ShowProject = "show_project", see(Area::Settings), makes Nothing;
    /// Changes switches, texts and providers of a project.
    ChangeProject = "change_project", change(Area::Settings), makes Nothing;
    /// Changes the prices of codes and the low-balance threshold.
    ChangePrices = "change_prices", change(Area::Money), makes Nothing;
    /// Makes the API refuse the keys of a project.
    ArchiveProject = "archive_project", change(Area::Keys), makes Nothing;
    /// Makes the API accept the keys of an archived project again.
    RestoreProject = "restore_project", change(Area::Keys), makes Key;
    UnlockPhone = "unlock_phone", change(Area::Activity), makes Nothing;
    ShowFigures = "show_figures", see(Area::Overview), makes Nothing;
    ListRequests = "list_requests", see(Area::Activity), makes Nothing;
    DownloadRequests = "download_requests", see(Area::Activity), makes Nothing;
    ListRefusedRequests = "list_refused_requests", see(Area::Activity), makes Nothing;
    /// Why codes did or did not arrive at a number.
    SearchRequests = "search_requests", see(Area::Activity), makes Nothing;
    /// Why codes did or did not arrive at the number of a request.
    ShowRequest = "show_request", see(Area::Activity), makes Nothing;
    UnmaskRequest = "unmask_request", RequiredAccess::Project(Permission::Unmask), makes Nothing;
    ListKeys = "list_keys", see(Area::Keys), makes Nothing;
    RegenerateKey = "regenerate_key", change(Area::Keys), makes Key;
    ShowWallet = "show_wallet", see(Area::Money), makes Nothing;
    CreditWallet = "credit_wallet", change(Area::Money), makes Nothing;
    RefundSend = "refund_send", change(Area::Money), makes Nothing;
    AdjustWallet = "adjust_wallet", change(Area::Money), makes Nothing;
    ProveWallets = "prove_wallets", RequiredAccess::Installation, makes Nothing;
    ListWalletEntries = "list_wallet_entries", see(Area::Money), makes Nothing;
    /// The ledger entries as CSV.
    DownloadStatement = "download_statement", see(Area::Money), makes Nothing;
    ShowWalletProof = "show_wallet_proof", see(Area::Money), makes Nothing;
    BeginWalletProof = "begin_wallet_proof", change(Area::Money), makes Nothing;
    /// Exports months of ledgers to a folder of the machine, and removes them from the database.
    CloseMonths = "close_months", RequiredAccess::Machine, makes Nothing;
    ListWebhooks = "list_webhooks", see(Area::Settings), makes Nothing;
    AddWebhook = "add_webhook", change(Area::Keys), makes Webhook;
    RotateWebhookSecret = "rotate_webhook_secret", change(Area::Keys), makes Webhook;
    EnableWebhook = "enable_webhook", change(Area::Keys), makes Webhook;
    RemoveWebhook = "remove_webhook", change(Area::Keys), makes Nothing;
    ListWebhookCalls = "list_webhook_calls", see(Area::Settings), makes Nothing;
    TestWebhook = "test_webhook", change(Area::Settings), makes Nothing;
    /// Asks a provider whether it answers, and ends its pause if it does.
    ProbeProvider = "probe_provider", change(Area::Settings), makes Nothing;
    /// Sends a live code over one provider only, to the caller's own phone.
    TestProvider = "test_provider", change(Area::Settings), makes Nothing;
    ResendEvent = "resend_event", change(Area::Settings), makes Nothing;
    /// The addresses that other login systems call to have their codes delivered.
    ListHooks = "list_hooks", see(Area::Settings), makes Nothing;
    AddHook = "add_hook", change(Area::Keys), makes Hook;
    /// Changes how long codes of the other system are valid.
    ChangeHook = "change_hook", change(Area::Keys), makes Nothing;
    RotateHookSecret = "rotate_hook_secret", change(Area::Keys), makes Hook;
    RemoveHook = "remove_hook", change(Area::Keys), makes Nothing;
    ShowIdentity = "show_identity", see(Area::Identities), makes Nothing;
    FindIdentity = "find_identity", see(Area::Identities), makes Nothing;
    EraseIdentity = "erase_identity", change(Area::Identities), makes Nothing;
    ListSessions = "list_sessions", see(Area::Identities), makes Nothing;
    EndSessions = "end_sessions", change(Area::Identities), makes Nothing;
    EndSession = "end_session", change(Area::Identities), makes Nothing;
    /// Goes through the whole flow in test mode.
    Play = "play", change(Area::Playground), makes Nothing;
    ListOperators = "list_operators", RequiredAccess::Team, makes Nothing;
    InviteOperator = "invite_operator", RequiredAccess::Team, makes Operator;
    /// Another link for an operator who was invited and has not signed in yet.
    RenewInvitation = "renew_invitation", RequiredAccess::Team, makes Operator;
    ChangeOperator = "change_operator", RequiredAccess::Team, makes Operator;
    /// Removes password, second factor and passkeys of an operator. Command line only: with it, an
    /// operator could take over the account of any other.
    ResetOperator = "reset_operator", RequiredAccess::Machine, makes Operator;
    /// Clears the failed sign-ins of an operator who is locked out or slowed.
    UnlockOperator = "unlock_operator", RequiredAccess::Team, makes Nothing;
    RemoveOperator = "remove_operator", RequiredAccess::Team, makes Operator;
    ListTokens = "list_tokens", RequiredAccess::Installation, makes Nothing;
    MakeToken = "make_token", RequiredAccess::Installation, makes Token;
    RevokeToken = "revoke_token", RequiredAccess::Installation, makes Nothing;
    ListAudit = "list_audit", RequiredAccess::Installation, makes Nothing;
    /// The log as one JSON object per line.
    ExportAudit = "export_audit", RequiredAccess::Installation, makes Nothing;
    ListProjectAudit = "list_project_audit", see(Area::Team), makes Nothing;
    /// The log as one JSON object per line.
    ExportProjectAudit = "export_project_audit", see(Area::Team), makes Nothing;
    ListSigningKeys = "list_signing_keys", RequiredAccess::Installation, makes Nothing;
    RotateSigningKey = "rotate_signing_key", RequiredAccess::Installation, makes Nothing;
    ShowOperations = "show_operations", RequiredAccess::Installation, makes Nothing;
    /// The open alerts.
    ListAlerts = "list_alerts", RequiredAccess::Installation, makes Nothing;
    ListProjectAlerts = "list_project_alerts", see(Area::Overview), makes Nothing;
}

/// Whether a command is allowed, and why not.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AccessDecision {
    Allowed,
    /// The project exists, but the caller may not see it.
    Unknown,
    /// The caller knows the project, but the role lacks the permission.
    Forbidden,
    /// The role has the permission, but the command makes something that would outlive the caller's token.
    Undelegated,
}

impl Command {
    /// Whether a caller with this access may give the command, for `project` if the command concerns one.
    pub fn judge(self, access: &Access, project: Option<ProjectId>) -> AccessDecision {
        let allowed = match (self.needs(), project) {
            (RequiredAccess::Any | RequiredAccess::Own, _) => true,
            (RequiredAccess::Team, _) => access.sees_a_team(),
            (RequiredAccess::Installation, _) => access.may_installation(),
            (RequiredAccess::Machine, _) => false,
            (RequiredAccess::Project(_), Some(project)) if !access.knows(project) => {
                return AccessDecision::Unknown;
            }
            (RequiredAccess::Project(permission), Some(project)) => access.may(project, permission),
            (RequiredAccess::Project(_), None) => access.may_installation(),
        };
        if allowed { AccessDecision::Allowed } else { AccessDecision::Forbidden }
    }
}

/// The form in the document of the admin API: `see keys`, `change money`, `installation`.
impl fmt::Display for RequiredAccess {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Any => out.write_str("any"),
            Self::Own => out.write_str("own"),
            Self::Team => out.write_str("team"),
            Self::Installation => out.write_str("installation"),
            Self::Machine => out.write_str("machine"),
            Self::Project(Permission::See(area)) => write!(out, "see {}", area.as_str()),
            Self::Project(Permission::Change(area)) => write!(out, "change {}", area.as_str()),
            Self::Project(Permission::Unmask) => out.write_str("unmask"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Role;

    fn project(number: u32) -> ProjectId {
        format!("00000000-0000-7000-8000-{number:012}").parse().unwrap()
    }

    #[test]
    fn a_role_gives_the_commands_of_its_own_project() {
        for command in Command::ALL {
            for role in Role::ALL {
                let access = Access::one(project(1), role);
                let own = command.judge(&access, Some(project(1)));
                let other = command.judge(&access, Some(project(2)));
                match command.needs() {
                    RequiredAccess::Project(permission) => {
                        let wanted = if role.may(permission) {
                            AccessDecision::Allowed
                        } else {
                            AccessDecision::Forbidden
                        };
                        assert_eq!(
                            (own, other),
                            (wanted, AccessDecision::Unknown),
                            "{command} {role}"
                        );
                    }
                    RequiredAccess::Installation | RequiredAccess::Machine => {
                        assert_eq!(own, AccessDecision::Forbidden)
                    }
                    RequiredAccess::Team => {
                        assert_eq!(own == AccessDecision::Allowed, role == Role::Owner)
                    }
                    RequiredAccess::Any | RequiredAccess::Own => {
                        assert_eq!(own, AccessDecision::Allowed)
                    }
                }
            }
        }
    }

    #[test]
    fn an_owner_of_the_installation_gives_all_but_those_of_the_machine() {
        for command in Command::ALL {
            let verdict = command.judge(&Access::everything(), Some(project(1)));
            assert_eq!(
                verdict == AccessDecision::Allowed,
                command.needs() != RequiredAccess::Machine,
                "{command}"
            );
        }
    }

    #[test]
    fn what_works_by_itself_is_made_by_owners_alone() {
        for command in Command::ALL {
            let made = command.makes();
            for role in Role::ALL {
                let access = Access::one(project(1), role);
                let may = command.judge(&access, Some(project(1))) == AccessDecision::Allowed;
                assert!(
                    made == CreatedCredential::Nothing || !may || role == Role::Owner,
                    "{role} makes {made:?} by {command}"
                );
            }
        }
    }
}
