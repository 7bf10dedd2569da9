use super::project_rules::OwnIssuers;
use crate::{
    Activity, Audit, AuditLog, Control, EndpointLog, Find, FirstSteps, Inbox, ManageAccount,
    ManageAdminTokens, ManageEndpoints, ManageHooks, ManageIdentities, ManageLedger,
    ManageOperators, ManageProjects, ManageSigningKeys, ManageWallets, Parts, Passkeys,
    ReadFigures, SearchPhones, SettleRestored, SignIn, UnlockPhone, project_rules,
};
use dwar_event::WebhookSender;
use dwar_operator::{PasskeyVerifier, PasswordHasher};
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

/// What managing needs besides [`Parts`]: the ways to the world outside.
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

impl Parts {
    /// Writes down what is changed.
    pub fn audit(&self) -> Audit {
        Audit { tools: self.tools.clone(), entries: self.stores.audit.clone() }
    }

    fn control(&self) -> Control {
        let (tools, projects) = (self.tools.clone(), self.stores.projects.clone());
        Control { tools, projects, audit: self.audit() }
    }

    /// All that those who run the service can ask for.
    pub fn management(&self, outside: ManagementOutside) -> Management {
        let Self { stores, policies, .. } = self.clone();
        let ManagementOutside { sender, providers } = outside;
        let control = || self.control();
        let searches = SearchPhones { control: control(), searches: stores.searches };
        Management {
            projects: ManageProjects {
                control: control(),
                wallets: stores.wallets.clone(),
                rules: project_rules(providers.clone(), OwnIssuers::of(&policies)),
            },
            wallets: ManageWallets {
                control: control(),
                wallets: stores.wallets,
                ledger: stores.ledger.clone(),
            },
            ledger: ManageLedger {
                control: control(),
                ledger: stores.ledger,
                begun: Arc::default(),
            },
            endpoints: ManageEndpoints {
                control: control(),
                events: stores.events.clone(),
                sender: sender.clone(),
            },
            endpoint_log: EndpointLog {
                control: control(),
                tell: Arc::new(self.tell_events(sender)),
            },
            hooks: ManageHooks { control: control(), hooks: stores.hooks },
            identities: ManageIdentities {
                control: control(),
                identities: stores.identities.clone(),
                sessions: stores.identity_sessions,
                requests: stores.activity.clone(),
            },
            phones: UnlockPhone {
                control: control(),
                otps: stores.otps.clone(),
                limits: policies.limits,
            },
            activity: Activity {
                control: control(),
                activity: stores.activity,
                refusals: stores.refusals,
                otps: stores.otps.clone(),
                sends: stores.sends,
                charges: stores.charges,
                limits: policies.limits,
                searches,
            },
            find: Find {
                control: control(),
                otps: stores.otps.clone(),
                identities: stores.identities.clone(),
                events: stores.events.clone(),
            },
            inbox: Inbox { control: control(), inbox: stores.inbox },
            first_steps: FirstSteps {
                control: control(),
                figures: stores.figures.clone(),
                events: stores.events,
                providers,
            },
            figures: ReadFigures { control: control(), store: stores.figures },
            signing_keys: self.manage_signing_keys(),
            operators: ManageOperators { control: control(), operators: stores.operators },
            tokens: ManageAdminTokens { control: control(), tokens: stores.admin_tokens },
            audit_log: AuditLog { control: control() },
            control: control(),
        }
    }

    /// Makes and rotates signing keys, also at the start of a service.
    pub fn manage_signing_keys(&self) -> ManageSigningKeys {
        let Self { stores, signer, policies, .. } = self.clone();
        ManageSigningKeys {
            control: self.control(),
            keys: stores.signing_keys,
            signer,
            policy: policies.signing_keys(),
        }
    }

    /// Settles a database that was put back from a backup.
    pub fn settle_restored(&self) -> SettleRestored {
        let (stores, prices) = (self.stores.clone(), self.policies.prices);
        SettleRestored { audit: self.audit(), stores, prices }
    }

    /// How operators get in, and what they change of their own account.
    pub fn administration(&self, hasher: Arc<dyn PasswordHasher>) -> Administration {
        let (tools, operators) = (self.tools.clone(), self.stores.operators.clone());
        let sign_in = Arc::new(SignIn { tools, operators, hasher, audit: self.audit() });
        Administration { account: Arc::new(ManageAccount { sign_in: sign_in.clone() }), sign_in }
    }

    /// Adds passkeys, removes them, and lets operators in by them.
    pub fn passkeys(&self, sign_in: Arc<SignIn>, verifier: Arc<dyn PasskeyVerifier>) -> Passkeys {
        Passkeys { sign_in, passkeys: self.stores.passkeys.clone(), verifier }
    }
}
