use crate::common::{BY, World, down};
use dwar_app::{SigningKeyPolicy, SigningKeys};
use dwar_console::ManageSigningKeys;
use dwar_kernel::Timestamp;
use dwar_session::{Algorithm, KeyState, MockSigningKeyStore, SigningKey};
use dwar_testkit::{START, minutes};
use mockall::predicate::eq;
use std::mem::take;
use std::sync::Arc;

const POLICY: SigningKeyPolicy = SigningKeyPolicy {
    algorithm: Algorithm::Es256,
    publish_before: minutes(10),
    publish_after: minutes(15),
};

fn manage(world: &mut World, keys: MockSigningKeyStore) -> ManageSigningKeys {
    let (control, signer) = (world.control(), Arc::new(take(&mut world.signer)));
    let (tools, keys) = (control.tools.clone(), Arc::new(keys));
    ManageSigningKeys { control, keys: SigningKeys { tools, keys, signer, policy: POLICY } }
}

/// The whole second of [`START`]: keys change over at whole seconds, since tokens are issued at whole
/// seconds.
fn second() -> Timestamp {
    Timestamp::from_timestamp(START.timestamp(), 0).unwrap()
}

fn holding(keys: Vec<SigningKey>) -> MockSigningKeyStore {
    let mut store = MockSigningKeyStore::new();
    store.expect_keys().with(eq(START)).times(1).returning(move |_| Ok(keys.clone()));
    store
}

/// Expects one new key of the configured algorithm that signs from this instant.
fn generates(world: &mut World, signs_from: Timestamp) -> SigningKey {
    let key = SigningKey { signs_from, ..world.make.signing_key() };
    let made = key.clone();
    let generate = world.signer.expect_generate();
    generate
        .with(eq(Algorithm::Es256), eq(START), eq(signs_from))
        .times(1)
        .returning(move |_, _, _| Ok(made.clone()));
    key
}

/// Expects that the key takes over after ten minutes and the others stay published for fifteen more.
fn rotates_to(store: &mut MockSigningKeyStore, key: &SigningKey) {
    let rotate = store.expect_rotate().with(eq(key.clone()), eq(second() + minutes(25)));
    rotate.times(1).returning(|_, _| Ok(()));
}

#[tokio::test]
async fn a_rotation_publishes_before_it_signs_and_after_the_old_key_did() {
    let mut world = World::live();
    let mut store = holding(vec![world.make.signing_key()]);
    let key = generates(&mut world, second() + minutes(10));
    rotates_to(&mut store, &key);
    assert_eq!(manage(&mut world, store).rotate(&BY).await.unwrap(), key);
}

#[tokio::test]
async fn a_key_that_could_not_be_made_changes_nothing() {
    let mut world = World::live();
    world.signer.expect_generate().returning(|_, _, _| Err(down()));
    assert!(manage(&mut world, MockSigningKeyStore::new()).rotate(&BY).await.is_err());
}

#[tokio::test]
async fn every_key_is_listed_with_where_it_stands() {
    let mut world = World::live();
    let active = world.make.signing_key();
    let next = SigningKey { signs_from: START + minutes(10), ..world.make.signing_key() };
    let store = holding(vec![active.clone(), next.clone()]);
    let list = manage(&mut world, store).list(&BY).await.unwrap();
    assert_eq!(list, [(active, KeyState::Active), (next, KeyState::Next)]);
}
