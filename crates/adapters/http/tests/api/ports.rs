use async_trait::async_trait;
use dwar_app::{
    AdmitRequest, Authenticate, DeleteIdentity, Deliver, FindIdentity, Idempotency, Limits, Logout,
    ModeLimits, OtpPolicy, OtpStatus, PriceList, PublicKeys, ReceiveWebhook, RefreshSession,
    Routes, SandboxMessages, SendOtp, SessionPolicy, Tokens, Toolbox, ValidateSession, VerifyOtp,
};
use dwar_http::{Readiness, UseCases};
use dwar_idempotency::{Beginning, IdempotencyStore, Lifetimes, Record, Slot};
use dwar_identity::MockIdentityStore;
use dwar_kernel::{ApiKeyId, Digest, KeyMode, Sealed, StoreError, Timestamp};
use dwar_otp::sandbox::MockSandboxInbox;
use dwar_otp::{
    GuessBudget, GuessPolicy, MockGateway, MockOtpStore, MockReceiptStore, Otp, Outcome,
    ReceiptSource,
};
use dwar_project::{ApiKey, Caller, MockProjectStore, Project, ProjectStore};
use dwar_ratelimit::{
    Admission, MockSendLimiter, Quota, RequestKey, RequestLimiter, RequestScope, SendLog,
    SendQuota, Window,
};
use dwar_session::{AccessToken, MockSessionStore, MockTokenSigner};
use dwar_testkit::{ClearVault, FixedClock, Fixtures, START, minutes, seconds};
use dwar_wallet::{HoldOutcome, MockWalletStore, Paise};
use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

/// Everything behind the API, to be set up by a test before it starts.
pub struct Ports {
    pub fixtures: Arc<Fixtures>,
    pub clock: Arc<FixedClock>,
    pub project: Project,
    pub live: ApiKey,
    pub test: ApiKey,
    pub projects: MockProjectStore,
    pub otps: MockOtpStore,
    pub sends: MockSendLimiter,
    pub wallets: MockWalletStore,
    pub gateway: MockGateway,
    pub identities: MockIdentityStore,
    pub sessions: MockSessionStore,
    pub signer: MockTokenSigner,
    pub inbox: MockSandboxInbox,
    pub windows: Arc<Windows>,
    pub answers: Arc<Answers>,
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
            otps: MockOtpStore::new(),
            sends: MockSendLimiter::new(),
            wallets: MockWalletStore::new(),
            gateway: MockGateway::new(),
            identities: MockIdentityStore::new(),
            sessions: MockSessionStore::new(),
            signer: MockTokenSigner::new(),
            inbox: MockSandboxInbox::new(),
            windows: Arc::default(),
            answers: Arc::default(),
            general: 1_000,
            validate: 3_000,
            ceiling: 6_000,
            ready: Arc::new(Ready(AtomicBool::new(true))),
            sources: HashMap::new(),
            receipts: MockReceiptStore::new(),
        }
    }

    /// The keys speak for the project; a test that wants otherwise sets `projects` up itself.
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
        self.projects.expect_caller().returning(move |digest| {
            let known = keys.iter().find(|(key, _)| *key == digest);
            Ok(known.map(|(_, caller)| caller.clone()))
        });
    }

    /// Every send goes through over the first channel that `outcomes` lets it.
    pub fn send_through(&mut self, outcomes: &'static [Outcome]) {
        let stored: Arc<Mutex<Option<Otp>>> = Arc::default();
        let issued = Arc::clone(&stored);
        self.otps.expect_guess_budget().returning(|_, _, _| Ok(GuessBudget::default()));
        self.otps.expect_issue().returning(move |otp| {
            *issued.lock().unwrap() = Some(otp);
            Ok(())
        });
        self.otps.expect_report().returning(move |_, _, attempt, report, route, next, now| {
            let mut stored = stored.lock().unwrap();
            let otp = stored.as_mut().expect("issued before");
            let step = otp.report(attempt, report, &route, next, now);
            Ok(Some((otp.clone(), step)))
        });
        self.sends
            .expect_admit()
            .returning(|_, _, quota, _| Ok(SendLog::default().admit(&quota, START)));
        self.sends.expect_forgive().returning(|_, _| Ok(()));
        self.sends.expect_withdraw().returning(|_, _| Ok(()));
        self.wallets.expect_hold().returning(|_, _, _, _, _| Ok(HoldOutcome::Held));
        self.wallets.expect_settle().returning(|_, _, _, _, _| Ok(true));
        let mut calls = outcomes.iter().cycle();
        self.gateway
            .expect_deliver()
            .returning(move |_| calls.next().expect("at least one outcome").clone());
    }

    /// Every token that is asked for is signed as `access-token`.
    pub fn sign_anything(&mut self) {
        self.signer.expect_sign().returning(|_| Ok(AccessToken::new("access-token")));
    }

    pub fn use_cases(self) -> UseCases {
        let tools = Toolbox {
            clock: self.clock,
            entropy: Arc::new(dwar_testkit::SeededEntropy::new(11)),
            vault: Arc::new(ClearVault),
        };
        let limits = limits(self.general, self.validate, self.ceiling);
        let otps = Arc::new(self.otps);
        let sends = Arc::new(self.sends);
        let wallets = Arc::new(self.wallets);
        let identities = Arc::new(self.identities);
        let sessions = Arc::new(self.sessions);
        let signer = Arc::new(self.signer);
        let codes = Arc::clone(&self.fixtures.codes);
        let route = self.fixtures.route();
        let gateway: Arc<dyn dwar_otp::Gateway> = Arc::new(self.gateway);
        let gateways = route.hops.iter().map(|hop| (hop.provider.clone(), Arc::clone(&gateway)));
        let deliver = Arc::new(Deliver {
            tools: tools.clone(),
            otps: otps.clone(),
            wallets: wallets.clone(),
            sends: sends.clone(),
            routes: Routes {
                live: route.clone(),
                gateways: gateways.collect::<HashMap<_, _>>(),
                test: route,
            },
            prices: PriceList { whatsapp: Paise(20), sms: Paise(30) },
        });
        let tokens =
            Tokens { tools: tools.clone(), signer: signer.clone(), policy: session_policy() };
        let projects: Arc<dyn ProjectStore> = Arc::new(self.projects);
        let receive_webhook = Arc::new(ReceiveWebhook {
            tools: tools.clone(),
            sources: self.sources,
            receipts: Arc::new(self.receipts),
        });
        UseCases {
            receive_webhook,
            authenticate: Arc::new(Authenticate { tools: tools.clone(), projects }),
            admit_request: Arc::new(AdmitRequest {
                tools: tools.clone(),
                limiter: self.windows,
                limits,
            }),
            send_otp: Arc::new(SendOtp {
                tools: tools.clone(),
                otps: otps.clone(),
                sends,
                wallets,
                deliver,
                codes: codes.clone(),
                policy: OtpPolicy { lifetime: minutes(10) },
                limits,
            }),
            otp_status: Arc::new(OtpStatus { otps: otps.clone() }),
            verify_otp: Arc::new(VerifyOtp {
                tools: tools.clone(),
                otps,
                identities: identities.clone(),
                sessions: sessions.clone(),
                tokens: tokens.clone(),
                codes,
                limits,
            }),
            validate_session: Arc::new(ValidateSession {
                tools: tools.clone(),
                signer: signer.clone(),
                sessions: sessions.clone(),
            }),
            refresh_session: Arc::new(RefreshSession { sessions: sessions.clone(), tokens }),
            logout: Arc::new(Logout { tools: tools.clone(), signer: signer.clone(), sessions }),
            find_identity: Arc::new(FindIdentity {
                tools: tools.clone(),
                identities: identities.clone(),
            }),
            delete_identity: Arc::new(DeleteIdentity { tools: tools.clone(), identities }),
            public_keys: Arc::new(PublicKeys { tools: tools.clone(), signer }),
            sandbox_messages: Arc::new(SandboxMessages {
                tools: tools.clone(),
                inbox: Arc::new(self.inbox),
            }),
            idempotency: Arc::new(Idempotency {
                tools: tools.clone(),
                store: self.answers,
                lifetimes: Lifetimes { lease: seconds(60), keep: minutes(24 * 60) },
            }),
            ready: self.ready,
            tools,
        }
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
    Limits { live: mode(3, 5), test: mode(20, 20), guesses: GuessPolicy::OFF }
}

