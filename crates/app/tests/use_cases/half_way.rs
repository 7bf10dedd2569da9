//! Records after a step of a login failed, or after something happened between two steps, with a whole
//! service in memory.

use crate::common::{
    House, RUPEE, accepted, awaiting_receipt, down, refused, sms, spent, whatsapp,
};
use dwar_app::{ClaimedWork, Policies, SendOtpError, TokenPair, VerifyOtpError};
use dwar_identity::Identity;
use dwar_kernel::{GuessPolicy, Vault};
use dwar_memory::Fault;
use dwar_otp::{DeliveryStatus, FailureReach, Otp, OtpHistory, Outcome, Reason, Report};
use dwar_ratelimit::{Quota, SendKey, SendQuota};
use dwar_session::{AccessToken, MockTokenSigner};
use dwar_testkit::{ClearVault, Fixtures, MS, START, minutes};
use dwar_wallet::Paise;
use std::sync::Arc;

impl House {
    fn send_key(&self) -> SendKey {
        let project_mode = self.caller.project_mode();
        SendKey { project_mode, phone: ClearVault.phone_index(project_mode, &self.phone) }
    }

    async fn requests(&self) -> Vec<Otp> {
        let SendKey { project_mode, phone } = self.send_key();
        self.store.of_phone(project_mode, phone, 100).await.unwrap()
    }

    async fn identity(&self) -> Option<Identity> {
        let SendKey { project_mode, phone } = self.send_key();
        self.stores.identities.find_by_phone(project_mode, phone).await.unwrap()
    }

    async fn places(&self) -> u32 {
        let places = Quota { limit: 100, window: minutes(10) };
        let log = self.stores.sends.log(self.send_key()).await.unwrap();
        let left = log.opens(&SendQuota { places, reach: None }, &GuessPolicy::OFF, START);
        places.limit - left.unwrap().remaining
    }

    /// Whether exactly the right places and holds exist: a place per request, unless all its providers
    /// refused it, and a hold per request until its end.
    async fn has_no_half_state(&self) -> bool {
        let (requests, wallet) = (self.requests().await, self.wallet().await);
        let count = |is: fn(&&Otp) -> bool| requests.iter().filter(is).count();
        let open = count(|otp| otp.delivery.charge().is_none());
        let counted = count(|otp| otp.delivery.reach() != FailureReach::Refused);
        wallet.held == Paise(sms() * i64::try_from(open).unwrap())
            && u32::try_from(counted) == Ok(self.places().await)
            && self.stores.wallets.audit().await.unwrap().difference == Paise::ZERO
    }

    /// Erases the identity while a provider has the next message.
    fn erase_during_the_next_send(&self, pair: &TokenPair) {
        let (identities, id) = (Arc::clone(&self.stores.identities), pair.identity);
        let SendKey { project_mode, .. } = self.send_key();
        self.during(self.postbox.messages().len() + 1, async move {
            identities.erase(project_mode, id, START).await.unwrap().unwrap();
        });
    }
}

/// If a step of a send fails, all earlier steps are on record and nothing of the failed one. In the end the
/// money adds up, and a message that was not sent is not charged.
#[tokio::test]
async fn a_send_whose_step_fails_leaves_no_half_state_and_is_settled_later() {
    const PREPARE: &str = "LoginStore::prepare";
    const REPORT: &str = "LoginStore::report";
    for (step, message, refusals) in
        [(PREPARE, 0, 0), (REPORT, 1, 0), (REPORT, 1, 2), (REPORT, 2, 1), (REPORT, 2, 2)]
    {
        let (house, case) = (House::open().await, format!("{step}, {message}, {refusals}"));
        (0..refusals).for_each(|_| house.postbox.answer(refused()));
        let store = Arc::clone(&house.store);
        match message {
            0 => house.fail(step),
            _ => house.during(message, async move { store.faults().next(step, Fault::Fails) }),
        }
        assert!(matches!(house.send().await, Err(SendOtpError::Store(_))), "{case}");
        assert_eq!(house.postbox.messages().len(), message, "{case}");
        assert_eq!(house.requests().await.len(), message.min(1), "{case}");
        assert!(house.has_no_half_state().await, "{case}");
        house.settle().await;
        assert!(house.has_no_half_state().await, "{case}");
        assert_eq!(house.wallet().await, spent(0), "{case}");
    }
}

#[tokio::test]
async fn a_send_that_is_refused_or_fails_leaves_the_present_code_in_force() {
    let mut house = House::open().await;
    house.send().await.unwrap();
    house.fail("LoginStore::prepare");
    assert!(matches!(house.send().await, Err(SendOtpError::Store(_))));
    house.caller.project.prices.sms = Some(RUPEE);
    assert!(matches!(house.send().await, Err(SendOtpError::InsufficientBalance(_))));
    assert!(house.has_no_half_state().await);
    house.verify().await.unwrap();
    house.caller.project.prices.sms = None;
    for _ in 0..2 {
        house.send().await.unwrap();
    }
    assert!(matches!(house.send().await, Err(SendOtpError::RateLimited(_))));
    assert!(house.has_no_half_state().await);
    assert_eq!(house.postbox.messages().len(), 3);
    house.verify().await.unwrap();
}

