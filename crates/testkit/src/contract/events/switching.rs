//! An endpoint that keeps failing is disabled.

use super::MUCH_LATER;
use crate::contract::{ROUNDS, count};
use crate::scene::Scene;
use crate::{MS, START, Stores, minutes, race, seconds};
use dwar_event::{
    DisablePolicy, Endpoint, EndpointCall, Event, EventKind, Failing, SendFailure, Subject,
};
use dwar_kernel::{AlertKind, GuardMode, GuardSubjectKind, KeyMode, ProjectId, Timestamp};
use std::sync::Arc;

const RULE: DisablePolicy = DisablePolicy { after: minutes(1), failures: 3 };

impl Scene {
    /// Fails a call to the endpoint under the rule; returns the endpoint if that disabled it.
    async fn fails_at(&self, endpoint: &Endpoint, event: &str, at: Timestamp) -> Option<Endpoint> {
        let call = EndpointCall { at, ..self.make.failed_call(endpoint.id, event, Some(at)) };
        self.stores.events.failed(call, Some(RULE)).await.unwrap()
    }

    async fn switch_off(&self, endpoint: &Endpoint, event: &str) -> Endpoint {
        for second in [0, 59] {
            assert_eq!(self.fails_at(endpoint, event, START + seconds(second)).await, None);
        }
        self.fails_at(endpoint, event, START + seconds(60)).await.unwrap()
    }

    async fn endpoint_now(&self, project: ProjectId, endpoint: &Endpoint) -> Endpoint {
        let known = self.stores.events.endpoints(project).await.unwrap();
        known.into_iter().find(|found| found.id == endpoint.id).unwrap()
    }
}

fn disabled(endpoint: &Endpoint, at: Timestamp) -> Event {
    let subject = Subject::Endpoint { endpoint: endpoint.id, failures: 3, since: START };
    let (mode, kind) = (KeyMode::Live, EventKind::EndpointDisabled);
    Event { project_mode: endpoint.project.in_mode(mode), kind, subject, at }
}

/// Fresh: an endpoint that failed often and long enough is disabled. Only the other endpoints of
/// its project get the event of this, and no more events are recorded for it.
pub async fn an_endpoint_that_keeps_failing_is_switched_off(stores: &Stores) {
    let (scene, stranger) = (Scene::open(stores).await, Scene::open(stores).await);
    let bad = scene.endpoint().await;
    let event = scene.happens(START).await;
    let other = scene.endpoint().await;
    stranger.endpoint().await;
    let off = scene.switch_off(&bad, &event).await;
    let at = START + seconds(60);
    let failing = Some(Failing { since: START, failures: 3 });
    assert_eq!(off, Endpoint { failing, disabled_at: Some(at), ..bad.clone() });
    assert_eq!(scene.endpoint_now(scene.project, &bad).await, off);
    assert_eq!(scene.endpoint_now(scene.project, &other).await, other);

    let later = scene.happens(at).await;
    let told = scene.told().await;
    assert!(told.iter().all(|dispatch| dispatch.endpoint == other), "{told:?}");
    assert_eq!(told[0].event, disabled(&bad, at));
    assert_eq!((told.len(), told[1].event.id()), (2, later));
    // The end of a call that was under way records nothing more.
    assert_eq!(scene.fails_at(&bad, &event, at + seconds(1)).await, None);
    assert_eq!(scene.told().await, []);
}

/// Fresh: an endpoint that answers that it is gone is disabled by that call, even without a rule.
/// The other endpoints of its project get the event of this, and its undelivered events are
/// dropped.
pub async fn an_endpoint_that_is_gone_is_switched_off_at_once(stores: &Stores) {
    for rule in [None, Some(RULE)] {
        let scene = Scene::open(stores).await;
        let gone = scene.endpoint().await;
        let (event, _waits) = (scene.happens(START).await, scene.happens(START).await);
        let other = scene.endpoint().await;
        let call = || {
            let call = scene.make.failed_call(gone.id, &event, None);
            EndpointCall { outcome: Err(SendFailure::Status(410)), ..call }
        };
        let off = stores.events.failed(call(), rule).await.unwrap().unwrap();
        let failing = Some(Failing { since: START, failures: 1 });
        assert_eq!(off, Endpoint { failing, disabled_at: Some(START), ..gone.clone() });
        assert_eq!(scene.endpoint_now(scene.project, &gone).await, off);
        assert_eq!(stores.events.failed(call(), rule).await.unwrap(), None, "it was off before");
        assert_eq!(stores.events.drop_undelivered().await.unwrap(), 1);
        let subject = Subject::Endpoint { endpoint: gone.id, failures: 1, since: START };
        let told = scene.told().await;
        assert_eq!(told.len(), 1, "{told:?}");
        assert_eq!((&told[0].endpoint, &told[0].event.subject), (&other, &subject));
    }
}

