//! The way of a code to the first provider, and every reason to refuse it.

use crate::common::{World, accepted, down, limits};
use dwar_app::{SendOtpError, SentOtp};
use dwar_kernel::{KeyMode, PriceList};
use dwar_otp::{Channel, DeliveryStatus, Guess, GuessPolicy};
use dwar_ratelimit::{Admission, SendAdmission, SendBound, SendLog, SendQuota};
use dwar_testkit::{START, minutes, phone};
use dwar_wallet::{HoldOutcome, Paise, Settlement};
use mockall::Sequence;
use std::sync::Arc;

async fn send(world: &mut World) -> Result<SentOtp, SendOtpError> {
    world.send_otp().send(&world.caller, &world.line.phone, None).await
}

/// Everything goes well over WhatsApp.
fn smooth(mode: KeyMode) -> World {
    let mut world = World::of(mode);
    world.admits().issues();
    match mode {
        KeyMode::Live => {
            let paid = Settlement::Capture(Paise(30));
            world.holds(Paise(30)).whatsapp(accepted()).settles(paid)
        }
        KeyMode::Test => world.sandbox(accepted()),
    };
    world
}

#[tokio::test]
async fn admits_holds_issues_delivers_reports_and_settles() {
    let mut world = World::live();
    let order = &mut Sequence::new();
    let ok = SendLog::default().admit(&limits().live.send, &GuessPolicy::OFF, START);
    world.sends.expect_admit().times(1).in_sequence(order).returning(move |_, _, _, _, _| Ok(ok));
    let hold = world.wallets.expect_hold().times(1).in_sequence(order);
    hold.returning(|_, _, _, _, _| Ok(HoldOutcome::Held));
    let (issued, row) = (Arc::clone(&world.kept), Arc::clone(&world.kept));
    world.otps.expect_issue_held().times(1).in_sequence(order).returning(move |otp| {
        issued.lock().unwrap().push(otp);
        Ok(())
    });
    world.meta.expect_deliver().times(1).in_sequence(order).returning(|_| accepted());
    let report = world.otps.expect_report().times(1).in_sequence(order);
    report.returning(move |_, attempt, report, route, next, now| {
        let mut otp = row.lock().unwrap().remove(0);
        let step = otp.report(attempt, report, &route, next, now);
        Ok(Some((otp, step)))
    });
    let settle = world.wallets.expect_settle().times(1).in_sequence(order);
    settle.returning(|_, _, _, _, _| Ok(true));
    assert_eq!(send(&mut world).await.unwrap().admission, Some(ok.counted));
}

#[tokio::test]
async fn a_send_is_one_request_from_hold_to_settlement() {
    let mut world = World::live();
    world.admits().issues().whatsapp(accepted());
    let held = Arc::new(std::sync::Mutex::new(None));
    let settled = Arc::clone(&held);
    world.wallets.expect_hold().returning(move |_, send, _, _, _| {
        *held.lock().unwrap() = Some(send);
        Ok(HoldOutcome::Held)
    });
    world.wallets.expect_settle().times(1).returning(move |_, send, _, [one, other], _| {
        assert_eq!(*settled.lock().unwrap(), Some(send));
        assert_ne!(one, other);
        Ok(true)
    });
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
        "{code} is your Chai & Co verification code. It is valid for 10 minutes. \
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
    assert_eq!((sent.mode, world.messages()[0].mode), (KeyMode::Test, KeyMode::Test));
}

#[tokio::test]
async fn the_number_without_balance_is_refused_to_a_test_key_and_nothing_is_sent() {
    let mut world = World::test();
    world.line.phone = phone(4);
    let tools = world.tools();
    world.line.index = tools.vault.phone_index(world.line.project, KeyMode::Test, &phone(4));
    world.admits().withdraws();
    let refusal = send(&mut world).await;
    assert!(matches!(refusal, Err(SendOtpError::InsufficientBalance(_))));
}

#[tokio::test]
async fn the_number_without_balance_is_like_any_other_to_a_live_key() {
    let mut world = World::live();
    world.line.phone = phone(4);
    let tools = world.tools();
    world.line.index = tools.vault.phone_index(world.line.project, KeyMode::Live, &phone(4));
    let paid = Settlement::Capture(Paise(30));
    world.admits().holds(Paise(30)).issues().whatsapp(accepted()).settles(paid);
    assert!(send(&mut world).await.is_ok());
}

