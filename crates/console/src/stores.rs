use dwar_activity::FiguresStore;
use dwar_activity::installation::{AlertStore, InstanceStore, QueueStore};
use dwar_operator::{AdminTokenStore, AuditStore, OperatorStore, PasskeyStore, SearchStore};
use dwar_otp::{AttemptHistory, OtpHistory};
use dwar_session::IdentitySessions;
use dwar_wallet::{ChargeStore, ClosingStore, LedgerStore};
use std::sync::Arc;

/// The ports that a database implements for operators, besides those of logins.
#[derive(Clone)]
pub struct ConsoleStores {
    pub identity_sessions: Arc<dyn IdentitySessions>,
    pub ledger: Arc<dyn LedgerStore>,
    pub closings: Arc<dyn ClosingStore>,
    /// Operators, their sign-in links, sessions and failed sign-ins.
    pub operators: Arc<dyn OperatorStore>,
    pub passkeys: Arc<dyn PasskeyStore>,
    pub admin_tokens: Arc<dyn AdminTokenStore>,
    pub audit: Arc<dyn AuditStore>,
    pub searches: Arc<dyn SearchStore>,
    pub instances: Arc<dyn InstanceStore>,
    pub queues: Arc<dyn QueueStore>,
    pub alerts: Arc<dyn AlertStore>,
    pub figures: Arc<dyn FiguresStore>,
    pub activity: Arc<dyn OtpHistory>,
    pub attempts: Arc<dyn AttemptHistory>,
    pub charges: Arc<dyn ChargeStore>,
}

impl<S> From<&Arc<S>> for ConsoleStores
where
    S: IdentitySessions
        + LedgerStore
        + ClosingStore
        + OperatorStore
        + PasskeyStore
        + AdminTokenStore
        + AuditStore
        + SearchStore
        + InstanceStore
        + QueueStore
        + AlertStore
        + FiguresStore
        + OtpHistory
        + AttemptHistory
        + ChargeStore
        + 'static,
{
    fn from(store: &Arc<S>) -> Self {
        Self {
            identity_sessions: Arc::<S>::clone(store),
            ledger: Arc::<S>::clone(store),
            closings: Arc::<S>::clone(store),
            operators: Arc::<S>::clone(store),
            passkeys: Arc::<S>::clone(store),
            admin_tokens: Arc::<S>::clone(store),
            audit: Arc::<S>::clone(store),
            searches: Arc::<S>::clone(store),
            instances: Arc::<S>::clone(store),
            queues: Arc::<S>::clone(store),
            alerts: Arc::<S>::clone(store),
            figures: Arc::<S>::clone(store),
            activity: Arc::<S>::clone(store),
            attempts: Arc::<S>::clone(store),
            charges: Arc::<S>::clone(store),
        }
    }
}
