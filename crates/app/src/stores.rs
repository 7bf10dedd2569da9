use dwar_event::EventStore;
use dwar_identity::IdentityStore;
use dwar_otp::idempotency::IdempotencyStore;
use dwar_otp::sandbox::SandboxInbox;
use dwar_otp::{OtpStore, ReceiptStore, TestQuotaStore};
use dwar_project::ProjectStore;
use dwar_ratelimit::SendLimiter;
use dwar_session::{SessionStore, SigningKeyStore};
use dwar_wallet::WalletStore;
use std::sync::Arc;

/// Every port that a database implements.
#[derive(Clone)]
pub struct Stores {
    /// Projects and API keys.
    pub projects: Arc<dyn ProjectStore>,
    pub otps: Arc<dyn OtpStore>,
    /// Messages of test keys.
    pub inbox: Arc<dyn SandboxInbox>,
    /// What test keys may leave behind.
    pub test_quota: Arc<dyn TestQuotaStore>,
    /// Sessions and refresh tokens.
    pub sessions: Arc<dyn SessionStore>,
    pub signing_keys: Arc<dyn SigningKeyStore>,
    pub identities: Arc<dyn IdentityStore>,
    pub wallets: Arc<dyn WalletStore>,
    pub sends: Arc<dyn SendLimiter>,
    pub idempotency: Arc<dyn IdempotencyStore>,
    /// Receipts until they are applied.
    pub receipts: Arc<dyn ReceiptStore>,
    /// Endpoints, and what they have to be told.
    pub events: Arc<dyn EventStore>,
}

impl Stores {
    /// The same adapter behind every port.
    pub fn of<S>(store: &Arc<S>) -> Self
    where
        S: ProjectStore
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
            + 'static,
    {
        Self {
            projects: Arc::<S>::clone(store),
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
        }
    }
}
