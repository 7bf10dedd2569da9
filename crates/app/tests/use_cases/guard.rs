use crate::common::House;
use dwar_app::{RelayOtpError, SendExtras, SendOtpError, SentOtp, Service};
use dwar_kernel::{Clock, GuardMode, Paise, Phone};
use dwar_memory::MemoryRequestLimiter;
use dwar_otp::idempotency::IdempotencyKey;
use dwar_otp::{Code, RelayLifetime};
use dwar_project::{Prices, Relay};
use dwar_ratelimit::SendBound;
use dwar_ratelimit::guard::{GuardPass, Visitor};
use dwar_testkit::{SeededEntropy, minutes, outside, parts, seconds};
use std::sync::Arc;

/// A house whose sends are free and guarded in this mode.
pub async fn guarded(mode: GuardMode) -> House {
    let mut house = House::open().await;
    house.caller.project.guard = mode;
    house.caller.project.prices = Prices { whatsapp: Some(Paise::ZERO), sms: Some(Paise::ZERO) };
    house
}

/// Another instance on the same database and behind the same clock.
pub fn another_instance(house: &House) -> Service {
    let mut parts = parts(house.stores.clone(), &house.clock);
    parts.tools.entropy = Arc::new(SeededEntropy::new(12));
    parts.service(outside(Arc::new(MemoryRequestLimiter::new()), &house.postbox, &Arc::default()))
}

/// A number of one of many series.
pub fn number(series: u32, number: u32) -> Phone {
    format!("9{series:05}{number:04}").parse().unwrap()
}

async fn send_as(house: &House, phone: &Phone, visitor: Visitor) -> Result<SentOtp, SendOtpError> {
    let extras = SendExtras { visitor, ..SendExtras::default() };
    house.service.use_cases.send_otp.send(&house.caller, phone, Some(extras), None).await
}

async fn send(house: &House, phone: &Phone) -> Result<SentOtp, SendOtpError> {
    send_as(house, phone, Visitor::default()).await
}

fn is_asked(sent: &Result<SentOtp, SendOtpError>) -> bool {
    matches!(sent, Err(SendOtpError::ProofRequired))
}

pub fn trusted() -> Visitor {
    Visitor { pass: Some(GuardPass::Trusted), ..Visitor::default() }
}

async fn verify(house: &House, phone: &Phone) {
    let code = house.postbox.messages().pop().unwrap().code;
    let verify = &house.service.use_cases.verify_otp;
    verify.verify(&house.caller, phone, code, None).await.unwrap();
}

#[tokio::test]
async fn the_first_send_beyond_a_series_is_asked_whoever_asks() {
    let house = guarded(GuardMode::Enforce).await;
    // A known number of the same series.
    let known = number(1, 9_999);
    send_as(&house, &known, trusted()).await.unwrap();
    verify(&house, &known).await;
    for sent in 0..20 {
        send(&house, &number(1, sent)).await.unwrap();
    }
    let messages = house.postbox.messages().len();
    for phone in [number(1, 20), known.clone(), number(1, 0)] {
        assert!(is_asked(&send(&house, &phone).await), "{phone}");
    }
    assert_eq!(house.postbox.messages().len(), messages);
    assert!(!is_asked(&send(&house, &number(2, 0)).await));
    // A proof takes no token, and its verification gives half of one; two make a whole one.
    for proven in [21, 22] {
        assert!(is_asked(&send(&house, &number(1, 20)).await));
        send_as(&house, &number(1, proven), trusted()).await.unwrap();
        verify(&house, &number(1, proven)).await;
    }
    send(&house, &number(1, 20)).await.unwrap();
    assert!(is_asked(&send(&house, &number(1, 23)).await));
}

#[tokio::test]
async fn an_address_counts_known_numbers_too_and_a_series_does_not() {
    let house = guarded(GuardMode::Enforce).await;
    let address = Some("203.0.113.7".parse().unwrap());
    let visitor = Visitor { address, pass: None };
    for login in 0..30 {
        let phone = number(login, 1);
        send_as(&house, &phone, trusted()).await.unwrap();
        verify(&house, &phone).await;
    }
    house.clock.advance(minutes(11));
    for login in 0..30 {
        send_as(&house, &number(login, 1), visitor).await.unwrap();
    }
    for other in 100..120 {
        send_as(&house, &number(other, 1), visitor).await.unwrap();
    }
    assert!(is_asked(&send_as(&house, &number(200, 1), visitor).await));
    let elsewhere = Visitor { address: Some("203.0.113.8".parse().unwrap()), pass: None };
    send_as(&house, &number(200, 1), elsewhere).await.unwrap();
}

#[tokio::test]
async fn what_is_not_accepted_or_admitted_takes_nothing() {
    let house = guarded(GuardMode::Enforce).await;
    let mut poor = guarded(GuardMode::Enforce).await;
    poor.caller.project.prices = Prices { whatsapp: Some(Paise(1_000)), sms: None };
    for sent in 0..40 {
        let refused = send(&poor, &number(1, sent)).await;
        assert!(matches!(refused, Err(SendOtpError::InsufficientBalance(_))), "{refused:?}");
    }
    let mut nowhere = guarded(GuardMode::Enforce).await;
    nowhere.caller.project.routing.whatsapp = Some(Vec::new());
    nowhere.caller.project.routing.sms = Some(Vec::new());
    for sent in 0..40 {
        let lost = send(&nowhere, &number(1, sent)).await;
        assert!(matches!(lost, Err(SendOtpError::Undeliverable(_))), "{lost:?}");
    }
    // Resends within ten minutes take no token of their own, and a refused one takes none.
    for _ in 0..3 {
        send(&house, &number(1, 0)).await.unwrap();
        house.clock.advance(seconds(1));
    }
    for _ in 0..30 {
        let limited = send(&house, &number(1, 0)).await;
        assert!(matches!(limited, Err(SendOtpError::RateLimited(_))), "{limited:?}");
    }
    for sent in 1..20 {
        send(&house, &number(1, sent)).await.unwrap();
    }
    assert!(is_asked(&send(&house, &number(1, 20)).await));
}

