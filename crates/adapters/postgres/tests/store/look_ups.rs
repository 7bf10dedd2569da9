//! Look-ups that are joined into one statement.

use crate::support::{Database, assert_unavailable};
use diesel::connection::SimpleConnection;
use dwar_kernel::KeyMode;
use dwar_postgres::{PostgresStore, Settings};
use dwar_project::{KeyRecord, ProjectStore};
use dwar_session::{Session, SessionStore};
use dwar_testkit::{Fixtures, START, race};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::time::{Duration, Instant};

/// A session, the live key of its project, and the test key.
async fn a_session(store: &PostgresStore, make: &Fixtures) -> (Session, KeyRecord, KeyRecord) {
    let (new, keys) = (make.project(), make.keys());
    store.create(new.clone(), keys.clone()).await.unwrap();
    let line = make.line(new.id.in_mode(KeyMode::Live));
    let login = make.login(&line);
    let identity = make.log_in(store, &line, login.clone()).await;
    let of = |mode| keys.iter().find(|key| key.mode == mode).unwrap().clone();
    (Session { identity, ..login.session }, of(KeyMode::Live), of(KeyMode::Test))
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs DWAR_TEST_POSTGRES_URL"]
async fn each_is_told_its_own() {
    let database = Database::create();
    let (store, make) = (database.store().await, Fixtures::random());
    let mut known = Vec::new();
    for _ in 0..8 {
        known.push(a_session(&store, &make).await);
    }
    let known = Arc::new(known);
    let stranger = make.digest();
    race(400, |number| {
        let (store, known) = (store.clone(), Arc::clone(&known));
        async move {
            let (session, key, test) = &known[number % 8];
            let (foreign, _, other) = &known[(number + 1) % 8];
            let find_key_and_session =
                async |key, session| store.find_key_and_session(key, session).await.unwrap();
            let found = find_key_and_session(key.digest, Some(session.id)).await.unwrap();
            assert_eq!(
                (found.key, found.project_mode.project),
                (key.id, session.project_mode.project)
            );
            assert_eq!(found.session.unwrap().id, session.id);
            // A key sees no session of another project, or of its own project's other mode.
            assert_eq!(
                find_key_and_session(key.digest, Some(foreign.id)).await.unwrap().session,
                None
            );
            assert_eq!(
                find_key_and_session(test.digest, Some(session.id)).await.unwrap().session,
                None
            );
            assert_eq!(find_key_and_session(key.digest, None).await.unwrap().session, None);
            assert_eq!(find_key_and_session(stranger, Some(session.id)).await, None);
            let caller = store.caller(other.digest).await.unwrap().unwrap();
            assert_eq!(caller.project_mode(), foreign.project_mode.project.in_mode(KeyMode::Test));
            assert_eq!(store.caller(stranger).await.unwrap(), None);
        }
    })
    .await;
}

/// A standby, or a fenced primary, does not know recent changes.
#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs DWAR_TEST_POSTGRES_URL"]
async fn a_server_that_takes_no_writes_is_not_believed() {
    let database = Database::create();
    let (store, make) = (database.store().await, Fixtures::random());
    let (session, key, _) = a_session(&store, &make).await;
    let writable = database.settings();
    let read_only = "&target_session_attrs=any&options=-c%20default_transaction_read_only%3Don%20";
    let url = writable.url.replace("&options=", read_only);
    assert_ne!(url, writable.url);
    let fenced = PostgresStore::connect(Settings { url, ..writable }).unwrap();
    assert_unavailable(fenced.find_key_and_session(key.digest, Some(session.id)).await);
    assert_unavailable(fenced.caller(key.digest).await);
    // The server's answer that a key does not exist is not used either.
    assert_unavailable(fenced.caller(make.digest()).await);
    assert_unavailable(dwar_operator::OperatorStore::session(&fenced, make.digest()).await);
    assert_unavailable(dwar_operator::AdminTokenStore::token(&fenced, make.digest()).await);
    assert_unavailable(fenced.prove_writable().await);
    assert!(store.find_key_and_session(key.digest, Some(session.id)).await.unwrap().is_some());
    assert_eq!(dwar_operator::AdminTokenStore::token(&store, make.digest()).await.unwrap(), None);
    assert!(dwar_operator::OperatorStore::session(&store, make.digest()).await.unwrap().is_none());
    store.prove_writable().await.unwrap();
}

/// A look-up that begins after the call that ended a session has returned finds the session ended, however
/// many look-ups are running.
#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs DWAR_TEST_POSTGRES_URL"]
async fn no_question_is_told_what_was_true_before_it() {
    let database = Database::create();
    let (store, make) = (database.store().await, Fixtures::random());
    for _ in 0..20 {
        let (session, key, _) = a_session(&store, &make).await;
        let (ended, alive) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicU32::new(0)));
        let ask = |_| {
            let (store, key, id) = (store.clone(), key.clone(), session.id);
            let (ended, alive) = (Arc::clone(&ended), Arc::clone(&alive));
            tokio::spawn(async move {
                let mut asked_after_the_end = 0;
                while asked_after_the_end < 3 {
                    let over = ended.load(Ordering::SeqCst);
                    asked_after_the_end += u32::from(over);
                    let found =
                        store.find_key_and_session(key.digest, Some(id)).await.unwrap().unwrap();
                    let revoked = found.session.unwrap().revoked_at.is_some();
                    assert!(revoked || !over, "told that it is alive after its end");
                    alive.fetch_add(u32::from(!revoked), Ordering::SeqCst);
                }
            })
        };
        let asking: Vec<_> = (0..32).map(ask).collect();
        while alive.load(Ordering::SeqCst) < 64 {
            tokio::task::yield_now().await;
        }
        let token = session.access.token;
        assert!(store.revoke(session, token, START).await.unwrap());
        ended.store(true, Ordering::SeqCst);
        for asking in asking {
            asking.await.unwrap();
        }
    }
}

/// Waiting look-ups are limited in number and time, and dropped afterwards.
#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs DWAR_TEST_POSTGRES_URL"]
async fn a_table_that_nobody_can_read_holds_no_question_for_ever() {
    let database = Database::create();
    let (store, make) = (database.store().await, Fixtures::random());
    let (session, key, _) = a_session(&store, &make).await;
    let short = Duration::from_millis(500);
    let settings =
        Settings { call_timeout: short, statement_timeout: 2 * short, ..database.settings() };
    let impatient = PostgresStore::connect(settings).unwrap();
    let mut other = database.connection();
    other.batch_execute("BEGIN; LOCK TABLE sessions IN ACCESS EXCLUSIVE MODE").unwrap();
    let began = Instant::now();
    let answers = race(6_000, |_| {
        let (store, key, session) = (impatient.clone(), key.clone(), session.clone());
        async move { store.find_key_and_session(key.digest, Some(session.id)).await }
    })
    .await;
    assert!(began.elapsed() < Duration::from_secs(20));
    answers.into_iter().for_each(assert_unavailable);
    other.batch_execute("ROLLBACK").unwrap();
    while impatient.find_key_and_session(key.digest, Some(session.id)).await.is_err() {
        assert!(began.elapsed() < Duration::from_secs(60), "never answered again");
    }
}
