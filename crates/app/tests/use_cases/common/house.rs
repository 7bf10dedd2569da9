use async_trait::async_trait;
use dwar_app::{
    Claim, Parts, Policies, RefreshSessionError, SendOtpError, SentOtp, Service, Stores, TokenPair,
    ValidateSessionError, VerifyOtpError,
};
use dwar_kernel::Phone;
use dwar_memory::{Fault, MemoryRequestLimiter, MemoryStore};
use dwar_otp::{Gateway, Message, Outcome};
use dwar_project::{Caller, ProjectChange};
use dwar_session::{KeyAndSession, PresentedToken};
use dwar_testkit::{FixedClock, MS, Postbox, START, any_project, outside, parts, phone};
use dwar_wallet::{Amount, Balance, Paise};
use futures_util::future::BoxFuture;
use std::collections::HashMap;
use std::sync::{Arc, Mutex};

pub const RUPEE: Paise = Paise(100);

/// Price of an SMS, the dearer channel, which is held until the channel of the send is known.
pub fn sms() -> i64 {
    Policies::default().prices.sms.0
}

pub fn whatsapp() -> i64 {
    Policies::default().prices.whatsapp.0
}

/// A service, a project with one rupee and deletion allowed, a caller with its live key, and a phone.
pub struct House {
    pub store: Arc<MemoryStore>,
    pub stores: Stores,
    pub clock: Arc<FixedClock>,
    pub service: Service,
    pub postbox: Arc<Postbox>,
    carrier: Arc<Carrier>,
    key: Claim,
    pub caller: Caller,
    pub phone: Phone,
}

/// Delivers messages to the postbox, and runs a test's actions before it answers.
struct Carrier {
    postbox: Arc<Postbox>,
    /// By the number of the message.
    happens: Mutex<HashMap<usize, BoxFuture<'static, ()>>>,
}

#[async_trait]
impl Gateway for Carrier {
    fn provider(&self) -> String {
        self.postbox.provider()
    }

    async fn deliver(&self, message: Message) -> Outcome {
        let answer = self.postbox.deliver(message).await;
        let number = self.postbox.messages().len();
        let happens = self.happens.lock().unwrap().remove(&number);
        if let Some(happens) = happens {
            happens.await;
        }
        answer
    }
}

impl House {
    pub async fn open() -> Self {
        Self::of(|_| ()).await
    }

    /// Opens a house after `change` has replaced some parts.
    pub async fn of(change: impl FnOnce(&mut Parts)) -> Self {
        let store = Arc::new(MemoryStore::default());
        let (stores, clock) = (Stores::from(&store), Arc::new(FixedClock::at(START)));
        let (mut parts, postbox) = (parts(stores.clone(), &clock), Arc::<Postbox>::default());
        change(&mut parts);
        let carrier =
            Arc::new(Carrier { postbox: Arc::clone(&postbox), happens: Mutex::default() });
        let requests = Arc::new(MemoryRequestLimiter::new());
        let mut outside = outside(requests, &postbox, &Arc::default());
        for gateway in outside.routes.gateways.values_mut() {
            *gateway = Arc::clone(&carrier) as _;
        }
        let service = parts.service(outside);
        let create = parts.create_project();
        let made = create.create(&"Acme".parse().unwrap(), Amount::from(100)).await.unwrap();
        let change = ProjectChange { identity_delete: Some(true), ..ProjectChange::default() };
        stores.projects.change(made.id, change, any_project()).await.unwrap();
        let key = Claim::Key(made.live_key);
        let caller = service.use_cases.authenticate.caller(&key).await.unwrap();
        Self { store, stores, clock, service, postbox, carrier, key, caller, phone: phone(1) }
    }

    pub async fn send(&self) -> Result<SentOtp, SendOtpError> {
        self.service.use_cases.send_otp.send(&self.caller, &self.phone, None, None).await
    }

    pub async fn verify(&self) -> Result<TokenPair, VerifyOtpError> {
        let code = self.postbox.messages().pop().unwrap().code;
        let verify = &self.service.use_cases.verify_otp;
        Ok(verify.verify(&self.caller, &self.phone, code, None).await?.tokens)
    }

    pub async fn log_in(&self) -> TokenPair {
        self.send().await.unwrap();
        self.verify().await.unwrap()
    }

    pub async fn is_valid(&self, pair: &TokenPair) -> bool {
        let validate = &self.service.use_cases.validate_session;
        match validate.validate(&self.key_and_session(pair).await, &self.read(pair)).await {
            Ok(valid) => valid.session == pair.session,
            Err(ValidateSessionError::Invalid) => false,
            Err(ValidateSessionError::Store(cause)) => panic!("{cause}"),
        }
    }

    pub async fn refresh(&self, pair: &TokenPair) -> Result<TokenPair, RefreshSessionError> {
        let refresh = &self.service.use_cases.refresh_session;
        let token = pair.refresh.expose();
        let authenticate = &self.service.use_cases.authenticate;
        let sought = authenticate.with_refresh_token(&self.key, Some(token)).await.unwrap();
        refresh.refresh(sought, token, None).await
    }

    /// The access token of this pair, as read from a request.
    pub fn read(&self, pair: &TokenPair) -> PresentedToken {
        self.service.use_cases.authenticate.read(pair.access.clone())
    }

    /// Key and session, as found for a request with the access token of this pair.
    pub async fn key_and_session(&self, pair: &TokenPair) -> KeyAndSession {
        let authenticate = &self.service.use_cases.authenticate;
        authenticate.with_access_token(&self.key, Some(&self.read(pair))).await.unwrap()
    }

    pub async fn wallet(&self) -> Balance {
        self.stores.wallets.balance(self.caller.project.id).await.unwrap()
    }

    /// Runs `happens` while a provider has this message; the first message is number 1.
    pub fn during(&self, message: usize, happens: impl Future<Output = ()> + Send + 'static) {
        self.carrier.happens.lock().unwrap().insert(message, Box::pin(happens));
    }

    pub fn fail(&self, step: &'static str) {
        self.store.faults().next(step, Fault::Fails);
    }

    /// Advances the clock until no process handles a send any more, and settles everything.
    pub async fn settle(&self) {
        self.clock.advance(Policies::default().retention().holds + MS);
        self.service.sweep.follow_up().await.unwrap();
        self.service.sweep.settle_stale_holds().await.unwrap();
    }
}

pub fn spent(paise: i64) -> Balance {
    Balance { balance: Paise(RUPEE.0 - paise), held: Paise::ZERO }
}
