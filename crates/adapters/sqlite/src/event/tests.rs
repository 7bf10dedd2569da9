use crate::event::record;
use crate::{Settings, SqliteStore};
use dwar_event::{ClaimCapacity, Dispatch, Endpoint, Event, EventKind, EventStore, Subject};
use dwar_kernel::{KeptSecret, KeyMode, Sealed};
use dwar_project::ProjectStore;
use dwar_testkit::{Fixtures, START, seconds};

#[tokio::test]
async fn the_same_event_again_changes_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let store = SqliteStore::open(Settings::new(folder.path().join("t.db"))).unwrap();
    store.migrate().await.unwrap();
    let make = Fixtures::random();
    let project = make.project();
    let endpoint = Endpoint {
        id: make.id(),
        project: project.id,
        url: "https://example.com/dwar".to_owned(),
        full_phone: false,
        secret: KeptSecret::first(Sealed(vec![1])),
        created_at: START,
        failing: None,
        disabled_at: None,
    };
    let event = Event {
        project_mode: project.id.in_mode(KeyMode::Live),
        kind: EventKind::SessionRevoked,
        subject: Subject::Session { session: make.id(), identity: make.id() },
        at: START,
    };
    store.create(project, make.keys()).await.unwrap();
    store.add_endpoint(endpoint.clone()).await.unwrap();
    for at in [START, START + seconds(1)] {
        let again = Event { at, ..event.clone() };
        store.write("test", move |connection| record(connection, &again)).await.unwrap();
    }
    let due =
        store.claim_due(START + seconds(2), seconds(60), ClaimCapacity::of(10)).await.unwrap();
    assert_eq!(due, [Dispatch { endpoint, event, failures: 0 }]);
}
