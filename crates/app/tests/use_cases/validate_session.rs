use crate::common::{World, down};
use dwar_app::{IntrospectedToken, ValidSession, ValidateSession, ValidateSessionError};
use dwar_kernel::{KeyMode, ProjectId, StoreError};
use dwar_session::{AccessToken, Claims, InvalidToken, KeyAndSession, PresentedToken, Session};
use dwar_testkit::{START, minutes, seconds};
use mockall::predicate::eq;
use std::mem::take;
use std::sync::Arc;

type Answer = Result<ValidSession, ValidateSessionError>;

async fn validate(world: &mut World, caller: &KeyAndSession) -> Answer {
    let use_case =
        ValidateSession { tools: world.tools(), signer: Arc::new(take(&mut world.signer)) };
    use_case.validate(caller, &presented()).await
}

fn presented() -> PresentedToken {
    PresentedToken::unchecked(AccessToken::new("token"), None)
}

/// A session of the caller with a presented, well-signed token.
fn signed() -> (World, Session) {
    let mut world = World::live();
    let session = world.make.session(&world.line, world.make.id());
    let claims = Claims::of(&session);
    let check = world.signer.expect_verify().with(eq(presented()), eq(START));
    check.returning(move |_, _| Ok(Ok(claims.clone())));
    (world, session)
}

fn invalid(answer: &Answer) -> bool {
    matches!(answer, Err(ValidateSessionError::Invalid))
}

#[tokio::test]
async fn a_token_that_counts_is_answered_with_its_session() {
    let (mut world, session) = signed();
    let caller = world.key_and_session(Some(session.clone()));
    let valid = ValidSession {
        session: session.id,
        identity: session.identity,
        issued_at: session.access.issued_at,
        expires_at: session.access.expires_at,
        expires_in: 900,
    };
    assert_eq!(validate(&mut world, &caller).await.unwrap(), valid);
}

#[tokio::test]
async fn a_token_counts_no_longer_than_its_session() {
    let (mut world, mut session) = signed();
    session.expires_at = START + seconds(5);
    let caller = world.key_and_session(Some(session));
    let valid = validate(&mut world, &caller).await.unwrap();
    assert_eq!((valid.expires_at, valid.expires_in), (START + seconds(5), 5));
}

#[tokio::test]
async fn a_token_that_the_signer_refuses_is_invalid() {
    let mut world = World::live();
    world.signer.expect_verify().times(1).returning(|_, _| Ok(Err(InvalidToken)));
    let session = world.make.session(&world.line, world.make.id());
    let caller = world.key_and_session(Some(session));
    assert!(invalid(&validate(&mut world, &caller).await));
}

/// The session that a token names is read before the token is verified, so a token could name one session and
/// be signed for another.
#[tokio::test]
async fn a_token_counts_for_the_session_of_its_claims_alone() {
    let (mut world, session) = signed();
    let other = Session { id: world.make.id(), ..session };
    let caller = world.key_and_session(Some(other));
    assert!(invalid(&validate(&mut world, &caller).await));
}

#[tokio::test]
async fn a_token_of_another_project_or_mode_is_invalid() {
    let (mut world, session) = signed();
    let caller = KeyAndSession {
        project_mode: world.make.id::<ProjectId>().in_mode(KeyMode::Live),
        ..world.key_and_session(Some(session))
    };
    assert!(invalid(&validate(&mut world, &caller).await));
    let (mut world, session) = signed();
    let caller = KeyAndSession {
        project_mode: world.line.project_mode.project.in_mode(KeyMode::Test),
        ..world.key_and_session(Some(session))
    };
    assert!(invalid(&validate(&mut world, &caller).await));
}

#[tokio::test]
async fn without_a_session_no_signature_is_checked() {
    let mut world = World::live();
    world.signer.expect_verify().times(0);
    let caller = world.key_and_session(None);
    assert!(invalid(&validate(&mut world, &caller).await));
}

#[tokio::test]
async fn what_the_record_does_not_honour_is_invalid() {
    let (_, session) = signed();
    let revoked = Session { revoked_at: Some(START), ..session.clone() };
    let mut superseded = session.clone();
    superseded.access.token = World::live().make.id();
    let over = Session { expires_at: START, ..session.clone() };
    let mut expired = session;
    expired.access.expires_at = START;
    for found in [Some(revoked), Some(superseded), Some(over), Some(expired)] {
        let (mut world, _) = signed();
        let caller = world.key_and_session(found);
        assert!(invalid(&validate(&mut world, &caller).await));
    }
}

#[tokio::test]
async fn a_key_store_out_of_reach_is_neither_valid_nor_invalid() {
    let mut world = World::live();
    world.signer.expect_verify().returning(|_, _| Err(down()));
    let session = world.make.session(&world.line, world.make.id());
    let caller = world.key_and_session(Some(session));
    let answer = validate(&mut world, &caller).await;
    assert!(matches!(answer, Err(ValidateSessionError::Store(StoreError::Unavailable(_)))));
}

#[tokio::test]
async fn a_token_is_judged_at_the_present_instant() {
    let (mut world, session) = signed();
    world.clock.advance(minutes(1));
    world.signer.checkpoint();
    let claims = Claims::of(&session);
    let check = world.signer.expect_verify().withf(|_, now| *now == START + minutes(1));
    check.returning(move |_, _| Ok(Ok(claims.clone())));
    let caller = world.key_and_session(Some(session));
    assert_eq!(validate(&mut world, &caller).await.unwrap().expires_in, 840);
}

/// The issuer is read from the token itself, after the token was verified.
#[tokio::test]
async fn an_introspected_token_says_what_validate_does_and_its_issuer() {
    let (mut world, session) = signed();
    let issuer = "https://otp.example.com";
    world.signer.expect_issuer().times(1).returning(|_| Some(issuer.to_owned()));
    let caller = world.key_and_session(Some(session.clone()));
    let use_case =
        ValidateSession { tools: world.tools(), signer: Arc::new(take(&mut world.signer)) };
    let told = use_case.introspect(&caller, &presented()).await.unwrap();
    let session = use_case.validate(&caller, &presented()).await.unwrap();
    let expected =
        IntrospectedToken { session, project_mode: caller.project_mode, issuer: issuer.to_owned() };
    assert_eq!(told, expected);

    let gone = KeyAndSession { session: None, ..caller };
    let told = use_case.introspect(&gone, &presented()).await;
    assert!(matches!(told, Err(ValidateSessionError::Invalid)));
}
