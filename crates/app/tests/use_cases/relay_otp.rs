//! A code of somebody else: whether it may go out, and as what it is put on record.

use crate::common::{World, accepted};
use dwar_app::{RelayOtp, RelayOtpError, SentOtp};
use dwar_kernel::{KeyMode, Paise};
use dwar_login::Cost;
use dwar_otp::{Code, CodeDigest, OtpState, RelayLifetime};
use dwar_project::Relay;
use dwar_testkit::{START, seconds};
use std::sync::Arc;
use std::time::Duration;

const BOTH: Relay = Relay { live: true, test: true };

async fn relay(world: &mut World, seconds: u64) -> Result<SentOtp, RelayOtpError> {
    let relay = RelayOtp { sends: Arc::new(world.send_otp()) };
    let code = Code::relayed("4829").unwrap();
    let lifetime = RelayLifetime::from_seconds(seconds).unwrap();
    relay.relay(&world.caller, &world.line.phone, (code, lifetime), None).await
}

fn fixed(outcome: Result<SentOtp, RelayOtpError>) -> Option<Duration> {
    match outcome {
        Err(RelayOtpError::FixedLifetime(fixed)) => Some(fixed),
        Ok(_) => None,
        Err(other) => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn it_is_sent_and_nothing_can_verify_it() {
    let mut world = World::live();
    world.caller.project.relay = BOTH;
    world.begins(Cost::Hold(Paise(30))).whatsapp(accepted());
    let sent = relay(&mut world, 90).await.unwrap();
    let stored = world.stored();
    assert_eq!((stored.state, stored.code), (OtpState::Relayed, CodeDigest::NONE));
    assert_eq!((sent.expires_at, stored.expires_at), (START + seconds(90), START + seconds(90)));
    let message = world.messages().pop().unwrap();
    assert_eq!((message.code.expose(), message.minutes), ("4829", 1));
}

#[tokio::test]
async fn it_is_refused_in_a_mode_where_it_is_off_before_anything_is_asked() {
    for (mode, on) in [
        (KeyMode::Live, Relay { live: false, test: true }),
        (KeyMode::Test, Relay { live: true, test: false }),
    ] {
        let mut world = World::of(mode);
        world.caller.project.relay = on;
        let refused = relay(&mut world, 600).await;
        assert!(matches!(refused, Err(RelayOtpError::Disabled)), "{refused:?}");
    }
}

#[tokio::test]
async fn a_text_that_names_its_minutes_in_words_of_its_own_is_for_one_lifetime() {
    for (text, seconds, refused) in [
        ("{code}, good for {minutes} minutes", 90, None),
        ("{code} is your code", 90, None),
        ("{code}, good for 10 minutes", 90, Some(600)),
        ("{code} १० मिनट", 3_600, Some(600)),
        ("{code}, good for 10 minutes", 600, None),
    ] {
        let mut world = World::live();
        world.caller.project.relay = BOTH;
        world.caller.project.messages.text = Some(text.to_owned());
        if refused.is_none() {
            world.begins(Cost::Hold(Paise(30))).whatsapp(accepted());
        }
        assert_eq!(fixed(relay(&mut world, seconds).await), refused.map(Duration::from_secs));
    }
}

#[tokio::test]
async fn so_is_a_registered_text_of_any_provider_on_the_route() {
    for (provider, seconds, refused) in [
        ("meta", 600, Some(300)),
        ("msg91", 600, Some(300)),
        ("meta", 300, None),
        ("other", 600, None),
    ] {
        let mut world = World::live();
        world.caller.project.relay = BOTH;
        if refused.is_none() {
            world.begins(Cost::Hold(Paise(30))).whatsapp(accepted());
        }
        world.fixed_minutes.insert(provider.to_owned(), 5);
        assert_eq!(fixed(relay(&mut world, seconds).await), refused.map(Duration::from_secs));
    }
}
