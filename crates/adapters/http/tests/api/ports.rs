use async_trait::async_trait;
use dwar_app::{ExternalPorts, Limits, ModeLimits, Parts, Policies, Routes, Stores, UseCases};
use dwar_event::MockWebhookSender;
use dwar_http::{Api, Readiness, Settings};
use dwar_identity::MockIdentityStore;
use dwar_kernel::{ApiKeyId, Digest, KeyMode, StoreError, Timestamp};
use dwar_login::MockLoginStore;
use dwar_memory::MemoryStore;
use dwar_otp::sandbox::MockSandboxInbox;
use dwar_otp::{
    Gateway, GuessPolicy, MockGateway, MockOtpStore, MockReceiptStore, Otp, Outcome, ReceiptSource,
};
use dwar_project::{ApiKey, Caller, MockProjectStore, Project};
use dwar_ratelimit::{
    Admission, Quota, RequestKey, RequestLimiter, RequestScope, SendLog, SendQuota, Window,
};
use dwar_session::{
    AccessToken, KeyAndSession, MockSessionStore, MockTokenSigner, PresentedToken, Session,
};
use dwar_testkit::{ClearVault, FixedClock, Fixtures, PlainFormat, START, minutes, parts};
use dwar_wallet::HoldOutcome;
use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use tokio::runtime::Handle;

/// All ports of the API, which a test sets up before it starts.
pub struct Ports {
    pub fixtures: Arc<Fixtures>,
    pub clock: Arc<FixedClock>,
    pub project: Project,
    pub live: ApiKey,
    pub test: ApiKey,
    pub projects: MockProjectStore,
    pub logins: MockLoginStore,
    pub otps: MockOtpStore,
    pub gateway: MockGateway,
    pub identities: MockIdentityStore,
    pub sessions: MockSessionStore,
    pub session: Option<Session>,
    pub signer: MockTokenSigner,
    pub inbox: MockSandboxInbox,
    pub windows: Arc<Windows>,
    pub general: u32,
    pub validate: u32,
    pub ceiling: u32,
    pub ready: Arc<dyn Readiness>,
    pub sources: HashMap<String, Arc<dyn ReceiptSource>>,
    pub receipts: MockReceiptStore,
}

impl Ports {
    pub fn new() -> Self {
        let fixtures = Fixtures::seeded(7);
        let project = fixtures.project().into_project();
        let [live, test] =
            [KeyMode::Live, KeyMode::Test].map(|mode| ApiKey::generate(mode, &fixtures.entropy));
        Self {
            fixtures: Arc::new(fixtures),
            clock: Arc::new(FixedClock::at(START)),
            project,
            live,
            test,
            projects: MockProjectStore::new(),
            logins: MockLoginStore::new(),
            otps: MockOtpStore::new(),
            gateway: MockGateway::new(),
            identities: MockIdentityStore::new(),
            sessions: MockSessionStore::new(),
            session: None,
            signer: MockTokenSigner::new(),
            inbox: MockSandboxInbox::new(),
            windows: Arc::default(),
            general: 1_000,
            validate: 3_000,
            ceiling: 6_000,
            ready: Arc::new(Ready(AtomicBool::new(true))),
            sources: HashMap::new(),
            receipts: MockReceiptStore::new(),
        }
    }

    /// Makes the keys belong to the project; a test that needs other keys sets up `projects`
    /// itself.
    pub fn know_the_keys(&mut self) {
        let keys: Vec<(Digest, Caller)> = [&self.live, &self.test]
            .into_iter()
            .map(|key| {
                let caller = Caller {
                    project: self.project.clone(),
                    mode: key.mode(),
                    key: self.fixtures.id::<ApiKeyId>(),
                };
                (key.digest(&ClearVault), caller)
            })
            .collect();
        let caller = move |digest| {
            let known = keys.iter().find(|(key, _)| *key == digest);
            known.map(|(_, caller)| caller.clone())
        };
        let known = caller.clone();
        self.projects.expect_caller().returning(move |digest| Ok(known(digest)));
        let named = self.session.as_ref().map(|known| known.id);
        let read = move |token| PresentedToken::unchecked(token, named);
        self.signer.expect_read().returning(read);
        let session = self.session.take();
        self.sessions.expect_find_key_and_session().returning(move |digest, named| {
            let found = |caller: Caller| KeyAndSession {
                key: caller.key,
                project_mode: caller.project_mode(),
                own_profile: None,
                session: session.clone().filter(|known| named == Some(known.id)),
            };
            Ok(caller(digest).map(found))
        });
    }

