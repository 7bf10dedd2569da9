use super::End;
use dwar_app::{
    ClockWatch, CommonPorts, KnownDevices, Limits, Policies, SessionPolicy, Tokens, UsageRecorder,
};
use dwar_identity::MockIdentityStore;
use dwar_kernel::{KeyMode, PriceList, StoreError, TokenProfile};
use dwar_login::MockLoginStore;
use dwar_memory::MemoryStore;
use dwar_otp::idempotency::MockIdempotencyStore;
use dwar_otp::{Message, MockGateway, MockOtpStore, Otp};
use dwar_project::{Caller, MockProjectStore};
use dwar_ratelimit::MockSendLimiter;
use dwar_session::{
    AccessToken, Claims, KeyAndSession, MockSessionStore, MockTokenSigner, Session,
};
use dwar_testkit::{ClearVault, FixedClock, Fixtures, Line, START, SeededEntropy, watch};
use dwar_wallet::{MockWalletStore, Paise};
use std::collections::HashMap;
use std::mem::take;
use std::sync::{Arc, Mutex};

pub fn limits() -> Limits {
    Policies::default().limits
}

/// A caller, a phone, a clock, and a mock of each port that several use cases share.
pub struct World {
    pub make: Fixtures,
    pub clock: Arc<FixedClock>,
    pub watch: Arc<ClockWatch>,
    entropy: Arc<SeededEntropy>,
    pub caller: Caller,
    pub line: Line,
    pub logins: MockLoginStore,
    pub otps: MockOtpStore,
    pub sends: MockSendLimiter,
    pub answers: MockIdempotencyStore,
    pub wallets: MockWalletStore,
    pub projects: MockProjectStore,
    pub sessions: MockSessionStore,
    pub identities: MockIdentityStore,
    pub signer: MockTokenSigner,
    pub meta: MockGateway,
    pub msg91: MockGateway,
    pub sandbox: MockGateway,
    pub prices: PriceList,
    pub fixed_minutes: HashMap<String, u32>,
    pub lifetimes: SessionPolicy,
    pub messages: Arc<Mutex<Vec<Message>>>,
    pub kept: Arc<Mutex<Vec<Otp>>>,
    pub ends: Arc<Mutex<Vec<End>>>,
}

impl World {
    pub fn live() -> Self {
        Self::of(KeyMode::Live)
    }

    pub fn test() -> Self {
        Self::of(KeyMode::Test)
    }

    pub fn of(mode: KeyMode) -> Self {
        let make = Fixtures::seeded(1);
        let project = make.project().into_project();
        let line = make.line(project.id.in_mode(mode));
        let clock = Arc::new(FixedClock::at(START));
        Self {
            watch: watch(&clock),
            clock,
            entropy: Arc::new(SeededEntropy::new(2)),
            caller: Caller { project, mode, key: make.id() },
            line,
            make,
            logins: MockLoginStore::new(),
            otps: MockOtpStore::new(),
            sends: MockSendLimiter::new(),
            answers: MockIdempotencyStore::new(),
            wallets: MockWalletStore::new(),
            projects: MockProjectStore::new(),
            sessions: MockSessionStore::new(),
            identities: MockIdentityStore::new(),
            signer: MockTokenSigner::new(),
            meta: MockGateway::new(),
            msg91: MockGateway::new(),
            sandbox: MockGateway::new(),
            // Differs from the defaults: WhatsApp is the dearer channel.
            fixed_minutes: HashMap::new(),
            prices: PriceList { whatsapp: Paise(30), sms: Paise(20) },
            lifetimes: Policies::default().session,
            messages: Arc::default(),
            kept: Arc::default(),
            ends: Arc::default(),
        }
    }

    pub fn tools(&self) -> CommonPorts {
        CommonPorts {
            clock: Arc::clone(&self.clock) as _,
            watch: Arc::clone(&self.watch),
            entropy: Arc::clone(&self.entropy) as _,
            vault: Arc::new(ClearVault),
            observer: Arc::new(()),
        }
    }

    pub fn usage_recorder(&self) -> Arc<UsageRecorder> {
        let store = Arc::new(MemoryStore::default());
        Arc::new(UsageRecorder::new(self.tools(), store.clone(), store))
    }

    /// A caller with a key of another project.
    pub fn stranger(&self) -> Caller {
        Caller { project: self.make.project().into_project(), ..self.caller.clone() }
    }

    pub fn key_and_session(&self, session: Option<Session>) -> KeyAndSession {
        let Caller { project, mode, key } = self.caller.clone();
        let own_profile = project.own_profile(mode).cloned();
        KeyAndSession { key, project_mode: project.id.in_mode(mode), own_profile, session }
    }

    /// The caller of the same project in the other mode.
    pub fn other_mode(&self) -> Caller {
        let mode = if self.caller.mode.is_test() { KeyMode::Live } else { KeyMode::Test };
        Caller { mode, ..self.caller.clone() }
    }

    pub fn signs(&mut self) -> &mut Self {
        let sign = |claims: &Claims, _: Option<&TokenProfile>| {
            Ok(AccessToken::new(claims.token.to_string()))
        };
        self.signer.expect_sign().returning(sign);
        self
    }

    pub fn known_devices(&mut self) -> KnownDevices {
        let identities = Arc::new(take(&mut self.identities));
        KnownDevices { tools: self.tools(), identities, limits: limits() }
    }

    pub fn tokens(&mut self) -> Tokens {
        let signer = Arc::new(take(&mut self.signer));
        Tokens { tools: self.tools(), signer, policy: self.lifetimes }
    }

    /// The project of the caller is found, any number of times.
    pub fn knows_project(&mut self) -> &mut Self {
        let project = self.caller.project.clone();
        self.projects
            .expect_find()
            .returning(move |id| Ok(Some(project.clone()).filter(|known| known.id == id)));
        self
    }
}

pub fn down() -> StoreError {
    StoreError::Unavailable("down".to_owned())
}

/// The error of a row that can never be read.
pub fn broken() -> StoreError {
    StoreError::Inconsistent { table: "projects", column: "name", row: "7".to_owned() }
}
