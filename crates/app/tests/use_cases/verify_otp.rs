use crate::common::{World, down, limits};
use dwar_app::{GuessExtras, VerifiedOtp, VerifyOtp, VerifyOtpError};
use dwar_kernel::{IdentityId, KeyMode, OtpId, Vault};
use dwar_login::{Redeemed, Redemption};
use dwar_otp::{Allowance, GuessPolicy};
use dwar_session::{AccessToken, Login, Session};
use dwar_testkit::{CODE, ClearVault, START, minutes};
use mockall::Sequence;
use mockall::predicate::eq;
use std::mem::take;
use std::sync::{Arc, Mutex};

const LEFT: Allowance = Allowance { limit: 5, remaining: 4, reset: minutes(9) };

async fn verify(world: &mut World) -> Result<VerifiedOtp, VerifyOtpError> {
    verify_of(world, None).await
}

async fn verify_of(
    world: &mut World,
    request: Option<OtpId>,
) -> Result<VerifiedOtp, VerifyOtpError> {
    let use_case = use_case(world);
    let named = request.map(|request| GuessExtras { request: Some(request), device: None });
    use_case.verify(&world.caller, &world.line.phone, CODE.parse().unwrap(), named).await
}

fn use_case(world: &mut World) -> VerifyOtp {
    VerifyOtp {
        tools: world.tools(),
        logins: Arc::new(take(&mut world.logins)),
        tokens: world.tokens(),
        codes: Arc::clone(&world.make.codes),
        devices: world.known_devices(),
        limits: limits(),
        guard: world.guard(),
    }
}

/// There is a signing key, and the store redeems one guess for the world's phone like this, given the
/// identity that the login offers. Returns the sessions that were offered.
fn redeems(world: &mut World, answer: fn(IdentityId) -> Redeemed) -> Arc<Mutex<Vec<Session>>> {
    let (line, policy) = (world.line.clone(), limits().guesses(world.caller.mode));
    let issued_at = world.make.access(START).issued_at;
    let offered = Arc::new(Mutex::new(Vec::new()));
    let seen = Arc::clone(&offered);
    world.signer.expect_ready().with(eq(issued_at)).times(1).returning(|_| Ok(()));
    let expected = world.logins.expect_redeem().times(1).withf(move |redemption, now| {
        let Redemption { project_mode, phone, .. } = *redemption;
        let session = redemption.session().unwrap();
        (project_mode, phone) == (line.project_mode, line.index)
            && session.project_mode == project_mode
            && (redemption.policy, *now) == (policy, START)
    });
    expected.returning(move |redemption, _| {
        let session = redemption.login.unwrap().session;
        let answer = answer(session.identity);
        seen.lock().unwrap().push(session);
        Ok(answer)
    });
    offered
}

/// The right code, and a signer; returns the sessions that begin.
fn accepted(world: &mut World) -> Arc<Mutex<Vec<Session>>> {
    world.signs();
    redeems(world, |identity| Redeemed::LoggedIn(LEFT, identity, None))
}

#[tokio::test]
async fn a_key_is_at_hand_before_the_code_is_used_up_and_signs_for_whom_the_store_knows() {
    let mut world = World::live();
    let (order, known) = (&mut Sequence::new(), world.make.id::<IdentityId>());
    world.signer.expect_ready().times(1).in_sequence(order).returning(|_| Ok(()));
    let redeem = world.logins.expect_redeem().times(1).in_sequence(order);
    redeem.returning(move |_, _| Ok(Redeemed::LoggedIn(LEFT, known, None)));
    let sign = world.signer.expect_sign().times(1).in_sequence(order);
    sign.withf(move |claims, _| claims.identity == known)
        .returning(|claims, _| Ok(AccessToken::new(claims.token.to_string())));
    let verified = verify(&mut world).await.unwrap();
    assert_eq!((verified.tokens.identity, verified.allowance), (known, LEFT));
}

#[tokio::test]
async fn a_login_seals_the_phone_and_begins_now() {
    let mut world = World::live();
    world.signs().signer.expect_ready().returning(|_| Ok(()));
    let line = world.line.clone();
    let redeem = world.logins.expect_redeem().times(1).withf(move |redemption, _| {
        let Login { session, sealed_phone, .. } = redemption.login.as_ref().unwrap();
        let phone = ClearVault.open_phone(line.project_mode.project, sealed_phone);
        (phone, session.created_at) == (Ok(line.phone.clone()), START)
    });
    redeem.returning(|asked, _| {
        Ok(Redeemed::LoggedIn(LEFT, asked.session().unwrap().identity, None))
    });
    assert!(verify(&mut world).await.is_ok());
}

#[tokio::test]
async fn a_check_asks_for_no_session_and_no_signature() {
    let mut world = World::test();
    let line = world.line.clone();
    let redeem = world.logins.expect_redeem().times(1).withf(move |redemption, now| {
        let Redemption { project_mode, phone, .. } = *redemption;
        (project_mode, phone, *now) == (line.project_mode, line.index, START)
            && redemption.login.is_none()
    });
    redeem.return_once(|_, _| Ok(Redeemed::Verified(LEFT, None)));
    let use_case = use_case(&mut world);
    let code = CODE.parse().unwrap();
    let checked = use_case.check(&world.caller, &world.line.phone, code, None).await;
    assert_eq!(checked.unwrap(), LEFT);
}

