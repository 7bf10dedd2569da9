//! Guarantees of a database file beyond the ports: it lasts, is private, and can be shared.

use diesel::connection::SimpleConnection;
use diesel::prelude::*;
use dwar_identity::IdentityStore;
use dwar_kernel::{KeyMode, StoreError};
use dwar_login::{Cost, LoginStore, NewSend, Prepared, Redeemed};
use dwar_otp::{GuessPolicy, GuessVerdict, OtpStore};
use dwar_project::ProjectStore;
use dwar_sqlite::{OpenError, Settings, SqliteStore, Synchronous};
use dwar_testkit::{CODE, Fixtures, START, WRONG_CODE, race};
use dwar_wallet::{Credited, Paise, WalletStore};
use rustix::fs::{FlockOperation, fcntl_lock};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;
use tempfile::TempDir;

mod tables {
    diesel::table! {
        guess_budgets (phone_index) {
            phone_index -> Binary,
        }
    }
}

fn database(folder: &TempDir) -> PathBuf {
    folder.path().join("dwar.db")
}

async fn open(path: &Path) -> SqliteStore {
    let store = SqliteStore::open(Settings::new(path)).unwrap();
    store.migrate().await.unwrap();
    store
}

#[tokio::test]
async fn what_was_answered_is_there_after_a_reopening() {
    let folder = tempfile::tempdir().unwrap();
    let make = Fixtures::random();
    let (project, keys) = (make.project(), make.keys());
    let id = project.id;
    let line = make.line(id.in_mode(KeyMode::Live));
    let otp = make.otp(&line);
    {
        let store = open(&database(&folder)).await;
        store.create(project.clone(), keys.clone()).await.unwrap();
        make.issue(&store, otp.clone()).await;
        let judged = make.judge(&store, &line, WRONG_CODE, GuessPolicy::OFF, START).await;
        assert!(matches!(judged, GuessVerdict::Wrong(_)));
    }
    let store = open(&database(&folder)).await;
    assert_eq!(ProjectStore::find(&store, id).await.unwrap(), Some(project.into_project()));
    assert_eq!(store.keys(id).await.unwrap(), keys);
    let stored = OtpStore::find(&store, id.in_mode(KeyMode::Live), otp.id).await.unwrap().unwrap();
    assert_eq!(stored.wrong, 1);
}

#[tokio::test]
async fn a_success_leaves_no_count_of_guesses_behind() {
    let folder = tempfile::tempdir().unwrap();
    let path = database(&folder);
    let store = open(&path).await;
    let make = Fixtures::random();
    let project = make.project();
    let line = make.line(project.id.in_mode(KeyMode::Live));
    store.create(project, make.keys()).await.unwrap();
    make.issue(&store, make.otp(&line)).await;
    for (code, counts) in [(WRONG_CODE, 1), (CODE, 0)] {
        make.judge(&store, &line, code, GuessPolicy::OFF, START).await;
        let mut other = SqliteConnection::establish(path.to_str().unwrap()).unwrap();
        let rows: i64 = tables::guess_budgets::table.count().get_result(&mut other).unwrap();
        assert_eq!(rows, counts, "after {code}");
    }
}

#[tokio::test]
async fn nothing_lies_beside_a_closed_database() {
    let folder = tempfile::tempdir().unwrap();
    drop(open(&database(&folder)).await);
    let files = std::fs::read_dir(folder.path()).unwrap();
    let names: Vec<_> = files.map(|file| file.unwrap().file_name()).collect();
    assert_eq!(names, ["dwar.db"]);
}

#[cfg(unix)]
#[tokio::test]
async fn the_files_are_for_their_owner_alone() {
    use std::os::unix::fs::PermissionsExt;
    let folder = tempfile::tempdir().unwrap();
    let path = database(&folder);
    let _store = open(&path).await;
    for suffix in ["", "-wal", "-shm"] {
        let file = format!("{}{suffix}", path.display());
        let mode = std::fs::metadata(&file).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600, "{file}");
    }
}

