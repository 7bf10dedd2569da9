use super::*;
use crate::{Channel, Charge, Code, CodeKeys, GuessPeriod, Hop, Reason};
use dwar_kernel::{KeyMode, ProjectId};
use std::sync::Arc;
use std::time::Duration;

fn at(seconds: i64) -> Timestamp {
    Timestamp::from_timestamp(1_800_000_000 + seconds, 0).unwrap()
}

fn keys() -> Arc<CodeKeys> {
    Arc::new(CodeKeys::new([7; 32], []))
}

fn guess(code: &str) -> Guess {
    Guess::new(code.parse().unwrap(), keys())
}

fn otp() -> Otp {
    let id: OtpId = "00000000-0000-7000-8000-000000000001".parse().unwrap();
    let project: ProjectId = "00000000-0000-7000-8000-000000000002".parse().unwrap();
    let phone = BlindIndex([3; 32]);
    let code: Code = "123456".parse().unwrap();
    let route = Route {
        hops: vec![Hop::new(Channel::Sms, "fake")],
        receipt_window: None,
        lease: Duration::from_secs(30),
    };
    let attempt = "00000000-0000-7000-8000-000000000003".parse().unwrap();
    Otp {
        id,
        project_mode: project.in_mode(KeyMode::Live),
        phone,
        sealed_phone: Sealed(vec![]),
        code: keys().digest(&Otp::binding_of(project.in_mode(KeyMode::Live), id, &phone), &code),
        sealed_code: Some(Sealed(vec![1])),
        state: OtpState::Active,
        wrong: 0,
        max_wrong: 5,
        device_only: false,
        guard: None,
        guesses: vec![],
        created_at: at(0),
        expires_at: at(600),
        delivery: Delivery::begin(&route, attempt, at(0)),
    }
}

const fn left(remaining: u32, seconds: u64) -> Allowance {
    Allowance { limit: 5, remaining, reset: Duration::from_secs(seconds) }
}

fn attempt(otp: &mut Otp, code: &str, seconds: i64) -> GuessVerdict {
    otp.judge(&guess(code), &mut GuessBudget::default(), &GuessPolicy::OFF, at(seconds))
}

#[test]
fn the_right_code_works_once() {
    let mut otp = otp();
    assert_eq!(attempt(&mut otp, "123456", 1), GuessVerdict::Accepted(left(5, 599)));
    assert_eq!(attempt(&mut otp, "123456", 2), GuessVerdict::NotFound);
}

#[test]
fn five_wrong_codes_are_judged_and_the_fifth_locks() {
    let mut otp = otp();
    for remaining in [4, 3, 2, 1, 0] {
        assert_eq!(attempt(&mut otp, "000000", 1), GuessVerdict::Wrong(left(remaining, 599)));
    }
    assert_eq!(attempt(&mut otp, "123456", 2), GuessVerdict::Locked(left(0, 598)));
    assert_eq!(attempt(&mut otp, "123456", 599), GuessVerdict::Locked(left(0, 1)));
    assert_eq!(attempt(&mut otp, "123456", 600), GuessVerdict::NotFound);
}

#[test]
fn the_right_code_succeeds_at_the_fifth_try() {
    let mut otp = otp();
    for _ in 0..4 {
        attempt(&mut otp, "000000", 1);
    }
    assert_eq!(attempt(&mut otp, "123456", 2), GuessVerdict::Accepted(left(1, 598)));
}

#[test]
fn expires_at_the_exact_instant() {
    assert!(matches!(attempt(&mut otp(), "123456", 599), GuessVerdict::Accepted(_)));
    assert_eq!(attempt(&mut otp(), "123456", 600), GuessVerdict::NotFound);
}

#[test]
fn a_code_of_another_request_does_not_open_this_one() {
    let mut other = otp();
    other.id = "00000000-0000-7000-8000-000000000009".parse().unwrap();
    assert!(!guess("123456").opens(&other));
}

#[test]
fn a_guess_at_the_code_of_another_request_finds_nothing_and_counts_nothing() {
    let (mut otp, mut budget) = (otp(), GuessBudget::default());
    let other = "00000000-0000-7000-8000-000000000009".parse().unwrap();
    let named = |code: &str, request| guess(code).meant_for(Some(request));
    let before = otp.clone();
    for code in ["000000", "123456"] {
        let judged = otp.judge(&named(code, other), &mut budget, &GuessPolicy::OFF, at(1));
        assert_eq!(judged, GuessVerdict::NotFound);
    }
    assert_eq!((&otp, budget), (&before, GuessBudget::default()));
    let own = otp.id;
    let wrong = otp.judge(&named("000000", own), &mut budget, &GuessPolicy::OFF, at(1));
    assert_eq!((wrong, budget.wrong), (GuessVerdict::Wrong(left(4, 599)), 1));
    let right = otp.judge(&named("123456", own), &mut budget, &GuessPolicy::OFF, at(1));
    assert_eq!(right, GuessVerdict::Accepted(left(4, 599)));
    let spent = otp.judge(&named("123456", own), &mut budget, &GuessPolicy::OFF, at(1));
    assert_eq!(spent, GuessVerdict::NotFound);
    // A locked code does not answer guesses for another request either.
    otp.state = OtpState::Locked;
    let locked = otp.judge(&named("123456", other), &mut budget, &GuessPolicy::OFF, at(1));
    assert_eq!(locked, GuessVerdict::NotFound);
}

