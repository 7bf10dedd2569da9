use crate::{Fixtures, Line};
use dwar_event::EventStore;
use dwar_idempotency::IdempotencyStore;
use dwar_identity::IdentityStore;
use dwar_kernel::{IdentityId, KeyMode, ProjectId};
use dwar_otp::sandbox::SandboxInbox;
use dwar_otp::{OtpStore, ReceiptStore, TestQuotaStore};
use dwar_project::ProjectStore;
use dwar_ratelimit::SendLimiter;
use dwar_session::{Session, SessionStore, SigningKeyStore, Started};
use dwar_wallet::WalletStore;
use std::sync::Arc;

/// Every port that a persistent store implements, over one and the same database.
#[derive(Clone)]
pub struct Stores {
    /// Projects and API keys.
    pub projects: Arc<dyn ProjectStore>,
    /// Codes, guesses, delivery.
    pub otps: Arc<dyn OtpStore>,
    /// Messages of test keys.
    pub inbox: Arc<dyn SandboxInbox>,
    /// What test keys may leave behind.
    pub test_quota: Arc<dyn TestQuotaStore>,
    /// Sessions and refresh tokens.
    pub sessions: Arc<dyn SessionStore>,
    /// Signing keys.
    pub signing_keys: Arc<dyn SigningKeyStore>,
    /// Identities.
    pub identities: Arc<dyn IdentityStore>,
    /// Balances and ledger.
    pub wallets: Arc<dyn WalletStore>,
    /// Sends per phone.
    pub sends: Arc<dyn SendLimiter>,
    /// First answers.
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

/// A project that no other test knows, and what it takes to fill it.
pub(crate) struct Scene {
    pub stores: Stores,
    pub make: Fixtures,
    pub project: ProjectId,
}

impl Scene {
    pub async fn open(stores: &Stores) -> Self {
        let make = Fixtures::random();
        let stores = stores.clone();
        let project = new_project(&stores, &make).await;
        Self { stores, make, project }
    }

    /// One more project.
    pub async fn another(&self) -> ProjectId {
        new_project(&self.stores, &self.make).await
    }

    /// A fresh phone of the project, live mode.
    pub fn line(&self) -> Line {
        self.make.line(self.project, KeyMode::Live)
    }

    /// The same look-up form of a phone where it must mean something else: in the other mode and
    /// in another project.
    pub async fn elsewhere(&self, line: &Line) -> [Line; 2] {
        let project = self.another().await;
        [Line { mode: KeyMode::Test, ..line.clone() }, Line { project, ..line.clone() }]
    }

    /// The identity of a phone, as just verified.
    pub async fn identity(&self, line: &Line) -> IdentityId {
        let sighting = self.make.sighting(line);
        self.stores.identities.recognise(line.project, sighting).await.unwrap()
    }

    /// A session that is on record, of an identity that is too.
    pub async fn session(&self, line: &Line) -> Session {
        let identity = self.identity(line).await;
        let session = self.make.session(line, identity);
        let started = self.stores.sessions.start(session.clone()).await.unwrap();
        assert_eq!(started, Started::Started);
        session
    }
}

async fn new_project(stores: &Stores, make: &Fixtures) -> ProjectId {
    let project = make.project();
    let id = project.id;
    stores.projects.create(project, make.keys()).await.unwrap();
    id
}
