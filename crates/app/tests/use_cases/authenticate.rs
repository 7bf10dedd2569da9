use crate::common::{World, down};
use dwar_app::{Authenticate, AuthenticateError, Claim};
use dwar_kernel::KeyMode;
use dwar_project::ApiKey;
use dwar_session::{AccessToken, PresentedToken, RefreshToken, RefreshTokenId};
use dwar_testkit::ClearVault;
use mockall::predicate::eq;
use std::mem::take;
use std::sync::Arc;

fn authenticate(world: &mut World) -> Authenticate {
    Authenticate {
        tools: world.tools(),
        projects: Arc::new(take(&mut world.projects)),
        sessions: Arc::new(take(&mut world.sessions)),
        signer: Arc::new(take(&mut world.signer)),
    }
}

fn key(world: &World) -> ApiKey {
    ApiKey::generate(KeyMode::Live, &world.make.entropy)
}

#[tokio::test]
async fn an_unknown_key_is_not_recognised() {
    let mut world = World::live();
    world.projects.expect_caller().times(1).returning(|_| Ok(None));
    let key = Claim::Key(key(&world));
    let answer = authenticate(&mut world).caller(&key).await;
    assert!(matches!(answer, Err(AuthenticateError::Unrecognised)));
}

#[tokio::test]
async fn a_key_is_looked_up_by_its_digest() {
    let mut world = World::live();
    let (key, caller) = (key(&world), world.caller.clone());
    let found = Some(caller.clone());
    let look_up = world.projects.expect_caller().with(eq(key.digest(&ClearVault)));
    look_up.times(1).returning(move |_| Ok(found.clone()));
    let answer = authenticate(&mut world).caller(&Claim::Key(key)).await;
    assert_eq!(answer.unwrap(), caller);
}

#[tokio::test]
async fn a_store_failure_recognises_nobody() {
    let mut world = World::live();
    world.projects.expect_caller().returning(|_| Err(down()));
    let key = Claim::Key(key(&world));
    let answer = authenticate(&mut world).caller(&key).await;
    assert!(matches!(answer, Err(AuthenticateError::Store(_))));
}

#[tokio::test]
async fn a_token_is_looked_up_with_the_key_in_one_step() {
    let world = World::live();
    let (key, session) = (key(&world), world.make.session(&world.line, world.make.id()));
    let id =
        RefreshTokenId { project_mode: session.project_mode, session: session.id, generation: 0 };
    let refresh = RefreshToken::generate(id, &ClearVault, &world.make.entropy);
    // The session in the token is looked up, or none if the token names none.
    for named in [Some(session.id), None] {
        let seeks = || {
            let mut world = World::live();
            let found = world.key_and_session(named.map(|_| session.clone()));
            let (find_key_and_session, told) =
                (world.sessions.expect_find_key_and_session(), found.clone());
            find_key_and_session
                .with(eq(key.digest(&ClearVault)), eq(named))
                .times(1)
                .returning(move |_, _| Ok(Some(told.clone())));
            (authenticate(&mut world), found)
        };
        let claim = Claim::Key(key.clone());
        let (by_access, found) = seeks();
        let access = PresentedToken::unchecked(AccessToken::new("token"), named);
        let sought = by_access.with_access_token(&claim, Some(&access)).await.unwrap();
        assert_eq!(sought, found);
        let (by_refresh, found) = seeks();
        let text = named.map_or("svc_rt_none", |_| refresh.expose());
        assert_eq!(by_refresh.with_refresh_token(&claim, Some(text)).await.unwrap(), found);
    }
}

#[tokio::test]
async fn a_key_that_seeks_a_session_is_told_apart_from_a_failure() {
    let mut world = World::live();
    let key = Claim::Key(key(&world));
    world.sessions.expect_find_key_and_session().times(1).returning(|_, _| Ok(None));
    let answer = authenticate(&mut world).with_access_token(&key, None).await;
    assert!(matches!(answer, Err(AuthenticateError::Unrecognised)));
    world.sessions.expect_find_key_and_session().times(1).returning(|_, _| Err(down()));
    let answer = authenticate(&mut world).with_refresh_token(&key, None).await;
    assert!(matches!(answer, Err(AuthenticateError::Store(_))));
}

/// The look-up uses the digest of the test key, with the key and without.
#[tokio::test]
async fn the_test_mode_of_a_project_is_what_its_test_key_speaks_for() {
    let mut world = World::live();
    let (project, keys) = (world.line.project_mode.project, world.make.keys());
    let test = keys.iter().find(|key| key.mode == KeyMode::Test).unwrap().digest;
    let port = world.projects.expect_keys().with(eq(project)).times(2);
    port.returning(move |_| Ok(keys.to_vec()));
    let (caller, sought) = (world.caller.clone(), world.key_and_session(None));
    let (found, told) = (caller.clone(), sought.clone());
    let look_up = world.projects.expect_caller().with(eq(test)).times(1);
    look_up.returning(move |_| Ok(Some(found.clone())));
    let find_key_and_session =
        world.sessions.expect_find_key_and_session().with(eq(test), eq(None)).times(1);
    find_key_and_session.returning(move |_, _| Ok(Some(told.clone())));
    let (authenticate, claim) = (authenticate(&mut world), Claim::TestMode(project));
    assert_eq!(authenticate.caller(&claim).await.unwrap(), caller);
    assert_eq!(authenticate.with_refresh_token(&claim, None).await.unwrap(), sought);
}

#[tokio::test]
async fn a_project_that_is_not_there_has_no_test_mode() {
    let mut world = World::live();
    world.projects.expect_keys().times(1).returning(|_| Ok(Vec::new()));
    let claim = Claim::TestMode(world.make.id());
    let answer = authenticate(&mut world).caller(&claim).await;
    assert!(matches!(answer, Err(AuthenticateError::Unrecognised)));
}
