//! Locks: how long calls wait for them, and the results of the wait.

use crate::support::{Database, assert_unavailable, project, renamed};
use diesel::connection::SimpleConnection;
use diesel::prelude::*;
use dwar_identity::IdentityStore;
use dwar_kernel::{IdentityId, KeyMode, Paise, ProjectId};
use dwar_login::{Cost, LoginStore, NewSend, Prepared, Redeemed};
use dwar_otp::{Otp, Report, ReportedRequest};
use dwar_postgres::{PostgresStore, Settings};
use dwar_project::ProjectStore;
use dwar_testkit::{Fixtures, Line, START, WRONG_CODE, any_project, race};
use dwar_wallet::WalletStore;
use std::future::poll_fn;
use std::pin::pin;
use std::task::Poll;
use std::time::{Duration, Instant};

const SHORT: Duration = Duration::from_millis(300);
/// Far longer than any limit under test, but finite.
const LONG: Duration = Duration::from_secs(20);

fn hold_projects(database: &Database) -> PgConnection {
    let mut conn = database.connection();
    conn.batch_execute("BEGIN; SELECT * FROM projects FOR UPDATE").unwrap();
    conn
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
    assert_unavailable(store.change(id, renamed(), any_project()).await);
    assert!((SHORT..LONG).contains(&began.elapsed()));

    drop(held);
    assert_eq!(
        store.change(id, renamed(), any_project()).await.unwrap().done().unwrap().name,
        "Renamed"
    );
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
    assert_unavailable(store.change(before.id, renamed(), any_project()).await);
    assert!(began.elapsed() < LONG);
    // The only connection is still busy: others wait for it, but also not for ever.
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
    let line = make.line(project(&store, &make).await.id.in_mode(KeyMode::Live));
    let identity = logged_in(&store, &make, &line).await;

    // Locks in the wrong order, and waits long enough for the store to be the victim.
    let mut rival = database.connection();
    rival.batch_execute("SET deadlock_timeout = '1min'; BEGIN").unwrap();
    rival.batch_execute("SELECT * FROM sessions FOR UPDATE").unwrap();
    let erasing = tokio::spawn({
        let (store, line) = (store.clone(), line.clone());
        async move { store.erase(line.project_mode, identity, START).await }
    });
    database.until_blocked(1).await;
    tokio::task::spawn_blocking(move || {
        rival.batch_execute("SELECT * FROM identities FOR UPDATE").unwrap();
        rival.batch_execute("COMMIT").unwrap();
    })
    .await
    .unwrap();

    let erased = erasing.await.unwrap().unwrap().unwrap();
    assert_eq!(erased.sessions_revoked, 1);
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs DWAR_TEST_POSTGRES_URL"]
async fn an_erasure_does_not_count_a_session_that_ends_meanwhile() {
    let database = Database::create();
    let store = database.store().await;
    let make = Fixtures::random();
    let line = make.line(project(&store, &make).await.id.in_mode(KeyMode::Live));
    let identity = logged_in(&store, &make, &line).await;

    let mut logout = database.connection();
    logout.batch_execute("BEGIN; UPDATE sessions SET revoked_at = created_at").unwrap();
    let erasing = tokio::spawn(async move {
        store.erase(line.project_mode, identity, START).await.unwrap().unwrap()
    });
    database.until_blocked(1).await;
    logout.batch_execute("COMMIT").unwrap();

    assert_eq!(erasing.await.unwrap().sessions_revoked, 0);
}

async fn logged_in(store: &PostgresStore, make: &Fixtures, line: &Line) -> IdentityId {
    make.log_in(store, line, make.login(line)).await
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs DWAR_TEST_POSTGRES_URL"]
async fn a_guess_that_waits_for_a_resend_is_judged_against_the_new_code() {
    let database = Database::create();
    let store = database.store().await;
    let make = Fixtures::random();
    let line = make.line(project(&store, &make).await.id.in_mode(KeyMode::Live));
    make.issue(&store, make.otp(&line)).await;

    let mut held = database.connection();
    held.batch_execute("BEGIN; SELECT * FROM otps FOR UPDATE").unwrap();
    // Queues first, so that its new code exists when the guess gets the old one's lock.
    let resend = tokio::spawn({
        let (store, send) = (store.clone(), make.new_send(&line));
        async move { store.prepare(send, START).await.unwrap() }
    });
    database.until_blocked(1).await;
    let guess = tokio::spawn({
        let (store, redemption) = (store.clone(), make.redemption(&line, WRONG_CODE));
        async move { store.redeem(redemption, START).await }
    });
    database.until_blocked(2).await;
    drop(held);

    resend.await.unwrap();
    let judged = guess.await.unwrap().unwrap();
    assert!(matches!(judged, Redeemed::Wrong(_)), "{judged:?}");
}

/// A call that holds the wallet of one project takes no connection from other projects.
#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs DWAR_TEST_POSTGRES_URL"]
async fn a_wallet_that_many_wait_for_leaves_connections_to_others() {
    let database = Database::create();
    let (store, make) = (database.store().await, Fixtures::random());
    let (busy, other) = (project(&store, &make).await.id, project(&store, &make).await.id);
    for project in [busy, other] {
        store.credit(project, make.credit(Paise(100_000)), START).await.unwrap();
    }
    let mut rival = database.connection();
    rival.batch_execute("BEGIN").unwrap();
    rival
        .batch_execute(&format!("SELECT * FROM wallets WHERE project_id = '{busy}' FOR UPDATE"))
        .unwrap();
    let hold = |project: ProjectId| {
        let line = make.line(project.in_mode(KeyMode::Live));
        let send = NewSend { cost: Cost::Hold(Paise(100)), ..make.new_send(&line) };
        let store = store.clone();
        async move { matches!(store.prepare(send, START).await.unwrap(), Prepared::Ready(_)) }
    };
    let waiting: Vec<_> = (0..40).map(|_| tokio::spawn(hold(busy))).collect();
    database.until_blocked(1).await;
    for _ in 0..10 {
        assert!(hold(other).await);
    }
    assert_eq!(database.blocked(), 1);
    rival.batch_execute("COMMIT").unwrap();
    for waiting in waiting {
        assert!(waiting.await.unwrap());
    }
    assert_eq!(store.balance(busy).await.unwrap().held, Paise(4_000));
}

/// Begins a transaction that locks one row; fails at once if the row is locked.
fn locked(database: &Database, row: &str) -> PgConnection {
    let mut conn = database.connection();
    conn.batch_execute(&format!("BEGIN; SELECT * FROM {row} FOR UPDATE NOWAIT")).unwrap();
    conn
}

/// Lets the last two steps be joined, the one with the greater id first, and checks that the row
/// with the lesser id is waited for while the other one is free.
async fn lock_in_order<F>(database: &Database, [busy, low, high]: [(String, F); 3])
where
    F: Future<Output: Send> + Send + 'static,
{
    let others = locked(database, &busy.0);
    let busy = tokio::spawn(busy.1);
    database.until_blocked(1).await;
    let rival = locked(database, &low.0);
    let mut both = pin!(async { tokio::join!(high.1, low.1) });
    assert!(poll_fn(|task| Poll::Ready(both.as_mut().poll(task))).await.is_pending());
    drop(others);
    busy.await.unwrap();
    database.until_blocked(1).await;
    drop(locked(database, &high.0));
    drop(rival);
    both.await;
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs DWAR_TEST_POSTGRES_URL"]
async fn joined_reports_lock_codes_in_the_order_of_their_ids() {
    let database = Database::create();
    let (store, make) = (database.store().await, Fixtures::random());
    let project = project(&store, &make).await.id;
    let mut otps: Vec<Otp> =
        (0..3).map(|_| make.otp(&make.line(project.in_mode(KeyMode::Live)))).collect();
    otps.sort_by_key(|otp| otp.id);
    let mut steps = Vec::new();
    for otp in otps {
        make.issue(&store, otp.clone()).await;
        let (store, row) = (store.clone(), format!("otps WHERE id = '{}'", otp.id));
        let report = make.send_report(otp.delivery.attempts[0].id, Report::Delivered);
        let seen = ReportedRequest::Seen(Box::new(otp));
        steps.push((row, async move { store.report(seen, report, START).await.unwrap().unwrap() }));
    }
    lock_in_order(&database, steps.try_into().ok().unwrap()).await;
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs DWAR_TEST_POSTGRES_URL"]
async fn joined_settlements_lock_holds_in_the_order_of_their_sends() {
    let database = Database::create();
    let (store, make) = (database.store().await, Fixtures::random());
    let project = project(&store, &make).await.id;
    store.credit(project, make.credit(Paise(1_000)), START).await.unwrap();
    let mut otps: Vec<Otp> =
        (0..3).map(|_| make.otp(&make.line(project.in_mode(KeyMode::Live)))).collect();
    otps.sort_by_key(|otp| otp.id);
    let mut steps = Vec::new();
    for otp in otps {
        assert!(make.hold(&store, otp.clone(), Paise(10)).await);
        let (store, row) = (store.clone(), format!("wallet_holds WHERE send_id = '{}'", otp.id));
        let report = make.send_report(otp.delivery.attempts[0].id, Report::Delivered);
        let seen = ReportedRequest::Seen(Box::new(otp));
        steps.push((row, async move { store.report(seen, report, START).await.unwrap().unwrap() }));
    }
    lock_in_order(&database, steps.try_into().ok().unwrap()).await;
}

/// Steps are joined only within a project, so a step that the server refuses does not affect other
/// projects.
#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs DWAR_TEST_POSTGRES_URL"]
async fn a_step_that_fails_fails_no_other_project() {
    const SENDS: usize = 60;
    let database = Database::create();
    let (store, make) = (database.store().await, Fixtures::random());
    let [broken, sound] = [project(&store, &make).await.id, project(&store, &make).await.id];
    let mut conn = database.connection();
    conn.batch_execute(&format!(
        "CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN \
         RAISE EXCEPTION 'told to fail'; END $$; \
         CREATE TRIGGER refuse BEFORE INSERT ON otps FOR EACH ROW \
         WHEN (NEW.project_id = '{broken}') EXECUTE FUNCTION refuse()"
    ))
    .unwrap();
    let sends: Vec<NewSend> = (0..SENDS)
        .map(|number| if number % 2 == 0 { broken } else { sound })
        .map(|project| make.new_send(&make.line(project.in_mode(KeyMode::Live))))
        .collect();
    let answers = race(SENDS, |number| {
        let (store, send) = (store.clone(), sends[number].clone());
        async move { (send.otp.project_mode.project, store.prepare(send, START).await) }
    })
    .await;
    for (project, answer) in answers {
        match answer {
            Ok(Prepared::Ready(_)) => assert_eq!(project, sound),
            answer => assert!(project == broken && answer.is_err(), "{answer:?}"),
        }
    }
    assert_eq!(database.rows("otps"), SENDS as i64 / 2);
    assert_eq!(database.rows("send_slots"), SENDS as i64 / 2);
}
