use crate::alerts::{Alerts, LocalFacts, NoLocalFacts};
use crate::project_rules::OwnIssuers;
use crate::{
    Activity, Administration, AuditLog, AuditRecorder, CloseMonths, ConsoleStores, ConsoleSweep,
    ConsoleUpkeep, Control, EndpointLog, FindRecords, FirstSteps, Heartbeat, Inbox, KeepFigures,
    ManageAccount, ManageAdminTokens, ManageEndpoints, ManageHooks, ManageIdentities, ManageLedger,
    ManageOperators, ManageProjects, ManageSigningKeys, ManageWallets, Management, ManagementPorts,
    Passkeys, ProcessInfo, ReadFigures, ReadSpend, SearchPhones, SettleRestored, SignIn,
    TestProvider, UnlockPhone, project_rules,
};
use dwar_app::Parts;
use dwar_kernel::KeeperId;
use dwar_operator::{PasskeyVerifier, PasswordHasher};
use dwar_otp::Providers;
use std::sync::Arc;

/// Everything that the use cases of operators are built from: the parts of logins, and the stores for
/// operators.
#[derive(Clone)]
pub struct ConsoleParts {
    pub login: Parts,
    /// The stores that only operators' use cases need.
    pub stores: ConsoleStores,
}

impl ConsoleParts {
    /// The audit log in which every change by an operator is recorded.
    pub fn audit(&self) -> AuditRecorder {
        AuditRecorder { tools: self.login.tools.clone(), entries: self.stores.audit.clone() }
    }

    fn control(&self) -> Control {
        let (tools, projects) = (self.login.tools.clone(), self.login.stores.projects.clone());
        Control { tools, projects, audit: self.audit() }
    }

    /// All use cases of operators, with their connections to the outside.
    pub fn management(&self, outside: ManagementPorts) -> Management {
        let Self { login, stores } = self.clone();
        let (policies, kept) = (login.policies.clone(), login.stores.clone());
        let ManagementPorts { sender, providers } = outside;
        let alerts = self.alerts(providers.clone());
        let ledger = stores.ledger;
        let control = || self.control();
        Management {
            projects: ManageProjects {
                control: control(),
                create: login.create_project(),
                rules: project_rules(providers.clone(), OwnIssuers::of(&policies)),
            },
            months: CloseMonths {
                control: control(),
                closings: stores.closings,
                wallets: kept.wallets.clone(),
                requests_kept: policies.keep_records,
            },
            wallets: ManageWallets {
                control: control(),
                wallets: kept.wallets.clone(),
                ledger: ledger.clone(),
            },
            ledger: ManageLedger {
                control: control(),
                ledger,
                charges: stores.charges,
                begun: Arc::default(),
            },
            endpoints: ManageEndpoints {
                control: control(),
                events: kept.events.clone(),
                sender: sender.clone(),
            },
            endpoint_log: EndpointLog {
                control: control(),
                tell: Arc::new(login.tell_events(sender)),
            },
            hooks: ManageHooks { control: control(), hooks: kept.hooks },
            identities: ManageIdentities {
                control: control(),
                identities: kept.identities.clone(),
                sessions: stores.identity_sessions,
                requests: stores.activity.clone(),
            },
            phones: UnlockPhone {
                control: control(),
                otps: kept.otps.clone(),
                limits: policies.limits,
            },
            activity: self.activity(),
            find: FindRecords {
                control: control(),
                otps: kept.otps.clone(),
                identities: kept.identities.clone(),
                events: kept.events.clone(),
            },
            inbox: Inbox { control: control(), inbox: kept.inbox },
            provider_test: TestProvider {
                control: control(),
                providers: providers.clone(),
                sends: None,
            },
            first_steps: FirstSteps {
                control: control(),
                figures: stores.figures.clone(),
                events: kept.events,
                providers: providers.clone(),
            },
            spend: ReadSpend {
                control: control(),
                figures: stores.figures.clone(),
                wallets: kept.wallets.clone(),
                providers,
                prices: policies.prices,
            },
            figures: ReadFigures { control: control(), store: stores.figures },
            signing_keys: self.manage_signing_keys(),
            operators: ManageOperators {
                control: control(),
                operators: stores.operators,
                passkeys: stores.passkeys,
            },
            tokens: ManageAdminTokens { control: control(), tokens: stores.admin_tokens },
            audit_log: AuditLog { control: control() },
            alerts,
            control: control(),
        }
    }

    fn alerts(&self, providers: Arc<dyn Providers>) -> Alerts {
        let Self { login, stores } = self;
        Alerts {
            control: self.control(),
            attempts: stores.attempts.clone(),
            events: login.stores.events.clone(),
            wallets: login.stores.wallets.clone(),
            ledger: stores.ledger.clone(),
            figures: ReadFigures { control: self.control(), store: stores.figures.clone() },
            queues: stores.queues.clone(),
            keys: login.stores.signing_keys.clone(),
            alerts: stores.alerts.clone(),
            providers,
            local: Arc::new(NoLocalFacts),
            prices: login.policies.prices,
            known: Arc::default(),
        }
    }

    fn activity(&self) -> Activity {
        let Self { login, stores } = self;
        Activity {
            control: self.control(),
            activity: stores.activity.clone(),
            refusals: login.stores.refusals.clone(),
            otps: login.stores.otps.clone(),
            sends: login.stores.sends.clone(),
            charges: stores.charges.clone(),
            limits: login.policies.limits,
            requests_kept: login.policies.retention().requests,
            searches: SearchPhones { control: self.control(), searches: stores.searches.clone() },
        }
    }

    /// The use case for rotating and listing signing keys.
    pub fn manage_signing_keys(&self) -> ManageSigningKeys {
        ManageSigningKeys { control: self.control(), keys: self.login.signing_keys() }
    }

    /// The use case for a database that was restored from a backup.
    pub fn settle_restored(&self) -> SettleRestored {
        let Self { login, stores } = self.clone();
        SettleRestored {
            audit: self.audit(),
            login: login.stores,
            stores,
            prices: login.policies.prices,
        }
    }

    /// The use cases of sign-in and of operators' own accounts.
    pub fn administration(&self, hasher: Arc<dyn PasswordHasher>) -> Administration {
        let (tools, operators) = (self.login.tools.clone(), self.stores.operators.clone());
        let sign_in = Arc::new(SignIn { tools, operators, hasher, audit: self.audit() });
        Administration { account: Arc::new(ManageAccount { sign_in: sign_in.clone() }), sign_in }
    }

    /// The use cases that add and remove passkeys, and sign in with them.
    pub fn passkeys(&self, sign_in: Arc<SignIn>, verifier: Arc<dyn PasskeyVerifier>) -> Passkeys {
        Passkeys { sign_in, passkeys: self.stores.passkeys.clone(), verifier }
    }

    /// The background work for operators, with the facts of this process.
    pub fn upkeep(&self, about: ProcessInfo, local: Arc<dyn LocalFacts>) -> ConsoleUpkeep {
        let Self { login: Parts { tools, policies, .. }, stores } = self.clone();
        ConsoleUpkeep {
            heartbeat: Heartbeat::new(tools.clone(), stores.instances, stores.alerts, about, local),
            keep_figures: KeepFigures {
                keeper: KeeperId::new(tools.now(), tools.entropy.as_ref()),
                tools: tools.clone(),
                store: stores.figures,
            },
            sweep: ConsoleSweep {
                tools,
                operators: stores.operators,
                admin_tokens: stores.admin_tokens,
                audit: stores.audit,
                searches: stores.searches,
                kept: policies.keep_audit,
            },
        }
    }
}