/// Fresh: a success in between resets the count.
pub async fn a_success_keeps_an_endpoint_on(stores: &Stores) {
    let scene = Scene::open(stores).await;
    let endpoint = scene.endpoint().await;
    let (failing, told) = (scene.happens(START).await, scene.happens(START).await);
    for second in 0..59 {
        assert_eq!(scene.fails_at(&endpoint, &failing, START + seconds(second)).await, None);
    }
    scene.delivers(&endpoint, &told).await;
    assert_eq!(scene.endpoint_now(scene.project, &endpoint).await, endpoint);
    assert_eq!(scene.switch_off_later(&endpoint, &failing).await, None);
}

impl Scene {
    /// Archives the project of the scene, or restores it.
    async fn archive(&self, at: Option<Timestamp>) {
        self.stores.projects.set_archived(self.project, at).await.unwrap().unwrap();
    }

    async fn switch_off_later(&self, endpoint: &Endpoint, event: &str) -> Option<Endpoint> {
        for second in 60..119 {
            self.fails_at(endpoint, event, START + seconds(second)).await;
        }
        self.fails_at(endpoint, event, START + seconds(119)).await
    }
}

/// Fresh: an endpoint that is enabled again starts without failures, and gets the events from then on. Its
/// undelivered events are dropped, those of other endpoints stay.
pub async fn what_a_switched_off_endpoint_was_not_told_is_dropped(stores: &Stores) {
    let scene = Scene::open(stores).await;
    let bad = scene.endpoint().await;
    let mut events = Vec::new();
    for _ in 0..7 {
        events.push(scene.happens(START).await);
    }
    let other = scene.endpoint().await;
    let shared = scene.happens(START + seconds(1)).await;
    assert_eq!(stores.events.drop_undelivered().await.unwrap(), 0);
    scene.switch_off(&bad, &events[0]).await;
    assert_eq!(stores.events.drop_undelivered().await.unwrap(), 8);
    assert_eq!(stores.events.drop_undelivered().await.unwrap(), 0);

    let strangers = [(scene.another().await, bad.id), (scene.project, scene.make.id())];
    for (project, id) in strangers {
        assert!(!stores.events.enable_endpoint(project, id).await.unwrap());
    }
    assert_eq!(stores.events.failing_endpoints(9).await.unwrap(), [], "it is switched off");
    let listed = stores.events.disabled_endpoints(9).await.unwrap();
    assert_eq!(listed.iter().map(|found| found.id).collect::<Vec<_>>(), [bad.id]);
    assert_eq!(stores.events.disabled_endpoints(0).await.unwrap(), []);
    scene.archive(Some(START)).await;
    assert_eq!(stores.events.disabled_endpoints(9).await.unwrap(), [], "its project is archived");
    scene.archive(None).await;
    assert_eq!(stores.events.disabled_endpoints(9).await.unwrap(), listed);
    assert!(stores.events.enable_endpoint(scene.project, bad.id).await.unwrap());
    assert_eq!(scene.endpoint_now(scene.project, &bad).await, bad);
    assert_eq!(stores.events.disabled_endpoints(9).await.unwrap(), []);
    for (at, endpoint) in [(62, &other), (61, &bad)] {
        scene.fails_at(endpoint, &events[0], START + seconds(at)).await;
    }
    let failing = stores.events.failing_endpoints(9).await.unwrap();
    assert_eq!(failing.iter().map(|found| found.id).collect::<Vec<_>>(), [bad.id, other.id]);
    assert_eq!(stores.events.failing_endpoints(1).await.unwrap(), failing[..1]);
    scene.archive(Some(START)).await;
    assert_eq!(stores.events.failing_endpoints(9).await.unwrap(), [], "its project is archived");
    scene.archive(None).await;
    for endpoint in [&bad, &other] {
        assert!(stores.events.enable_endpoint(scene.project, endpoint.id).await.unwrap());
    }
    assert_eq!(stores.events.failing_endpoints(9).await.unwrap(), []);
    let told = scene.told().await;
    let ids: Vec<_> = told.iter().map(|it| (it.endpoint.id, it.event.id())).collect();
    assert_eq!(ids, [(other.id, shared), (other.id, disabled(&bad, START + seconds(60)).id())]);
    scene.happens(START + seconds(61)).await;
    assert_eq!(scene.told().await.len(), 2);
}

