//! Promises of [`dwar_otp::idempotency::IdempotencyStore`].

use super::{CROWD, ROUNDS, count};
use crate::scene::Scene;
use crate::{MS, START, Stores, minutes, race, seconds};
use dwar_kernel::{Digest, KeyMode, Sealed, Timestamp};
use dwar_otp::idempotency::{IdempotencyDecision, IdempotencyRecord, IdempotencySlot, Lifetimes};
use std::sync::Arc;

const LIFETIMES: Lifetimes = Lifetimes { lease: minutes(1), keep: minutes(1_440) };

impl Scene {
    fn slot(&self) -> IdempotencySlot {
        self.make.slot(&self.line())
    }

    async fn begin(&self, slot: IdempotencySlot, record: IdempotencyRecord) -> IdempotencyDecision {
        self.stores.idempotency.begin(slot, record, LIFETIMES).await.unwrap()
    }

    /// Takes a free slot; returns it with its record.
    async fn begun(&self) -> (IdempotencySlot, IdempotencyRecord) {
        let (slot, record) = (self.slot(), self.make.record(&self.line()));
        assert_eq!(self.begin(slot, record.clone()).await, IdempotencyDecision::Fresh);
        (slot, record)
    }

    async fn complete(&self, slot: IdempotencySlot, began_at: Timestamp) -> Sealed {
        let answer = self.make.sealed();
        self.stores.idempotency.complete(slot, began_at, answer.clone()).await.unwrap();
        answer
    }

    async fn abandon(&self, slot: IdempotencySlot, began_at: Timestamp) {
        self.stores.idempotency.abandon(slot, began_at).await.unwrap();
    }
}

fn later(record: &IdempotencyRecord, began_at: Timestamp) -> IdempotencyRecord {
    IdempotencyRecord { began_at, ..record.clone() }
}

fn reworded(record: &IdempotencyRecord, fingerprint: Digest) -> IdempotencyRecord {
    IdempotencyRecord { fingerprint, ..record.clone() }
}

/// A repetition waits for the first request and then gets its answer; another request with the key is
/// refused.
pub async fn a_repetition_gets_the_first_answer(stores: &Stores) {
    let scene = Scene::open(stores).await;
    let (slot, record) = scene.begun().await;
    let other = reworded(&record, scene.make.digest());
    assert_eq!(scene.begin(slot, record.clone()).await, IdempotencyDecision::Running);
    assert_eq!(scene.begin(slot, other.clone()).await, IdempotencyDecision::Reused);
    let answer = scene.complete(slot, record.began_at).await;
    for _ in 0..2 {
        assert_eq!(
            scene.begin(slot, record.clone()).await,
            IdempotencyDecision::Replay(answer.clone())
        );
    }
    assert_eq!(scene.begin(slot, other).await, IdempotencyDecision::Reused);
}

/// An abandoned slot is free again; a slot with an answer cannot be abandoned.
pub async fn abandon_frees_an_unanswered_slot(stores: &Stores) {
    let scene = Scene::open(stores).await;
    let (slot, record) = scene.begun().await;
    scene.abandon(slot, record.began_at).await;
    let other = reworded(&record, scene.make.digest());
    assert_eq!(scene.begin(slot, other.clone()).await, IdempotencyDecision::Fresh);
    let answer = scene.complete(slot, other.began_at).await;
    scene.abandon(slot, other.began_at).await;
    assert_eq!(scene.begin(slot, other).await, IdempotencyDecision::Replay(answer));
}

/// A request that does not finish counts as dead at the exact end of its lease; what it writes later has no
/// effect.
pub async fn a_dead_request_loses_its_slot(stores: &Stores) {
    let scene = Scene::open(stores).await;
    let (slot, dead) = scene.begun().await;
    let end = START + LIFETIMES.lease;
    assert_eq!(scene.begin(slot, later(&dead, end - MS)).await, IdempotencyDecision::Running);
    let heir = later(&dead, end);
    let other = reworded(&heir, scene.make.digest());
    assert_eq!(scene.begin(slot, other).await, IdempotencyDecision::Reused);
    assert_eq!(scene.begin(slot, heir.clone()).await, IdempotencyDecision::Fresh);
    scene.complete(slot, dead.began_at).await;
    assert_eq!(scene.begin(slot, heir.clone()).await, IdempotencyDecision::Running);
    scene.abandon(slot, dead.began_at).await;
    assert_eq!(scene.begin(slot, heir.clone()).await, IdempotencyDecision::Running);
    let answer = scene.complete(slot, heir.began_at).await;
    assert_eq!(scene.begin(slot, heir).await, IdempotencyDecision::Replay(answer));
}

