use crate::common::{World, down, limits};
use dwar_app::{VerifiedOtp, VerifyOtp, VerifyOtpError};
use dwar_kernel::{IdentityId, KeyMode, OtpId, Vault};
use dwar_otp::{Allowance, GuessPolicy, Verdict};
use dwar_session::{AccessToken, Session};
use dwar_testkit::{CODE, ClearVault, START, minutes};
use mockall::Sequence;
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
    let use_case = VerifyOtp {
        tools: world.tools(),
        otps: Arc::new(take(&mut world.otps)),
        sessions: Arc::new(take(&mut world.sessions)),
        tokens: world.tokens(),
        codes: Arc::clone(&world.make.codes),
        limits: limits(),
    };
    use_case.verify(&world.caller, &world.line.phone, CODE.parse().unwrap(), request).await
}

/// The store judges one guess for the world's phone this way.
fn judges(world: &mut World, attempt: Verdict) {
    let (line, policy) = (world.line.clone(), limits().guesses(world.caller.mode));
    let expected =
        world.otps.expect_judge().times(1).withf(move |project, mode, phone, _, with, now| {
            (*project, *mode, *phone) == (line.project, line.mode, line.index)
                && (*with, *now) == (policy, START)
        });
    expected.returning(move |_, _, _, _, _, _| Ok(attempt));
}

/// The right code, and a signer.
fn accepted() -> World {
    let mut world = World::live();
    judges(&mut world, Verdict::Accepted(LEFT));
    world.signs();
    world
}

/// The store begins a session for the identity that the login offers; gives what was begun.
fn starts(world: &mut World) -> Arc<Mutex<Vec<Session>>> {
    let started = Arc::new(Mutex::new(Vec::new()));
    let seen = Arc::clone(&started);
    world.sessions.expect_start().times(1).returning(move |login| {
        let identity = login.session.identity;
        seen.lock().unwrap().push(login.session);
        Ok(identity)
    });
    started
}

#[tokio::test]
async fn the_right_code_is_judged_then_starts_a_session_of_whom_the_store_knows() {
    let mut world = World::live();
    let (order, known) = (&mut Sequence::new(), world.make.id::<IdentityId>());
    let attempt = world.otps.expect_judge().times(1).in_sequence(order);
    attempt.returning(|_, _, _, _, _, _| Ok(Verdict::Accepted(LEFT)));
    let start = world.sessions.expect_start().times(1).in_sequence(order);
    start.returning(move |_| Ok(known));
    let sign = world.signer.expect_sign().times(1).in_sequence(order);
    sign.withf(move |claims| claims.identity == known)
        .returning(|claims| Ok(AccessToken::new(claims.token.to_string())));
    let verified = verify(&mut world).await.unwrap();
    assert_eq!((verified.tokens.identity, verified.allowance), (known, LEFT));
}

#[tokio::test]
async fn a_login_is_of_the_phone_in_its_project_and_mode() {
    let mut world = accepted();
    let line = world.line.clone();
    let start = world.sessions.expect_start().times(1).withf(move |login| {
        let Session { project, mode, created_at, .. } = login.session;
        let phone = ClearVault.open_phone(line.project, &login.sealed_phone);
        (project, mode, login.phone) == (line.project, line.mode, line.index)
            && (phone, created_at) == (Ok(line.phone.clone()), START)
    });
    start.returning(|login| Ok(login.session.identity));
    assert!(verify(&mut world).await.is_ok());
}

#[tokio::test]
async fn a_session_holds_the_digest_of_the_token_that_was_given_out() {
    let mut world = accepted();
    let started = starts(&mut world);
    let verified = verify(&mut world).await.unwrap();
    let session = started.lock().unwrap().remove(0);
    assert_eq!(session.refresh, verified.tokens.refresh.digest(&ClearVault));
    assert_eq!(session.access.token.to_string(), verified.tokens.access.expose());
    assert_eq!((session.id, session.identity), (verified.tokens.session, verified.tokens.identity));
    assert_eq!((session.project, session.mode), (world.line.project, KeyMode::Live));
    let token_id = verified.tokens.refresh.id();
    assert_eq!((token_id.session, token_id.generation), (session.id, session.generation));
    assert_eq!((session.generation, session.revoked_at), (0, None));
}

