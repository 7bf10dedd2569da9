use super::LEASE;
use crate::contract::ROUNDS;
use crate::scene::Scene;
use crate::{MS, START, Stores, race, seconds};
use dwar_event::{CALL_LEASE, CallFilter, ClaimCapacity, Dispatch, Endpoint, latest_due};
use dwar_kernel::{EndpointId, Timestamp};
use std::collections::BTreeSet;
use std::sync::Arc;

type Delivery = (EndpointId, String);

fn delivery(dispatch: &Dispatch) -> Delivery {
    (dispatch.endpoint.id, dispatch.event.id())
}

impl Scene {
    async fn due_ids(&self, now: Timestamp, limit: u32) -> Vec<String> {
        self.claims(now, limit).await.iter().map(|dispatch| dispatch.event.id()).collect()
    }
}

/// Fresh: deliveries of all projects come the longest due first, up to the limit.
pub async fn claims_are_longest_due_first_and_bounded(stores: &Stores) {
    let (one, two) = (Scene::open(stores).await, Scene::open(stores).await);
    let endpoints = [one.endpoint().await, two.endpoint().await];
    let fourth = one.happens(START + MS * 3).await;
    let second = two.happens(START + MS).await;
    let first = one.happens(START).await;
    let third = one.happens(START + MS * 2).await;
    let now = START + seconds(1);
    assert_eq!(one.due_ids(now, 0).await, Vec::<String>::new());
    let due = one.claims(now, 3).await;
    assert_eq!(due.iter().map(|due| due.event.id()).collect::<Vec<_>>(), [first, second, third]);
    let [own, others] = endpoints;
    assert_eq!(
        due.into_iter().map(|due| due.endpoint).collect::<Vec<_>>(),
        [own.clone(), others, own]
    );
    assert_eq!(one.due_ids(now, 3).await, [fourth]);
    assert_eq!(one.due_ids(now, 3).await, Vec::<String>::new());
}

/// Fresh: a delivery is due from the instant of its event on, and again when its lease ends, without counting
/// a failure. A delivery that is due later than possible is brought forward.
pub async fn a_delivery_given_out_comes_again_after_the_lease(stores: &Stores) {
    let scene = Scene::open(stores).await;
    let endpoint = scene.endpoint().await;
    let (at, none) = (START + seconds(1), Vec::<String>::new());
    let event = scene.happens(at).await;
    assert_eq!(scene.due_ids(at - MS, 9).await, none);
    for round in 0..3 {
        let due = at + LEASE * round;
        let dispatches = scene.claims(due, 9).await;
        assert_eq!(dispatches.len(), 1);
        assert_eq!((dispatches[0].event.id(), dispatches[0].failures), (event.clone(), 0));
        assert_eq!(scene.due_ids(due, 9).await, none);
        assert_eq!(scene.due_ids(due + LEASE - MS, 9).await, none);
    }
    let bring = |now| stores.events.bring_forward(now);
    let before = |due, failed| due - (latest_due(failed, due) - due).to_std().unwrap();
    let is_due_at = async |due: Timestamp, failures| {
        assert_eq!(scene.due_ids(due - MS, 9).await, none);
        let dispatches = scene.claims(due, 9).await;
        assert_eq!((dispatches.len(), dispatches[0].failures), (1, failures));
    };
    let back = before(at + LEASE * 3, false);
    assert_eq!(bring(back).await.unwrap(), 0);
    assert_eq!(bring(back - MS).await.unwrap(), 1);
    is_due_at(back - MS + CALL_LEASE, 0).await;
    // A failed delivery may wait for longer.
    scene.fails(&endpoint, &event, Some(at)).await;
    let back = before(at, true);
    assert_eq!(bring(back).await.unwrap(), 0);
    assert_eq!(bring(back - MS).await.unwrap(), 1);
    is_due_at(back - MS + CALL_LEASE, 1).await;
}

/// Fresh: a failed delivery is due again at exactly the given instant, earlier or later than its lease, and
/// counts its failures; the delivery of the same event to the other endpoint is unaffected.
pub async fn a_failed_delivery_is_due_again_at_the_exact_instant(stores: &Stores) {
    let scene = Scene::open(stores).await;
    let (failing, other) = (scene.endpoint().await, scene.endpoint().await);
    let event = scene.happens(START).await;
    assert_eq!(scene.claims(START, 9).await.len(), 2);
    scene.delivers(&other, &event).await;
    let mut now = START;
    for (failures, wait) in [(1, LEASE * 2), (2, MS), (3, LEASE), (4, seconds(28_800))] {
        scene.fails(&failing, &event, Some(now + wait)).await;
        assert_eq!(scene.claims(now + wait - MS, 9).await, []);
        now += wait;
        let due = scene.claims(now, 9).await;
        assert_eq!(due.len(), 1);
        assert_eq!((due[0].endpoint.id, due[0].event.id()), (failing.id, event.clone()));
        assert_eq!(due[0].failures, failures);
        assert_eq!(scene.claims(now, 9).await, []);
    }
    let untouched = scene.happens(START).await;
    scene.fails(&failing, &untouched, Some(START)).await;
    let failures = |due: &[Dispatch], endpoint: &Endpoint| {
        due.iter().find(|due| due.endpoint.id == endpoint.id).unwrap().failures
    };
    let due = scene.claims(START, 9).await;
    assert_eq!(due.len(), 2);
    assert_eq!((failures(&due, &failing), failures(&due, &other)), (1, 0));
}