/// An answer is repeated until the exact end of its lifetime; then the slot is free for any request.
pub async fn an_answer_is_kept_to_the_exact_instant(stores: &Stores) {
    let scene = Scene::open(stores).await;
    let (slot, record) = scene.begun().await;
    let answer = scene.complete(slot, record.began_at).await;
    let end = START + LIFETIMES.keep;
    let last = scene.begin(slot, later(&record, end - MS)).await;
    assert_eq!(last, IdempotencyDecision::Replay(answer));
    let other = later(&reworded(&record, scene.make.digest()), end);
    assert_eq!(scene.begin(slot, other.clone()).await, IdempotencyDecision::Fresh);
    assert_eq!(scene.begin(slot, other).await, IdempotencyDecision::Running);
    assert_eq!(scene.begin(slot, later(&record, end)).await, IdempotencyDecision::Reused);
}

/// Projects, modes, routes and keys have separate slots.
pub async fn slots_are_apart(stores: &Stores) {
    let scene = Scene::open(stores).await;
    let (slot, record) = scene.begun().await;
    let others = [
        IdempotencySlot {
            project_mode: scene.another().await.in_mode(slot.project_mode.mode),
            ..slot
        },
        IdempotencySlot { project_mode: slot.project_mode.project.in_mode(KeyMode::Test), ..slot },
        IdempotencySlot { route: "session/refresh", ..slot },
        IdempotencySlot { key: scene.make.digest(), ..slot },
    ];
    for other in others {
        scene.complete(other, record.began_at).await;
        assert_eq!(scene.begin(other, record.clone()).await, IdempotencyDecision::Fresh);
        scene.abandon(other, record.began_at).await;
    }
    assert_eq!(scene.begin(slot, record).await, IdempotencyDecision::Running);
}

async fn begin_at_once(
    scene: &Scene,
    slot: IdempotencySlot,
    record: &IdempotencyRecord,
) -> Vec<IdempotencyDecision> {
    race(CROWD, |_| {
        let (store, record) = (Arc::clone(&scene.stores.idempotency), record.clone());
        async move { store.begin(slot, record, LIFETIMES).await.unwrap() }
    })
    .await
}

/// Exactly one of two hundred concurrent requests for a slot, free or given up, is fresh.
pub async fn beginnings_at_once_are_fresh_once(stores: &Stores) {
    let scene = Scene::open(stores).await;
    for _ in 0..ROUNDS {
        let (slot, record) = (scene.slot(), scene.make.record(&scene.line()));
        for record in [record.clone(), later(&record, START + LIFETIMES.lease)] {
            let answers = begin_at_once(&scene, slot, &record).await;
            assert_eq!(count(&answers, |answer| *answer == IdempotencyDecision::Fresh), 1);
            assert_eq!(
                count(&answers, |answer| *answer == IdempotencyDecision::Running),
                CROWD - 1
            );
        }
    }
}

/// If different requests use one key concurrently, one is fresh and the others are refused.
pub async fn questions_at_once_are_answered_once(stores: &Stores) {
    let scene = Scene::open(stores).await;
    for _ in 0..ROUNDS {
        let slot = scene.slot();
        let answers = race(50, |_| {
            let store = Arc::clone(&stores.idempotency);
            let record = scene.make.record(&scene.line());
            async move { store.begin(slot, record, LIFETIMES).await.unwrap() }
        })
        .await;
        assert_eq!(count(&answers, |answer| *answer == IdempotencyDecision::Fresh), 1);
        assert_eq!(
            count(&answers, |answer| *answer == IdempotencyDecision::Reused),
            answers.len() - 1
        );
    }
}

/// Fresh: a sweep deletes records that began before the instant, answered or not.
pub async fn sweep_drops_old_records(stores: &Stores) {
    let scene = Scene::open(stores).await;
    let record = scene.make.record(&scene.line());
    let instant = START + seconds(30);
    let [answered, running, kept] = [scene.slot(), scene.slot(), scene.slot()];
    let (old, new) = (later(&record, instant - MS), later(&record, instant));
    for (slot, record) in [(answered, &old), (running, &old), (kept, &new)] {
        assert_eq!(scene.begin(slot, record.clone()).await, IdempotencyDecision::Fresh);
    }
    scene.complete(answered, old.began_at).await;
    assert_eq!(stores.idempotency.sweep(instant - MS).await.unwrap(), 0);
    assert_eq!(stores.idempotency.sweep(instant).await.unwrap(), 2);
    assert_eq!(stores.idempotency.sweep(instant).await.unwrap(), 0);
    for slot in [answered, running] {
        assert_eq!(scene.begin(slot, new.clone()).await, IdempotencyDecision::Fresh);
    }
    assert_eq!(scene.begin(kept, new).await, IdempotencyDecision::Running);
}
