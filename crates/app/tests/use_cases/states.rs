//! What is on record when a use case is done, or failed half-way: a whole service in memory.

use crate::common::{BY, refused};
use dwar_app::{
    Claim, DeleteIdentityError, OtpStatusError, RefreshSessionError, SendOtpError, SentOtp,
    Service, Stores, TokenPair, ValidateSessionError, VerifyOtpError,
};
use dwar_kernel::{KeyMode, Phone};
use dwar_memory::{Fault, MemoryRequestLimiter, MemoryStore};
use dwar_otp::{DeliveryStatus, Outcome, Reason};
use dwar_project::{Caller, ProjectChange};
use dwar_session::{PresentedToken, Sought};
use dwar_testkit::{
    FixedClock, MS, Postbox, START, management, minutes, outside, parts, phone, policies, seconds,
};
use dwar_wallet::{Amount, Balance, Paise};
use std::sync::Arc;

const RUPEE: Paise = Paise(100);
/// Until it is known which channel took the send, the price of the dearer one, SMS, is on hold.
fn sms() -> i64 {
    policies().prices.sms.0
}

fn whatsapp() -> i64 {
    policies().prices.whatsapp.0
}

/// A service, a project with one rupee and deletion allowed, a caller with its live key, a phone.
struct House {
    store: Arc<MemoryStore>,
    stores: Stores,
    clock: Arc<FixedClock>,
    service: Service,
    postbox: Arc<Postbox>,
    key: Claim,
    caller: Caller,
    phone: Phone,
}

impl House {
    async fn open() -> Self {
        let store = Arc::new(MemoryStore::default());
        let (stores, clock) = (Stores::of(&store), Arc::new(FixedClock::at(START)));
        let (parts, postbox) = (parts(stores.clone(), &clock), Arc::<Postbox>::default());
        let requests = Arc::new(MemoryRequestLimiter::new());
        let service = parts.service(outside(requests, &postbox, &Arc::default()));
        let projects = management(&parts, &Arc::default()).projects;
        let made = projects.create(&BY, &"Acme".parse().unwrap(), Amount::from(100)).await.unwrap();
        let change = ProjectChange { identity_delete: Some(true), ..ProjectChange::default() };
        projects.change(&BY, made.id, change).await.unwrap();
        let key = Claim::Key(made.live_key);
        let caller = service.use_cases.authenticate.caller(&key).await.unwrap();
        Self { store, stores, clock, service, postbox, key, caller, phone: phone(1) }
    }

    async fn send(&self) -> Result<SentOtp, SendOtpError> {
        self.service.use_cases.send_otp.send(&self.caller, &self.phone, None).await
    }

    /// Guesses the code of the newest message.
    async fn verify(&self) -> Result<TokenPair, VerifyOtpError> {
        let code = self.postbox.messages().pop().unwrap().code;
        let verify = &self.service.use_cases.verify_otp;
        Ok(verify.verify(&self.caller, &self.phone, code, None).await?.tokens)
    }

    async fn log_in(&self) -> TokenPair {
        self.send().await.unwrap();
        self.verify().await.unwrap()
    }

    async fn is_valid(&self, pair: &TokenPair) -> bool {
        let validate = &self.service.use_cases.validate_session;
        match validate.validate(&self.sought(pair).await, &self.read(pair)).await {
            Ok(valid) => valid.session == pair.session,
            Err(ValidateSessionError::Invalid) => false,
            Err(ValidateSessionError::Store(cause)) => panic!("{cause}"),
        }
    }

    async fn refresh(&self, pair: &TokenPair) -> Result<TokenPair, RefreshSessionError> {
        let refresh = &self.service.use_cases.refresh_session;
        let token = pair.refresh.expose();
        let authenticate = &self.service.use_cases.authenticate;
        let sought = authenticate.with_refresh_token(&self.key, Some(token)).await.unwrap();
        refresh.refresh(sought, token, None).await
    }

    fn read(&self, pair: &TokenPair) -> PresentedToken {
        self.service.use_cases.authenticate.read(pair.access.clone())
    }

    /// What a request with the access token of this pair finds.
    async fn sought(&self, pair: &TokenPair) -> Sought {
        let authenticate = &self.service.use_cases.authenticate;
        authenticate.with_access_token(&self.key, Some(&self.read(pair))).await.unwrap()
    }

