//! A server without disk space is recognised by its error code, whatever language it uses.

use crate::support::{Database, assert_unavailable, project, renamed};
use diesel::connection::SimpleConnection;
use dwar_kernel::StoreError;
use dwar_postgres::PostgresStore;
use dwar_project::ProjectStore;
use dwar_testkit::{Fixtures, any_project};

impl Database {
    /// Makes the server refuse rows for these tables with this code and text.
    fn refuse(&self, tables: &[&str], code: &str, text: &str) {
        let mut sql = format!(
            "CREATE OR REPLACE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$
             BEGIN RAISE EXCEPTION USING ERRCODE = '{code}', MESSAGE = '{text}'; END $$;"
        );
        for table in tables {
            sql.push_str(&format!(
                "CREATE TRIGGER refuse BEFORE INSERT OR UPDATE ON {table}
                 FOR EACH ROW EXECUTE FUNCTION refuse();"
            ));
        }
        self.connection().batch_execute(&sql).unwrap();
    }

    fn accept(&self) {
        self.connection().batch_execute("DROP FUNCTION refuse CASCADE").unwrap();
    }
}

async fn write(store: &PostgresStore, of: dwar_kernel::ProjectId) -> Result<(), StoreError> {
    store.change(of, renamed(), any_project()).await.map(drop)
}

#[tokio::test]
#[ignore = "needs DWAR_TEST_POSTGRES_URL"]
async fn a_full_disk_is_known_by_its_code_in_any_language() {
    let database = Database::create();
    let store = database.store().await;
    let id = project(&store, &Fixtures::random()).await.id;
    store.room().await.unwrap();
    let german = "konnte Datei nicht erweitern: Kein Speicherplatz mehr verfügbar";
    database.refuse(&["projects", "room_probe"], "53100", german);
    // The driver has no kind for it; a query to the server has.
    assert!(matches!(write(&store, id).await, Err(StoreError::Failed(_))));
    for _ in 0..2 {
        assert!(matches!(store.room().await, Err(StoreError::NoRoom)));
        assert!(matches!(write(&store, id).await, Err(StoreError::NoRoom)));
        assert!(store.find(id).await.unwrap().is_some());
    }
    database.accept();
    write(&store, id).await.unwrap();
    store.room().await.unwrap();
    assert_eq!(database.rows("room_probe"), 0);
}

#[tokio::test]
#[ignore = "needs DWAR_TEST_POSTGRES_URL"]
async fn a_full_disk_told_in_english_is_known_at_once() {
    let database = Database::create();
    let store = database.store().await;
    let id = project(&store, &Fixtures::random()).await.id;
    store.room().await.unwrap();
    let english = "could not extend file \"base/5/16384\": No space left on device";
    database.refuse(&["projects"], "53100", english);
    assert!(matches!(write(&store, id).await, Err(StoreError::NoRoom)));
    // Only one table's file was full: the server has space again, and says so when asked.
    store.room().await.unwrap();
    database.accept();
    write(&store, id).await.unwrap();
}

#[tokio::test]
#[ignore = "needs DWAR_TEST_POSTGRES_URL"]
async fn a_store_that_begins_on_a_full_disk_knows_it() {
    let database = Database::create();
    database.store().await;
    database.refuse(&["room_probe"], "53100", "voll");
    let store = PostgresStore::connect(database.settings()).unwrap();
    store.ping().await.unwrap();
    assert!(matches!(store.room().await, Err(StoreError::NoRoom)));
    database.accept();
    store.room().await.unwrap();
}

#[tokio::test]
#[ignore = "needs DWAR_TEST_POSTGRES_URL"]
async fn a_server_short_of_something_else_is_out_of_reach_and_not_broken() {
    let database = Database::create();
    let store = database.store().await;
    let id = project(&store, &Fixtures::random()).await.id;
    for (code, text) in [
        ("53200", "out of memory"),
        ("53200", "out of shared memory"),
        ("53300", "sorry, too many clients already"),
        ("53400", "temporary file size exceeds temp_file_limit (1024kB)"),
    ] {
        database.refuse(&["projects"], code, text);
        assert_unavailable(write(&store, id).await);
        store.room().await.unwrap();
        database.accept();
    }
    // A failure of our own stays one, whatever the server reports about its space.
    database.refuse(&["projects"], "P0001", "no");
    assert!(matches!(write(&store, id).await, Err(StoreError::Failed(_))));
    store.room().await.unwrap();
    assert!(matches!(write(&store, id).await, Err(StoreError::Failed(_))));
}
