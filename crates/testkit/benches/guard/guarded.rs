//! The service itself, over the store in memory, with a clock that the simulation moves.

use crate::calendar::Happening;
use crate::defence::{Answer, Defence, SendRequest};
use crate::numbers::{Number, phone};
use async_trait::async_trait;
use dwar_app::{Claim, GuessExtras, Policies, SendExtras, SendOtpError, Service};
use dwar_console::KeepFigures;
use dwar_identity::DeviceToken;
use dwar_kernel::{GuardMode, IdentityId, KeeperId, Paise, PriceList, Timestamp, read_instant};
use dwar_memory::{MemoryRequestLimiter, MemoryStore};
use dwar_otp::{Channel, Code, Gateway, Hop, Message, Outcome, Reason, Route};
use dwar_project::{Caller, ProjectChange};
use dwar_ratelimit::guard::{GuardPass, Visitor};
use dwar_testkit::{FixedClock, Stores, any_project, outside, parts};
use dwar_wallet::Amount;
use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// Midnight in India.
const FIRST_MIDNIGHT: &str = "2027-01-31T18:30:00Z";
/// How often figures are counted and old rows deleted, in seconds. The service does it every minute.
const UPKEEP: u64 = 600;

pub struct Guarded {
    clock: Arc<FixedClock>,
    service: Service,
    figures: KeepFigures,
    provider: Arc<Provider>,
    caller: Caller,
    accounts: HashMap<Number, Account>,
    first_midnight: Timestamp,
    second: u64,
    /// How much was done in this second.
    steps: u64,
    /// Whether levels of the guard may have changed since they were exchanged.
    is_changed: bool,
}

struct Account {
    identity: IdentityId,
    /// Of the last login.
    device: Option<DeviceToken>,
}

impl Guarded {
    pub async fn open() -> Self {
        let first_midnight = read_instant(FIRST_MIDNIGHT).unwrap();
        let clock = Arc::new(FixedClock::at(first_midnight));
        let stores = Stores::from(&Arc::new(MemoryStore::default()));
        let mut parts = parts(stores.login.clone(), &clock);
        // The store in memory would search the whole ledger for each message.
        parts.policies.prices = PriceList { whatsapp: Paise::ZERO, sms: Paise::ZERO };
        let provider = Arc::<Provider>::default();
        let lease = Policies::default().lease();
        let hops = vec![Hop::new(Channel::Sms, provider.provider())];
        let mut outside =
            outside(Arc::new(MemoryRequestLimiter::new()), &Arc::default(), &Arc::default());
        outside.routes.live = Route { hops, receipt_window: None, lease };
        outside.routes.gateways.insert(provider.provider(), Arc::<Provider>::clone(&provider));

        let service = parts.service(outside);
        let create = parts.create_project();
        let project = create.create(&"Acme".parse().unwrap(), Amount::from(100)).await.unwrap();
        let guard = Some(GuardMode::Enforce);
        let change =
            ProjectChange { guard, identity_delete: Some(true), ..ProjectChange::default() };
        stores.projects.change(project.id, change, any_project()).await.unwrap();
        let key = Claim::Key(project.live_key);
        let caller = service.use_cases.authenticate.caller(&key).await.unwrap();
        let figures = KeepFigures {
            keeper: KeeperId::new(first_midnight, parts.tools.entropy.as_ref()),
            tools: parts.tools,
            store: stores.console.figures,
        };
        let (accounts, second, steps, is_changed) = (HashMap::new(), 0, 0, false);
        Self {
            clock,
            service,
            figures,
            provider,
            caller,
            accounts,
            first_midnight,
            second,
            steps,
            is_changed,
        }
    }

    /// Each step of a second has a millisecond of its own.
    fn step(&mut self) {
        let at = Duration::from_secs(self.second) + Duration::from_millis(self.steps.min(999));
        self.clock.set(self.first_midnight + at);
        self.steps += 1;
    }

