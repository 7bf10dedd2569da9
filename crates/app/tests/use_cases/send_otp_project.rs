//! How a project's own texts and routes change a send.

use crate::common::{FORGIVEN, World, accepted, awaiting_receipt, charged, refused};
use dwar_app::{SendExtras, SendOtpError, SentOtp};
use dwar_kernel::PriceList;
use dwar_login::Cost;
use dwar_otp::{Channel, DeliveryStatus, OtpState, Reason};
use dwar_project::{Messages, Routing};
use dwar_wallet::Paise;

async fn send(world: &mut World) -> Result<SentOtp, SendOtpError> {
    world.send_otp().send(&world.caller, &world.line.phone, None, None).await
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
        ..Messages::default()
    };
    world.begins(Cost::Hold(Paise(30))).whatsapp(accepted());
    send(&mut world).await.unwrap();
    let message = world.messages().remove(0);
    let code = message.code.expose();
    let text = format!("{code} @ Dabbawala, 10 min\n\n@login.example.com #{code}");
    assert_eq!((message.text.as_str(), message.brand.as_str()), (text.as_str(), "Dabbawala"));
    assert_eq!((message.language.as_str(), message.minutes), ("hi", 10));
    assert_eq!(message.template_id.as_deref(), Some("1107160000000012345"));
}

#[tokio::test]
async fn a_send_names_the_last_line_for_itself_and_its_fallback() {
    let mut world = World::live();
    let debug = "FA+9qCX9VSu";
    world.caller.project.messages = Messages {
        domain: Some("login.example.com".to_owned()),
        last_lines: vec![debug.to_owned(), "shop.example.com".to_owned()],
        ..Messages::default()
    };
    let messages = world.caller.project.messages.clone();
    for unknown in ["other.example.com", "FA+9qCX9VSv", "", "LOGIN.example.com"] {
        assert_eq!(messages.last_line(unknown.to_owned()), None, "{unknown}");
    }
    assert!(messages.last_line("login.example.com".to_owned()).is_some(), "the default, too");
    world.begins(Cost::Hold(Paise(30))).whatsapp(refused()).sms(accepted());
    let last_line = messages.last_line(debug.to_owned());
    let named = SendExtras { last_line, ..SendExtras::default() };
    world.send_otp().send(&world.caller, &world.line.phone, Some(named), None).await.unwrap();
    for message in world.messages() {
        assert!(message.text.ends_with(&format!("\n\n{debug}")), "{}", message.text);
    }
    // A process that takes over finds it beside the code.
    let stored = world.stored();
    assert_eq!(stored.sealed_code, None, "nothing can want it any more");
}

#[tokio::test]
async fn a_project_that_says_nothing_is_its_own_brand_in_english_under_the_configured_template() {
    let mut world = World::live();
    world.begins(Cost::Hold(Paise(30))).whatsapp(accepted());
    send(&mut world).await.unwrap();
    let message = world.messages().remove(0);
    assert_eq!((message.brand.as_str(), message.language.as_str()), ("Chai & Co", "en"));
    assert_eq!(message.template_id, None);
}

#[tokio::test]
async fn a_text_that_cannot_be_used_reaches_no_provider_and_is_free() {
    let mut world = World::live();
    world.caller.project.messages.text = Some("no code at all".to_owned());
    world.begins(Cost::Hold(Paise(30)));
    assert!(matches!(send(&mut world).await, Err(SendOtpError::Undeliverable(_))));
    assert_eq!(world.ends(), [FORGIVEN]);
    let attempts = world.stored().delivery.attempts;
    assert_eq!(attempts.len(), 2);
    assert!(attempts.iter().all(|attempt| attempt.reason == Some(Reason::TemplateRejected)));
}

#[tokio::test]
async fn a_channel_that_is_skipped_is_neither_tried_nor_held_for() {
    let mut world = routed(Routing { whatsapp: Some(Vec::new()), ..Routing::default() });
    world.prices = PriceList { whatsapp: Paise(90), sms: Paise(20) };
    world.begins(Cost::Hold(Paise(20))).sms(accepted());
    let sent = send(&mut world).await.unwrap();
    assert_eq!((sent.channel, world.ends()), (Some(Channel::Sms), vec![charged(20)]));
    assert_eq!(world.stored().delivery.attempts.len(), 1);
}

#[tokio::test]
async fn a_project_that_waits_for_no_receipt_pays_at_once() {
    let mut world = routed(Routing { fallback_seconds: Some(0), ..Routing::default() });
    world.begins(Cost::Hold(Paise(30))).whatsapp(awaiting_receipt());
    send(&mut world).await.unwrap();
    assert_eq!((world.stored().delivery.due_at, world.ends()), (None, vec![charged(30)]));
}

#[tokio::test]
async fn a_provider_that_is_named_twice_is_asked_once() {
    let twice = |name: &str| Some(vec![name.to_owned(); 2]);
    let mut world =
        routed(Routing { whatsapp: twice("meta"), sms: twice("msg91"), fallback_seconds: None });
    world.begins(Cost::Hold(Paise(30))).whatsapp(refused()).sms(refused());
    assert!(matches!(send(&mut world).await, Err(SendOtpError::Undeliverable(_))));
}

#[tokio::test]
async fn without_any_provider_a_code_is_undeliverable_free_and_never_in_force() {
    let gone = Some(vec!["closed_down".to_owned()]);
    for whatsapp in [Some(Vec::new()), gone] {
        let sms = Some(Vec::new());
        let mut world = routed(Routing { whatsapp, sms, fallback_seconds: None });
        world.begins(Cost::Nothing);
        let Err(SendOtpError::Undeliverable(Some(told))) = send(&mut world).await else {
            panic!("nobody was asked to deliver it");
        };
        assert_eq!(told.remaining, told.limit);
        let stored = world.stored();
        let stands = (stored.state, stored.delivery.status);
        assert_eq!(stands, (OtpState::Void, DeliveryStatus::Failed));
        assert_eq!((stored.sealed_code, stored.delivery.due_at), (None, None));
        assert_eq!((stored.delivery.attempts.len(), world.ends()), (0, vec![]));
    }
}
