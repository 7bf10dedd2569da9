//! What a project's own texts and routes change about a send.

use crate::common::{World, accepted, awaiting_receipt, refused};
use dwar_app::{SendOtpError, SentOtp};
use dwar_kernel::PriceList;
use dwar_otp::{Channel, DeliveryStatus, OtpState, Reason};
use dwar_project::{Messages, Routing};
use dwar_wallet::{Paise, Settlement};

async fn send(world: &mut World) -> Result<SentOtp, SendOtpError> {
    world.send_otp().send(&world.caller, &world.line.phone, None).await
}

fn routed(routing: Routing) -> World {
    let mut world = World::live();
    world.caller.project.routing = routing;
    world
}

#[tokio::test]
async fn the_message_is_the_projects_own() {
    let mut world = World::live();
    world.caller.project.messages = Messages {
        brand: Some("Dabbawala".to_owned()),
        language: Some("hi".to_owned()),
        text: Some("{code} @ {brand}, {minutes} min".to_owned()),
        template_id: Some("1107160000000012345".to_owned()),
        domain: Some("login.example.com".to_owned()),
        app_hash: None,
    };
    let paid = Settlement::Capture(Paise(30));
    world.admits().holds(Paise(30)).issues().whatsapp(accepted()).settles(paid);
    send(&mut world).await.unwrap();
    let message = world.messages().remove(0);
    let code = message.code.expose();
    let text = format!("{code} @ Dabbawala, 10 min\n\n@login.example.com #{code}");
    assert_eq!((message.text.as_str(), message.brand.as_str()), (text.as_str(), "Dabbawala"));
    assert_eq!((message.language.as_str(), message.minutes), ("hi", 10));
    assert_eq!(message.template_id.as_deref(), Some("1107160000000012345"));
}

#[tokio::test]
async fn a_project_that_says_nothing_is_its_own_brand_in_english_under_the_configured_template() {
    let mut world = World::live();
    let paid = Settlement::Capture(Paise(30));
    world.admits().holds(Paise(30)).issues().whatsapp(accepted()).settles(paid);
    send(&mut world).await.unwrap();
    let message = world.messages().remove(0);
    assert_eq!((message.brand.as_str(), message.language.as_str()), ("Chai & Co", "en"));
    assert_eq!(message.template_id, None);
}

#[tokio::test]
async fn a_text_that_cannot_be_used_reaches_no_provider_and_is_free() {
    let mut world = World::live();
    world.caller.project.messages.text = Some("no code at all".to_owned());
    world.admits().holds(Paise(30)).issues().settles(Settlement::Release).forgives();
    assert!(matches!(send(&mut world).await, Err(SendOtpError::Undeliverable(_))));
    let attempts = world.stored().delivery.attempts;
    assert_eq!(attempts.len(), 2);
    assert!(attempts.iter().all(|attempt| attempt.reason == Some(Reason::TemplateRejected)));
}

#[tokio::test]
async fn a_channel_that_is_skipped_is_neither_tried_nor_held_for() {
    let mut world = routed(Routing { whatsapp: Some(Vec::new()), ..Routing::default() });
    world.prices = PriceList { whatsapp: Paise(90), sms: Paise(20) };
    let paid = Settlement::Capture(Paise(20));
    world.admits().holds(Paise(20)).issues().sms(accepted()).settles(paid);
    let sent = send(&mut world).await.unwrap();
    assert_eq!(sent.channel, Some(Channel::Sms));
    assert_eq!(world.stored().delivery.attempts.len(), 1);
}

#[tokio::test]
async fn a_project_that_waits_for_no_receipt_pays_at_once() {
    let mut world = routed(Routing { fallback_seconds: Some(0), ..Routing::default() });
    let paid = Settlement::Capture(Paise(30));
    world.admits().holds(Paise(30)).issues().whatsapp(awaiting_receipt()).settles(paid);
    send(&mut world).await.unwrap();
    assert_eq!(world.stored().delivery.due_at, None);
}

#[tokio::test]
async fn a_provider_that_is_named_twice_is_asked_once() {
    let twice = |name: &str| Some(vec![name.to_owned(); 2]);
    let mut world =
        routed(Routing { whatsapp: twice("meta"), sms: twice("msg91"), fallback_seconds: None });
    world.admits().holds(Paise(30)).issues().whatsapp(refused()).sms(refused());
    world.settles(Settlement::Release).forgives();
    assert!(matches!(send(&mut world).await, Err(SendOtpError::Undeliverable(_))));
}

#[tokio::test]
async fn without_any_provider_a_code_is_undeliverable_free_and_never_in_force() {
    let gone = Some(vec!["closed_down".to_owned()]);
    for whatsapp in [Some(Vec::new()), gone] {
        let sms = Some(Vec::new());
        let mut world = routed(Routing { whatsapp, sms, fallback_seconds: None });
        world.admits().issues().settles(Settlement::Release).withdraws();
        assert!(matches!(send(&mut world).await, Err(SendOtpError::Undeliverable(_))));
        let stored = world.stored();
        let stands = (stored.state, stored.delivery.status);
        assert_eq!(stands, (OtpState::Void, DeliveryStatus::Failed));
        assert_eq!((stored.sealed_code, stored.delivery.due_at), (None, None));
    }
}