    fn device(&self, number: Number) -> Option<DeviceToken> {
        self.accounts.get(&number)?.device.clone()
    }

    async fn verify(
        &mut self,
        number: Number,
        code: Code,
        device: Option<DeviceToken>,
    ) -> Option<Account> {
        self.step();
        self.is_changed = true;
        let verify = &self.service.use_cases.verify_otp;
        let extras = Some(GuessExtras { device, ..GuessExtras::default() });
        let verified = verify.verify(&self.caller, &phone(number), code, extras).await.ok()?;
        Some(Account { identity: verified.tokens.identity, device: verified.device })
    }
}

impl Defence for Guarded {
    const TAKES_PROOFS: bool = true;

    fn begin_second(&mut self, second: u64, happening: Happening) {
        (self.second, self.steps) = (second, 0);
        self.provider.fails.store(happening == Happening::ProviderFails, Ordering::Relaxed);
    }

    async fn send(&mut self, request: &SendRequest) -> Answer {
        self.step();
        let visitor = Visitor {
            address: Some(request.address.into()),
            pass: request.proven.then_some(GuardPass::Trusted),
        };
        let device = self.device(request.number).filter(|_| request.by_device);
        let extras = Some(SendExtras { visitor, device, ..SendExtras::default() });
        let send = &self.service.use_cases.send_otp;
        let answer = match send.send(&self.caller, &phone(request.number), extras, None).await {
            Ok(_) => Answer::Sent,
            Err(SendOtpError::Undeliverable(_)) => Answer::NotSent,
            Err(SendOtpError::ProofRequired) => Answer::Stopped,
            Err(SendOtpError::RateLimited(_)) => Answer::Limited,
            Err(other) => panic!("{other}"),
        };
        self.is_changed |= answer == Answer::Sent;
        answer
    }

    async fn enter(&mut self, number: Number, by_device: bool) -> bool {
        let Some(code) = self.provider.newest(number) else { return false };
        let device = self.device(number).filter(|_| by_device);
        let Some(account) = self.verify(number, code, device).await else { return false };
        self.accounts.insert(number, account);
        true
    }

    async fn guess_wrong(&mut self, number: Number) {
        let Some(right) = self.provider.newest(number) else { return };
        let wrong = if right.expose() == "000000" { "000001" } else { "000000" };
        self.verify(number, wrong.parse().unwrap(), None).await;
    }

    async fn delete(&mut self, number: Number) {
        let Some(account) = self.accounts.remove(&number) else { return };
        self.step();
        let delete = &self.service.use_cases.delete_identity;
        delete.delete(&self.caller, &account.identity.to_string()).await.unwrap();
    }

    /// What loops of the service do. An exchange changes nothing if no level changed.
    async fn end_second(&mut self) {
        let is_due = self.second.is_multiple_of(UPKEEP);
        if self.is_changed || is_due {
            self.step();
            self.service.guard.exchange().await.unwrap();
            self.is_changed = false;
        }
        if is_due {
            self.figures.run().await.unwrap();
            self.service.sweep.tidy().await.unwrap();
        }
    }
}

/// Accepts every message, and keeps the newest code of each number.
#[derive(Default)]
struct Provider {
    codes: Mutex<HashMap<Number, Code>>,
    fails: AtomicBool,
}

impl Provider {
    fn newest(&self, number: Number) -> Option<Code> {
        self.codes.lock().unwrap().get(&number).cloned()
    }
}

#[async_trait]
impl Gateway for Provider {
    fn provider(&self) -> String {
        "provider".to_owned()
    }

    async fn deliver(&self, message: Message) -> Outcome {
        if self.fails.load(Ordering::Relaxed) {
            return Outcome::Refused(Reason::ProviderUnavailable);
        }
        let number = message.phone.national().parse().unwrap();
        self.codes.lock().unwrap().insert(number, message.code);
        Outcome::Accepted { provider_ref: None, awaits_receipt: false }
    }
}
