//! The delivery of a code to the first provider, and every reason to refuse it.

use crate::common::{World, accepted, charged, down, limits, refused};
use dwar_app::{SendOtpError, SentOtp};
use dwar_kernel::{KeyMode, PriceList};
use dwar_login::{Cost, Prepared};
use dwar_otp::{Channel, DeliveryStatus, Guess, GuessPolicy, Otp, ReportedRequest};
use dwar_ratelimit::{Admission, SendAdmission, SendBound, SendLog};
use dwar_testkit::{START, minutes, phone};
use dwar_wallet::Paise;
use mockall::Sequence;
use std::sync::{Arc, Mutex};

async fn send(world: &mut World) -> Result<SentOtp, SendOtpError> {
    world.send_otp().send(&world.caller, &world.line.phone, None, None).await
}

fn smooth(mode: KeyMode) -> World {
    let mut world = World::of(mode);
    match mode {
        KeyMode::Live => world.begins(Cost::Hold(Paise(30))).whatsapp(accepted()),
        KeyMode::Test => world.begins(Cost::Nothing).sandbox(accepted()),
    };
    world
}

#[tokio::test]
async fn prepares_once_and_reports_each_answer_before_it_asks_again() {
    let mut world = World::live();
    let (order, kept) = (&mut Sequence::new(), Arc::new(Mutex::new(None::<Otp>)));
    let ok = SendLog::default().admit(&limits().live.send, &GuessPolicy::OFF, START);
    let begun = Arc::clone(&kept);
    world.logins.expect_prepare().times(1).in_sequence(order).returning(move |send, _| {
        *begun.lock().unwrap() = Some(send.otp);
        Ok(Prepared::Ready(ok))
    });
    for (gateway, answer) in [(&mut world.meta, refused()), (&mut world.msg91, accepted())] {
        let asked = gateway.expect_deliver().times(1).in_sequence(order);
        asked.return_once(move |_| answer);
        let kept = Arc::clone(&kept);
        let report = world.logins.expect_report().times(1).in_sequence(order);
        report.returning(move |request, report, now| {
            let mut otp = kept.lock().unwrap().clone().unwrap();
            // The request as the caller knows it, so that a store need not load it.
            assert_eq!(request, ReportedRequest::Seen(Box::new(otp.clone())));
            let step = report.apply(&mut otp, now).step;
            *kept.lock().unwrap() = Some(otp.clone());
            Ok(Some((otp, step)))
        });
    }
    assert_eq!(send(&mut world).await.unwrap().admission, Some(ok.counted));
}

#[tokio::test]
async fn a_send_is_one_request_from_its_code_to_its_message() {
    let mut world = smooth(KeyMode::Live);
    let sent = send(&mut world).await.unwrap();
    assert_eq!((world.messages()[0].otp, world.stored().id), (sent.otp, sent.otp));
}

#[tokio::test]
async fn the_answer_says_where_the_code_is() {
    let sent = send(&mut smooth(KeyMode::Live)).await.unwrap();
    assert_eq!(sent.status, DeliveryStatus::Sent);
    assert_eq!(sent.channel, Some(Channel::Whatsapp));
    assert_eq!(sent.admission.map(|left| (left.limit, left.remaining)), Some((3, 2)));
}

#[tokio::test]
async fn the_message_carries_the_code_that_was_stored() {
    let mut world = smooth(KeyMode::Live);
    send(&mut world).await.unwrap();
    let message = world.messages().remove(0);
    let code = message.code.expose();
    let text = format!(
        "{code} is your Chai & Co verification code. It is valid for 10 min. \
         Do not share it with anyone."
    );
    assert_eq!((message.text.as_str(), &message.phone), (text.as_str(), &world.line.phone));
    assert!(Guess::new(message.code, Arc::clone(&world.make.codes)).opens(&world.stored()));
}

#[tokio::test]
async fn a_code_expires_after_ten_minutes() {
    let mut world = smooth(KeyMode::Live);
    let sent = send(&mut world).await.unwrap();
    assert_eq!((world.stored().created_at, sent.expires_at), (START, START + minutes(10)));
    assert_eq!(sent.expires_in, 600);
}

#[tokio::test]
async fn a_code_takes_five_wrong_guesses_live_and_twenty_in_test() {
    for (mode, max_wrong) in [(KeyMode::Live, 5), (KeyMode::Test, 20)] {
        let mut world = smooth(mode);
        send(&mut world).await.unwrap();
        assert_eq!(world.stored().max_wrong, max_wrong);
    }
}

#[tokio::test]
async fn a_test_key_touches_neither_wallet_nor_provider() {
    let mut world = smooth(KeyMode::Test);
    let sent = send(&mut world).await.unwrap();
    assert_eq!((sent.mode, world.messages()[0].project_mode.mode), (KeyMode::Test, KeyMode::Test));
}

