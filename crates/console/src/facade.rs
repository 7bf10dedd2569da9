use crate::alerts::Alerts;
use crate::{
    Activity, AuditLog, CloseMonths, Control, EndpointLog, FindRecords, FirstSteps, Inbox,
    ManageAccount, ManageAdminTokens, ManageEndpoints, ManageHooks, ManageIdentities, ManageLedger,
    ManageOperators, ManageProjects, ManageSigningKeys, ManageWallets, ReadFigures, ReadSpend,
    SignIn, TestProvider, UnlockPhone,
};
use dwar_event::WebhookSender;
use dwar_otp::Providers;
use std::sync::Arc;

/// All use cases of operators: command line, admin API and dashboard call only these. Each method
/// takes the caller and checks the caller's right.
#[derive(Clone)]
pub struct Management {
    pub projects: ManageProjects,
    pub wallets: ManageWallets,
    pub ledger: ManageLedger,
    pub months: CloseMonths,
    pub endpoints: ManageEndpoints,
    /// Calls to endpoints, and sending their events again.
    pub endpoint_log: EndpointLog,
    /// Hooks, which other login systems call to have their codes delivered.
    pub hooks: ManageHooks,
    pub identities: ManageIdentities,
    pub phones: UnlockPhone,
    pub activity: Activity,
    pub inbox: Inbox,
    pub provider_test: TestProvider,
    pub figures: ReadFigures,
    /// Costs of live sends, and how long a balance lasts.
    pub spend: ReadSpend,
    pub find: FindRecords,
    pub first_steps: FirstSteps,
    pub signing_keys: ManageSigningKeys,
    pub operators: ManageOperators,
    pub tokens: ManageAdminTokens,
    pub audit_log: AuditLog,
    pub alerts: Alerts,
    /// For handlers that must check the caller's right before they read the request.
    pub control: Control,
}

/// What management needs besides its [`ConsoleParts`](crate::ConsoleParts): its connections to the outside.
#[derive(Clone)]
pub struct ManagementPorts {
    /// Checks the addresses of endpoints, and calls them.
    pub sender: Arc<dyn WebhookSender>,
    pub providers: Arc<dyn Providers>,
}

/// Sign-in of operators, and the changes to their own accounts.
#[derive(Clone)]
pub struct Administration {
    pub sign_in: Arc<SignIn>,
    pub account: Arc<ManageAccount>,
}
