//! Warnings to an operator about the settings of sessions.

use crate::support::Database;
use dwar_postgres::{PostgresStore, Settings};

/// The tests of the program, which have a pooler, cover settings that a pooler drops.
#[tokio::test]
#[ignore = "needs DWAR_TEST_POSTGRES_URL"]
async fn a_session_as_it_was_asked_for_calls_for_no_caution() {
    let database = Database::create();
    assert!(database.store().await.cautions().await.unwrap().is_empty());
    // A setting in the URL is intended.
    let settings = database.settings();
    let url = format!("{}%20-c%20statement_timeout%3D9000", settings.url);
    let store = PostgresStore::connect(Settings { url, ..settings }).unwrap();
    assert!(store.cautions().await.unwrap().is_empty());
}