#[tokio::test]
async fn too_low_a_balance_gives_the_place_back_and_sends_nothing() {
    let mut world = World::live();
    world.admits().hold(Paise(30), HoldOutcome::Insufficient).withdraws();
    let Err(SendOtpError::InsufficientBalance(Some(admission))) = send(&mut world).await else {
        panic!("the balance was enough");
    };
    assert_eq!(admission.remaining, admission.limit);
}

#[tokio::test]
async fn the_quota_is_the_modes_and_its_refusal_ends_it() {
    for mode in [KeyMode::Live, KeyMode::Test] {
        let mut world = World::of(mode);
        let refusal = refuses(&mut world, limits().of(mode).send, limits().guesses(mode));
        let answer = send(&mut world).await;
        assert!(
            matches!(answer, Err(SendOtpError::RateLimited(told)) if told.admission == refusal)
        );
    }
}

#[tokio::test]
async fn the_dearest_price_of_the_route_is_held() {
    let mut world = World::live();
    world.prices = PriceList { whatsapp: Paise(30), sms: Paise(45) };
    let paid = Settlement::Capture(Paise(30));
    world.admits().holds(Paise(45)).issues().whatsapp(accepted()).settles(paid);
    assert!(send(&mut world).await.is_ok());
}

#[tokio::test]
async fn a_projects_own_prices_come_first() {
    let mut world = World::live();
    world.caller.project.prices.whatsapp = Some(Paise(7));
    world.caller.project.prices.sms = Some(Paise(11));
    let paid = Settlement::Capture(Paise(7));
    world.admits().holds(Paise(11)).issues().whatsapp(accepted()).settles(paid);
    assert!(send(&mut world).await.is_ok());
}

#[tokio::test]
async fn what_costs_nothing_needs_no_hold() {
    let mut world = World::live();
    world.prices = PriceList { whatsapp: Paise::ZERO, sms: Paise::ZERO };
    let nothing = Settlement::Capture(Paise::ZERO);
    world.admits().issues().whatsapp(accepted()).settles(nothing);
    assert!(send(&mut world).await.is_ok());
}

#[tokio::test]
async fn a_store_that_fails_early_stops_the_send_before_any_provider() {
    let mut no_place = World::live();
    no_place.sends.expect_admit().returning(|_, _, _, _, _| Err(down()));
    let mut no_hold = World::live();
    no_hold.admits().wallets.expect_hold().returning(|_, _, _, _, _| Err(down()));
    let mut no_record = World::live();
    no_record.admits().holds(Paise(30)).otps.expect_issue_held().returning(|_| Err(down()));
    for mut world in [no_place, no_hold, no_record] {
        assert!(matches!(send(&mut world).await, Err(SendOtpError::Store(_))));
    }
}

#[tokio::test]
async fn a_store_that_fails_after_the_provider_accepted_releases_nothing() {
    let mut world = World::live();
    world.admits().holds(Paise(30)).whatsapp(accepted());
    world.otps.expect_issue_held().returning(|_| Ok(()));
    world.otps.expect_report().times(1).returning(|_, _, _, _, _, _| Err(down()));
    assert!(matches!(send(&mut world).await, Err(SendOtpError::Store(_))));
    assert_eq!(world.messages().len(), 1);
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

/// The limiter is asked with `quota` and refuses; gives the refusal.
fn refuses(world: &mut World, quota: SendQuota, guesses: GuessPolicy) -> Admission {
    let (key, limit) = (world.line.send_key(), quota.places.limit);
    let refusal = Admission { admitted: false, limit, remaining: 0, reset: minutes(3) };
    world
        .sends
        .expect_admit()
        .withf(move |asked, _, with, policy, now| {
            (*asked, *with, *policy, *now >= START) == (key, quota, guesses, true)
        })
        .times(1)
        .returning(move |_, _, _, _, _| Ok(SendAdmission::refused(SendBound::Limit, refusal)));
    refusal
}