const fn session_policy() -> SessionPolicy {
    SessionPolicy {
        access: minutes(15),
        refresh: minutes(30 * 24 * 60),
        session: minutes(90 * 24 * 60),
        leeway: seconds(10),
        replay: seconds(60),
    }
}

/// Request windows in memory.
#[derive(Default)]
pub struct Windows(Mutex<HashMap<RequestKey, Window>>, Mutex<Vec<RequestScope>>);

impl Windows {
    /// The windows that were asked, in order.
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

/// First answers in memory.
#[derive(Default)]
pub struct Answers(Mutex<HashMap<Slot, Record>>);

#[async_trait]
impl IdempotencyStore for Answers {
    async fn begin(
        &self,
        slot: Slot,
        record: Record,
        lifetimes: Lifetimes,
    ) -> Result<Beginning, StoreError> {
        let mut records = self.0.lock().unwrap();
        let judged = records
            .get(&slot)
            .and_then(|first| first.judge(record.fingerprint, lifetimes, record.began_at));
        Ok(judged.unwrap_or_else(|| {
            records.insert(slot, record);
            Beginning::Fresh
        }))
    }

    async fn complete(&self, slot: Slot, _: Timestamp, answer: Sealed) -> Result<(), StoreError> {
        let mut records = self.0.lock().unwrap();
        records.get_mut(&slot).expect("begun before").answer = Some(answer);
        Ok(())
    }

    async fn abandon(&self, slot: Slot, _: Timestamp) -> Result<(), StoreError> {
        self.0.lock().unwrap().remove(&slot);
        Ok(())
    }

    async fn sweep(&self, _: Timestamp) -> Result<u64, StoreError> {
        Ok(0)
    }
}

/// Ready or not, as told.
pub struct Ready(pub AtomicBool);

#[async_trait]
impl Readiness for Ready {
    async fn ready(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}
