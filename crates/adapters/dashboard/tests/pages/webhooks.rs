use crate::support::House;
use dwar_event::{Endpoint, Event, EventKind, Subject};
use dwar_kernel::KeyMode;
use dwar_operator::Role;
use dwar_testkit::{Fixtures, START, seconds};
use std::time::Duration;

/// An endpoint of Acme that was called with one event and refused it.
pub async fn told(house: &House) -> (Endpoint, String) {
    let (make, stores) = (Fixtures::seeded(5), &house.parts.stores);
    let (endpoint, secret) = {
        let by = dwar_operator::Requester::command_line();
        let endpoints = &house.manage.endpoints;
        endpoints.add(&by, house.project, "https://example.com/x?key=hush", false).await.unwrap()
    };
    drop(secret);
    let subject = Subject::Session { session: make.id(), identity: make.id() };
    let (project_mode, kind) = (house.project.in_mode(KeyMode::Live), EventKind::SessionRevoked);
    let event = Event { project_mode, kind, subject, at: START };
    stores.events.record(event.clone()).await.unwrap();
    let call = make.failed_call(endpoint.id, &event.id(), None);
    assert_eq!(stores.events.failed(call, None).await.unwrap(), None);
    (endpoint, event.id())
}

#[actix_web::test]
async fn the_page_of_a_webhook_shows_what_it_was_told() {
    let house = House::new().await;
    let (endpoint, event) = told(&house).await;
    let page = house.page(&format!("settings/events/{}", endpoint.id));
    let viewer = house.with_role(Role::Viewer).await;
    let seen = viewer.get(&page).await;
    assert_eq!(seen.status, 200);
    assert!(seen.body.contains(&event) && seen.body.contains("HTTP 500"), "{}", seen.body);
    assert!(!seen.body.contains("whsec_") && !seen.body.contains("/test\""), "only to look at");
    let failed = viewer.get(&format!("{page}?show=failed")).await.body;
    assert!(failed.contains(&event));
    assert!(viewer.get(&house.page("settings/events")).await.body.contains(&page));
    let old = viewer.get(&house.page(&format!("settings/webhooks/{}", endpoint.id))).await;
    assert_eq!((old.status, old.header("location")), (303, page.as_str()));
    assert_eq!(house.with_role(Role::Support).await.get(&page).await.status, 403);
    let elsewhere = format!("/p/{}/settings/events/{}", house.other, endpoint.id);
    assert_eq!(house.owner().await.get(&elsewhere).await.status, 404);
    let nonsense = house.page("settings/events/nonsense");
    assert_eq!(viewer.get(&nonsense).await.status, 404);
}

#[actix_web::test]
async fn a_test_says_what_came_of_it_and_is_not_repeated_at_once() {
    let house = House::new().await;
    let (endpoint, _) = told(&house).await;
    let page = house.page(&format!("settings/events/{}", endpoint.id));
    let member = house.with_role(Role::Member).await;
    let first = member.post(&format!("{page}/test"), &[]).await;
    assert_eq!(first.status, 200);
    assert!(
        first.body.contains("Test delivered. The endpoint responded with 204."),
        "{}",
        first.body
    );
    assert!(first.body.contains("webhook.test"));
    let second = member.post(&format!("{page}/test"), &[]).await;
    assert_eq!((second.status, house.post.bodies().len()), (409, 1));
    house.clock.set(START + seconds(5));
    assert_eq!(member.post(&format!("{page}/test"), &[]).await.status, 200);
    assert_eq!(house.post.bodies().len(), 2);
    let viewer = house.with_role(Role::Viewer).await;
    assert_eq!(viewer.post(&format!("{page}/test"), &[]).await.status, 403);
    let elsewhere = format!("/p/{}/settings/events/{}/test", house.other, endpoint.id);
    assert_eq!(house.owner().await.post(&elsewhere, &[]).await.status, 404);
    assert_eq!(house.post.bodies().len(), 2);
}

#[actix_web::test]
async fn an_event_is_sent_again_once_however_often_it_is_clicked() {
    let house = House::new().await;
    let (endpoint, event) = told(&house).await;
    let page = house.page(&format!("settings/events/{}", endpoint.id));
    let (member, resend) = (house.with_role(Role::Member).await, format!("{page}/resend"));
    house.clock.set(START + seconds(10));
    let again = [("event", event.as_str())];
    let answers = [member.post(&resend, &again).await, member.post(&resend, &again).await];
    assert_eq!(answers.map(|answer| answer.status), [303, 409]);
    assert_eq!(member.post(&resend, &[("event", "otp_sent_1")]).await.status, 404);
    let events = &house.parts.stores.events;
    let room = dwar_event::ClaimCapacity::of(9);
    let due = events.claim_due(START + seconds(10), Duration::from_secs(60), room).await.unwrap();
    assert_eq!(
        due.iter().map(|due| due.event.id()).collect::<Vec<_>>(),
        std::slice::from_ref(&event)
    );
    for role in [Role::Viewer, Role::Support] {
        assert_eq!(house.with_role(role).await.post(&resend, &again).await.status, 403);
    }
}
