use crate::common::{BY, World, down};
use dwar_console::{ManageEndpoints, ManageError};
use dwar_event::{Endpoint, MockEventStore, MockWebhookSender, NewSecret, SendFailure};
use dwar_kernel::{EndpointId, KeptSecret, Purpose, Vault};
use dwar_testkit::{ClearVault, START, minutes};
use mockall::predicate::eq;
use std::sync::{Arc, Mutex};

const URL: &str = "https://events.example.com/dwar";

fn manage(world: &mut World, events: MockEventStore, sender: MockWebhookSender) -> ManageEndpoints {
    ManageEndpoints { control: world.control(), events: Arc::new(events), sender: Arc::new(sender) }
}

fn allowing() -> MockWebhookSender {
    let mut sender = MockWebhookSender::new();
    sender.expect_allows().with(eq(URL)).times(1).returning(|_| Ok(()));
    sender
}

fn empty() -> World {
    let mut world = World::live();
    world.projects.expect_find().returning(|_| Ok(None));
    world
}

fn knows(world: &World, id: EndpointId, known: bool) -> MockEventStore {
    let endpoint = Endpoint { id, ..world.make.endpoint(world.line.project_mode.project) };
    let known = if known { vec![endpoint] } else { Vec::new() };
    let mut events = MockEventStore::new();
    events.expect_endpoints().returning(move |_| Ok(known.clone()));
    events
}

#[tokio::test]
async fn a_new_endpoint_shows_its_secret_and_stores_it_sealed() {
    for full_phone in [false, true] {
        let mut world = World::live();
        let (project, stored) = (world.line.project_mode.project, Arc::new(Mutex::new(Vec::new())));
        let (seen, mut events) = (Arc::clone(&stored), MockEventStore::new());
        events.expect_endpoints().returning(|_| Ok(Vec::new()));
        events.expect_add_endpoint().times(1).returning(move |endpoint| {
            seen.lock().unwrap().push(endpoint);
            Ok(true)
        });
        let manage = manage(world.knows_project(), events, allowing());
        let (endpoint, secret) = manage.add(&BY, project, URL, full_phone).await.unwrap();
        assert_eq!(*stored.lock().unwrap(), std::slice::from_ref(&endpoint));
        let context = endpoint.id.uuid();
        let plain =
            ClearVault.open(Purpose::WebhookSecret, context.as_bytes(), &endpoint.secret.present);
        assert_eq!(plain.unwrap(), secret.expose().into_bytes());
        let wanted = Endpoint {
            id: endpoint.id,
            project,
            url: URL.to_owned(),
            full_phone,
            secret: KeptSecret::first(endpoint.secret.present.clone()),
            created_at: START,
            failing: None,
            disabled_at: None,
        };
        assert_eq!(endpoint, wanted);
    }
}

#[tokio::test]
async fn two_endpoints_share_neither_id_nor_secret() {
    let mut world = World::live();
    let project = world.line.project_mode.project;
    let mut events = MockEventStore::new();
    events.expect_endpoints().returning(|_| Ok(Vec::new()));
    events.expect_add_endpoint().times(2).returning(|_| Ok(true));
    let mut sender = MockWebhookSender::new();
    sender.expect_allows().returning(|_| Ok(()));
    let manage = manage(world.knows_project(), events, sender);
    let (one, first) = manage.add(&BY, project, URL, false).await.unwrap();
    let (two, second) = manage.add(&BY, project, URL, false).await.unwrap();
    assert_ne!(one.id, two.id);
    assert_ne!(first.expose(), second.expose());
}

#[tokio::test]
async fn an_address_that_is_not_allowed_is_not_stored() {
    let mut world = World::live();
    let project = world.line.project_mode.project;
    let mut sender = MockWebhookSender::new();
    sender.expect_allows().times(1).returning(|_| Err(SendFailure::AddressNotAllowed));
    let manage = manage(world.knows_project(), MockEventStore::new(), sender);
    let answer = manage.add(&BY, project, "http://127.0.0.1/", false).await;
    assert!(matches!(answer, Err(ManageError::Invalid { field: "url", .. })));
}

#[tokio::test]
async fn an_unknown_project_has_no_endpoints() {
    let mut world = empty();
    let project = world.line.project_mode.project;
    let manage = manage(world.knows_project(), MockEventStore::new(), MockWebhookSender::new());
    let added = manage.add(&BY, project, URL, false).await;
    assert!(matches!(added, Err(ManageError::NoSuchProject)));
    assert!(matches!(manage.list(&BY, project).await, Err(ManageError::NoSuchProject)));
}

#[tokio::test]
async fn endpoints_are_listed_as_the_store_has_them() {
    let mut world = World::live();
    let project = world.line.project_mode.project;
    let endpoints = vec![world.make.endpoint(project), world.make.endpoint(project)];
    let (told, mut events) = (endpoints.clone(), MockEventStore::new());
    let list = events.expect_endpoints().with(eq(project));
    list.times(1).returning(move |_| Ok(told.clone()));
    let manage = manage(world.knows_project(), events, MockWebhookSender::new());
    assert_eq!(manage.list(&BY, project).await.unwrap(), endpoints);
}