    async fn wallet(&self) -> Balance {
        self.stores.wallets.balance(self.caller.project.id).await.unwrap()
    }

    fn fail(&self, step: &'static str) {
        self.store.faults().next(step, Fault::Fails);
    }

    /// Later, when no process handles a send any more, everything that can be settled is.
    async fn settle(&self) {
        self.clock.advance(policies().retention.holds + MS);
        self.service.sweep.follow_up().await.unwrap();
        self.service.sweep.settle_stale_holds().await.unwrap();
    }
}

fn spent(paise: i64) -> Balance {
    Balance { balance: Paise(RUPEE.0 - paise), held: Paise::ZERO }
}

#[tokio::test]
async fn a_session_lives_from_its_code_to_its_logout() {
    let house = House::open().await;
    let first = house.log_in().await;
    assert!(house.is_valid(&first).await);
    house.clock.advance(seconds(1));
    let second = house.refresh(&first).await.unwrap();
    assert!(house.is_valid(&second).await && !house.is_valid(&first).await);
    let logout = &house.service.use_cases.logout;
    logout.logout(&house.sought(&second).await, &house.read(&second)).await.unwrap();
    assert!(!house.is_valid(&second).await);
    assert!(matches!(house.refresh(&second).await, Err(RefreshSessionError::Expired)));
}

#[tokio::test]
async fn an_access_token_ends_at_its_instant_and_a_session_at_its_own() {
    let house = House::open().await;
    let mut pair = house.log_in().await;
    assert_eq!((pair.expires_in, pair.refresh_expires_in), (900, 30 * 86_400));
    house.clock.advance(minutes(15));
    assert!(!house.is_valid(&pair).await);
    for _ in 0..3 {
        pair = house.refresh(&pair).await.unwrap();
        house.clock.advance(minutes(30 * 24 * 60) - minutes(10));
    }
    // Half an hour is left of ninety days, less the quarter of an hour before the first refresh.
    pair = house.refresh(&pair).await.unwrap();
    assert_eq!((pair.expires_in, pair.refresh_expires_in), (900, 900));
    house.clock.advance(minutes(15));
    assert!(!house.is_valid(&pair).await);
    assert!(matches!(house.refresh(&pair).await, Err(RefreshSessionError::Expired)));
}

#[tokio::test]
async fn a_code_opens_one_session() {
    let house = House::open().await;
    house.log_in().await;
    assert!(matches!(house.verify().await, Err(VerifyOtpError::NotFound)));
}

#[tokio::test]
async fn a_login_that_fails_half_way_burns_its_code() {
    let house = House::open().await;
    house.send().await.unwrap();
    house.fail("SessionStore::start");
    assert!(matches!(house.verify().await, Err(VerifyOtpError::Store(_))));
    assert!(matches!(house.verify().await, Err(VerifyOtpError::NotFound)));
    house.log_in().await;
}

#[tokio::test]
async fn a_send_costs_what_the_channel_that_took_it_costs() {
    let house = House::open().await;
    house.send().await.unwrap();
    assert_eq!(house.wallet().await, spent(whatsapp()));
    house.postbox.answer(refused());
    house.send().await.unwrap();
    assert_eq!(house.wallet().await, spent(whatsapp() + sms()));
}

#[tokio::test]
async fn a_send_that_nobody_took_costs_nothing_and_no_place() {
    let house = House::open().await;
    for _ in 0..5 {
        house.postbox.answer(refused());
        house.postbox.answer(Outcome::Refused(Reason::ProviderUnavailable));
        assert!(house.send().await.is_err());
    }
    assert_eq!(house.wallet().await, spent(0));
    assert_eq!(house.send().await.unwrap().admission.unwrap().remaining, 2);
}