/// Fresh: of concurrent failures exactly one disables the endpoint, none is lost, and its project
/// gets one event.
pub async fn failures_at_once_switch_an_endpoint_off_once(stores: &Stores) {
    for _ in 0..ROUNDS {
        let scene = Scene::open(stores).await;
        let bad = scene.endpoint().await;
        let mut events = Vec::new();
        for _ in 0..10 {
            events.push(scene.happens(START).await);
        }
        scene.endpoint().await;
        assert_eq!(scene.fails_at(&bad, &events[0], START).await, None);
        let answers = race(20, |number| {
            let (store, event) = (Arc::clone(&stores.events), &events[number / 2]);
            let again = (number % 2 == 0).then_some(START + MUCH_LATER);
            let call = scene.make.failed_call(bad.id, event, again);
            let call = EndpointCall { at: START + minutes(2), ..call };
            async move { store.failed(call, Some(RULE)).await.unwrap() }
        })
        .await;
        assert_eq!(count(&answers, Option::is_some), 1);
        let now = scene.endpoint_now(scene.project, &bad).await;
        assert_eq!(now.failing.map(|failing| failing.failures), Some(21));
        let told = scene.told_events().await;
        assert_eq!((told.len(), told[0].kind), (1, EventKind::EndpointDisabled));
    }
}

/// Fresh: an event that no other store records comes back unchanged, once, to the endpoints of its project.
pub async fn an_event_of_its_own_is_recorded_once(stores: &Stores) {
    let (scene, stranger) = (Scene::open(stores).await, Scene::open(stores).await);
    let subject = Subject::Provider { provider: "meta_2".to_owned(), failed: 41, receipts: 60 };
    let (project_mode, kind) = (scene.project.in_mode(KeyMode::Live), EventKind::ProviderFailing);
    let event = Event { project_mode, kind, subject, at: START };
    stores.events.record(event.clone()).await.unwrap();
    assert_eq!(scene.told().await, []);
    scene.endpoint().await;
    stranger.endpoint().await;
    for _ in 0..2 {
        stores.events.record(event.clone()).await.unwrap();
    }
    assert_eq!(scene.told_events().await, [event]);

    let endpoint = scene.make.id();
    let alert = |kind, alert, endpoint, since| Event {
        project_mode,
        kind,
        subject: Subject::Alert { alert, endpoint, since },
        at: START + MS,
    };
    let all = [
        alert(EventKind::AlertOpened, AlertKind::WalletEmpty, None, START),
        alert(EventKind::AlertResolved, AlertKind::WalletEmpty, None, START),
        alert(EventKind::AlertOpened, AlertKind::EndpointFailing, Some(endpoint), START),
        // The alert opens again.
        alert(EventKind::AlertOpened, AlertKind::WalletEmpty, None, START + MS),
    ];
    for event in &all {
        stores.events.record(event.clone()).await.unwrap();
    }
    let mut told = scene.told_events().await;
    told.retain(|it| it.kind != EventKind::ProviderFailing);
    told.sort_by_key(Event::id);
    let mut wanted = all.to_vec();
    wanted.sort_by_key(Event::id);
    assert_eq!(told, wanted);
}

/// A level of the guard that is found empty.
fn emptied(
    project: ProjectId,
    subject: GuardSubjectKind,
    guard: GuardMode,
    at: Timestamp,
) -> Event {
    let (project_mode, kind) = (project.in_mode(KeyMode::Live), EventKind::GuardEmptied);
    Event { project_mode, kind, subject: Subject::Guard { subject, guard }, at }
}

/// Fresh: instances that find levels of one kind of subject empty within an hour record one event, also at once
/// and after it was delivered. Each hour, kind and project has its own.
pub async fn an_empty_level_is_one_event_of_its_hour(stores: &Stores) {
    use GuardMode::{Enforce, Watch};
    use GuardSubjectKind::{Project, Series};
    let hour = START - MS * 123;
    for _ in 0..ROUNDS {
        let (scene, stranger) = (Scene::open(stores).await, Scene::open(stores).await);
        let project = scene.project;
        scene.endpoint().await;
        race(20, |number| {
            let (store, guard) = (Arc::clone(&stores.events), [Watch, Enforce][number % 2]);
            let at = hour + seconds(180) * u32::try_from(number).unwrap();
            async move { store.record(emptied(project, Series, guard, at)).await.unwrap() }
        })
        .await;
        let told = scene.told_events().await;
        assert_eq!(told.len(), 1, "{told:?}");
        let Subject::Guard { guard, .. } = told[0].subject else { panic!("{told:?}") };
        assert_eq!(told, [emptied(project, Series, guard, told[0].at)]);

        let record = async |event| stores.events.record(event).await.unwrap();
        record(emptied(project, Series, Watch, hour + minutes(60) - MS)).await;
        assert_eq!(scene.told_events().await, [], "that hour was told");
        let next = emptied(project, Series, Watch, hour + minutes(60));
        let other = emptied(project, Project, Enforce, hour + minutes(61));
        for event in [&next, &other] {
            record(event.clone()).await;
        }
        assert_eq!(scene.told_events().await, [next, other]);
        // No endpoint and no feed, and no such project.
        for nobody in [stranger.project, scene.make.id()] {
            record(emptied(nobody, Series, Watch, START)).await;
        }
        stranger.endpoint().await;
        assert_eq!(scene.told_events().await, []);
    }
}
