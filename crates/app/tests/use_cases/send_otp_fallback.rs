//! What a send does if a provider refuses, or if the request is erased while a provider is called.

use crate::common::{FORGIVEN, FREE, World, accepted, awaiting_receipt, charged, refused};
use dwar_app::{SendOtpError, SentOtp};
use dwar_login::Cost;
use dwar_otp::{AttemptStatus, Channel, DeliveryStatus, OtpState, Outcome, Reason};
use dwar_testkit::seconds;
use dwar_wallet::{Paise, Settlement};
use std::sync::Arc;

async fn send(world: &mut World) -> Result<SentOtp, SendOtpError> {
    world.send_otp().send(&world.caller, &world.line.phone, None, None).await
}

/// The limit has a place, and the dearest price is held.
fn paid_for() -> World {
    let mut world = World::live();
    world.begins(Cost::Hold(Paise(30)));
    world
}

#[tokio::test]
async fn a_refusal_of_whatsapp_sends_the_same_code_by_sms_at_the_price_of_sms() {
    let mut world = paid_for();
    world.whatsapp(refused()).sms(accepted());
    let sent = send(&mut world).await.unwrap();
    assert_eq!((sent.channel, world.ends()), (Some(Channel::Sms), vec![charged(20)]));
    assert_eq!(world.stored().delivery.attempts[0].reason, Some(Reason::NotOnChannel));
    let [first, second] = <[_; 2]>::try_from(world.messages()).unwrap();
    assert_eq!((first.channel, second.channel), (Channel::Whatsapp, Channel::Sms));
    assert_eq!((first.otp, first.code.expose()), (second.otp, second.code.expose()));
    assert_ne!(first.attempt, second.attempt);
}

#[tokio::test]
async fn a_code_that_every_channel_refuses_costs_neither_money_nor_a_place() {
    let mut world = paid_for();
    world.whatsapp(refused()).sms(refused());
    assert!(matches!(send(&mut world).await, Err(SendOtpError::Undeliverable(_))));
    assert_eq!((world.stored().state, world.ends()), (OtpState::Void, vec![FORGIVEN]));
}

#[tokio::test]
async fn a_code_that_a_provider_may_have_sent_keeps_its_place_and_costs_nothing() {
    for reason in [Reason::Timeout, Reason::Unknown] {
        let mut world = paid_for();
        world.whatsapp(Outcome::Refused(reason)).sms(refused());
        let Err(SendOtpError::Undeliverable(Some(told))) = send(&mut world).await else {
            panic!("every channel failed");
        };
        assert_eq!((told.limit, told.remaining), (3, 2), "{reason:?}");
        assert_eq!(world.ends(), [FREE], "{reason:?}");
    }
}

#[tokio::test]
async fn what_is_left_after_a_refusal_is_told_with_the_bound_on_reach() {
    let mut world = paid_for();
    world.whatsapp(refused()).sms(refused());
    let Err(SendOtpError::Undeliverable(Some(told))) = send(&mut world).await else {
        panic!("every channel failed");
    };
    assert_eq!((told.limit, told.remaining), (3, 3));
}

#[tokio::test]
async fn a_test_code_that_fails_gives_its_place_back_and_leaves_the_wallet_alone() {
    let mut world = World::test();
    world.begins(Cost::Nothing).sandbox(refused()).sandbox(refused());
    assert!(matches!(send(&mut world).await, Err(SendOtpError::Undeliverable(_))));
    assert_eq!(world.ends(), [(None, true)]);
}

#[tokio::test]
async fn a_message_that_awaits_its_receipt_is_not_settled_yet() {
    let mut world = paid_for();
    world.whatsapp(awaiting_receipt());
    let sent = send(&mut world).await.unwrap();
    assert_eq!((sent.status, world.ends()), (DeliveryStatus::Sent, vec![]));
    assert_eq!(world.stored().delivery.due_at, Some(world.stored().created_at + seconds(20)));
}

#[tokio::test]
async fn a_provider_without_a_gateway_counts_as_down() {
    let mut world = paid_for();
    world.sms(accepted());
    let mut use_case = world.send_otp();
    let deliver = Arc::get_mut(&mut use_case.deliver).unwrap();
    deliver.routes.gateways.remove("meta");
    use_case.send(&world.caller, &world.line.phone, None, None).await.unwrap();
    let first = world.stored().delivery.attempts.remove(0);
    assert_eq!(first.status, AttemptStatus::Failed);
    assert_eq!(first.reason, Some(Reason::ProviderUnavailable));
    assert_eq!(world.ends(), [charged(20)]);
}

#[tokio::test]
async fn a_request_erased_while_the_provider_accepted_is_charged() {
    let mut world = paid_for();
    world.erased_during("meta", accepted()).settles(Settlement::Capture(Paise(30)));
    assert_eq!(send(&mut world).await.unwrap().status, DeliveryStatus::Sent);
}

#[tokio::test]
async fn a_request_erased_while_the_provider_accepted_waits_for_no_receipt() {
    let mut world = paid_for();
    world.erased_during("meta", awaiting_receipt()).settles(Settlement::Capture(Paise(30)));
    assert!(send(&mut world).await.is_ok());
}

#[tokio::test]
async fn a_request_erased_while_the_provider_refused_is_undeliverable_free_and_tried_no_further() {
    let mut world = paid_for();
    world.erased_during("meta", refused()).settles(Settlement::Release).forgives();
    assert!(matches!(send(&mut world).await, Err(SendOtpError::Undeliverable(_))));
}

#[tokio::test]
async fn a_request_erased_while_the_provider_was_silent_is_free_and_keeps_its_place() {
    let mut world = paid_for();
    let silent = Outcome::Refused(Reason::Timeout);
    world.erased_during("meta", silent).settles(Settlement::Release);
    assert!(matches!(send(&mut world).await, Err(SendOtpError::Undeliverable(_))));
}

#[tokio::test]
async fn a_test_request_erased_while_its_provider_refused_is_forgiven_and_leaves_the_wallet_alone()
{
    let mut world = World::test();
    world.begins(Cost::Nothing).erased_during("sandbox", refused()).forgives();
    assert!(matches!(send(&mut world).await, Err(SendOtpError::Undeliverable(_))));
}