#[tokio::test]
async fn an_endpoint_is_removed_if_the_project_has_it() {
    for known in [true, false] {
        let mut world = World::live();
        let (project, id) = (world.line.project_mode.project, world.make.id::<EndpointId>());
        let mut events = knows(&world, id, known);
        let remove = events.expect_remove_endpoint().with(eq(project), eq(id));
        remove.times(usize::from(known)).returning(move |_, _| Ok(known));
        let answer = manage(world.knows_project(), events, MockWebhookSender::new())
            .remove(&BY, project, id)
            .await;
        assert_eq!(answer.is_ok(), known);
        assert!(known || matches!(answer, Err(ManageError::NotFound(_))));
    }
}

#[tokio::test]
async fn a_new_secret_is_shown_and_the_old_one_signs_along_for_a_day() {
    let mut world = World::live();
    let (project, id) = (world.line.project_mode.project, world.make.id::<EndpointId>());
    let stored = Arc::new(Mutex::new(Vec::new()));
    let (seen, mut events) = (Arc::clone(&stored), knows(&world, id, true));
    let replace = events.expect_replace_secret().times(2);
    replace.returning(move |of, endpoint, new| {
        assert_eq!((of, endpoint), (project, id));
        seen.lock().unwrap().push(new);
        Ok(true)
    });
    let manage = manage(world.knows_project(), events, MockWebhookSender::new());
    let shown = [
        manage.rotate_secret(&BY, project, id).await.unwrap(),
        manage.rotate_secret(&BY, project, id).await.unwrap(),
    ];
    assert_ne!(shown[0].expose(), shown[1].expose());
    for (secret, new) in shown.iter().zip(stored.lock().unwrap().iter()) {
        let NewSecret { secret: sealed, previous_until } = new;
        let context = id.uuid();
        let plain = ClearVault.open(Purpose::WebhookSecret, context.as_bytes(), sealed);
        assert_eq!(plain.unwrap(), secret.expose().into_bytes());
        assert_eq!(*previous_until, START + minutes(24 * 60));
        assert!(!format!("{new:?}").contains(&secret.expose()));
    }
}

#[tokio::test]
async fn a_secret_that_was_not_stored_is_not_shown() {
    let mut world = World::live();
    let (project, id) = (world.line.project_mode.project, world.make.id::<EndpointId>());
    let mut events = knows(&world, id, true);
    let mut answers = vec![Err(down()), Ok(false)];
    events.expect_replace_secret().times(2).returning(move |_, _, _| answers.pop().unwrap());
    let manage = manage(world.knows_project(), events, MockWebhookSender::new());
    let unknown = manage.rotate_secret(&BY, project, id).await;
    assert!(matches!(unknown, Err(ManageError::NotFound(_))));
    assert!(matches!(manage.rotate_secret(&BY, project, id).await, Err(ManageError::Store(_))));
}

/// One endpoint too many is refused before the audit entry; or after it, if another call took the last place.
#[tokio::test]
async fn a_project_has_twenty_endpoints_at_most() {
    for there in [Endpoint::MOST, Endpoint::MOST - 1] {
        let mut world = World::live();
        let project = world.line.project_mode.project;
        let known: Vec<_> = (0..there).map(|_| world.make.endpoint(project)).collect();
        let mut events = MockEventStore::new();
        events.expect_endpoints().returning(move |_| Ok(known.clone()));
        events.expect_add_endpoint().times(Endpoint::MOST - there).returning(|_| Ok(false));
        let manage = manage(world.knows_project(), events, allowing());
        let refused = manage.add(&BY, project, URL, false).await;
        assert!(matches!(refused, Err(ManageError::Conflict(_))), "{there}");
    }
}

#[tokio::test]
async fn a_store_out_of_reach_is_told_as_such() {
    let mut world = World::live();
    let project = world.line.project_mode.project;
    let mut events = MockEventStore::new();
    events.expect_add_endpoint().returning(|_| Err(down()));
    events.expect_endpoints().returning(|_| Err(down()));
    events.expect_remove_endpoint().returning(|_, _| Err(down()));
    let id = world.make.id();
    let manage = manage(world.knows_project(), events, allowing());
    assert!(matches!(manage.add(&BY, project, URL, false).await, Err(ManageError::Store(_))));
    assert!(matches!(manage.list(&BY, project).await, Err(ManageError::Store(_))));
    assert!(matches!(manage.remove(&BY, project, id).await, Err(ManageError::Store(_))));
}

#[tokio::test]
async fn an_endpoint_is_switched_on_by_its_project() {
    for known in [true, false] {
        let mut world = World::live();
        let (project, endpoint) = (world.line.project_mode.project, world.make.id::<EndpointId>());
        let mut events = knows(&world, endpoint, known);
        let enable = events.expect_enable_endpoint().with(eq(project), eq(endpoint));
        enable.times(usize::from(known)).returning(move |_, _| Ok(known));
        let manage = manage(world.knows_project(), events, MockWebhookSender::new());
        let answer = manage.enable(&BY, project, endpoint).await;
        assert_eq!(answer.is_ok(), known);
        assert!(known || matches!(answer, Err(ManageError::NotFound(_))));
    }
}
