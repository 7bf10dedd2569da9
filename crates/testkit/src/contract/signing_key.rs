//! Promises of [`dwar_session::SigningKeyStore`]. Every function needs a fresh store: signing keys belong to
//! the whole service.

use super::count;
use crate::{Fixtures, MS, START, Stores, minutes, race};
use dwar_kernel::Timestamp;
use dwar_session::{Algorithm, SigningKey};
use std::sync::Arc;

async fn keys(stores: &Stores, now: Timestamp) -> Vec<SigningKey> {
    stores.signing_keys.keys(now).await.unwrap()
}

async fn add_first(stores: &Stores, key: &SigningKey, now: Timestamp) -> bool {
    stores.signing_keys.add_first(key.clone(), now).await.unwrap()
}

/// Fresh: of any number of concurrent first keys exactly one is added.
pub async fn add_first_answers_true_once(stores: &Stores) {
    let make = Fixtures::random();
    let firsts: Vec<_> = (0..50).map(|_| make.signing_key()).collect();
    let answers = race(firsts.len(), |number| {
        let (store, key) = (Arc::clone(&stores.signing_keys), firsts[number].clone());
        async move { store.add_first(key, START).await.unwrap() }
    })
    .await;
    assert_eq!(count(&answers, |added| *added), 1);
    let winner = answers.iter().position(|added| *added).unwrap();
    assert_eq!(keys(stores, START).await, [firsts[winner].clone()]);
}

/// Fresh: a key that signs, or will sign, prevents another first key of its algorithm, and of no other.
pub async fn add_first_asks_for_the_algorithm(stores: &Stores) {
    let make = Fixtures::random();
    let next = SigningKey { signs_from: START + minutes(5), ..make.signing_key() };
    assert!(add_first(stores, &next, START).await);
    for now in [START, next.signs_from - MS, next.signs_from] {
        assert!(!add_first(stores, &make.signing_key(), now).await);
    }
    for algorithm in [Algorithm::EdDsa, Algorithm::Rs256] {
        let other = SigningKey { algorithm, ..make.signing_key() };
        assert!(add_first(stores, &other, START).await);
        assert!(!add_first(stores, &SigningKey { algorithm, ..make.signing_key() }, START).await);
    }
    assert_eq!(keys(stores, START).await.len(), 3);
}

/// Fresh: a key that has stopped signing does not prevent a first key, from the exact instant on.
pub async fn add_first_disregards_retired_keys(stores: &Stores) {
    let make = Fixtures::random();
    let retired = SigningKey {
        signs_until: Some(START + minutes(5)),
        published_until: Some(START + minutes(9)),
        ..make.signing_key()
    };
    assert!(add_first(stores, &retired, START).await);
    let end = START + minutes(5);
    assert!(!add_first(stores, &make.signing_key(), end - MS).await);
    assert!(add_first(stores, &make.signing_key(), end).await);
}

/// Fresh: keys come oldest first, exactly as added, until the instant they are gone.
pub async fn keys_are_oldest_first_until_they_are_gone(stores: &Stores) {
    let make = Fixtures::random();
    let end = START + minutes(9);
    let aged = |algorithm, age: u32| SigningKey {
        algorithm,
        created_at: START + MS * age,
        ..make.signing_key()
    };
    let middle = SigningKey {
        signs_until: Some(START + minutes(5)),
        published_until: Some(end),
        ..aged(Algorithm::Es256, 1)
    };
    let (oldest, newest) = (aged(Algorithm::EdDsa, 0), aged(Algorithm::Rs256, 2));
    for key in [&newest, &oldest, &middle] {
        assert!(add_first(stores, key, START).await);
    }
    assert_eq!(keys(stores, end - MS).await, [oldest.clone(), middle, newest.clone()]);
    assert_eq!(keys(stores, end).await, [oldest, newest]);
}

/// Fresh: keys of one instant come by their ids.
pub async fn keys_of_one_instant_come_by_kid(stores: &Stores) {
    let make = Fixtures::random();
    let aged =
        |algorithm, kid: &str| SigningKey { algorithm, kid: kid.to_owned(), ..make.signing_key() };
    let [a, b, c] =
        [aged(Algorithm::Rs256, "a"), aged(Algorithm::Es256, "b"), aged(Algorithm::EdDsa, "c")];
    for key in [&c, &a, &b] {
        assert!(add_first(stores, key, START).await);
    }
    assert_eq!(keys(stores, START).await, [a, b, c]);
}

/// Fresh: a successor retires every other key when it starts to sign, unless that key ends sooner.
pub async fn rotate_retires_every_other_key(stores: &Stores) {
    let make = Fixtures::random();
    let (from, until) = (START + minutes(10), START + minutes(30));
    let open = make.signing_key();
    let sooner = SigningKey {
        algorithm: Algorithm::EdDsa,
        signs_until: Some(START + minutes(1)),
        published_until: Some(START + minutes(20)),
        ..make.signing_key()
    };
    let later = SigningKey {
        algorithm: Algorithm::Rs256,
        signs_until: Some(START + minutes(50)),
        published_until: Some(START + minutes(60)),
        ..make.signing_key()
    };
    for key in [&open, &sooner, &later] {
        assert!(add_first(stores, key, START).await);
    }
    let successor = SigningKey { signs_from: from, ..make.signing_key() };
    stores.signing_keys.rotate(successor.clone(), until).await.unwrap();

    let retired = |key: SigningKey| SigningKey {
        signs_until: Some(from),
        published_until: Some(until),
        ..key
    };
    let on_record = keys(stores, START).await;
    assert_eq!(on_record.len(), 4);
    for key in [retired(open), sooner, retired(later), successor] {
        assert!(on_record.contains(&key), "{key:?} is not in {on_record:?}");
    }
}

/// Fresh: of concurrent successors each retires the earlier ones, so that one key is left without an end.
pub async fn rotations_at_once_leave_one_open_key(stores: &Stores) {
    let make = Fixtures::random();
    assert!(add_first(stores, &make.signing_key(), START).await);
    let successors: Vec<_> = (0..20).map(|_| make.signing_key()).collect();
    race(successors.len(), |number| {
        let (store, key) = (Arc::clone(&stores.signing_keys), successors[number].clone());
        async move { store.rotate(key, START + minutes(30)).await.unwrap() }
    })
    .await;
    let on_record = keys(stores, START).await;
    assert_eq!(on_record.len(), successors.len() + 1);
    assert_eq!(count(&on_record, |key| key.signs_until.is_none()), 1);
    assert_eq!(count(&on_record, |key| key.published_until.is_none()), 1);
}
