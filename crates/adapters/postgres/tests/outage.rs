//! What becomes of callers when PostgreSQL is away, busy, silent or restarted.

mod support;

use diesel::connection::SimpleConnection;
use diesel::prelude::*;
use diesel::sql_types::{BigInt, Text};
use dwar_identity::IdentityStore;
use dwar_kernel::{IdentityId, KeyMode, StoreError};
use dwar_postgres::{PostgresStore, Settings};
use dwar_project::{NewProject, ProjectChange, ProjectStore};
use dwar_session::SessionStore;
use dwar_testkit::{Fixtures, Line, START, race};
use std::net::TcpListener;
use std::time::{Duration, Instant};
use support::Database;

const SHORT: Duration = Duration::from_millis(300);
/// Far more than any bound under test, far less than for ever.
const LONG: Duration = Duration::from_secs(20);

#[derive(QueryableByName)]
struct Count {
    #[diesel(sql_type = BigInt)]
    count: i64,
}

fn count(conn: &mut PgConnection, query: &str, name: &str) -> i64 {
    diesel::sql_query(query).bind::<Text, _>(name).get_result::<Count>(conn).unwrap().count
}

/// Waits until one of the store's connections waits for a lock.
async fn until_blocked(database: &Database) {
    let mut conn = database.connection();
    let query = "SELECT count(*) FROM pg_stat_activity \
                 WHERE application_name = $1 AND wait_event_type = 'Lock'";
    while count(&mut conn, query, database.application_name()) == 0 {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

async fn project(store: &PostgresStore, make: &Fixtures) -> NewProject {
    let project = make.project();
    store.create(project.clone(), make.keys()).await.unwrap();
    project
}

/// A connection that holds every project's row.
fn hold_projects(database: &Database) -> PgConnection {
    let mut conn = database.connection();
    conn.batch_execute("BEGIN; SELECT * FROM projects FOR UPDATE").unwrap();
    conn
}

fn renamed() -> ProjectChange {
    ProjectChange { name: Some("Renamed".to_owned()), ..ProjectChange::default() }
}

fn assert_unavailable<T: std::fmt::Debug>(answer: Result<T, StoreError>) {
    assert!(matches!(answer, Err(StoreError::Unavailable(_))), "{answer:?}");
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs DWAR_TEST_POSTGRES_URL"]
async fn instances_migrate_at_once_and_once() {
    let database = Database::create();
    let settings = database.settings();
    let store = PostgresStore::connect(settings.clone()).unwrap();
    let lacking = store.pending_migrations().await.unwrap();
    assert!(!lacking.is_empty());

    let applied = race(8, |_| {
        let settings = settings.clone();
        async move { PostgresStore::connect(settings).unwrap().migrate().await.unwrap() }
    })
    .await;
    assert_eq!(applied.concat(), lacking);
    assert_eq!(store.pending_migrations().await.unwrap(), Vec::<String>::new());
}

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
        async move { store.change(id, renamed()).await.unwrap().unwrap() }
    };
    for round in 0..4 {
        // All connections are in use once, so that all of them are there to be cut.
        race(32, read).await;
        let cut = count(
            &mut database.connection(),
            "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity \
             WHERE application_name = $1",
            database.application_name(),
        );
        assert!(cut > 1, "only {cut} connections");
        if round % 2 == 0 {
            race(32, read).await
        } else {
            race(32, write).await
        };
    }
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs DWAR_TEST_POSTGRES_URL"]
async fn a_lock_held_by_another_is_not_waited_for_beyond_its_time() {
    let database = Database::create();
    let make = Fixtures::random();
    let id = project(&database.store().await, &make).await.id;
    let settings = Settings { lock_timeout: SHORT, ..database.settings() };
    let store = PostgresStore::connect(settings).unwrap();

    let held = hold_projects(&database);
    let began = Instant::now();
    assert_unavailable(store.change(id, renamed()).await);
    assert!((SHORT..LONG).contains(&began.elapsed()));

    drop(held);
    assert_eq!(store.change(id, renamed()).await.unwrap().unwrap().name, "Renamed");
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs DWAR_TEST_POSTGRES_URL"]
async fn what_was_answered_as_failed_does_not_happen_later() {
    let database = Database::create();
    let make = Fixtures::random();
    let before = project(&database.store().await, &make).await;
    let settings = Settings {
        pool_size: 1,
        lock_timeout: LONG,
        statement_timeout: LONG,
        call_timeout: SHORT,
        ..database.settings()
    };
    let store = PostgresStore::connect(settings).unwrap();
    store.ping().await.unwrap();

    let held = hold_projects(&database);
    let began = Instant::now();
    assert_unavailable(store.change(before.id, renamed()).await);
    assert!(began.elapsed() < LONG);
    // The one connection is still at it: others wait for it without end of time neither.
    assert_unavailable(store.ping().await);

    drop(held);
    let after = loop {
        // Queues behind the abandoned work.
        if let Ok(found) = ProjectStore::find(&store, before.id).await {
            break found.unwrap();
        }
    };
    assert_eq!(after.name, before.name);
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs DWAR_TEST_POSTGRES_URL"]
async fn the_victim_of_a_deadlock_begins_anew() {
    let database = Database::create();
    let store = database.store().await;
    let make = Fixtures::random();
    let line = make.line(project(&store, &make).await.id, KeyMode::Live);
    let identity = logged_in(&store, &make, &line).await;

    // Locks in the wrong order, and is patient enough for the store to be the victim.
    let mut rival = database.connection();
    rival.batch_execute("SET deadlock_timeout = '1min'; BEGIN").unwrap();
    rival.batch_execute("SELECT * FROM sessions FOR UPDATE").unwrap();
    let erasing = tokio::spawn({
        let (store, line) = (store.clone(), line.clone());
        async move { store.erase(line.project, line.mode, identity, START).await }
    });
    until_blocked(&database).await;
    tokio::task::spawn_blocking(move || {
        rival.batch_execute("SELECT * FROM identities FOR UPDATE").unwrap();
        rival.batch_execute("COMMIT").unwrap();
    })
    .await
    .unwrap();

    let erased = erasing.await.unwrap().unwrap().unwrap();
    assert_eq!(erased.sessions_revoked, 1);
}

async fn logged_in(store: &PostgresStore, make: &Fixtures, line: &Line) -> IdentityId {
    let identity = store.recognise(line.project, make.sighting(line)).await.unwrap();
    store.start(make.session(line, identity)).await.unwrap();
    identity
}

#[tokio::test(flavor = "multi_thread")]
async fn a_silent_server_is_given_up_in_time() {
    let silent = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("postgres://dwar:secret@{}/dwar", silent.local_addr().unwrap());
    let settings =
        Settings { acquire_timeout: SHORT, call_timeout: 2 * SHORT, ..Settings::new(url) };
    let store = PostgresStore::connect(settings).unwrap();
    let began = Instant::now();
    // More than there are connections: those at the end of the queue fail in time too.
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
    let closed = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let settings = Settings {
        acquire_timeout: SHORT,
        ..Settings::new(format!("postgres://dwar@{closed}/dwar"))
    };
    let store = PostgresStore::connect(settings).unwrap();
    assert_unavailable(store.ping().await);
    assert_unavailable(store.migrate().await);
}
