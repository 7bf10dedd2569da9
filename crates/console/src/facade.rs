use crate::alerts::Alerts;
use crate::{
    Activity, AuditLog, CloseMonths, Control, EndpointLog, Find, FirstSteps, Inbox, ManageAccount,
    ManageAdminTokens, ManageEndpoints, ManageHooks, ManageIdentities, ManageLedger,
    ManageOperators, ManageProjects, ManageSigningKeys, ManageWallets, ReadFigures, ReadSpend,
    SignIn, TestProvider, UnlockPhone,
};
use dwar_event::WebhookSender;
use dwar_otp::Providers;
use std::sync::Arc;

/// What those who run the service ask of it: the command line, the admin API and the dashboard call
/// this and nothing else. Each method names who asks, and decides whether they may.
#[derive(Clone)]
pub struct Management {
    pub projects: ManageProjects,
    pub wallets: ManageWallets,
    pub ledger: ManageLedger,
    pub months: CloseMonths,
    pub endpoints: ManageEndpoints,
    /// What endpoints were told, and telling it again.
    pub endpoint_log: EndpointLog,
    /// Where other systems ask for codes to be delivered.
    pub hooks: ManageHooks,
    /// Those who verified a phone number, and their sessions.
    pub identities: ManageIdentities,
    pub phones: UnlockPhone,
    /// What was sent, and what became of it.
    pub activity: Activity,
    pub inbox: Inbox,
    /// Sends by one provider alone.
    pub provider_test: TestProvider,
    /// Counts by minute, hour and day.
    pub figures: ReadFigures,
    /// What live sends cost, and how long a balance lasts.
    pub spend: ReadSpend,
    pub find: Find,
    pub first_steps: FirstSteps,
    pub signing_keys: ManageSigningKeys,
    pub operators: ManageOperators,
    pub tokens: ManageAdminTokens,
    pub audit_log: AuditLog,
    pub alerts: Alerts,
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
    pub sign_in: Arc<SignIn>,
    pub account: Arc<ManageAccount>,
}