#[tokio::test]
async fn the_number_without_balance_is_refused_to_a_test_key_and_nothing_is_sent() {
    let mut world = World::test();
    world.line.phone = phone(4);
    let tools = world.tools();
    world.line.index =
        tools.vault.phone_index(world.line.project_mode.project.in_mode(KeyMode::Test), &phone(4));
    world.cannot_afford(Cost::Unaffordable);
    let refusal = send(&mut world).await;
    assert!(matches!(refusal, Err(SendOtpError::InsufficientBalance(_))));
}

#[tokio::test]
async fn the_number_without_balance_is_like_any_other_to_a_live_key() {
    let mut world = World::live();
    world.line.phone = phone(4);
    let tools = world.tools();
    world.line.index =
        tools.vault.phone_index(world.line.project_mode.project.in_mode(KeyMode::Live), &phone(4));
    world.begins(Cost::Hold(Paise(30))).whatsapp(accepted());
    assert!(send(&mut world).await.is_ok());
}

#[tokio::test]
async fn too_low_a_balance_takes_no_place_and_sends_nothing() {
    let mut world = World::live();
    world.cannot_afford(Cost::Hold(Paise(30)));
    let Err(SendOtpError::InsufficientBalance(Some(admission))) = send(&mut world).await else {
        panic!("the balance was enough");
    };
    assert_eq!(admission.remaining, admission.limit);
}

#[tokio::test]
async fn a_spent_day_takes_no_place_and_sends_nothing() {
    let mut world = World::live();
    world.spends_too_much(Cost::Hold(Paise(30)));
    let Err(SendOtpError::SpendLimitReached(Some(admission))) = send(&mut world).await else {
        panic!("the limit allowed it");
    };
    assert_eq!(admission.remaining, admission.limit);
}

#[tokio::test]
async fn a_refusal_of_the_limit_ends_it_and_says_which_bound_it_was() {
    for (mode, bound) in [(KeyMode::Live, SendBound::Limit), (KeyMode::Test, SendBound::Pace)] {
        let mut world = World::of(mode);
        let limit = limits().of(mode).send.places.limit;
        let told = Admission { admitted: false, limit, remaining: 0, reset: minutes(3) };
        let refusal = Prepared::Limited(SendAdmission::refused(bound, told));
        world.logins.expect_prepare().times(1).return_once(move |_, _| Ok(refusal));
        let Err(SendOtpError::RateLimited(refused)) = send(&mut world).await else {
            panic!("there was no place");
        };
        assert_eq!((refused.bound, refused.admission), (bound, told));
    }
}

#[tokio::test]
async fn the_dearest_price_of_the_route_is_held() {
    let mut world = World::live();
    world.prices = PriceList { whatsapp: Paise(30), sms: Paise(45) };
    world.begins(Cost::Hold(Paise(45))).whatsapp(accepted());
    assert!(send(&mut world).await.is_ok());
    assert_eq!(world.ends(), [charged(30)]);
}

#[tokio::test]
async fn a_projects_own_prices_come_first() {
    let mut world = World::live();
    world.caller.project.prices.whatsapp = Some(Paise(7));
    world.caller.project.prices.sms = Some(Paise(11));
    world.begins(Cost::Hold(Paise(11))).whatsapp(accepted());
    assert!(send(&mut world).await.is_ok());
    assert_eq!(world.ends(), [charged(7)]);
}

#[tokio::test]
async fn what_costs_nothing_needs_no_hold() {
    let mut world = World::live();
    world.prices = PriceList { whatsapp: Paise::ZERO, sms: Paise::ZERO };
    world.begins(Cost::Nothing).whatsapp(accepted());
    assert!(send(&mut world).await.is_ok());
    assert_eq!(world.ends(), [charged(0)]);
}

#[tokio::test]
async fn a_store_that_fails_early_stops_the_send_before_any_provider() {
    let mut world = World::live();
    world.logins.expect_prepare().times(1).returning(|_, _| Err(down()));
    assert!(matches!(send(&mut world).await, Err(SendOtpError::Store(_))));
}

#[tokio::test]
async fn a_store_that_fails_after_the_provider_accepted_asks_nobody_else_and_moves_no_money() {
    let mut world = World::live();
    world.logins.expect_report().times(1).returning(|_, _, _| Err(down()));
    world.begins(Cost::Hold(Paise(30))).whatsapp(accepted());
    assert!(matches!(send(&mut world).await, Err(SendOtpError::Store(_))));
    assert_eq!((world.messages().len(), world.ends()), (1, vec![]));
}

#[tokio::test]
async fn nothing_shows_the_code_in_debug() {
    let mut world = smooth(KeyMode::Live);
    let sent = send(&mut world).await.unwrap();
    let message = world.messages().remove(0);
    let code = message.code.expose().to_owned();
    let guess = Guess::new(message.code.clone(), Arc::clone(&world.make.codes));
    for shown in [
        format!("{sent:?}"),
        format!("{:?}", world.stored()),
        format!("{message:?} {:?}", message.code),
        format!("{guess:?}"),
    ] {
        assert!(!shown.contains(&code), "{shown}");
        assert!(!shown.contains(world.line.phone.national()), "{shown}");
    }
}
