//! Records after a use case, with a whole service in memory.

use crate::common::{House, refused, sms, spent, whatsapp};
use dwar_app::{
    DeleteIdentityError, OtpStatusError, Policies, RefreshSessionError, VerifyOtpError,
};
use dwar_kernel::KeyMode;
use dwar_otp::{DeliveryStatus, Outcome, Reason};
use dwar_project::Caller;
use dwar_testkit::{MS, minutes, seconds};

#[tokio::test]
async fn a_session_lives_from_its_code_to_its_logout() {
    let house = House::open().await;
    let first = house.log_in().await;
    assert!(house.is_valid(&first).await);
    house.clock.advance(seconds(1));
    let second = house.refresh(&first).await.unwrap();
    assert!(house.is_valid(&second).await && !house.is_valid(&first).await);
    let logout = &house.service.use_cases.logout;
    logout.logout(&house.key_and_session(&second).await, &house.read(&second)).await.unwrap();
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
    // A session lasts ninety days. All but thirty minutes passed in the loop, and fifteen minutes passed
    // before it: fifteen minutes are left.
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
    house
        .clock
        .advance(Policies::default().session.session + Policies::default().keep_records + MS);
    let swept = house.service.sweep.tidy().await.unwrap();
    assert_eq!((swept.requests, swept.sessions, swept.sends), (1, 1, 1));
    assert!(matches!(house.refresh(&pair).await, Err(RefreshSessionError::Expired)));
}
