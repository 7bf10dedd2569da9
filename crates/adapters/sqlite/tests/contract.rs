//! SQLite keeps what the ports promise.

#![allow(clippy::unwrap_used, reason = "the helpers run inside tests")]

use dwar_sqlite::{Settings, SqliteStore, Synchronous};
use dwar_testkit::Stores;
use std::sync::Arc;
use std::time::Duration;
use tempfile::TempDir;

async fn open() -> (Stores, TempDir) {
    let folder = tempfile::tempdir().unwrap();
    let settings = Settings {
        // The suites never cut the power.
        synchronous: Synchronous::Normal,
        patience: Duration::from_secs(60),
        ..Settings::new(folder.path().join("dwar.db"))
    };
    let store = SqliteStore::open(settings).unwrap();
    store.migrate().await.unwrap();
    (Stores::of(&Arc::new(store)), folder)
}

dwar_testkit::store_contract_tests!(open().await);