#[tokio::test]
async fn a_login_that_fails_leaves_its_code_in_force_and_nobody_logged_in() {
    let house = House::open().await;
    house.send().await.unwrap();
    house.fail("LoginStore::redeem");
    assert!(matches!(house.verify().await, Err(VerifyOtpError::Store(_))));
    assert_eq!(house.identity().await, None);
    let pair = house.verify().await.unwrap();
    assert!(house.is_valid(&pair).await);
}

#[tokio::test]
async fn a_key_that_cannot_sign_leaves_the_code_unused() {
    let mut signer = MockTokenSigner::new();
    signer.expect_ready().times(1).returning(|_| Err(down()));
    signer.expect_ready().times(1).returning(|_| Ok(()));
    signer.expect_sign().times(1).returning(|_, _| Ok(AccessToken::new("token")));
    let house = House::of(|parts| parts.signer = Arc::new(signer)).await;
    house.send().await.unwrap();
    assert!(matches!(house.verify().await, Err(VerifyOtpError::Store(_))));
    assert_eq!(house.identity().await, None);
    house.verify().await.unwrap();
}

#[tokio::test]
async fn a_request_erased_while_its_provider_is_called_ends_by_what_the_provider_said() {
    for (answer, charged, places) in [
        (accepted(), whatsapp(), 2),
        (awaiting_receipt(), whatsapp(), 2),
        (refused(), 0, 1),
        (Outcome::Refused(Reason::Timeout), 0, 2),
    ] {
        let house = House::open().await;
        let pair = house.log_in().await;
        house.erase_during_the_next_send(&pair);
        house.postbox.answer(answer.clone());
        assert_eq!(house.send().await.is_ok(), charged > 0, "{answer:?}");
        assert_eq!(house.postbox.messages().len(), 2, "no provider is called for it any more");
        assert_eq!(house.requests().await, []);
        assert_eq!(house.wallet().await, spent(whatsapp() + charged), "{answer:?}");
        assert_eq!(house.places().await, places, "{answer:?}");
        assert!(matches!(house.verify().await, Err(VerifyOtpError::NotFound)));
    }
}

#[tokio::test]
async fn money_on_hold_for_a_send_that_is_not_on_record_comes_back() {
    let house = House::open().await;
    let pair = house.log_in().await;
    house.erase_during_the_next_send(&pair);
    house.fail("WalletStore::settle");
    assert!(matches!(house.send().await, Err(SendOtpError::Store(_))));
    assert_eq!(house.wallet().await.held, Paise(sms()));
    house.clock.advance(Policies::default().retention().holds);
    assert_eq!(house.service.sweep.settle_stale_holds().await.unwrap(), 0, "not yet");
    house.clock.advance(MS);
    assert_eq!(house.service.sweep.settle_stale_holds().await.unwrap(), 1);
    assert_eq!(house.wallet().await, spent(whatsapp()));
}

/// A house with a WhatsApp send whose receipt came before this answer of the provider.
async fn reported_on_first(answer: fn() -> Outcome, report: Report) -> House {
    let house = House::open().await;
    let mut kept = Fixtures::seeded(3).receipt(report);
    kept.receipt.provider_ref = "ref".to_owned();
    let receipts = Arc::clone(&house.stores.receipts);
    house.during(1, async move { receipts.keep(vec![kept]).await.unwrap() });
    house.postbox.answer(answer());
    house.send().await.unwrap();
    let apply = &house.service.apply_receipts;
    let due = apply.claim(&[]).await.unwrap();
    assert_eq!(due.len(), 1, "known since its reference is on record");
    apply.perform(&due[0]).await.unwrap();
    assert!(house.has_no_half_state().await);
    house
}

#[tokio::test]
async fn a_receipt_that_came_before_its_answer_is_applied_and_charged_once() {
    for answer in [accepted, awaiting_receipt] {
        let house = reported_on_first(answer, Report::Delivered).await;
        assert_eq!(house.requests().await[0].delivery.status, DeliveryStatus::Delivered);
        assert_eq!(house.wallet().await, spent(whatsapp()));
        house.settle().await;
        assert_eq!(house.wallet().await, spent(whatsapp()));
    }
}

#[tokio::test]
async fn a_failure_that_came_before_its_answer_sends_the_code_by_sms_at_its_price() {
    let house = reported_on_first(awaiting_receipt, Report::Failed(Reason::Blocked)).await;
    assert_eq!(house.postbox.messages().len(), 2);
    assert_eq!(house.wallet().await, spent(sms()));
}

#[tokio::test]
async fn a_failure_on_every_channel_after_the_charge_gives_the_money_back() {
    let house = House::open().await;
    house.postbox.answer(accepted());
    house.postbox.answer(refused());
    house.send().await.unwrap();
    assert_eq!(house.wallet().await, spent(whatsapp()));
    let mut kept = Fixtures::seeded(3).receipt(Report::Failed(Reason::Blocked));
    kept.receipt.provider_ref = "ref".to_owned();
    house.service.apply_receipts.perform(&kept).await.unwrap();
    assert_eq!(house.wallet().await, spent(0));
}
