use crate::common::{World, down};
use dwar_app::{FindIdentity, FindIdentityError};
use dwar_identity::{Identity, MockIdentityStore};
use dwar_kernel::{Sealed, Vault};
use dwar_testkit::{ClearVault, START, minutes};
use mockall::predicate::eq;
use std::sync::Arc;

fn find(world: &World, identities: MockIdentityStore) -> FindIdentity {
    FindIdentity { tools: world.tools(), identities: Arc::new(identities) }
}

fn enabled() -> World {
    let mut world = World::live();
    world.caller.project.identity_lookup = true;
    world
}

fn identity(world: &World) -> Identity {
    Identity {
        id: world.make.id(),
        project_mode: world.line.project_mode,
        phone: ClearVault.seal_phone(world.line.project_mode.project, &world.line.phone),
        created_at: START - minutes(9),
        last_verified_at: START,
    }
}

#[tokio::test]
async fn the_switch_comes_before_everything_else() {
    let mut world = World::live();
    world.caller.project.identity_delete = true;
    let find = find(&world, MockIdentityStore::new());
    for id in ["not an id", &world.make.id::<dwar_kernel::IdentityId>().to_string()] {
        let answer = find.by_id(&world.caller, id).await;
        assert!(matches!(answer, Err(FindIdentityError::Disabled)), "{id}");
    }
    let answer = find.by_phone(&world.caller, &world.line.phone).await;
    assert!(matches!(answer, Err(FindIdentityError::Disabled)));
}

#[tokio::test]
async fn a_malformed_id_is_not_found_without_a_look_up() {
    let world = enabled();
    let answer = find(&world, MockIdentityStore::new()).by_id(&world.caller, "42").await;
    assert!(matches!(answer, Err(FindIdentityError::NotFound)));
}

#[tokio::test]
async fn an_identity_is_found_by_id_with_its_phone_in_the_clear() {
    let world = enabled();
    let known = identity(&world);
    let (id, told, mut identities) = (known.id, known.clone(), MockIdentityStore::new());
    let look_up = identities.expect_find().with(eq(known.project_mode), eq(id));
    look_up.times(1).returning(move |_, _| Ok(Some(told.clone())));
    let found = find(&world, identities).by_id(&world.caller, &id.to_string()).await.unwrap();
    assert_eq!((found.id, found.phone), (id, world.line.phone.clone()));
    assert_eq!((found.created_at, found.last_verified_at), (known.created_at, START));
}

#[tokio::test]
async fn an_identity_is_found_by_the_index_of_its_phone() {
    let world = enabled();
    let (known, mut identities) = (identity(&world), MockIdentityStore::new());
    let (id, line) = (known.id, &world.line);
    let look_up = identities.expect_find_by_phone();
    look_up
        .with(eq(line.project_mode), eq(line.index))
        .times(1)
        .returning(move |_, _| Ok(Some(known.clone())));
    let found = find(&world, identities).by_phone(&world.caller, &line.phone).await.unwrap();
    assert_eq!((found.id, &found.phone), (id, &line.phone));
}

#[tokio::test]
async fn what_the_tenant_does_not_have_is_not_found() {
    let world = enabled();
    let mut identities = MockIdentityStore::new();
    identities.expect_find().times(1).returning(|_, _| Ok(None));
    identities.expect_find_by_phone().times(1).returning(|_, _| Ok(None));
    let (find, id) = (find(&world, identities), identity(&world).id.to_string());
    let by_id = find.by_id(&world.caller, &id).await;
    assert!(matches!(by_id, Err(FindIdentityError::NotFound)));
    let by_phone = find.by_phone(&world.caller, &world.line.phone).await;
    assert!(matches!(by_phone, Err(FindIdentityError::NotFound)));
}

#[tokio::test]
async fn a_phone_that_does_not_open_is_a_store_failure() {
    let world = enabled();
    let mut identities = MockIdentityStore::new();
    let broken = Identity { phone: Sealed(vec![1, 2, 3]), ..identity(&world) };
    let id = broken.id.to_string();
    identities.expect_find().returning(move |_, _| Ok(Some(broken.clone())));
    let answer = find(&world, identities).by_id(&world.caller, &id).await;
    assert!(matches!(answer, Err(FindIdentityError::Store(_))));
}

#[tokio::test]
async fn a_store_out_of_reach_is_told_as_such() {
    let world = enabled();
    let mut identities = MockIdentityStore::new();
    identities.expect_find_by_phone().returning(|_, _| Err(down()));
    let answer = find(&world, identities).by_phone(&world.caller, &world.line.phone).await;
    assert!(matches!(answer, Err(FindIdentityError::Store(_))));
}