#[test]
fn what_was_judged_is_noted_and_what_was_not_is_not() {
    let mut otp = otp();
    attempt(&mut otp, "000000", 1);
    attempt(&mut otp, "123456", 2);
    attempt(&mut otp, "123456", 3);
    assert_eq!((otp.guesses.clone(), otp.verified_at()), (vec![at(1), at(2)], Some(at(2))));
    let mut locked = Otp { state: OtpState::Locked, guesses: vec![at(1)], ..otp };
    attempt(&mut locked, "123456", 4);
    assert_eq!((locked.guesses.clone(), locked.verified_at()), (vec![at(1)], None));
}

#[test]
fn the_budget_locks_before_the_code_does_and_a_success_clears_the_row_alone() {
    let policy =
        GuessPolicy { stop_at: 100, stop_for: Duration::from_secs(86_400), ..GuessPolicy::OFF };
    let period = GuessPeriod { began_at: at(0), wrong: 98, stopped_at: None };
    let nearly =
        GuessBudget { wrong: 98, last_wrong_at: Some(at(0)), period: Some(period), devices: None };
    let (mut first, mut budget) = (otp(), nearly);
    let judge = |otp: &mut Otp, budget: &mut GuessBudget, code, second| {
        otp.judge(&guess(code), budget, &policy, at(second))
    };
    assert_eq!(judge(&mut first, &mut budget, "000000", 1), GuessVerdict::Wrong(left(4, 599)));
    assert_eq!(judge(&mut first, &mut budget, "000000", 1), GuessVerdict::Wrong(left(0, 599)));
    assert_eq!(judge(&mut first, &mut budget, "123456", 2), GuessVerdict::Locked(left(0, 598)));
    let stopped = Some(GuessPeriod { wrong: 100, stopped_at: Some(at(1)), ..period });
    assert_eq!((budget.wrong, budget.period), (100, stopped));

    let mut budget = nearly;
    otp().judge(&guess("123456"), &mut budget, &policy, at(1));
    assert_eq!(budget, GuessBudget { wrong: 0, ..nearly });
}

#[test]
fn a_code_that_reached_nobody_is_void_and_its_sealed_form_goes() {
    let mut otp = otp();
    otp.sealed_code = Some(Sealed(vec![1]));
    let route = Route { hops: vec![], receipt_window: None, lease: Duration::ZERO };
    let first = otp.delivery.attempts[0].id;
    otp.report(first, Report::Failed(Reason::Timeout), &route, first, at(1));
    assert_eq!((otp.state, otp.sealed_code), (OtpState::Void, None));
}

#[test]
fn a_code_of_somebody_else_goes_past_a_text_that_names_another_lifetime() {
    let hop = |provider, seconds| Hop {
        only_for: Some(Duration::from_secs(seconds)),
        ..Hop::new(Channel::Sms, provider)
    };
    let route = Route {
        hops: vec![Hop::new(Channel::Sms, "fake"), hop("five", 300), hop("ten", 600)],
        receipt_window: None,
        lease: Duration::from_secs(30),
    };
    for (state, next) in [(OtpState::Relayed, "ten"), (OtpState::Active, "five")] {
        let mut otp = Otp { state, ..otp() };
        let first = otp.delivery.attempts[0].id;
        let second = "00000000-0000-7000-8000-000000000004".parse().unwrap();
        let refused = Report::Failed(Reason::ProviderUnavailable);
        let step = otp.report(first, refused, &route, second, at(1));
        assert!(matches!(step, DeliveryStep::Try(tried) if tried.provider == next), "{state:?}");
    }
}

/// A send by one provider only ends with that provider's answer; a later failure receipt is applied with the
/// project's whole route.
#[test]
fn once_the_code_is_not_kept_no_other_provider_is_tried() {
    let lease = Duration::from_secs(30);
    let alone =
        Route { hops: vec![Hop::new(Channel::Sms, "fake")], receipt_window: Some(lease), lease };
    let hops = vec![Hop::new(Channel::Sms, "fake"), Hop::new(Channel::Sms, "other")];
    let whole = Route { hops, ..alone.clone() };
    let next = "00000000-0000-7000-8000-000000000009".parse().unwrap();
    let mut otp = otp();
    let first = otp.delivery.attempts[0].id;
    let taken = Report::Accepted { provider_ref: None, awaits_receipt: true };
    let step = otp.report(first, taken, &alone, next, at(1));
    assert_eq!(step, DeliveryStep::Settle(Charge::Channel(Channel::Sms)));
    assert_eq!(otp.sealed_code, None);
    let failed = Report::Failed(Reason::Blocked);
    let step = otp.report(first, failed, &whole, next, at(2));
    assert_eq!(step, DeliveryStep::Settle(Charge::Nothing));
    assert_eq!(otp.delivery.attempts.len(), 1);
}

#[test]
fn a_code_made_by_a_clock_that_was_set_back_since_does_not_work_until_its_time_comes() {
    let far = -i64::try_from(CLOCK_TOLERANCE.as_secs()).unwrap();
    let mut made = otp();
    assert!(made.in_force(at(far)));
    let before = made.clone();
    assert_eq!(attempt(&mut made, "123456", far - 1), GuessVerdict::NotFound);
    assert_eq!(made, before, "nothing is counted");
    assert!(matches!(attempt(&mut made, "123456", 0), GuessVerdict::Accepted(_)));
}