    /// Makes every send succeed over the first channel that `outcomes` accepts.
    pub fn send_through(&mut self, outcomes: &'static [Outcome]) {
        let stored: Arc<Mutex<Option<Otp>>> = Arc::default();
        let begun = Arc::clone(&stored);
        self.logins.expect_prepare().returning(move |send, now| {
            let prepared = send.judge(&mut SendLog::default(), |_| Ok(HoldOutcome::Held), now);
            *begun.lock().unwrap() = Some(send.otp);
            prepared
        });
        self.logins.expect_report().returning(move |_, report, now| {
            let mut stored = stored.lock().unwrap();
            let otp = stored.as_mut().expect("begun before");
            let step = report.apply(otp, now).step;
            Ok(Some((otp.clone(), step)))
        });
        let mut calls = outcomes.iter().cycle();
        self.gateway
            .expect_deliver()
            .returning(move |_| calls.next().expect("at least one outcome").clone());
    }

    /// Signs every token as `access-token`.
    pub fn sign_anything(&mut self) {
        self.signer.expect_ready().returning(|_| Ok(()));
        self.signer.expect_sign().returning(|_, _| Ok(AccessToken::new("access-token")));
    }

    /// The API over these ports; other ports are kept in memory.
    pub fn api(self, settings: &Settings, runtime: Handle) -> Api {
        let ready = self.ready.clone();
        Api::new(settings, self.use_cases(), ready, runtime)
    }

    pub fn use_cases(self) -> UseCases {
        let route = self.fixtures.route();
        let gateway: Arc<dyn Gateway> = Arc::new(self.gateway);
        let gateways = route.hops.iter().map(|hop| (hop.provider.clone(), Arc::clone(&gateway)));
        let outside = ExternalPorts {
            requests: self.windows,
            routes: Routes {
                live: route.clone(),
                gateways: gateways.collect::<HashMap<_, _>>(),
                test: route,
                fixed_minutes: HashMap::new(),
                login_lifetime: minutes(10),
            },
            sources: self.sources,
            hook_formats: |_| &PlainFormat,
            sender: Arc::new(MockWebhookSender::new()),
        };
        let stores = Stores {
            projects: Arc::new(self.projects),
            logins: Arc::new(self.logins),
            otps: Arc::new(self.otps),
            identities: Arc::new(self.identities),
            sessions: Arc::new(self.sessions),
            inbox: Arc::new(self.inbox),
            receipts: Arc::new(self.receipts),
            ..Stores::from(&Arc::new(MemoryStore::default()))
        };
        let limits = limits(self.general, self.validate, self.ceiling);
        let parts = Parts {
            signer: Arc::new(self.signer),
            codes: Arc::clone(&self.fixtures.codes),
            policies: Policies { limits, ..Policies::default() },
            ..parts(stores, &self.clock)
        };
        parts.service(outside).use_cases
    }
}

fn limits(general: u32, validate: u32, ceiling: u32) -> Limits {
    let ceiling = Some(Quota { limit: ceiling, window: minutes(1) });
    let mode = |send, max_wrong| ModeLimits {
        send: SendQuota {
            places: Quota { limit: send, window: minutes(10) },
            reach: Some(Quota { limit: 10, window: minutes(10) }),
        },
        max_wrong,
        sends: ceiling,
        verifies: ceiling,
        validate: Quota { limit: validate, window: minutes(1) },
        general: Quota { limit: general, window: minutes(1) },
    };
    Limits {
        live: mode(3, 5),
        test: mode(20, 20),
        guesses: GuessPolicy { device_stop_at: 20, ..GuessPolicy::OFF },
    }
}

#[derive(Default)]
pub struct Windows(Mutex<HashMap<RequestKey, Window>>, Mutex<Vec<RequestScope>>);

impl Windows {
    pub fn asked(&self) -> Vec<RequestScope> {
        self.1.lock().unwrap().clone()
    }
}

#[async_trait]
impl RequestLimiter for Windows {
    async fn hit(
        &self,
        key: RequestKey,
        quota: Quota,
        now: Timestamp,
    ) -> Result<Admission, StoreError> {
        self.1.lock().unwrap().push(key.scope);
        Ok(self.0.lock().unwrap().entry(key).or_default().hit(quota, now))
    }

    async fn sweep(&self, _: Timestamp) -> Result<(), StoreError> {
        Ok(())
    }
}

pub struct Ready(pub AtomicBool);

#[async_trait]
impl Readiness for Ready {
    async fn ready(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}
