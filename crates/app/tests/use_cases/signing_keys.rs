use crate::common::World;
use dwar_app::{SigningKeyPolicy, SigningKeys};
use dwar_kernel::Timestamp;
use dwar_session::{Algorithm, MockSigningKeyStore, SigningKey};
use dwar_testkit::{START, minutes};
use mockall::predicate::eq;
use std::mem::take;
use std::sync::Arc;

const POLICY: SigningKeyPolicy = SigningKeyPolicy {
    algorithm: Algorithm::Es256,
    publish_before: minutes(10),
    publish_after: minutes(15),
};

fn keys(world: &mut World, keys: MockSigningKeyStore) -> SigningKeys {
    SigningKeys {
        tools: world.tools(),
        keys: Arc::new(keys),
        signer: Arc::new(take(&mut world.signer)),
        policy: POLICY,
    }
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
async fn an_empty_store_gets_a_key_that_signs_at_once() {
    let mut world = World::live();
    let (key, mut store) = (generates(&mut world, second()), holding(vec![]));
    store.expect_add_first().with(eq(key), eq(START)).times(1).returning(|_, _| Ok(true));
    assert!(keys(&mut world, store).ensure().await.is_ok());
}

#[tokio::test]
async fn a_key_that_another_instance_added_first_will_do() {
    let mut world = World::live();
    generates(&mut world, second());
    let mut store = holding(vec![]);
    store.expect_add_first().times(1).returning(|_, _| Ok(false));
    assert!(keys(&mut world, store).ensure().await.is_ok());
}

#[tokio::test]
async fn a_key_that_signs_or_will_is_enough() {
    for signs_from in [START, START + minutes(5)] {
        let mut world = World::live();
        let key = SigningKey { signs_from, ..world.make.signing_key() };
        assert!(keys(&mut world, holding(vec![key])).ensure().await.is_ok());
    }
}

#[tokio::test]
async fn another_algorithm_gets_a_successor() {
    let mut world = World::live();
    let old = SigningKey { algorithm: Algorithm::EdDsa, ..world.make.signing_key() };
    let mut store = holding(vec![old]);
    rotates_to(&mut store, &generates(&mut world, second() + minutes(10)));
    assert!(keys(&mut world, store).ensure().await.is_ok());
}

#[tokio::test]
async fn a_key_about_to_be_replaced_by_another_algorithm_gets_a_successor() {
    let mut world = World::live();
    let takes_over = START + minutes(5);
    let ours = SigningKey { signs_until: Some(takes_over), ..world.make.signing_key() };
    let theirs = SigningKey { signs_from: takes_over, ..world.make.signing_key() };
    let theirs = SigningKey { algorithm: Algorithm::Rs256, ..theirs };
    let mut store = holding(vec![ours, theirs]);
    rotates_to(&mut store, &generates(&mut world, second() + minutes(10)));
    assert!(keys(&mut world, store).ensure().await.is_ok());
}

#[tokio::test]
async fn retired_keys_alone_are_as_good_as_none() {
    let mut world = World::live();
    let retired = SigningKey { signs_until: Some(START), ..world.make.signing_key() };
    let (key, mut store) = (generates(&mut world, second()), holding(vec![retired]));
    store.expect_add_first().with(eq(key), eq(START)).times(1).returning(|_, _| Ok(true));
    assert!(keys(&mut world, store).ensure().await.is_ok());
}