#[tokio::test]
async fn a_session_holds_the_digest_of_the_token_that_was_given_out() {
    let mut world = World::live();
    let started = accepted(&mut world);
    let verified = verify(&mut world).await.unwrap();
    let session = started.lock().unwrap().remove(0);
    assert_eq!(session.refresh, verified.tokens.refresh.digest(&ClearVault));
    assert_eq!(session.access.token.to_string(), verified.tokens.access.expose());
    assert_eq!((session.id, session.identity), (verified.tokens.session, verified.tokens.identity));
    assert_eq!(session.project_mode, world.line.project_mode.project.in_mode(KeyMode::Live));
    let token_id = verified.tokens.refresh.id();
    assert_eq!((token_id.session, token_id.generation), (session.id, session.generation));
    assert_eq!((session.generation, session.revoked_at), (0, None));
}

#[tokio::test]
async fn a_session_lives_as_long_as_the_contract_says() {
    let mut world = World::live();
    let started = accepted(&mut world);
    let tokens = verify(&mut world).await.unwrap().tokens;
    let session = started.lock().unwrap().remove(0);
    assert_eq!((tokens.expires_in, tokens.refresh_expires_in), (900, 30 * 86_400));
    assert_eq!(session.expires_at, START + minutes(90 * 24 * 60));
    assert_eq!(session.access.issued_at.timestamp_subsec_millis(), 0);
}

#[tokio::test]
async fn the_first_refresh_token_ends_with_its_session() {
    let mut world = World::live();
    world.lifetimes.session = minutes(60);
    let started = accepted(&mut world);
    let tokens = verify(&mut world).await.unwrap().tokens;
    assert_eq!(started.lock().unwrap()[0].refresh_expires_at, START + minutes(60));
    assert_eq!(tokens.refresh_expires_in, 3_600);
}

#[tokio::test]
async fn an_access_token_ends_with_its_session_at_a_whole_second() {
    let mut world = World::live();
    world.lifetimes.session = minutes(5);
    let started = accepted(&mut world);
    let tokens = verify(&mut world).await.unwrap().tokens;
    let session = started.lock().unwrap().remove(0);
    assert_eq!(session.expires_at, START + minutes(5));
    let ends = session.access.expires_at;
    assert_eq!(
        (ends.timestamp(), ends.timestamp_subsec_millis()),
        ((START + minutes(5)).timestamp(), 0)
    );
    assert_eq!(tokens.expires_in, 300);
}

#[tokio::test]
async fn nothing_shows_the_tokens_in_debug() {
    let mut world = World::live();
    accepted(&mut world);
    let verified = verify(&mut world).await.unwrap();
    let shown = format!("{verified:?}");
    for secret in [verified.tokens.access.expose(), verified.tokens.refresh.expose(), CODE] {
        assert!(!shown.contains(secret), "{shown}");
    }
}

#[tokio::test]
async fn a_named_request_is_judged_by_the_store_with_the_code() {
    for named in [true, false] {
        let mut world = World::live();
        world.signer.expect_ready().returning(|_| Ok(()));
        let (own, other) = (world.make.id::<OtpId>(), world.make.id::<OtpId>());
        let redeem = world.logins.expect_redeem().times(1).withf(move |redemption, _| {
            let guess = &redemption.guess;
            guess.is_meant_for(own) && guess.is_meant_for(other) != named
        });
        redeem.returning(|_, _| Ok(Redeemed::NotFound));
        let answer = verify_of(&mut world, named.then_some(own)).await;
        assert!(matches!(answer, Err(VerifyOtpError::NotFound)));
    }
}

#[tokio::test]
async fn a_wrong_code_opens_nothing() {
    let mut world = World::live();
    redeems(&mut world, |_| Redeemed::Wrong(LEFT));
    let answer = verify(&mut world).await;
    assert!(matches!(answer, Err(VerifyOtpError::Wrong(left)) if left == LEFT));
}

#[tokio::test]
async fn a_locked_code_opens_nothing() {
    let mut world = World::live();
    redeems(&mut world, |_| Redeemed::Locked(LEFT));
    let answer = verify(&mut world).await;
    assert!(matches!(answer, Err(VerifyOtpError::Locked(left)) if left == LEFT));
}

#[tokio::test]
async fn no_code_opens_nothing() {
    let mut world = World::live();
    redeems(&mut world, |_| Redeemed::NotFound);
    let answer = verify(&mut world).await;
    assert!(matches!(answer, Err(VerifyOtpError::NotFound)));
}

#[tokio::test]
async fn a_test_key_has_no_guess_budget() {
    let mut world = World::test();
    assert_eq!(limits().guesses(world.caller.mode), GuessPolicy::OFF);
    redeems(&mut world, |_| Redeemed::NotFound);
    let answer = verify(&mut world).await;
    assert!(matches!(answer, Err(VerifyOtpError::NotFound)));
}

#[tokio::test]
async fn without_a_key_to_sign_with_no_code_is_judged() {
    let mut world = World::live();
    world.signer.expect_ready().times(1).returning(|_| Err(down()));
    let answer = verify(&mut world).await;
    assert!(matches!(answer, Err(VerifyOtpError::Store(_))));
}

#[tokio::test]
async fn a_failure_at_any_later_step_is_told_and_opens_nothing() {
    let mut unjudged = World::live();
    unjudged.signer.expect_ready().returning(|_| Ok(()));
    unjudged.logins.expect_redeem().times(1).returning(|_, _| Err(down()));
    let mut unsigned = World::live();
    redeems(&mut unsigned, |identity| Redeemed::LoggedIn(LEFT, identity, None));
    unsigned.signer.expect_sign().times(1).returning(|_, _| Err(down()));
    for mut world in [unjudged, unsigned] {
        let answer = verify(&mut world).await;
        assert!(matches!(answer, Err(VerifyOtpError::Store(_))));
    }
}
