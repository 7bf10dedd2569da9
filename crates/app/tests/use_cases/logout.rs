use crate::common::{World, down};
use dwar_app::{Logout, LogoutError};
use dwar_project::Caller;
use dwar_session::{AccessToken, Claims, InvalidToken};
use dwar_testkit::START;
use mockall::predicate::eq;
use std::mem::take;
use std::sync::Arc;

async fn log_out(world: &mut World, caller: &Caller) -> Result<(), LogoutError> {
    let use_case = Logout {
        tools: world.tools(),
        signer: Arc::new(take(&mut world.signer)),
        sessions: Arc::new(take(&mut world.sessions)),
    };
    use_case.logout(caller, &AccessToken::new("token")).await
}

/// A well-signed token of the caller is presented.
fn signed() -> (World, Claims) {
    let mut world = World::live();
    let claims = Claims::of(&world.make.session(&world.line, world.make.id()));
    let told = claims.clone();
    world.signer.expect_verify().returning(move |_, _| Ok(Ok(told.clone())));
    (world, claims)
}

/// The store is asked to end the session that the token names.
fn revokes(world: &mut World, claims: &Claims, ended: bool) {
    let (project, mode) = (eq(claims.project), eq(claims.mode));
    world
        .sessions
        .expect_revoke()
        .with(project, mode, eq(claims.session), eq(claims.token), eq(START))
        .times(1)
        .returning(move |_, _, _, _, _| Ok(ended));
}

#[tokio::test]
async fn ends_the_session_that_the_token_names() {
    let (mut world, claims) = signed();
    revokes(&mut world, &claims, true);
    let caller = world.caller.clone();
    assert!(log_out(&mut world, &caller).await.is_ok());
}

#[tokio::test]
async fn a_token_that_no_longer_counts_ends_nothing() {
    let (mut world, claims) = signed();
    revokes(&mut world, &claims, false);
    let caller = world.caller.clone();
    assert!(matches!(log_out(&mut world, &caller).await, Err(LogoutError::Invalid)));
}

#[tokio::test]
async fn an_expired_or_badly_signed_token_is_not_looked_up() {
    let mut world = World::live();
    world.signer.expect_verify().times(1).returning(|_, _| Ok(Err(InvalidToken)));
    let caller = world.caller.clone();
    assert!(matches!(log_out(&mut world, &caller).await, Err(LogoutError::Invalid)));
}

#[tokio::test]
async fn a_token_of_another_project_or_mode_is_not_looked_up() {
    let (mut world, _) = signed();
    let stranger = world.stranger();
    assert!(matches!(log_out(&mut world, &stranger).await, Err(LogoutError::Invalid)));
    let (mut world, _) = signed();
    let other = world.other_mode();
    assert!(matches!(log_out(&mut world, &other).await, Err(LogoutError::Invalid)));
}

#[tokio::test]
async fn a_store_out_of_reach_is_told_as_such() {
    let mut keyless = World::live();
    keyless.signer.expect_verify().returning(|_, _| Err(down()));
    let (mut storeless, _) = signed();
    storeless.sessions.expect_revoke().returning(|_, _, _, _, _| Err(down()));
    for mut world in [keyless, storeless] {
        let caller = world.caller.clone();
        assert!(matches!(log_out(&mut world, &caller).await, Err(LogoutError::Store(_))));
    }
}
