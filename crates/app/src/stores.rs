use dwar_event::{CallLog, EventFeed, EventStore};
use dwar_identity::IdentityStore;
use dwar_login::LoginStore;
use dwar_otp::idempotency::IdempotencyStore;
use dwar_otp::sandbox::SandboxInbox;
use dwar_otp::{OtpStore, ReceiptStore, RefusalStore, TestQuotaStore};
use dwar_project::{HookStore, KeyUseStore, ProjectStore};
use dwar_ratelimit::{GuardStore, SendLimiter};
use dwar_session::{SessionStore, SigningKeyStore};
use dwar_wallet::WalletStore;
use std::sync::Arc;

/// The ports of this crate that a database implements.
#[derive(Clone)]
pub struct Stores {
    pub projects: Arc<dyn ProjectStore>,
    pub hooks: Arc<dyn HookStore>,
    /// The steps of a login, atomic over several of the other stores.
    pub logins: Arc<dyn LoginStore>,
    pub otps: Arc<dyn OtpStore>,
    pub inbox: Arc<dyn SandboxInbox>,
    pub test_quota: Arc<dyn TestQuotaStore>,
    pub sessions: Arc<dyn SessionStore>,
    pub signing_keys: Arc<dyn SigningKeyStore>,
    pub identities: Arc<dyn IdentityStore>,
    pub wallets: Arc<dyn WalletStore>,
    pub sends: Arc<dyn SendLimiter>,
    pub idempotency: Arc<dyn IdempotencyStore>,
    /// Receipts of providers that are not applied yet.
    pub receipts: Arc<dyn ReceiptStore>,
    pub events: Arc<dyn EventStore>,
    pub calls: Arc<dyn CallLog>,
    pub feed: Arc<dyn EventFeed>,
    pub refusals: Arc<dyn RefusalStore>,
    pub key_uses: Arc<dyn KeyUseStore>,
    pub guard: Arc<dyn GuardStore>,
}

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
        + EventFeed
        + RefusalStore
        + KeyUseStore
        + GuardStore
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
            feed: Arc::<S>::clone(store),
            refusals: Arc::<S>::clone(store),
            key_uses: Arc::<S>::clone(store),
            guard: Arc::<S>::clone(store),
        }
    }
}
