use crate::common::{World, down};
use dwar_app::{Begun, Idempotency, IdempotencyError};
use dwar_idempotency::{Beginning, Lifetimes, MockIdempotencyStore, Record, Slot};
use dwar_kernel::Sealed;
use dwar_project::Caller;
use dwar_testkit::{START, minutes, phone, seconds};
use mockall::predicate::eq;
use std::sync::{Arc, Mutex};

const LIFETIMES: Lifetimes = Lifetimes { lease: seconds(60), keep: minutes(24 * 60) };
const ROUTE: &str = "otp/send";

type Asked = Arc<Mutex<Vec<(Slot, Record)>>>;

fn idempotency(world: &World, store: MockIdempotencyStore) -> Idempotency {
    Idempotency { tools: world.tools(), store: Arc::new(store), lifetimes: LIFETIMES }
}

/// The store answers every beginning like this; gives what it was asked.
fn begins(beginning: Beginning) -> (MockIdempotencyStore, Asked) {
    let (mut store, asked) = (MockIdempotencyStore::new(), Asked::default());
    let seen = Arc::clone(&asked);
    let begin = store.expect_begin().withf(|_, _, lifetimes| *lifetimes == LIFETIMES);
    begin.returning(move |slot, record, _| {
        seen.lock().unwrap().push((slot, record));
        Ok(beginning.clone())
    });
    (store, asked)
}

async fn begin(world: &World, idempotency: &Idempotency) -> Result<Begun, IdempotencyError> {
    let key = "key-1".parse().unwrap();
    idempotency.begin(&world.caller, ROUTE, &key, &world.line.phone).await
}

#[tokio::test]
async fn the_first_request_does_the_work() {
    let world = World::live();
    let (store, asked) = begins(Beginning::Fresh);
    let begun = begin(&world, &idempotency(&world, store)).await;
    assert!(matches!(begun, Ok(Begun::Fresh(_))));
    let (slot, record) = asked.lock().unwrap().remove(0);
    assert_eq!((slot.project, slot.mode, slot.route), (world.line.project, world.line.mode, ROUTE));
    assert_eq!((record.phone, record.began_at), (world.line.index, START));
    assert_eq!(record.answer, None);
}

#[tokio::test]
async fn a_second_request_conflicts_with_a_running_first() {
    let world = World::live();
    let (store, _) = begins(Beginning::Running);
    let begun = begin(&world, &idempotency(&world, store)).await;
    assert!(matches!(begun, Err(IdempotencyError::Conflict)));
}

#[tokio::test]
async fn a_key_serves_one_body() {
    let world = World::live();
    let (store, _) = begins(Beginning::Reused);
    let begun = begin(&world, &idempotency(&world, store)).await;
    assert!(matches!(begun, Err(IdempotencyError::Reused)));
}

#[tokio::test]
async fn what_was_completed_is_replayed_byte_for_byte() {
    let world = World::live();
    let (mut store, asked) = begins(Beginning::Fresh);
    let kept = Arc::new(Mutex::new(None));
    let keep = Arc::clone(&kept);
    store.expect_complete().times(1).returning(move |slot, began_at, answer| {
        *keep.lock().unwrap() = Some((slot, began_at, answer));
        Ok(())
    });
    let first = idempotency(&world, store);
    let Ok(Begun::Fresh(ticket)) = begin(&world, &first).await else { unreachable!() };
    world.clock.advance(seconds(3));
    first.complete(ticket, b"answer \n\0\xff").await.unwrap();
    let (slot, began_at, answer) = kept.lock().unwrap().take().unwrap();
    assert_eq!((slot, began_at), (asked.lock().unwrap()[0].0, START));

    let (store, again) = begins(Beginning::Replay(answer));
    let Ok(Begun::Replay(bytes)) = begin(&world, &idempotency(&world, store)).await else {
        unreachable!()
    };
    assert_eq!(bytes, b"answer \n\0\xff");
    assert_eq!(again.lock().unwrap()[0].0, slot);
}

#[tokio::test]
async fn an_answer_that_does_not_open_is_a_store_failure() {
    let world = World::live();
    let (store, _) = begins(Beginning::Replay(Sealed(b"another slot's".to_vec())));
    let begun = begin(&world, &idempotency(&world, store)).await;
    assert!(matches!(begun, Err(IdempotencyError::Store(_))));
}

#[tokio::test]
async fn an_abandoned_slot_is_given_up_by_whoever_took_it() {
    let world = World::live();
    let (mut store, asked) = begins(Beginning::Fresh);
    let gone = Arc::new(Mutex::new(None));
    let (seen, instant) = (Arc::clone(&gone), eq(START));
    let abandon = store.expect_abandon().with(mockall::predicate::always(), instant);
    abandon.times(1).returning(move |slot, _| {
        *seen.lock().unwrap() = Some(slot);
        Ok(())
    });
    let idempotency = idempotency(&world, store);
    let Ok(Begun::Fresh(ticket)) = begin(&world, &idempotency).await else { unreachable!() };
    world.clock.advance(seconds(3));
    idempotency.abandon(ticket).await.unwrap();
    assert_eq!(*gone.lock().unwrap(), Some(asked.lock().unwrap()[0].0));
}

#[tokio::test]
async fn a_slot_is_one_key_of_one_route_in_one_project_and_mode() {
    let world = World::live();
    let (store, asked) = begins(Beginning::Running);
    let idempotency = idempotency(&world, store);
    let (stranger, other) = (world.stranger(), world.other_mode());
    let calls: [(&Caller, &'static str, &str); 6] = [
        (&world.caller, ROUTE, "key-1"),
        (&world.caller, ROUTE, "key-2"),
        (&world.caller, "another/route", "key-1"),
        (&stranger, ROUTE, "key-1"),
        (&other, ROUTE, "key-1"),
        (&world.caller, ROUTE, "key-1"),
    ];
    for (caller, route, key) in calls {
        let key = key.parse().unwrap();
        assert!(idempotency.begin(caller, route, &key, &world.line.phone).await.is_err());
    }
    let asked = asked.lock().unwrap();
    let digests: Vec<_> = asked.iter().map(|(slot, _)| slot.key).collect();
    for (at, digest) in digests.iter().enumerate().take(5) {
        assert!(!digests[..at].contains(digest), "{at}");
    }
    assert_eq!(asked[0].0, asked[5].0);
}

#[tokio::test]
async fn a_fingerprint_tells_two_phones_apart() {
    let world = World::live();
    let (store, asked) = begins(Beginning::Running);
    let (idempotency, key) = (idempotency(&world, store), "key-1".parse().unwrap());
    for number in [1, 2, 1] {
        assert!(idempotency.begin(&world.caller, ROUTE, &key, &phone(number)).await.is_err());
    }
    let asked = asked.lock().unwrap();
    assert_ne!(asked[0].1.fingerprint, asked[1].1.fingerprint);
    assert_eq!(asked[0].1, asked[2].1);
}

#[tokio::test]
async fn a_store_out_of_reach_is_told_as_such() {
    let (world, mut store) = (World::live(), MockIdempotencyStore::new());
    store.expect_begin().returning(|_, _, _| Err(down()));
    let begun = begin(&world, &idempotency(&world, store)).await;
    assert!(matches!(begun, Err(IdempotencyError::Store(_))));
}
