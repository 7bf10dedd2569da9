use super::accepted;
use crate::contract::ROUNDS;
use crate::scene::Scene;
use crate::{MS, START, Stores, minutes, race, seconds};
use dwar_event::{ClaimCapacity, Endpoint, NewSecret};
use dwar_kernel::ProjectId;
use dwar_otp::{Report, ReportedRequest};
use std::collections::BTreeSet;

async fn endpoints(stores: &Stores, project: ProjectId) -> Vec<Endpoint> {
    stores.events.endpoints(project).await.unwrap()
}

/// A project's endpoints come back unchanged, oldest first; those of other projects do not.
pub async fn endpoints_are_oldest_first_and_stay_inside_their_project(stores: &Stores) {
    let scene = Scene::open(stores).await;
    let other = scene.another().await;
    assert_eq!(endpoints(stores, scene.project).await, []);
    let [third, first, second] = [2_u32, 0, 1].map(|age| Endpoint {
        created_at: START + MS * age,
        full_phone: age == 1,
        ..scene.make.endpoint(scene.project)
    });
    for endpoint in [&third, &first, &second] {
        stores.events.add_endpoint(endpoint.clone()).await.unwrap();
    }
    // Two endpoints may share an address, within a project and across projects.
    let shared = Endpoint { url: first.url.clone(), ..scene.make.endpoint(other) };
    stores.events.add_endpoint(shared.clone()).await.unwrap();
    assert_eq!(endpoints(stores, scene.project).await, [first, second, third]);
    assert_eq!(endpoints(stores, other).await, [shared]);
    assert_eq!(endpoints(stores, scene.make.id()).await, []);
}

/// A new secret replaces the present one, which stays valid until its end; an even older one is dropped.
pub async fn a_new_secret_takes_the_place_of_the_present_one(stores: &Stores) {
    let scene = Scene::open(stores).await;
    let (mut endpoint, bystander) = (scene.endpoint().await, scene.endpoint().await);
    let mut bystanders = vec![bystander];
    let new = |minute| NewSecret {
        secret: scene.make.sealed(),
        previous_until: START + minutes(minute) + MS,
    };
    for minute in [1, 9] {
        let secret = new(minute);
        endpoint.secret.replace(secret.clone());
        assert!(stores.events.replace_secret(scene.project, endpoint.id, secret).await.unwrap());
        let mut stored = endpoints(stores, scene.project).await;
        stored.retain(|found| found.id == endpoint.id);
        assert_eq!(stored, std::slice::from_ref(&endpoint));
    }
    let strangers = [(scene.another().await, endpoint.id), (scene.project, scene.make.id())];
    for (project, id) in strangers {
        assert!(!stores.events.replace_secret(project, id, new(5)).await.unwrap());
    }
    bystanders.push(endpoint);
    bystanders.sort_by_key(|endpoint| endpoint.id);
    let mut stored = endpoints(stores, scene.project).await;
    stored.sort_by_key(|endpoint| endpoint.id);
    assert_eq!(stored, bystanders);
}

/// An endpoint is removed once, only by its own project, and no other endpoint with it.
pub async fn an_endpoint_is_removed_once_and_by_its_project(stores: &Stores) {
    let scene = Scene::open(stores).await;
    let (endpoint, bystander) = (scene.endpoint().await, scene.endpoint().await);
    let other = scene.another().await;
    let remove = |project, id| stores.events.remove_endpoint(project, id);
    assert!(!remove(other, endpoint.id).await.unwrap());
    assert!(!remove(scene.project, scene.make.id()).await.unwrap());
    assert_eq!(endpoints(stores, scene.project).await.len(), 2);
    assert!(remove(scene.project, endpoint.id).await.unwrap());
    assert!(!remove(scene.project, endpoint.id).await.unwrap());
    assert_eq!(endpoints(stores, scene.project).await, [bystander]);
}

