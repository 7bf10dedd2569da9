//! What an operator is told about the settings of sessions.

use crate::support::Database;
use dwar_postgres::{PostgresStore, Settings};

/// What a pooler drops is told of in the tests of the program, which have a pooler.
#[tokio::test]
#[ignore = "needs DWAR_TEST_POSTGRES_URL"]
async fn a_session_as_it_was_asked_for_calls_for_no_caution() {
    let database = Database::create();
    assert!(database.store().await.cautions().await.unwrap().is_empty());
    // Whoever sets it in the URL means it.
    let settings = database.settings();
    let url = format!("{}%20-c%20statement_timeout%3D9000", settings.url);
    let store = PostgresStore::connect(Settings { url, ..settings }).unwrap();
    assert!(store.cautions().await.unwrap().is_empty());
}
