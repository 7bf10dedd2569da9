use dwar_activity::FiguresStore;
use dwar_event::{CallLog, EventStore};
use dwar_identity::IdentityStore;
use dwar_installation::{InstanceStore, QueueStore};
use dwar_login::LoginStore;
use dwar_operator::{AdminTokenStore, AuditStore, OperatorStore, PasskeyStore, SearchStore};
use dwar_otp::idempotency::IdempotencyStore;
use dwar_otp::sandbox::SandboxInbox;
use dwar_otp::{OtpHistory, OtpStore, ReceiptStore, RefusalStore, TestQuotaStore};
use dwar_project::{HookStore, KeyUseStore, ProjectStore};
use dwar_ratelimit::SendLimiter;
use dwar_session::{IdentitySessions, SessionStore, SigningKeyStore};
use dwar_wallet::{ChargeStore, LedgerStore, WalletStore};
use std::sync::Arc;

/// Every port that a database implements.
#[derive(Clone)]
pub struct Stores {
    /// Projects and their keys.
    pub projects: Arc<dyn ProjectStore>,
    /// Where other systems ask for codes to be delivered.
    pub hooks: Arc<dyn HookStore>,
    /// The steps of a login, over several of the others at once.
    pub logins: Arc<dyn LoginStore>,
    /// Codes, attempts, and wrong guesses.
    pub otps: Arc<dyn OtpStore>,
    /// What test keys sent.
    pub inbox: Arc<dyn SandboxInbox>,
    /// What test keys leave behind, and its bound.
    pub test_quota: Arc<dyn TestQuotaStore>,
    /// Sessions, as their tokens use them.
    pub sessions: Arc<dyn SessionStore>,
    /// The same sessions, by identity, for people.
    pub identity_sessions: Arc<dyn IdentitySessions>,
    /// Keys that access tokens are signed with.
    pub signing_keys: Arc<dyn SigningKeyStore>,
    /// Phones that were verified.
    pub identities: Arc<dyn IdentityStore>,
    /// Balances, holds and movements.
    pub wallets: Arc<dyn WalletStore>,
    /// Statements and proofs of the same movements.
    pub ledger: Arc<dyn LedgerStore>,
    /// How often a phone was sent to.
    pub sends: Arc<dyn SendLimiter>,
    /// First answers to an `Idempotency-Key`.
    pub idempotency: Arc<dyn IdempotencyStore>,
    /// What providers reported and has not been applied yet.
    pub receipts: Arc<dyn ReceiptStore>,
    /// What endpoints have to be told.
    pub events: Arc<dyn EventStore>,
    /// What endpoints were told.
    pub calls: Arc<dyn CallLog>,
    /// Those who run the service, what lets them in, and their failures to sign in.
    pub operators: Arc<dyn OperatorStore>,
    /// What operators sign in with besides passwords.
    pub passkeys: Arc<dyn PasskeyStore>,
    /// What programs show to the admin API.
    pub admin_tokens: Arc<dyn AdminTokenStore>,
    /// What operators and programs changed.
    pub audit: Arc<dyn AuditStore>,
    /// What those who see numbers masked searched for.
    pub searches: Arc<dyn SearchStore>,
    /// The processes that run the service.
    pub instances: Arc<dyn InstanceStore>,
    /// How much waits for the instances.
    pub queues: Arc<dyn QueueStore>,
    /// Counts by minute, hour and day.
    pub figures: Arc<dyn FiguresStore>,
    /// What was sent, for people to look at.
    pub activity: Arc<dyn OtpHistory>,
    /// Sends that were refused.
    pub refusals: Arc<dyn RefusalStore>,
    /// When keys were used last.
    pub key_uses: Arc<dyn KeyUseStore>,
    /// What sends cost.
    pub charges: Arc<dyn ChargeStore>,
}

impl Stores {
    /// The same adapter behind every port.
    pub fn of<S>(store: &Arc<S>) -> Self
    where
        S: ProjectStore
            + HookStore
            + LoginStore
            + OtpStore
            + SandboxInbox
            + TestQuotaStore
            + SessionStore
            + IdentitySessions
            + SigningKeyStore
            + IdentityStore
            + WalletStore
            + LedgerStore
            + SendLimiter
            + IdempotencyStore
            + ReceiptStore
            + EventStore
            + CallLog
            + OperatorStore
            + PasskeyStore
            + AdminTokenStore
            + AuditStore
            + SearchStore
            + InstanceStore
            + QueueStore
            + FiguresStore
            + OtpHistory
            + RefusalStore
            + KeyUseStore
            + ChargeStore
            + 'static,
    {
        Self {
            projects: Arc::<S>::clone(store),
            hooks: Arc::<S>::clone(store),
            logins: Arc::<S>::clone(store),
            otps: Arc::<S>::clone(store),
            inbox: Arc::<S>::clone(store),
            test_quota: Arc::<S>::clone(store),
            sessions: Arc::<S>::clone(store),
            identity_sessions: Arc::<S>::clone(store),
            signing_keys: Arc::<S>::clone(store),
            identities: Arc::<S>::clone(store),
            wallets: Arc::<S>::clone(store),
            ledger: Arc::<S>::clone(store),
            sends: Arc::<S>::clone(store),
            idempotency: Arc::<S>::clone(store),
            receipts: Arc::<S>::clone(store),
            events: Arc::<S>::clone(store),
            calls: Arc::<S>::clone(store),
            operators: Arc::<S>::clone(store),
            passkeys: Arc::<S>::clone(store),
            admin_tokens: Arc::<S>::clone(store),
            audit: Arc::<S>::clone(store),
            searches: Arc::<S>::clone(store),
            instances: Arc::<S>::clone(store),
            queues: Arc::<S>::clone(store),
            figures: Arc::<S>::clone(store),
            activity: Arc::<S>::clone(store),
            refusals: Arc::<S>::clone(store),
            key_uses: Arc::<S>::clone(store),
            charges: Arc::<S>::clone(store),
        }
    }
}
