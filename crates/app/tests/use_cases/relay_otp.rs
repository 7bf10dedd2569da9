//! Relayed codes: whether they may be sent, and how they are recorded.

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

/// The lifetimes that would have been accepted; empty if the code was sent.
fn fixed(outcome: Result<SentOtp, RelayOtpError>) -> Vec<u64> {
    match outcome {
        Err(RelayOtpError::FixedLifetime(fixed)) => fixed.iter().map(Duration::as_secs).collect(),
        Ok(_) => Vec::new(),
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
        ("{code}, good for {minutes} minutes", 90, vec![]),
        ("{code} is your code", 90, vec![]),
        ("{code}, good for 10 minutes", 90, vec![600]),
        ("{code} १० मिनट", 3_600, vec![600]),
        ("{code}, good for 10 minutes", 600, vec![]),
    ] {
        let mut world = World::live();
        world.caller.project.relay = BOTH;
        world.caller.project.messages.text = Some(text.to_owned());
        world.caller.project.routing.whatsapp = Some(Vec::new());
        if refused.is_empty() {
            world.begins(Cost::Hold(Paise(20))).sms(accepted());
        }
        assert_eq!(fixed(relay(&mut world, seconds).await), refused, "{text} {seconds}");
    }
}

/// Channel of a relayed code with a lifetime of ten minutes, or the lifetimes that would be accepted.
async fn way(
    meta: Option<u32>,
    msg91: Option<u32>,
    text: Option<&str>,
) -> Result<String, Vec<u64>> {
    let mut world = World::live();
    world.caller.project.relay = BOTH;
    world.caller.project.messages.text = text.map(str::to_owned);
    for (provider, minutes) in [("meta", meta), ("msg91", msg91)] {
        world.fixed_minutes.extend(minutes.map(|minutes| (provider.to_owned(), minutes)));
    }
    let fits = |minutes: Option<u32>| minutes.is_none_or(|minutes| minutes == 10);
    if fits(meta) {
        // The dearest of the remaining hops.
        world.begins(Cost::Hold(Paise(30))).whatsapp(accepted());
    } else if fits(msg91) {
        world.begins(Cost::Hold(Paise(20))).sms(accepted());
    }
    let refused = fixed(relay(&mut world, 600).await);
    match world.messages().pop() {
        Some(message) => Ok(message.channel.as_str().to_owned()),
        None => Err(refused),
    }
}

#[tokio::test]
async fn a_provider_whose_registered_text_names_other_minutes_is_passed_over() {
    let own = Some("{code}, good for 10 minutes");
    for (meta, msg91, text, expected) in [
        (None, None, None, Ok("whatsapp")),
        (Some(5), None, None, Ok("sms")),
        (Some(5), Some(10), None, Ok("sms")),
        (None, Some(5), None, Ok("whatsapp")),
        (Some(10), Some(5), None, Ok("whatsapp")),
        (Some(5), Some(7), None, Err(vec![300, 420])),
        (Some(5), Some(5), None, Err(vec![300])),
        // The provider's registered text is sent, whatever the project's own text says.
        (Some(5), Some(7), own, Err(vec![300, 420])),
        (Some(5), None, own, Ok("sms")),
    ] {
        let expected = expected.map(str::to_owned);
        assert_eq!(way(meta, msg91, text).await, expected, "{meta:?} {msg91:?} {text:?}");
    }
}

#[test]
fn the_refusal_names_every_lifetime_that_would_be_taken() {
    let refused = RelayOtpError::FixedLifetime(vec![seconds(300), seconds(600)]);
    let said = "the registered text is for codes that work for 300 or 600 seconds";
    assert_eq!(refused.to_string(), said);
}