/// A process that closes a database and finds no other one using it deletes the log, with
/// everything that was written to it since. Libraries before SQLite 3.51 use only this lock.
#[tokio::test]
async fn other_processes_see_for_as_long_as_it_is_open_that_it_is() {
    let folder = tempfile::tempdir().unwrap();
    let path = database(&folder);
    let make = Fixtures::random();
    {
        let store = open(&path).await;
        assert!(is_seen_to_be_open(&path), "once it is migrated");
        store.create(make.project(), make.keys()).await.unwrap();
        assert_eq!(store.pending_migrations().await.unwrap(), Vec::<String>::new());
        assert!(is_seen_to_be_open(&path), "after another connection came and went");
    }
    assert!(!is_seen_to_be_open(&path), "once it is closed");
}

const SEEN_FROM_OUTSIDE: &str = "DWAR_TEST_FILE_SEEN_FROM_OUTSIDE";

/// Tells whether a separate process finds this database in use.
fn is_seen_to_be_open(path: &Path) -> bool {
    let mut other = Command::new(std::env::current_exe().unwrap());
    let other = other.args(["--exact", "file::nobody_has_it_open"]).env(SEEN_FROM_OUTSIDE, path);
    !other.stdout(Stdio::null()).stderr(Stdio::null()).status().unwrap().success()
}

/// The test that the separate process runs; it does nothing without a file to check.
#[test]
fn nobody_has_it_open() {
    let Ok(path) = std::env::var(SEEN_FROM_OUTSIDE) else { return };
    let file = std::fs::OpenOptions::new().read(true).write(true).open(path).unwrap();
    fcntl_lock(&file, FlockOperation::NonBlockingLockExclusive).unwrap();
}