/// Fresh: undelivered events of a removed endpoint are dropped; other endpoints still get them.
pub async fn a_removed_endpoint_is_told_nothing_more(stores: &Stores) {
    let scene = Scene::open(stores).await;
    let (kept, removed) = (scene.endpoint().await, scene.endpoint().await);
    let mut otp = scene.issued(&scene.line()).await;
    scene.hears(&mut otp, accepted(), START + seconds(1)).await;
    let event = otp_event_ids(&scene.claims(START + seconds(1), 9).await);
    assert_eq!(event.len(), 1);
    scene.hears(&mut otp, Report::Delivered, START + seconds(2)).await;

    assert!(!stores.events.remove_endpoint(scene.another().await, removed.id).await.unwrap());
    assert!(stores.events.remove_endpoint(scene.project, removed.id).await.unwrap());
    // A delivery that was under way when its endpoint was removed ends without a trace.
    for id in event {
        let call = scene.make.failed_call(removed.id, &id, Some(START));
        assert_eq!(stores.events.failed(call, None).await.unwrap(), None);
        stores.events.delivered(vec![scene.make.call(removed.id, &id)]).await.unwrap();
    }
    let told = scene.told().await;
    assert_eq!(told.len(), 2);
    assert!(told.iter().all(|dispatch| dispatch.endpoint == kept));
    assert!(stores.events.remove_endpoint(scene.project, kept.id).await.unwrap());
    let late = scene.endpoint().await;
    assert_eq!(scene.told().await, []);
    let mut otp = scene.issued(&scene.line()).await;
    scene.hears(&mut otp, accepted(), START + seconds(3)).await;
    let told = scene.told().await;
    assert_eq!(told.len(), 1);
    assert_eq!(told[0].endpoint, late);
}

fn otp_event_ids(dispatches: &[dwar_event::Dispatch]) -> BTreeSet<String> {
    dispatches.iter().map(|dispatch| dispatch.event.id()).collect()
}

/// Number of endpoints that are removed, and of those that are added, at the same time.
const LEAVING: usize = 9;

/// Fresh: adding and removing endpoints makes no step fail, and no removed endpoint gets an event.
pub async fn endpoints_come_and_go_while_things_happen(stores: &Stores) {
    let scene = Scene::open(stores).await;
    for round in 0..ROUNDS {
        let stays = scene.endpoint().await;
        let mut leaving = Vec::new();
        let mut sent = Vec::new();
        for _ in 0..LEAVING {
            leaving.push(scene.endpoint().await);
            sent.push(scene.issued(&scene.line()).await);
        }
        let now = START + seconds(u64::try_from(round).unwrap());
        race(4 * LEAVING, |number| {
            let (stores, project, place) = (stores.clone(), scene.project, number / 4);
            let (goes, otp) = (leaving[place].clone(), &sent[place]);
            let comes = scene.make.endpoint(project);
            let report = scene.make.send_report(otp.delivery.attempts[0].id, accepted());
            let request = ReportedRequest::Id(project, otp.id);
            async move {
                let events = &stores.events;
                match number % 4 {
                    0 => assert!(events.add_endpoint(comes).await.unwrap()),
                    1 => assert!(events.remove_endpoint(project, goes.id).await.unwrap()),
                    2 => drop(
                        events.claim_due(now, seconds(0), ClaimCapacity::of(20)).await.unwrap(),
                    ),
                    _ => {
                        let report = stores.logins.report(request, report, now);
                        assert!(report.await.unwrap().is_some());
                    }
                }
            }
        })
        .await;
        let present: BTreeSet<_> =
            endpoints(stores, scene.project).await.into_iter().map(|found| found.id).collect();
        let told = scene.told().await;
        assert!(told.iter().all(|dispatch| present.contains(&dispatch.endpoint.id)));
        let to_stays = told.iter().filter(|dispatch| dispatch.endpoint == stays).count();
        assert_eq!(to_stays, sent.len());
        // A project has at most twenty endpoints.
        for endpoint in present {
            assert!(stores.events.remove_endpoint(scene.project, endpoint).await.unwrap());
        }
    }
}

/// A project has at most [`Endpoint::MOST`] endpoints, also if they are added concurrently; another project
/// has its own.
pub async fn a_project_has_a_bounded_number_of_endpoints(stores: &Stores) {
    let scene = Scene::open(stores).await;
    let other = scene.another().await;
    let come = (0..Endpoint::MOST + 5)
        .map(|_| stores.events.add_endpoint(scene.make.endpoint(scene.project)));
    let taken = futures_util::future::join_all(come).await;
    let taken = taken.into_iter().filter(|taken| *taken.as_ref().unwrap()).count();
    assert_eq!(taken, Endpoint::MOST);
    let mut there = endpoints(stores, scene.project).await;
    assert_eq!(there.len(), Endpoint::MOST);
    assert!(stores.events.add_endpoint(scene.make.endpoint(other)).await.unwrap());
    let gone = there.remove(0);
    assert!(stores.events.remove_endpoint(scene.project, gone.id).await.unwrap());
    assert!(stores.events.add_endpoint(gone).await.unwrap());
}
