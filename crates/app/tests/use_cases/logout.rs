use crate::common::{World, down};
use dwar_app::{Logout, LogoutError};
use dwar_kernel::{KeyMode, ProjectId};
use dwar_session::{AccessToken, Claims, InvalidToken, KeyAndSession, PresentedToken, Session};
use dwar_testkit::START;
use mockall::predicate::eq;
use std::mem::take;
use std::sync::Arc;

async fn log_out(world: &mut World, caller: &KeyAndSession) -> Result<(), LogoutError> {
    let use_case = Logout {
        tools: world.tools(),
        signer: Arc::new(take(&mut world.signer)),
        sessions: Arc::new(take(&mut world.sessions)),
    };
    let token = PresentedToken::unchecked(AccessToken::new("token"), None);
    use_case.logout(caller, &token).await
}

/// A presented, well-signed token of the caller, with its session.
fn signed() -> (World, KeyAndSession) {
    let mut world = World::live();
    let session = world.make.session(&world.line, world.make.id());
    let claims = Claims::of(&session);
    world.signer.expect_verify().returning(move |_, _| Ok(Ok(claims.clone())));
    let caller = world.key_and_session(Some(session));
    (world, caller)
}

/// Expects that the store is asked to end the session that was found.
fn revokes(world: &mut World, caller: &KeyAndSession, ended: bool) {
    let seen = caller.session.clone().unwrap();
    let token = seen.access.token;
    let revoke = world.sessions.expect_revoke().with(eq(seen), eq(token), eq(START));
    revoke.times(1).returning(move |_, _, _| Ok(ended));
}

#[tokio::test]
async fn ends_the_session_that_the_token_names() {
    let (mut world, caller) = signed();
    revokes(&mut world, &caller, true);
    assert!(log_out(&mut world, &caller).await.is_ok());
}

#[tokio::test]
async fn a_token_that_no_longer_counts_ends_nothing() {
    let (mut world, caller) = signed();
    revokes(&mut world, &caller, false);
    assert!(matches!(log_out(&mut world, &caller).await, Err(LogoutError::Invalid)));
}

#[tokio::test]
async fn an_expired_or_badly_signed_token_ends_nothing() {
    let (mut world, caller) = signed();
    world.signer.checkpoint();
    world.signer.expect_verify().times(1).returning(|_, _| Ok(Err(InvalidToken)));
    assert!(matches!(log_out(&mut world, &caller).await, Err(LogoutError::Invalid)));
}

#[tokio::test]
async fn a_token_of_another_session_project_or_mode_ends_nothing() {
    let (mut world, caller) = signed();
    let other = Session { id: world.make.id(), ..caller.session.clone().unwrap() };
    let strangers = [
        KeyAndSession {
            project_mode: world.make.id::<ProjectId>().in_mode(caller.project_mode.mode),
            ..caller.clone()
        },
        KeyAndSession {
            project_mode: caller.project_mode.project.in_mode(KeyMode::Test),
            ..caller.clone()
        },
        KeyAndSession { session: Some(other), ..caller.clone() },
        KeyAndSession { session: None, ..caller },
    ];
    for caller in strangers {
        world.signer = signed().0.signer;
        assert!(matches!(log_out(&mut world, &caller).await, Err(LogoutError::Invalid)));
    }
}

#[tokio::test]
async fn a_store_out_of_reach_is_told_as_such() {
    let mut keyless = signed();
    keyless.0.signer.checkpoint();
    keyless.0.signer.expect_verify().returning(|_, _| Err(down()));
    let mut storeless = signed();
    storeless.0.sessions.expect_revoke().returning(|_, _, _| Err(down()));
    for (mut world, caller) in [keyless, storeless] {
        assert!(matches!(log_out(&mut world, &caller).await, Err(LogoutError::Store(_))));
    }
}
