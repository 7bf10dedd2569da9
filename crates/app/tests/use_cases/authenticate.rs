use crate::common::{World, down};
use dwar_app::{Authenticate, AuthenticateError};
use dwar_kernel::KeyMode;
use dwar_project::ApiKey;
use dwar_testkit::ClearVault;
use mockall::predicate::eq;
use std::mem::take;
use std::sync::Arc;

fn authenticate(world: &mut World) -> Authenticate {
    Authenticate { tools: world.tools(), projects: Arc::new(take(&mut world.projects)) }
}

fn key(world: &World) -> ApiKey {
    ApiKey::generate(KeyMode::Live, &world.make.entropy)
}

#[tokio::test]
async fn a_malformed_key_costs_no_look_up() {
    let mut world = World::live();
    let mut typo = key(&world).expose().to_owned();
    let last = if typo.pop() == Some('0') { '1' } else { '0' };
    typo.push(last);
    let authenticate = authenticate(&mut world);
    for header in ["", "svc_live_", "hunter2", &typo] {
        let answer = authenticate.caller(header).await;
        assert!(matches!(answer, Err(AuthenticateError::Unrecognised)), "{header}");
    }
}

#[tokio::test]
async fn an_unknown_key_is_not_recognised() {
    let mut world = World::live();
    world.projects.expect_caller().times(1).returning(|_| Ok(None));
    let key = key(&world);
    let answer = authenticate(&mut world).caller(key.expose()).await;
    assert!(matches!(answer, Err(AuthenticateError::Unrecognised)));
}

#[tokio::test]
async fn a_key_is_looked_up_by_its_digest() {
    let mut world = World::live();
    let (key, caller) = (key(&world), world.caller.clone());
    let found = Some(caller.clone());
    let look_up = world.projects.expect_caller().with(eq(key.digest(&ClearVault)));
    look_up.times(1).returning(move |_| Ok(found.clone()));
    assert_eq!(authenticate(&mut world).caller(key.expose()).await.unwrap(), caller);
}

#[tokio::test]
async fn a_store_failure_recognises_nobody() {
    let mut world = World::live();
    world.projects.expect_caller().returning(|_| Err(down()));
    let key = key(&world);
    let answer = authenticate(&mut world).caller(key.expose()).await;
    assert!(matches!(answer, Err(AuthenticateError::Store(_))));
}