/// Whichever call of the store fails, the money adds up in the end, and nobody pays for a message
/// that was not sent.
#[tokio::test]
async fn a_send_that_fell_over_anywhere_is_settled_later() {
    for step in [
        "SendLimiter::admit",
        "WalletStore::hold",
        "OtpStore::issue_held",
        "OtpStore::report",
        "WalletStore::settle",
        "SendLimiter::forgive",
    ] {
        let mut reached = 0;
        for refusals in [0, 2] {
            let house = House::open().await;
            (0..refusals).for_each(|_| house.postbox.answer(refused()));
            house.fail(step);
            let _whatever_it_says = house.send().await;
            house.settle().await;
            let (sent, wallet) = (house.postbox.messages().len(), house.wallet().await);
            let taken = sent > refusals;
            assert_eq!(wallet.held, Paise::ZERO, "{step}, {refusals}");
            assert!(
                wallet.balance == RUPEE || (taken && wallet == spent(whatsapp())),
                "{step}: {wallet:?}"
            );
            assert_eq!(house.stores.wallets.audit().await.unwrap().difference, Paise::ZERO);
            reached += house.store.faults().calls(step);
        }
        assert!(reached > 0, "no send takes {step}");
    }
}

#[tokio::test]
async fn money_on_hold_for_a_send_that_is_not_on_record_comes_back() {
    let house = House::open().await;
    house.fail("OtpStore::issue_held");
    assert!(matches!(house.send().await, Err(SendOtpError::Store(_))));
    assert_eq!(house.wallet().await.held, Paise(sms()));
    house.clock.advance(policies().retention.holds);
    assert_eq!(house.service.sweep.settle_stale_holds().await.unwrap(), 0, "not yet");
    house.clock.advance(MS);
    assert_eq!(house.service.sweep.settle_stale_holds().await.unwrap(), 1);
    assert_eq!(house.wallet().await, spent(0));
}

#[tokio::test]
async fn money_on_hold_for_a_delivered_send_is_taken() {
    let house = House::open().await;
    house.fail("WalletStore::settle");
    let _whatever_it_says = house.send().await;
    assert_eq!(house.wallet().await.held, Paise(sms()));
    house.settle().await;
    assert_eq!(house.wallet().await, spent(whatsapp()));
}

#[tokio::test]
async fn a_message_without_its_receipt_goes_out_by_sms_and_is_paid_for_once() {
    let house = House::open().await;
    house.postbox.answer(Outcome::Accepted { provider_ref: None, awaits_receipt: true });
    let sent = house.send().await.unwrap().otp.to_string();
    house.clock.advance(seconds(20));
    assert_eq!(house.service.sweep.follow_up().await.unwrap(), 1);
    assert_eq!(house.postbox.messages().len(), 2);
    let status = house.service.use_cases.otp_status.find(&house.caller, &sent);
    assert_eq!(status.await.unwrap().delivery.status, DeliveryStatus::Sent);
    house.settle().await;
    assert_eq!(house.wallet().await, spent(sms()));
}

#[tokio::test]
async fn a_deletion_takes_sessions_codes_and_traces_along() {
    let house = House::open().await;
    let pair = house.log_in().await;
    house.clock.advance(seconds(1));
    let sent = house.send().await.unwrap().otp.to_string();
    let (delete, status) =
        (&house.service.use_cases.delete_identity, &house.service.use_cases.otp_status);
    let other_mode = Caller { mode: KeyMode::Test, ..house.caller.clone() };
    let id = pair.identity.to_string();
    let elsewhere = delete.delete(&other_mode, &id).await;
    assert!(matches!(elsewhere, Err(DeleteIdentityError::NotFound)));
    assert!(house.is_valid(&pair).await);
    let (_, erased) = delete.delete(&house.caller, &id).await.unwrap();
    assert_eq!(erased.sessions_revoked, 1);
    assert!(!house.is_valid(&pair).await);
    assert!(matches!(house.verify().await, Err(VerifyOtpError::NotFound)));
    let gone = status.find(&house.caller, &sent).await;
    assert!(matches!(gone, Err(OtpStatusError::NotFound)));
    let again = delete.delete(&house.caller, &id).await;
    assert!(matches!(again, Err(DeleteIdentityError::NotFound)));
}

#[tokio::test]
async fn tidying_keeps_what_counts_and_drops_the_rest() {
    let house = House::open().await;
    let pair = house.log_in().await;
    let swept = house.service.sweep.tidy().await.unwrap();
    assert_eq!((swept.requests, swept.sessions, swept.sends), (0, 0, 0));
    house.clock.advance(policies().session.session + policies().retention.sessions + MS);
    let swept = house.service.sweep.tidy().await.unwrap();
    assert_eq!((swept.requests, swept.sessions, swept.sends), (1, 1, 1));
    assert!(matches!(house.refresh(&pair).await, Err(RefreshSessionError::Expired)));
}