#[tokio::test]
async fn a_session_lives_as_long_as_the_contract_says() {
    let mut world = accepted();
    let started = starts(&mut world);
    let tokens = verify(&mut world).await.unwrap().tokens;
    let session = started.lock().unwrap().remove(0);
    assert_eq!((tokens.expires_in, tokens.refresh_expires_in), (900, 30 * 86_400));
    assert_eq!(session.expires_at, START + minutes(90 * 24 * 60));
    assert_eq!(session.access.issued_at.timestamp_subsec_millis(), 0);
}

#[tokio::test]
async fn the_first_refresh_token_ends_with_its_session() {
    let mut world = accepted();
    world.lifetimes.session = minutes(60);
    let started = starts(&mut world);
    let tokens = verify(&mut world).await.unwrap().tokens;
    assert_eq!(started.lock().unwrap()[0].refresh_expires_at, START + minutes(60));
    assert_eq!(tokens.refresh_expires_in, 3_600);
}

#[tokio::test]
async fn an_access_token_ends_with_its_session_at_a_whole_second() {
    let mut world = accepted();
    world.lifetimes.session = minutes(5);
    let started = starts(&mut world);
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
    let mut world = accepted();
    starts(&mut world);
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
        let (own, other) = (world.make.id::<OtpId>(), world.make.id::<OtpId>());
        let request = named.then_some(own);
        let attempt = world.otps.expect_judge().times(1).withf(move |_, _, _, guess, _, _| {
            guess.is_meant_for(own) && guess.is_meant_for(other) != named
        });
        attempt.returning(|_, _, _, _, _, _| Ok(Verdict::NotFound));
        let answer = verify_of(&mut world, request).await;
        assert!(matches!(answer, Err(VerifyOtpError::NotFound)));
    }
}

#[tokio::test]
async fn a_wrong_code_opens_nothing() {
    let mut world = World::live();
    judges(&mut world, Verdict::Wrong(LEFT));
    let answer = verify(&mut world).await;
    assert!(matches!(answer, Err(VerifyOtpError::Wrong(left)) if left == LEFT));
}

#[tokio::test]
async fn a_locked_code_opens_nothing() {
    let mut world = World::live();
    judges(&mut world, Verdict::Locked(LEFT));
    let answer = verify(&mut world).await;
    assert!(matches!(answer, Err(VerifyOtpError::Locked(left)) if left == LEFT));
}

#[tokio::test]
async fn no_code_opens_nothing() {
    let mut world = World::live();
    judges(&mut world, Verdict::NotFound);
    let answer = verify(&mut world).await;
    assert!(matches!(answer, Err(VerifyOtpError::NotFound)));
}

#[tokio::test]
async fn a_test_key_has_no_guess_budget() {
    let mut world = World::test();
    let off =
        world.otps.expect_judge().times(1).withf(|_, mode, _, _, policy, _| {
            (*mode, *policy) == (KeyMode::Test, GuessPolicy::OFF)
        });
    off.returning(|_, _, _, _, _, _| Ok(Verdict::NotFound));
    let answer = verify(&mut world).await;
    assert!(matches!(answer, Err(VerifyOtpError::NotFound)));
}

#[tokio::test]
async fn a_store_failure_at_any_step_is_told_and_opens_nothing() {
    let mut unjudged = World::live();
    unjudged.otps.expect_judge().returning(|_, _, _, _, _, _| Err(down()));
    let answer = verify(&mut unjudged).await;
    assert!(matches!(answer, Err(VerifyOtpError::Store(_))));

    let mut unsigned = accepted_unsigned();
    starts(&mut unsigned);
    unsigned.signer.expect_sign().returning(|_| Err(down()));
    let answer = verify(&mut unsigned).await;
    assert!(matches!(answer, Err(VerifyOtpError::Store(_))));

    let mut unstarted = accepted();
    unstarted.sessions.expect_start().times(1).returning(|_| Err(down()));
    let answer = verify(&mut unstarted).await;
    assert!(matches!(answer, Err(VerifyOtpError::Store(_))));
}

fn accepted_unsigned() -> World {
    let mut world = World::live();
    judges(&mut world, Verdict::Accepted(LEFT));
    world
}
