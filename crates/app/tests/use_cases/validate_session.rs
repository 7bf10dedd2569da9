use crate::common::{World, down};
use dwar_app::{ValidSession, ValidateSession, ValidateSessionError};
use dwar_kernel::{KeyMode, StoreError};
use dwar_project::Caller;
use dwar_session::{AccessToken, Claims, InvalidToken, Session};
use dwar_testkit::{START, minutes, seconds};
use mockall::predicate::eq;
use std::mem::take;
use std::sync::Arc;

type Answer = Result<ValidSession, ValidateSessionError>;

async fn validate(world: &mut World, caller: &Caller) -> Answer {
    let use_case = ValidateSession {
        tools: world.tools(),
        signer: Arc::new(take(&mut world.signer)),
        sessions: Arc::new(take(&mut world.sessions)),
    };
    use_case.validate(caller, &AccessToken::new("token")).await
}

/// A session of the caller whose token is presented and well signed.
fn signed() -> (World, Session) {
    let mut world = World::live();
    let session = world.make.session(&world.line, world.make.id());
    let claims = Claims::of(&session);
    let check = world.signer.expect_verify().with(eq(AccessToken::new("token")), eq(START));
    check.returning(move |_, _| Ok(Ok(claims.clone())));
    (world, session)
}

/// The store has the session like this.
fn on_record(world: &mut World, session: Option<Session>) {
    let (line, id) = (&world.line, session.as_ref().map(|session| session.id));
    let (project, mode) = (line.project, line.mode);
    let find = world.sessions.expect_find().times(1).withf(move |asked, world, session| {
        (*asked, *world) == (project, mode) && id.is_none_or(|id| id == *session)
    });
    find.returning(move |_, _, _| Ok(session.clone()));
}

fn invalid(answer: &Answer) -> bool {
    matches!(answer, Err(ValidateSessionError::Invalid))
}

#[tokio::test]
async fn a_token_that_counts_is_answered_with_its_session() {
    let (mut world, session) = signed();
    on_record(&mut world, Some(session.clone()));
    let caller = world.caller.clone();
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
    on_record(&mut world, Some(session));
    let caller = world.caller.clone();
    let valid = validate(&mut world, &caller).await.unwrap();
    assert_eq!((valid.expires_at, valid.expires_in), (START + seconds(5), 5));
}

#[tokio::test]
async fn a_token_that_the_signer_refuses_is_invalid_without_a_look_up() {
    let mut world = World::live();
    world.signer.expect_verify().times(1).returning(|_, _| Ok(Err(InvalidToken)));
    let caller = world.caller.clone();
    assert!(invalid(&validate(&mut world, &caller).await));
}

#[tokio::test]
async fn a_token_of_another_project_is_invalid_without_a_look_up() {
    let (mut world, _) = signed();
    let stranger = world.stranger();
    assert!(invalid(&validate(&mut world, &stranger).await));
}

#[tokio::test]
async fn a_token_of_the_other_mode_is_invalid_without_a_look_up() {
    let (mut world, _) = signed();
    let other = world.other_mode();
    assert_eq!(other.mode, KeyMode::Test);
    assert!(invalid(&validate(&mut world, &other).await));
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
    for found in [None, Some(revoked), Some(superseded), Some(over), Some(expired)] {
        let (mut world, _) = signed();
        on_record(&mut world, found);
        let caller = world.caller.clone();
        assert!(invalid(&validate(&mut world, &caller).await));
    }
}

#[tokio::test]
async fn a_key_store_out_of_reach_is_neither_valid_nor_invalid() {
    let mut world = World::live();
    world.signer.expect_verify().returning(|_, _| Err(down()));
    let caller = world.caller.clone();
    let answer = validate(&mut world, &caller).await;
    assert!(matches!(answer, Err(ValidateSessionError::Store(StoreError::Unavailable(_)))));
}

#[tokio::test]
async fn a_session_store_out_of_reach_is_neither_valid_nor_invalid() {
    let (mut world, _) = signed();
    world.sessions.expect_find().returning(|_, _, _| Err(down()));
    let caller = world.caller.clone();
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
    on_record(&mut world, Some(session));
    let caller = world.caller.clone();
    assert_eq!(validate(&mut world, &caller).await.unwrap().expires_in, 840);
}
