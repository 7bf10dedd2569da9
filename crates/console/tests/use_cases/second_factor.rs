//! Signing in with an authenticator app.

use crate::common::{Office, PASSWORD, at};
use crate::sign_in::{WRONG, is_wrong, present};
use dwar_console::{AccountError, SignInError, TypedCode};
use dwar_kernel::Clock;
use dwar_operator::{Access, Client, PendingSignIn, Requester, TotpSecret};
use dwar_testkit::{MS, minutes, seconds};

#[tokio::test]
async fn a_second_factor_is_asked_for_and_each_code_works_once() {
    let office = Office::open();
    let asha = office.join("Asha", Access::everything()).await;
    let (account, by) = (&office.admin.account, Requester::operator(&asha.operator, None));
    let offer = account.offer_totp(&asha.operator);
    assert!(offer.uri.starts_with("otpauth://totp/Dwar:Asha?secret="));
    let (secret, code) = (offer.secret.expose(), office.code(&offer.secret));
    let here = present(&asha);
    let refused = account.add_totp(&by, &here, WRONG, (&secret, &code)).await;
    assert!(matches!(refused, Err(AccountError::WrongPassword)));
    let refused = account.add_totp(&by, &here, PASSWORD, (&secret, "000000")).await;
    assert!(matches!(refused, Err(AccountError::WrongCode)));
    account.add_totp(&by, &here, PASSWORD, (&secret, &code)).await.unwrap();

    assert!(is_wrong(&office.sign_in("Asha", WRONG, None).await), "no word of a code");
    let asked = office.sign_in("Asha", PASSWORD, None).await;
    assert!(matches!(asked, Err(SignInError::CodeNeeded(_))));
    assert!(is_wrong(&office.sign_in("Asha", PASSWORD, Some(&code)).await), "used to add it");
    office.clock.advance(seconds(30));
    let code = office.code(&offer.secret);
    assert!(is_wrong(&office.sign_in("Asha", WRONG, Some(&code)).await));
    office.sign_in("Asha", PASSWORD, Some(&code)).await.unwrap();
    assert!(is_wrong(&office.sign_in("Asha", PASSWORD, Some(&code)).await));
    office.clock.advance(seconds(90));
    assert!(is_wrong(&office.sign_in("Asha", PASSWORD, Some(&code)).await), "long over");
}

async fn with_totp(office: &Office) -> TotpSecret {
    let asha = office.join("Asha", Access::everything()).await;
    let (account, by) = (&office.admin.account, Requester::operator(&asha.operator, None));
    let offer = account.offer_totp(&asha.operator);
    let pair = (offer.secret.expose(), office.code(&offer.secret));
    account.add_totp(&by, &present(&asha), PASSWORD, (&pair.0, &pair.1)).await.unwrap();
    offer.secret
}

/// A sign-in of Asha that waits for her code.
async fn pending(office: &Office) -> PendingSignIn {
    match office.sign_in("Asha", PASSWORD, None).await {
        Err(SignInError::CodeNeeded(pending)) => pending,
        other => panic!("{other:?}"),
    }
}

/// The value between password and code is for one sign-in, and for a short time.
#[tokio::test]
async fn a_code_follows_its_password_within_five_minutes_and_once() {
    let office = Office::open();
    let secret = with_totp(&office).await;
    let enter = async |pending: &PendingSignIn| {
        office.enter_code(pending, &office.code(&secret), Client::default()).await
    };
    let too_late = |answer| matches!(answer, Err(SignInError::TooLate));
    let (first, second) = (pending(&office).await, pending(&office).await);
    office.clock.advance(seconds(30));
    let asha = enter(&first).await.unwrap();
    office.clock.advance(seconds(30));
    assert!(too_late(enter(&first).await), "used");
    assert!(too_late(enter(&second).await), "begun before the last code");
    let third = pending(&office).await;
    office.clock.advance(PendingSignIn::LIFETIME - MS);
    enter(&third).await.unwrap();
    office.clock.advance(seconds(30));
    let fourth = pending(&office).await;
    office.clock.advance(PendingSignIn::LIFETIME);
    assert!(too_late(enter(&fourth).await), "over");
    let fifth = pending(&office).await;
    office.manage.operators.reset(&Requester::command_line(), asha.operator.id).await.unwrap();
    assert!(too_late(enter(&fifth).await), "reset meanwhile");
    for made_up in ["", "00", &"00".repeat(72)] {
        let typed = TypedCode { pending: made_up, code: "000000", browser: None };
        assert!(too_late(office.admin.sign_in.enter_code(typed, Client::default()).await));
    }
}

/// A right password alone must not reset the failures of an attacker who then guesses codes.
#[tokio::test]
async fn asking_for_the_code_neither_counts_nor_forgets_failures() {
    let office = Office::open();
    with_totp(&office).await;
    for _ in 0..5 {
        for _ in 0..3 {
            pending(&office).await;
        }
        assert!(is_wrong(&office.sign_in("Asha", PASSWORD, Some("000000")).await));
    }
    let locked = office.sign_in("Asha", PASSWORD, None).await;
    assert!(matches!(locked, Err(SignInError::Locked { .. })));
}

/// A right password does not bypass the count of wrong codes.
#[tokio::test]
async fn wrong_codes_behind_one_password_lock_it_and_its_name() {
    let office = Office::open();
    let secret = with_totp(&office).await;
    let one = pending(&office).await;
    for code in ["000000", "x", "", "111111", "12345"] {
        assert!(is_wrong(&office.enter_code(&one, code, Client::default()).await), "{code}");
    }
    office.clock.advance(seconds(29));
    let code = office.code(&secret);
    let locked = office.enter_code(&one, &code, Client::default()).await;
    assert!(matches!(locked, Err(SignInError::Locked { .. })));
    let locked = office.sign_in("Asha", PASSWORD, None).await;
    assert!(matches!(locked, Err(SignInError::Locked { .. })));
    office.clock.advance(seconds(1));
    office.enter_code(&one, &office.code(&secret), Client::default()).await.unwrap();
}

/// An attacker with the password has 37 guesses at the code a day, from all places together.
#[tokio::test]
async fn wrong_codes_lock_wherever_they_come_from() {
    let office = Office::open();
    with_totp(&office).await;
    let guess = async |number: u32| match office.sign_in_from(number, ("Asha", PASSWORD)).await {
        Err(SignInError::CodeNeeded(pending)) => {
            office.enter_code(&pending, "000000", at(number)).await
        }
        other => other,
    };
    let (end, mut wrong) = (office.clock.now() + minutes(24 * 60), 0);
    for number in 0.. {
        match guess(number).await {
            Err(SignInError::Wrong) => wrong += 1,
            Err(SignInError::Locked { until }) if until >= end => break,
            Err(SignInError::Locked { until }) => office.clock.set(until),
            other => panic!("{other:?}"),
        }
    }
    assert!((30..=37).contains(&wrong), "{wrong}");
}