#[tokio::test]
async fn watching_refuses_nothing_and_off_counts_nothing() {
    for mode in [GuardMode::Watch, GuardMode::Off] {
        let house = guarded(mode).await;
        for sent in 0..40 {
            send(&house, &number(1, sent)).await.unwrap();
        }
        // What was taken before shows when the guard is enforced: nothing, or all of the series.
        let mut enforced = house.caller.clone();
        enforced.project.guard = GuardMode::Enforce;
        let sends = &house.service.use_cases.send_otp;
        let next = sends.send(&enforced, &number(1, 40), None, None).await;
        assert_eq!(is_asked(&next), mode == GuardMode::Watch, "{mode}");
    }
}

#[tokio::test]
async fn a_refusal_is_not_kept_for_its_idempotency_key() {
    let house = guarded(GuardMode::Enforce).await;
    for sent in 0..20 {
        send(&house, &number(1, sent)).await.unwrap();
    }
    let key = "k".parse::<IdempotencyKey>().unwrap();
    let sends = &house.service.use_cases.send_otp;
    let asked = sends.send(&house.caller, &number(1, 20), None, Some(&key)).await;
    assert!(is_asked(&asked));
    let proof = SendExtras { visitor: trusted(), ..SendExtras::default() };
    let first = sends.send(&house.caller, &number(1, 20), Some(proof), Some(&key)).await.unwrap();
    // The first answer is given again, whatever the visitor is now.
    let again = sends.send(&house.caller, &number(1, 20), None, Some(&key)).await.unwrap();
    assert_eq!(first.otp, again.otp);
}

#[tokio::test]
async fn instances_learn_of_each_other_by_exchanges() {
    let house = guarded(GuardMode::Enforce).await;
    let other = another_instance(&house).guard;
    let guard = &house.service.guard;
    for sent in 0..20 {
        send(&house, &number(1, sent)).await.unwrap();
    }
    // The other instance knows the project since it has judged a send of it.
    let levels = house.stores.guard.clone();
    guard.exchange().await.unwrap();
    other.exchange().await.unwrap();
    let now = house.clock.now();
    let stored = levels.changed_levels(vec![house.caller.project.id], now).await.unwrap();
    let mut tokens: Vec<i64> = stored.iter().map(|it| it.level.level / 1_000_000).collect();
    tokens.sort_unstable();
    assert_eq!(tokens, [0, 180]);
    // Nothing is written twice.
    guard.exchange().await.unwrap();
    house.clock.advance(seconds(1));
    assert!(is_asked(&send(&house, &number(1, 20)).await));
}

#[tokio::test]
async fn a_phone_gets_thirty_codes_a_day_where_the_guard_is_enforced() {
    let house = guarded(GuardMode::Enforce).await;
    let phone = number(1, 0);
    for _ in 0..30 {
        send_as(&house, &phone, trusted()).await.unwrap();
        house.clock.advance(minutes(11));
    }
    let refused = send_as(&house, &phone, trusted()).await;
    let Err(SendOtpError::RateLimited(refusal)) = refused else { panic!("{refused:?}") };
    assert_eq!(refusal.bound, SendBound::Day);
    house.clock.advance(refusal.admission.reset);
    send_as(&house, &phone, trusted()).await.unwrap();
}

#[tokio::test]
async fn codes_that_are_only_delivered_count_for_the_day_and_are_refused_beyond_it() {
    let mut house = guarded(GuardMode::Enforce).await;
    house.caller.project.relay = Relay { live: true, test: false };
    let phone = number(1, 0);
    let relay = async || {
        let code = (Code::relayed("4829").unwrap(), RelayLifetime::from_seconds(600).unwrap());
        house.service.use_cases.relay_otp.relay(&house.caller, &phone, code, None).await
    };
    for _ in 0..15 {
        relay().await.unwrap();
        house.clock.advance(minutes(11));
        send_as(&house, &phone, trusted()).await.unwrap();
        house.clock.advance(minutes(11));
    }
    let refused = relay().await;
    let Err(RelayOtpError::Send(SendOtpError::RateLimited(refusal))) = refused else {
        panic!("{refused:?}")
    };
    assert_eq!(refusal.bound, SendBound::Day);
    // A flood of them is no business of the levels, which count verifications.
    for other in 1..40 {
        let code = (Code::relayed("4829").unwrap(), RelayLifetime::from_seconds(600).unwrap());
        let relays = &house.service.use_cases.relay_otp;
        relays.relay(&house.caller, &number(1, other), code, None).await.unwrap();
    }
    send(&house, &number(1, 50)).await.unwrap();
}

#[tokio::test]
async fn a_watched_day_refuses_nothing() {
    let house = guarded(GuardMode::Watch).await;
    for _ in 0..32 {
        send(&house, &number(1, 0)).await.unwrap();
        house.clock.advance(minutes(11));
    }
}
