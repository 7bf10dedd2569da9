//! Servers that are refused: those that report another engine, and those that lack a required
//! feature.

use crate::support::Database;
use diesel::connection::SimpleConnection;
use dwar_kernel::StoreError;
use dwar_postgres::{PostgresStore, Settings};

/// A store on a server whose functions partly come from this schema, with further session options.
fn store(database: &Database, functions: &str, options: &str) -> PostgresStore {
    database.connection().batch_execute(functions).unwrap();
    let settings = database.settings();
    let url = format!("{},pg_catalog{options}", settings.url);
    PostgresStore::connect(Settings { url, ..settings }).unwrap()
}

fn told(outcome: Result<impl std::fmt::Debug, StoreError>) -> String {
    match outcome.unwrap_err() {
        StoreError::Foreign(told) => told,
        other => panic!("{other:?}"),
    }
}

fn says(version: &str) -> String {
    format!("CREATE FUNCTION version() RETURNS text LANGUAGE sql AS $$ SELECT '{version}'::text $$")
}

/// Replaces the server's `server_version_num` with this one.
fn numbered(number: &str) -> String {
    format!(
        "CREATE FUNCTION current_setting(text) RETURNS text LANGUAGE sql AS $$ SELECT '{number}'::text $$"
    )
}

#[tokio::test]
#[ignore = "needs DWAR_TEST_POSTGRES_URL"]
async fn a_postgresql_is_taken_and_nothing_is_left_behind() {
    let database = Database::create();
    let store = PostgresStore::connect(database.settings()).unwrap();
    for _ in 0..3 {
        store.check_engine().await.unwrap();
    }
    assert_eq!(store.tables().await.unwrap(), Vec::<String>::new());
}

#[tokio::test]
#[ignore = "needs DWAR_TEST_POSTGRES_URL"]
async fn another_engine_is_refused_by_everything_that_would_make_or_read_a_schema() {
    for (version, name) in [
        ("CockroachDB CCL v23.1.11 (x86_64-pc-linux-gnu, built 2023/09/27)", "is CockroachDB;"),
        ("PostgreSQL 15.2-YB-2.25.0.0-b0 on x86_64-pc-linux-gnu", "is YugabyteDB;"),
        ("PostgreSQL 8.0.2 on i686-pc-linux-gnu, Redshift 1.0.60353", "is Amazon Redshift;"),
        ("Elsewhere 1.0", "is Elsewhere 1.0;"),
    ] {
        let database = Database::create();
        let store = store(&database, &says(version), "");
        for told in [
            told(store.check_engine().await),
            told(store.migrate().await),
            told(store.pending_migrations().await),
            told(store.look_for_keys().await),
        ] {
            assert!(told.contains(name) && told.contains("needs PostgreSQL 15"), "{told}");
            assert!(!told.contains('\n'), "{told}");
        }
        assert_eq!(store.tables().await.unwrap(), Vec::<String>::new());
    }
}

#[tokio::test]
#[ignore = "needs DWAR_TEST_POSTGRES_URL"]
async fn forks_are_taken_and_old_releases_are_refused() {
    let fork = "PostgreSQL 16.3 (EnterpriseDB Advanced Server 16.3.0) on x86_64-pc-linux-gnu";
    let database = Database::create();
    let taken = store(&database, &format!("{}; {}", says(fork), numbered("160003")), "");
    taken.check_engine().await.unwrap();
    taken.migrate().await.unwrap();
    let database = Database::create();
    let old = store(&database, &numbered("140022"), "");
    assert!(told(old.migrate().await).contains("is PostgreSQL 14.22;"));
}

/// A lock that excludes nobody, a missing one, and one that the other connection does not see.
#[tokio::test]
#[ignore = "needs DWAR_TEST_POSTGRES_URL"]
async fn locks_that_do_nothing_are_found_out() {
    let nothing =
        "CREATE FUNCTION pg_advisory_xact_lock(integer, integer) RETURNS void LANGUAGE sql AS ''";
    let broken = "CREATE FUNCTION pg_advisory_xact_lock(integer, integer) RETURNS void LANGUAGE plpgsql AS \
                  'BEGIN RAISE EXCEPTION ''unimplemented: advisory locks''; END'";
    let granted = "CREATE FUNCTION pg_try_advisory_xact_lock(integer, integer) RETURNS boolean LANGUAGE sql AS 'SELECT true'";
    for (functions, why) in [
        (nothing, "has advisory locks that exclude no other connection;"),
        (granted, "has advisory locks that exclude no other connection;"),
        (broken, "has no advisory locks;"),
    ] {
        let database = Database::create();
        let store = store(&database, functions, "");
        for told in [told(store.check_engine().await), told(store.migrate().await)] {
            assert!(told.contains(why) && !told.contains("unimplemented"), "{told}");
        }
        assert_eq!(store.tables().await.unwrap(), Vec::<String>::new());
    }
}

#[tokio::test]
#[ignore = "needs DWAR_TEST_POSTGRES_URL"]
async fn triggers_that_do_not_fire_are_found_out() {
    let database = Database::create();
    let store = store(&database, "SELECT 1", "%20-c%20session_replication_role%3Dreplica");
    for told in [told(store.check_engine().await), told(store.migrate().await)] {
        assert!(told.contains("has row triggers that do not fire;"), "{told}");
    }
}

/// Engines that do not know one of our settings refuse the connection before their name can be
/// read.
#[tokio::test]
#[ignore = "needs DWAR_TEST_POSTGRES_URL"]
async fn an_engine_that_does_not_know_our_settings_is_told_by_its_name_all_the_same() {
    let database = Database::create();
    let role = format!("role_{}", database.schema());
    let liar = format!(
        "{}; CREATE ROLE {role} LOGIN SUPERUSER; ALTER ROLE {role} SET search_path = {}, pg_catalog",
        says("CockroachDB CCL v23.1.11 (x86_64-pc-linux-gnu)"),
        database.schema()
    );
    let unknown = "%20-c%20setting_of_nobody%3D1";
    database.connection().batch_execute(&liar).unwrap();
    let settings = database.settings();
    let url = format!("{}{unknown}", settings.url).replacen("://dwar@", &format!("://{role}@"), 1);
    let settings = Settings { url, ..settings };
    let store = PostgresStore::connect(settings).unwrap();
    let told = told(store.migrate().await);
    database.connection().batch_execute(&format!("DROP ROLE {role}")).unwrap();
    assert!(told.contains("is CockroachDB;"), "{told}");
    // A PostgreSQL that refuses a setting cannot be used with it.
    let settings = database.settings();
    let url = format!("{}{unknown}", settings.url);
    let store = PostgresStore::connect(Settings { url, ..settings }).unwrap();
    let refused = store.migrate().await.unwrap_err();
    assert!(refused.is_transient(), "{refused:?}");
}
