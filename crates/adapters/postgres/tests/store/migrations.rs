//! The schema is migrated once, however many instances ask for it.

use crate::support::Database;
use dwar_postgres::PostgresStore;
use dwar_testkit::race;

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
