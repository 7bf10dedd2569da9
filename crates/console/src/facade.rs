use crate::{
    Activity, AuditLog, Control, EndpointLog, Find, FirstSteps, Inbox, ManageAccount,
    ManageAdminTokens, ManageEndpoints, ManageHooks, ManageIdentities, ManageLedger,
    ManageOperators, ManageProjects, ManageSigningKeys, ManageWallets, ReadFigures, SignIn,
    UnlockPhone,
};
use dwar_event::WebhookSender;
use dwar_otp::Providers;
use std::sync::Arc;

/// What those who run the service ask of it: the command line, the admin API and the dashboard call
/// this and nothing else. Each method names who asks, and decides whether they may.
#[derive(Clone)]
pub struct Management {
    /// Projects, their settings and keys.
    pub projects: ManageProjects,
    /// Money: balances, and movements made by hand.
    pub wallets: ManageWallets,
    /// Statements and proofs.
    pub ledger: ManageLedger,
    /// Where events go.
    pub endpoints: ManageEndpoints,
    /// What endpoints were told, and telling it again.
    pub endpoint_log: EndpointLog,
    /// Where other systems ask for codes to be delivered.
    pub hooks: ManageHooks,
    /// Those who verified a phone number, and their sessions.
    pub identities: ManageIdentities,
    /// Lifts the locks of phones.
    pub phones: UnlockPhone,
    /// What was sent, and what became of it.
    pub activity: Activity,
    /// What test keys would have sent.
    pub inbox: Inbox,
    /// Counts by minute, hour and day.
    pub figures: ReadFigures,
    /// Finds projects and ids.
    pub find: Find,
    /// How far a new project has come.
    pub first_steps: FirstSteps,
    /// Keys that access tokens are signed with.
    pub signing_keys: ManageSigningKeys,
    /// Those who run the service.
    pub operators: ManageOperators,
    /// The tokens of the admin API.
    pub tokens: ManageAdminTokens,
    /// What was changed, and by whom.
    pub audit_log: AuditLog,
    /// For a door that must check the caller's right before it reads the request.
    pub control: Control,
}

/// What managing needs besides its [`ConsoleParts`](crate::ConsoleParts): the ways to the world outside.
#[derive(Clone)]
pub struct ManagementOutside {
    /// Says which addresses events may go to, and calls them.
    pub sender: Arc<dyn WebhookSender>,
    /// The providers that projects may name.
    pub providers: Arc<dyn Providers>,
}

/// How operators get in, and what they change of their own account.
#[derive(Clone)]
pub struct Administration {
    /// Lets operators in and out.
    pub sign_in: Arc<SignIn>,
    /// Changes passwords and second factors.
    pub account: Arc<ManageAccount>,
}
