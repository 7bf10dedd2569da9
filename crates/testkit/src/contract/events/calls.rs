//! Promises of [`dwar_event::CallLog`].

use super::accepted;
use crate::contract::{ROUNDS, count};
use crate::scene::Scene;
use crate::{MS, START, Stores, minutes, race, seconds};
use dwar_event::{
    CALL_LEASE, CallFilter, DisablePolicy, Endpoint, EndpointCall, Event, EventKind, LoggedCall,
    Resend, SendFailure, Subject,
};
use dwar_kernel::{EndpointId, KeyMode, ProjectId, Timestamp};
use std::sync::Arc;
use std::time::Duration;

const ALL: CallFilter = CallFilter { failed: false, before: None };
const FAILED: CallFilter = CallFilter { failed: true, before: None };
/// Long enough after a call that the same event may be sent again.
const LATER: Duration = seconds(10);

impl Scene {
    async fn calls_of(&self, endpoint: &Endpoint, filter: CallFilter) -> Vec<LoggedCall> {
        self.stores.calls.calls(endpoint.project, endpoint.id, filter, 100).await.unwrap()
    }

    async fn resend(&self, endpoint: &Endpoint, event: &str, now: Timestamp) -> Resend {
        let (calls, event) = (&self.stores.calls, event.to_owned());
        calls.resend(endpoint.project, endpoint.id, event, now).await.unwrap()
    }

    /// Claims what is due at `now`; returns event ids and numbers of failures.
    async fn due_again(&self, now: Timestamp) -> Vec<(String, u32)> {
        let due = self.claims(now, 100).await;
        due.iter().map(|dispatch| (dispatch.event.id(), dispatch.failures)).collect()
    }

    /// An event that belongs to no other store's change.
    fn provider_fails(&self, provider: &str) -> Event {
        let provider = provider.to_owned();
        let subject = Subject::Provider { provider, failed: 41, receipts: 60 };
        let (project_mode, kind) =
            (self.project.in_mode(KeyMode::Live), EventKind::ProviderFailing);
        Event { project_mode, kind, subject, at: START }
    }
}

fn test_of(project: ProjectId, endpoint: EndpointId) -> Event {
    let (kind, subject) = (EventKind::WebhookTest, Subject::Test { endpoint });
    Event { project_mode: project.in_mode(KeyMode::Live), kind, subject, at: START }
}

/// Fresh: each call comes back unchanged, newest first, page by page, to its own project only.
pub async fn calls_come_back_newest_first_to_their_project(stores: &Stores) {
    let (scene, stranger) = (Scene::open(stores).await, Scene::open(stores).await);
    let (endpoint, other) = (scene.endpoint().await, scene.endpoint().await);
    let outcomes = [
        Err(SendFailure::AddressNotAllowed),
        Err(SendFailure::TimedOut),
        Err(SendFailure::Unresolved),
        Err(SendFailure::ConnectionRefused),
        Err(SendFailure::Tls),
        Err(SendFailure::Unreachable),
        Err(SendFailure::Status(503)),
        Err(SendFailure::Unsigned),
        Ok(202),
    ];
    let mut wanted = Vec::new();
    for (number, outcome) in (1..).zip(outcomes) {
        let event = scene.happens(START + MS * number).await;
        let again = (number % 2 == 0).then_some(START + minutes(9) + MS);
        let (kind, took) = (EventKind::OtpSent, MS * (number * 7));
        let call = EndpointCall {
            kind,
            number,
            took,
            outcome,
            again,
            ..scene.make.call(endpoint.id, &event)
        };
        match call.outcome {
            Ok(_) => stores.events.delivered(vec![call.clone()]).await.unwrap(),
            Err(SendFailure::Unsigned) => stores.events.give_up(call.clone()).await.unwrap(),
            Err(_) => assert_eq!(stores.events.failed(call.clone(), None).await.unwrap(), None),
        }
        wanted.push(LoggedCall { call, on_record: true });
    }
    wanted.sort_by_key(|logged| std::cmp::Reverse(logged.call.id));
    assert_eq!(scene.calls_of(&endpoint, ALL).await, wanted);
    assert_eq!(scene.calls_of(&other, ALL).await, []);
    for project in [stranger.project, scene.make.id()] {
        assert_eq!(stores.calls.calls(project, endpoint.id, ALL, 100).await.unwrap(), []);
    }
    let page = |before, limit| {
        let filter = CallFilter { before, ..ALL };
        stores.calls.calls(scene.project, endpoint.id, filter, limit)
    };
    assert_eq!(page(None, 0).await.unwrap(), []);
    assert_eq!(page(None, 4).await.unwrap(), wanted[..4]);
    assert_eq!(page(Some(wanted[3].call.id), 4).await.unwrap(), wanted[4..8]);
    assert_eq!(page(Some(wanted[8].call.id), 4).await.unwrap(), []);
    wanted.retain(|logged| logged.call.outcome.is_err());
    assert_eq!(scene.calls_of(&endpoint, FAILED).await, wanted);
}

