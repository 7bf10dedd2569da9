use crate::common::{World, down};
use dwar_app::{DeleteIdentity, DeleteIdentityError};
use dwar_identity::{Erased, MockIdentityStore};
use dwar_kernel::IdentityId;
use dwar_testkit::START;
use mockall::predicate::eq;
use std::sync::Arc;

type Answer = Result<(IdentityId, Erased), DeleteIdentityError>;

async fn delete(world: &World, identities: MockIdentityStore, id: &str) -> Answer {
    let use_case = DeleteIdentity { tools: world.tools(), identities: Arc::new(identities) };
    use_case.delete(&world.caller, id).await
}

/// A project with deletion switched on, and an id.
fn enabled() -> (World, IdentityId) {
    let mut world = World::live();
    world.caller.project.identity_delete = true;
    let id = world.make.id();
    (world, id)
}

#[tokio::test]
async fn the_switch_comes_before_everything_else() {
    let mut world = World::live();
    world.caller.project.identity_lookup = true;
    for id in ["not an id", &world.make.id::<IdentityId>().to_string()] {
        let answer = delete(&world, MockIdentityStore::new(), id).await;
        assert!(matches!(answer, Err(DeleteIdentityError::Disabled)), "{id}");
    }
}

#[tokio::test]
async fn a_malformed_id_is_not_found_without_a_look_up() {
    let answer = delete(&enabled().0, MockIdentityStore::new(), "42").await;
    assert!(matches!(answer, Err(DeleteIdentityError::NotFound)));
}

#[tokio::test]
async fn erases_in_the_callers_project_and_mode_and_tells_how_many_sessions_ended() {
    let (world, id) = enabled();
    let (line, mut identities) = (&world.line, MockIdentityStore::new());
    let erase = identities.expect_erase();
    erase
        .with(eq(line.project_mode), eq(id), eq(START))
        .times(1)
        .returning(|_, _, _| Ok(Some(Erased { sessions_revoked: 2 })));
    let erased = delete(&world, identities, &id.to_string()).await.unwrap();
    assert_eq!(erased, (id, Erased { sessions_revoked: 2 }));
}

#[tokio::test]
async fn what_the_tenant_does_not_have_is_not_found() {
    let (world, id) = enabled();
    let mut identities = MockIdentityStore::new();
    identities.expect_erase().times(1).returning(|_, _, _| Ok(None));
    let answer = delete(&world, identities, &id.to_string()).await;
    assert!(matches!(answer, Err(DeleteIdentityError::NotFound)));
}

#[tokio::test]
async fn a_store_out_of_reach_is_told_as_such() {
    let (world, id) = enabled();
    let mut identities = MockIdentityStore::new();
    identities.expect_erase().returning(|_, _, _| Err(down()));
    let answer = delete(&world, identities, &id.to_string()).await;
    assert!(matches!(answer, Err(DeleteIdentityError::Store(_))));
}