/// Two stores share only the file, as two processes would.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn two_stores_on_one_file_hold_exactly_what_the_balance_covers() {
    let folder = tempfile::tempdir().unwrap();
    let path = database(&folder);
    let stores = [open(&path).await, open(&path).await];
    let make = Fixtures::random();
    let project = make.project();
    let id = project.id;
    stores[0].create(project, make.keys()).await.unwrap();
    let credited = stores[1].credit(id, make.credit(Paise(1_000)), START).await.unwrap();
    assert_eq!(credited, Credited::Booked);
    let outcomes = race(40, |number| {
        let store = stores[number % 2].clone();
        let line = make.line(id.in_mode(KeyMode::Live));
        let send = NewSend { cost: Cost::Hold(Paise(100)), ..make.new_send(&line) };
        async move { store.prepare(send, START).await.unwrap() }
    })
    .await;
    let held = outcomes.iter().filter(|outcome| matches!(outcome, Prepared::Ready(_))).count();
    assert_eq!(held, 10);
    assert_eq!(stores[0].audit().await.unwrap().difference, Paise::ZERO);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn two_stores_on_one_file_accept_a_code_once_and_make_one_identity() {
    let folder = tempfile::tempdir().unwrap();
    let path = database(&folder);
    let stores = [open(&path).await, open(&path).await];
    let make = Fixtures::random();
    let project = make.project();
    let id = project.id;
    stores[0].create(project, make.keys()).await.unwrap();
    let line = make.line(id.in_mode(KeyMode::Live));
    make.issue(&stores[1], make.otp(&line)).await;
    let answers = race(20, |number| {
        let (store, redemption) = (stores[number % 2].clone(), make.redemption(&line, CODE));
        async move { store.redeem(redemption, START).await.unwrap() }
    })
    .await;
    let accepted = answers.iter().filter(|answer| matches!(answer, Redeemed::LoggedIn(..)));
    assert_eq!(accepted.count(), 1);
    let known = stores[0]
        .find_by_phone(id.in_mode(line.project_mode.mode), line.index)
        .await
        .unwrap()
        .unwrap();
    assert!(answers.iter().all(|answer| match answer {
        Redeemed::LoggedIn(_, identity, _) => *identity == known.id,
        _ => true,
    }));
    // Another login through the other store is of the same identity.
    assert_eq!(make.log_in(&stores[1], &line, make.login(&line)).await, known.id);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn an_empty_file_can_be_set_up_by_many_at_once() {
    let folder = tempfile::tempdir().unwrap();
    let path = database(&folder);
    let ran = race(8, |_| {
        let path = path.clone();
        async move {
            let open = move || SqliteStore::open(Settings::new(path)).unwrap();
            let store = tokio::task::spawn_blocking(open).await.unwrap();
            (store.migrate().await.unwrap().len(), store.pending_migrations().await.unwrap().len())
        }
    })
    .await;
    assert_eq!(ran.iter().filter(|(ran, _)| *ran > 0).count(), 1);
    assert!(ran.iter().all(|(_, pending)| *pending == 0));
}

#[tokio::test]
async fn migrations_are_named_until_they_have_run() {
    let folder = tempfile::tempdir().unwrap();
    let store = SqliteStore::open(Settings::new(database(&folder))).unwrap();
    let pending = store.pending_migrations().await.unwrap();
    assert!(pending[0].ends_with("_foundation"), "{pending:?}");
    assert_eq!(store.migrate().await.unwrap(), pending);
    assert!(store.pending_migrations().await.unwrap().is_empty());
    assert!(store.migrate().await.unwrap().is_empty());
}

#[tokio::test]
async fn another_process_that_holds_the_lock_for_too_long_makes_writes_unavailable() {
    let folder = tempfile::tempdir().unwrap();
    let path = database(&folder);
    let settings = Settings {
        busy_timeout: Duration::from_millis(50),
        synchronous: Synchronous::Normal,
        ..Settings::new(&path)
    };
    let store = SqliteStore::open(settings).unwrap();
    let mut other = SqliteConnection::establish(path.to_str().unwrap()).unwrap();
    other.batch_execute("BEGIN IMMEDIATE").unwrap();
    assert!(matches!(store.ping().await, Err(StoreError::Unreachable { .. })));
    other.batch_execute("COMMIT").unwrap();
    store.ping().await.unwrap();
}

#[tokio::test]
async fn a_file_that_is_no_database_is_refused_with_a_reason() {
    let folder = tempfile::tempdir().unwrap();
    let path = database(&folder);
    std::fs::write(&path, "this is not a database, and long enough to tell; ".repeat(40)).unwrap();
    let refused = SqliteStore::open(Settings::new(&path)).err().unwrap();
    assert!(matches!(refused, OpenError::Setup(_)), "{refused}");
    assert!(refused.to_string().contains("not a database"), "{refused}");
    let refused = SqliteStore::open(Settings::new(folder.path().join("no/folder.db"))).err();
    assert!(matches!(refused, Some(OpenError::File { .. })));
}

#[tokio::test]
async fn an_error_text_shows_no_sql() {
    let folder = tempfile::tempdir().unwrap();
    let store = SqliteStore::open(Settings::new(database(&folder))).unwrap();
    let refused = store.list().await.err().unwrap();
    assert_eq!(refused.to_string(), "the store failed");
}

#[tokio::test]
async fn a_row_that_cannot_be_read_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let path = database(&folder);
    let store = open(&path).await;
    let make = Fixtures::random();
    let (project, keys) = (make.project(), make.keys());
    let (id, key) = (project.id, keys[0].id.to_string());
    store.create(project, keys).await.unwrap();
    let mut other = SqliteConnection::establish(path.to_str().unwrap()).unwrap();
    other.batch_execute("UPDATE api_keys SET digest = x'00' WHERE mode = 'live'").unwrap();
    let refused = store.keys(id).await.err().unwrap();
    assert_eq!(refused.to_string(), format!("inconsistent data in api_keys.digest of row {key}"));
}