/// Fresh: a log is trimmed to exactly its newest calls; other logs are unchanged. The log of an endpoint is
/// deleted with it.
pub async fn a_log_is_cut_to_its_newest_calls(stores: &Stores) {
    let scene = Scene::open(stores).await;
    let (endpoint, other) = (scene.endpoint().await, scene.endpoint().await);
    for age in 0..5_u32 {
        let event = scene.happens(START + MS * age).await;
        scene.delivers(&endpoint, &event).await;
        scene.delivers(&other, &event).await;
    }
    let all = scene.calls_of(&endpoint, ALL).await;
    assert_eq!(stores.calls.trim_calls(endpoint.id, 5).await.unwrap(), 0);
    assert_eq!(stores.calls.trim_calls(endpoint.id, 3).await.unwrap(), 2);
    assert_eq!(stores.calls.trim_calls(endpoint.id, 3).await.unwrap(), 0);
    assert_eq!(scene.calls_of(&endpoint, ALL).await, all[..3]);
    let others = scene.calls_of(&other, ALL).await;
    assert_eq!(count(&others, |logged| logged.on_record), 5);
    assert!(stores.events.remove_endpoint(scene.project, other.id).await.unwrap());
    assert_eq!(scene.calls_of(&other, ALL).await, []);
    assert_eq!(scene.calls_of(&endpoint, ALL).await, all[..3]);
}

/// Fresh: an event is on record as long as an endpoint waits for it or a call with it is kept; only after
/// that does it count as new.
pub async fn an_event_is_kept_as_long_as_its_calls(stores: &Stores) {
    let scene = Scene::open(stores).await;
    let (one, two) = (scene.endpoint().await, scene.endpoint().await);
    let event = scene.provider_fails("meta");
    let id = event.id();
    stores.events.record(event.clone()).await.unwrap();
    scene.delivers(&one, &id).await;
    assert_eq!(stores.calls.sweep_calls(START).await.unwrap(), 0, "it began then, not before");
    assert_eq!(stores.calls.sweep_calls(START + MS).await.unwrap(), 1);
    // The other endpoint still waits for it.
    let dispatches = scene.claims(START, 9).await;
    assert_eq!((dispatches.len(), &dispatches[0].event), (1, &event));
    scene.delivers(&two, &id).await;
    // Delivered to both, and kept for the log of the second.
    stores.events.record(event.clone()).await.unwrap();
    assert_eq!(scene.due_again(START + minutes(9)).await, []);
    assert!(scene.calls_of(&two, ALL).await[0].on_record);
    assert_eq!(stores.calls.trim_calls(two.id, 0).await.unwrap(), 1);
    stores.events.record(event).await.unwrap();
    assert_eq!(scene.due_again(START + minutes(9)).await.len(), 2, "nothing knew it any more");
}

/// Fresh: an event that was sent to an endpoint is sent again to that endpoint only, as a new series.
pub async fn an_event_is_sent_again_to_one_endpoint(stores: &Stores) {
    let (scene, stranger) = (Scene::open(stores).await, Scene::open(stores).await);
    let (endpoint, other) = (scene.endpoint().await, scene.endpoint().await);
    let event = scene.happens(START).await;
    assert_eq!(scene.resend(&other, &event, START).await, Resend::Gone, "it was not called yet");
    scene.fails(&endpoint, &event, None).await;
    scene.delivers(&other, &event).await;
    let now = START + LATER;
    assert_eq!(scene.resend(&endpoint, &event, now - MS).await, Resend::UnderWay);
    for (project, endpoint, event) in [
        (stranger.project, endpoint.id, event.clone()),
        (scene.project, scene.make.id(), event.clone()),
        (scene.project, endpoint.id, "otp_sent_of_nobody".to_owned()),
    ] {
        let answer = stores.calls.resend(project, endpoint, event, now).await;
        assert_eq!(answer.unwrap(), Resend::Gone);
    }
    assert_eq!(scene.due_again(now).await, []);
    assert_eq!(scene.resend(&endpoint, &event, now).await, Resend::Queued);
    assert_eq!(scene.resend(&endpoint, &event, now).await, Resend::UnderWay);
    let dispatches = scene.claims(now, 9).await;
    assert_eq!((dispatches.len(), dispatches[0].failures), (1, 0));
    assert_eq!((&dispatches[0].event.id(), dispatches[0].endpoint.id), (&event, endpoint.id));
    scene.delivers(&endpoint, &event).await;
    assert_eq!(scene.due_again(now + minutes(9)).await, []);
    assert_eq!(scene.calls_of(&endpoint, ALL).await.len(), 2);
}

