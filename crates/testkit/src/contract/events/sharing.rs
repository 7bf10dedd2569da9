//! A slow endpoint, or one with many waiting events, takes nothing from the others.

use super::LEASE;
use crate::contract::ROUNDS;
use crate::scene::Scene;
use crate::{MS, START, Stores, race, seconds};
use dwar_event::{ClaimCapacity, Dispatch};
use dwar_kernel::{EndpointId, Timestamp};
use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

/// Two concurrent deliveries per endpoint, one for a failing endpoint.
fn room(total: u32) -> ClaimCapacity {
    ClaimCapacity {
        total,
        failing: total,
        per_endpoint: 2,
        per_failing: 1,
        ..ClaimCapacity::default()
    }
}

async fn claim(stores: &Stores, now: Timestamp, room: ClaimCapacity) -> Vec<Dispatch> {
    stores.events.claim_due(now, LEASE, room).await.unwrap()
}

fn to(dispatches: &[Dispatch], endpoint: EndpointId) -> usize {
    dispatches.iter().filter(|dispatch| dispatch.endpoint.id == endpoint).count()
}

/// Fresh: however much waits for one endpoint, and for however long, a claim gives it its places and every
/// other endpoint its own.
pub async fn a_backlog_of_one_endpoint_holds_up_no_other(stores: &Stores) {
    let flooded = Scene::open(stores).await;
    let endpoint = flooded.endpoint().await;
    for _ in 0..120 {
        flooded.happens(START).await;
    }
    let mut others = Vec::new();
    for age in 1..=5_u32 {
        let other = Scene::open(stores).await;
        let endpoint = other.endpoint().await;
        others.push((endpoint.id, other.happens(START + MS * age).await));
    }
    let now = START + seconds(1);
    let given = claim(stores, now, room(50)).await;
    assert_eq!(to(&given, endpoint.id), 2);
    for (id, event) in &others {
        assert!(given.iter().any(|it| it.endpoint.id == *id && it.event.id() == *event));
    }
    assert_eq!(given.len(), 7);
    // The next claim gives what is left of the backlog, within its bounds again.
    let given = claim(stores, now, room(50)).await;
    assert_eq!((given.len(), to(&given, endpoint.id)), (2, 2));
    // With one place in all, the longest due delivery gets it.
    assert_eq!(claim(stores, now, room(1)).await[0].endpoint.id, endpoint.id);
}

/// Fresh: deliveries under way count against the endpoint's places, and come again when their lease ends,
/// also beside a backlog.
pub async fn what_is_under_way_takes_the_places_of_its_endpoint(stores: &Stores) {
    let scene = Scene::open(stores).await;
    let endpoint = scene.endpoint().await.id;
    let mut events = Vec::new();
    for age in 0..6_u32 {
        events.push(scene.happens(START + MS * age).await);
    }
    let ids = |given: &[Dispatch]| given.iter().map(|it| it.event.id()).collect::<Vec<_>>();
    let now = START + seconds(1);
    let busy = |count| ClaimCapacity { busy: HashMap::from([(endpoint, count)]), ..room(9) };
    assert_eq!(ids(&claim(stores, now, busy(0)).await), events[..2]);
    assert_eq!(claim(stores, now, busy(2)).await, []);
    assert_eq!(ids(&claim(stores, now, busy(1)).await), events[2..3]);
    // The claimer is dead: when the lease ends, the rest of the backlog comes first.
    assert_eq!(ids(&claim(stores, now + LEASE - MS, room(9)).await), events[3..5]);
    let mut again = ids(&claim(stores, now + LEASE, room(9)).await);
    assert_eq!((again.len(), &again[0]), (2, &events[5]));
    again.extend(ids(&claim(stores, now + LEASE, room(9)).await));
    assert_eq!(claim(stores, now + LEASE, room(9)).await, []);
    again[1..].sort();
    events[..3].sort();
    assert_eq!(again[1..], events[..3]);
}

/// Fresh: an endpoint whose last call failed gets one call at a time until one succeeds, and comes after
/// endpoints that answer.
pub async fn an_endpoint_that_fails_gets_one_place_and_comes_last(stores: &Stores) {
    let (failing, sound) = (Scene::open(stores).await, Scene::open(stores).await);
    let (bad, good) = (failing.endpoint().await, sound.endpoint().await);
    let first = failing.happens(START).await;
    for _ in 0..5 {
        failing.happens(START + MS).await;
    }
    failing.fails(&bad, &first, None).await;
    sound.happens(START + MS * 2).await;
    let now = START + seconds(1);
    let given = claim(stores, now, room(1)).await;
    assert_eq!((given.len(), to(&given, good.id)), (1, 1));
    let given = claim(stores, now, room(9)).await;
    assert_eq!((given.len(), to(&given, bad.id)), (1, 1));
    assert_eq!(given[0].endpoint.failing.map(|failing| failing.failures), Some(1));
    assert_eq!(claim(stores, now, ClaimCapacity { failing: 0, ..room(9) }).await, []);
    failing.delivers(&bad, &given[0].event.id()).await;
    let given = claim(stores, now, room(9)).await;
    assert_eq!((given.len(), given[0].endpoint.failing), (2, None));
}

/// Fresh: concurrent claims hand each delivery to one caller, and keep the bound of each endpoint.
pub async fn shares_at_once_are_handed_to_one_caller_each(stores: &Stores) {
    let scene = Scene::open(stores).await;
    let endpoints = [scene.endpoint().await.id, scene.endpoint().await.id];
    for _ in 0..ROUNDS {
        for _ in 0..20 {
            scene.happens(START).await;
        }
        let now = START + seconds(1);
        let answers = race(24, |_| {
            let store = Arc::clone(&stores.events);
            async move { store.claim_due(now, seconds(86_400), room(9)).await.unwrap() }
        })
        .await;
        for (answer, endpoint) in answers.iter().zip(endpoints.iter().cycle()) {
            assert!(to(answer, *endpoint) <= 2);
        }
        let mut claimed: Vec<_> = answers.into_iter().flatten().collect();
        claimed.extend(claim(stores, now, ClaimCapacity::of(1_000)).await);
        let distinct: BTreeSet<_> =
            claimed.iter().map(|it| (it.endpoint.id, it.event.id())).collect();
        assert_eq!((claimed.len(), distinct.len()), (40, 40));
        for (endpoint, event) in distinct {
            stores.events.delivered(vec![scene.make.call(endpoint, &event)]).await.unwrap();
        }
    }
}