/// Fresh: a completed or given-up delivery is over, only for its endpoint and event; repeating that changes
/// nothing.
pub async fn a_delivery_ends_when_it_is_made_or_given_up(stores: &Stores) {
    let scene = Scene::open(stores).await;
    let endpoints = [scene.endpoint().await, scene.endpoint().await];
    let [one, two] = &endpoints;
    let (made, given_up) = (scene.happens(START).await, scene.happens(START + MS).await);
    let waiting = async |now: Timestamp| {
        let due = scene.claims(now, 9).await;
        due.iter().map(delivery).collect::<BTreeSet<_>>()
    };
    let all = [&made, &given_up].map(|event| endpoints.each_ref().map(|e| (e.id, event.clone())));
    let mut wanted: BTreeSet<_> = all.into_iter().flatten().collect();
    let mut now = START + seconds(1);
    assert_eq!(waiting(now).await, wanted);
    let ends: [(&Endpoint, &String, bool); 4] =
        [(one, &made, true), (one, &given_up, false), (two, &given_up, false), (two, &made, true)];
    for (endpoint, event, delivered) in ends {
        for _ in 0..2 {
            if delivered {
                scene.delivers(endpoint, event).await;
            } else {
                scene.fails(endpoint, event, None).await;
            }
        }
        // A failure does not bring a finished delivery back either.
        scene.fails(endpoint, event, Some(START)).await;
        wanted.remove(&(endpoint.id, event.clone()));
        now += LEASE;
        assert_eq!(waiting(now).await, wanted);
    }
    assert_eq!(wanted, BTreeSet::new());
    scene.delivers(one, "otp_sent_of_nobody").await;
    scene.fails(one, "otp_sent_of_nobody", Some(START)).await;
    assert_eq!(waiting(now + LEASE).await, wanted);
}

/// Fresh: many calls are recorded together, to several endpoints of several projects. Calls to a removed
/// endpoint are left out, the others are not.
pub async fn deliveries_end_together(stores: &Stores) {
    let (scene, other) = (Scene::open(stores).await, Scene::open(stores).await);
    let (one, failing, removed) =
        (scene.endpoint().await, scene.endpoint().await, scene.endpoint().await);
    let third = other.endpoint().await;
    let failed = scene.happens(START).await;
    scene.fails(&failing, &failed, Some(START + LEASE * 9)).await;
    let mut calls = Vec::new();
    for age in 0..5_u32 {
        let (event, others) = (scene.happens(START + MS * age).await, other.happens(START).await);
        calls.extend([&one, &failing, &removed].map(|it| scene.make.call(it.id, &event)));
        calls.push(scene.make.call(third.id, &others));
    }
    let now = START + seconds(1);
    assert_eq!(scene.claims(now, 100).await.len(), 22);
    assert!(stores.events.remove_endpoint(scene.project, removed.id).await.unwrap());
    stores.events.delivered(Vec::new()).await.unwrap();
    for _ in 0..2 {
        stores.events.delivered(calls.clone()).await.unwrap();
    }
    let due: BTreeSet<_> = scene.claims(now + LEASE * 10, 100).await.iter().map(delivery).collect();
    let wanted = [&one, &failing].map(|endpoint| (endpoint.id, failed.clone()));
    assert_eq!(due, BTreeSet::from(wanted));
    let known = stores.events.endpoints(scene.project).await.unwrap();
    assert!(known.iter().all(|endpoint| endpoint.failing.is_none()), "{known:?}");
    let logged = async |scene: &Scene, endpoint: &Endpoint| {
        let calls = &scene.stores.calls;
        calls.calls(scene.project, endpoint.id, CallFilter::default(), 99).await.unwrap().len()
    };
    assert_eq!(logged(&scene, &one).await, 5);
    assert_eq!(logged(&scene, &failing).await, 6);
    assert_eq!(logged(&scene, &removed).await, 0);
    assert_eq!(logged(&other, &third).await, 5);
}

/// Fresh: under many concurrent callers each delivery goes to exactly one, and none is forgotten.
pub async fn claims_at_once_hand_each_delivery_to_one_caller(stores: &Stores) {
    let scene = Scene::open(stores).await;
    let endpoints = [scene.endpoint().await, scene.endpoint().await];
    for _ in 0..ROUNDS {
        let mut wanted = BTreeSet::new();
        for _ in 0..30 {
            let event = scene.happens(START).await;
            wanted.extend(endpoints.each_ref().map(|endpoint| (endpoint.id, event.clone())));
        }
        let now = START + seconds(1);
        let answers = race(40, |_| {
            let store = Arc::clone(&stores.events);
            async move { store.claim_due(now, seconds(86_400), ClaimCapacity::of(2)).await.unwrap() }
        })
        .await;
        assert!(answers.iter().all(|answer| answer.len() <= 2));
        let mut claimed: Vec<_> = answers.iter().flatten().map(delivery).collect();
        claimed.extend(scene.claims(now, 1_000).await.iter().map(delivery));
        assert_eq!(claimed.len(), wanted.len());
        assert_eq!(claimed.iter().cloned().collect::<BTreeSet<_>>(), wanted);
        // Both endpoints of an event get it at the same moment.
        race(claimed.len(), |number| {
            let (store, (endpoint, event)) = (Arc::clone(&stores.events), &claimed[number]);
            let call = scene.make.call(*endpoint, event);
            async move { store.delivered(vec![call]).await.unwrap() }
        })
        .await;
    }
}