/// Fresh: an event that waits for its next attempt becomes due at once and stays in its series; an
/// event that is about to be sent does not change; a disabled endpoint gets nothing.
pub async fn what_waits_for_its_next_try_is_brought_forward(stores: &Stores) {
    let scene = Scene::open(stores).await;
    let endpoint = scene.endpoint().await;
    let event = scene.happens(START).await;
    let now = START + minutes(1);
    scene.fails(&endpoint, &event, Some(now + CALL_LEASE)).await;
    assert_eq!(scene.resend(&endpoint, &event, now).await, Resend::UnderWay);
    assert_eq!(scene.due_again(now).await, []);
    scene.fails(&endpoint, &event, Some(now + CALL_LEASE + MS)).await;
    assert_eq!(scene.resend(&endpoint, &event, now).await, Resend::Queued);
    assert_eq!(scene.due_again(now).await, [(event.clone(), 2)]);

    let off = DisablePolicy { after: Duration::ZERO, failures: 1 };
    let call = scene.make.failed_call(endpoint.id, &event, None);
    assert!(stores.events.failed(call, Some(off)).await.unwrap().is_some());
    assert_eq!(scene.resend(&endpoint, &event, now + minutes(9)).await, Resend::Off);
}

/// Fresh: of many concurrent requests to send an event again exactly one is queued.
pub async fn wishes_at_once_are_queued_once(stores: &Stores) {
    let scene = Scene::open(stores).await;
    let endpoint = scene.endpoint().await;
    for _ in 0..ROUNDS {
        let event = scene.happens(START).await;
        scene.delivers(&endpoint, &event).await;
        let now = START + LATER;
        let answers = race(20, |_| {
            let (calls, event) = (Arc::clone(&stores.calls), event.clone());
            let (project, endpoint) = (scene.project, endpoint.id);
            async move { calls.resend(project, endpoint, event, now).await.unwrap() }
        })
        .await;
        assert_eq!(count(&answers, |answer| *answer == Resend::Queued), 1);
        assert_eq!(scene.due_again(now).await, [(event.clone(), 0)]);
        scene.delivers(&endpoint, &event).await;
    }
}

/// Fresh: an event for one endpoint is recorded once, and only for that endpoint of its project.
pub async fn an_event_is_addressed_to_one_endpoint_once(stores: &Stores) {
    let (scene, stranger) = (Scene::open(stores).await, Scene::open(stores).await);
    let (endpoint, _) = (scene.endpoint().await, scene.endpoint().await);
    let calls = &stores.calls;
    for (project, id) in [(stranger.project, endpoint.id), (scene.project, scene.make.id())] {
        assert!(!calls.address(test_of(project, id), id, START).await.unwrap());
    }
    let event = test_of(scene.project, endpoint.id);
    let due_at = START + seconds(60);
    let answers = race(20, |_| {
        let (calls, event) = (Arc::clone(&stores.calls), event.clone());
        async move { calls.address(event, endpoint.id, due_at).await.unwrap() }
    })
    .await;
    assert_eq!(count(&answers, |done| *done), 1);
    assert_eq!(scene.claims(due_at - MS, 9).await, []);
    let dispatches = scene.claims(due_at, 9).await;
    assert_eq!((dispatches.len(), &dispatches[0].event), (1, &event));
    assert_eq!(dispatches[0].endpoint.id, endpoint.id);
    scene.delivers(&endpoint, &event.id()).await;
    assert!(!calls.address(event, endpoint.id, due_at).await.unwrap(), "it was told");
}

/// Fresh: an erasure removes the number from events that were sent already, so that sending them again does
/// not reveal it.
pub async fn an_erasure_takes_the_phone_from_what_was_told(stores: &Stores) {
    let scene = Scene::open(stores).await;
    let endpoint = scene.endpoint().await;
    let line = scene.line();
    let id = scene.told_session(&line).await.identity;
    let mut otp = scene.issued(&line).await;
    scene.hears(&mut otp, accepted(), START).await;
    let told = scene.told().await;
    assert_eq!(told.len(), 1);
    assert!(matches!(&told[0].event.subject, Subject::Otp { phone: Some(_), .. }));
    let erased = stores.identities.erase(line.project_mode, id, START).await;
    assert!(erased.unwrap().is_some());
    let event = told[0].event.id();
    assert_eq!(scene.resend(&endpoint, &event, START + LATER).await, Resend::Queued);
    let again = scene.told_events().await;
    let again = again.iter().find(|told| told.id() == event).unwrap();
    assert!(matches!(&again.subject, Subject::Otp { phone: None, .. }), "{again:?}");
}
