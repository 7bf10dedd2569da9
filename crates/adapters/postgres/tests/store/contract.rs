//! The contract tests of the ports, run on PostgreSQL.

use crate::support::Database;
use dwar_testkit::Stores;
use std::sync::Arc;

async fn open() -> (Stores, Database) {
    let database = Database::create();
    let store = Arc::new(database.store().await);
    (Stores::from(&store), database)
}

dwar_testkit::store_contract_tests! {
    #[ignore = "needs DWAR_TEST_POSTGRES_URL"]
    shared: open().await,
    fresh: open().await,
}
