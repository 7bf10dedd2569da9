use dwar_event::{CallLog, EventStore};
use dwar_identity::IdentityStore;
use dwar_login::LoginStore;
use dwar_otp::idempotency::IdempotencyStore;
use dwar_otp::sandbox::SandboxInbox;
use dwar_otp::{OtpStore, ReceiptStore, RefusalStore, TestQuotaStore};
use dwar_project::{HookStore, KeyUseStore, ProjectStore};
use dwar_ratelimit::SendLimiter;
use dwar_session::{SessionStore, SigningKeyStore};
use dwar_wallet::WalletStore;
use std::sync::Arc;

/// Every port of logins that a database implements.
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
    /// Keys that access tokens are signed with.
    pub signing_keys: Arc<dyn SigningKeyStore>,
    /// Phones that were verified.
    pub identities: Arc<dyn IdentityStore>,
    /// Balances, holds and movements.
    pub wallets: Arc<dyn WalletStore>,
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
    /// Sends that were refused.
    pub refusals: Arc<dyn RefusalStore>,
    /// When keys were used last.
    pub key_uses: Arc<dyn KeyUseStore>,
}

/// The same adapter behind every port.
impl<S> From<&Arc<S>> for Stores
where
    S: ProjectStore
        + HookStore
        + LoginStore
        + OtpStore
        + SandboxInbox
        + TestQuotaStore
        + SessionStore
        + SigningKeyStore
        + IdentityStore
        + WalletStore
        + SendLimiter
        + IdempotencyStore
        + ReceiptStore
        + EventStore
        + CallLog
        + RefusalStore
        + KeyUseStore
        + 'static,
{
    fn from(store: &Arc<S>) -> Self {
        Self {
            projects: Arc::<S>::clone(store),
            hooks: Arc::<S>::clone(store),
            logins: Arc::<S>::clone(store),
            otps: Arc::<S>::clone(store),
            inbox: Arc::<S>::clone(store),
            test_quota: Arc::<S>::clone(store),
            sessions: Arc::<S>::clone(store),
            signing_keys: Arc::<S>::clone(store),
            identities: Arc::<S>::clone(store),
            wallets: Arc::<S>::clone(store),
            sends: Arc::<S>::clone(store),
            idempotency: Arc::<S>::clone(store),
            receipts: Arc::<S>::clone(store),
            events: Arc::<S>::clone(store),
            calls: Arc::<S>::clone(store),
            refusals: Arc::<S>::clone(store),
            key_uses: Arc::<S>::clone(store),
        }
    }
}
