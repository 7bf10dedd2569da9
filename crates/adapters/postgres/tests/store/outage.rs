//! Calls while PostgreSQL is down, silent or restarted.

use crate::support::{Database, assert_unavailable, project, renamed};
use dwar_postgres::{PostgresStore, Settings};
use dwar_project::ProjectStore;
use dwar_testkit::{Fixtures, any_project, race, reserved_port};
use std::net::TcpListener;
use std::time::{Duration, Instant};

const SHORT: Duration = Duration::from_millis(300);
/// Far longer than any limit under test, but finite.
const LONG: Duration = Duration::from_secs(20);

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs DWAR_TEST_POSTGRES_URL"]
async fn no_request_notices_that_every_connection_was_cut() {
    let database = Database::create();
    let store = database.store().await;
    let make = Fixtures::random();
    let id = project(&store, &make).await.id;
    let read = |_| {
        let store = store.clone();
        async move { ProjectStore::find(&store, id).await.unwrap().unwrap() }
    };
    let write = |_| {
        let store = store.clone();
        async move { store.change(id, renamed(), any_project()).await.unwrap().done().unwrap() }
    };
    for round in 0..4 {
        // All connections are used once, so that all of them are open when they are cut.
        race(32, read).await;
        let cut = database.cut_connections();
        assert!(cut > 1, "only {cut} connections");
        if round % 2 == 0 {
            race(32, read).await
        } else {
            race(32, write).await
        };
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_silent_server_is_given_up_in_time() {
    let silent = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("postgres://dwar:secret@{}/dwar", silent.local_addr().unwrap());
    let settings =
        Settings { acquire_timeout: SHORT, call_timeout: 2 * SHORT, ..Settings::new(url) };
    let store = PostgresStore::connect(settings).unwrap();
    let began = Instant::now();
    // More than there are connections: the last ones in the queue fail in time too.
    let answers = race(64, |_| {
        let store = store.clone();
        async move { store.ping().await }
    })
    .await;
    assert!(began.elapsed() < LONG);
    for answer in answers {
        assert!(!format!("{answer:?}").contains("secret"));
        assert_unavailable(answer);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_is_down_is_unavailable() {
    let closed = reserved_port();
    let settings = Settings {
        acquire_timeout: SHORT,
        ..Settings::new(format!("postgres://dwar@127.0.0.1:{closed}/dwar"))
    };
    let store = PostgresStore::connect(settings).unwrap();
    assert_unavailable(store.ping().await);
    assert_unavailable(store.migrate().await);
}
