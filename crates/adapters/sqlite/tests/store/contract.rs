//! The contract tests of the ports, run on SQLite. Every id is stored as 16 bytes.

use dwar_sqlite::{Settings, SqliteStore, Synchronous};
use dwar_testkit::Stores;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;
use tempfile::TempDir;

/// Checks the files that a test has left, however it ended.
struct Left(TempDir);

impl Left {
    fn database(&self) -> PathBuf {
        self.0.path().join("dwar.db")
    }
}

impl Drop for Left {
    fn drop(&mut self) {
        if !std::thread::panicking() {
            let mut file = crate::common::connect(&self.database());
            assert_eq!(crate::common::ids_otherwise_stored(&mut file), [""; 0]);
        }
    }
}

async fn open() -> (Stores, Left) {
    let left = Left(tempfile::tempdir().unwrap());
    let settings = Settings {
        // The suites never simulate a loss of power.
        synchronous: Synchronous::Normal,
        patience: Duration::from_secs(60),
        ..Settings::new(left.database())
    };
    let store = SqliteStore::open(settings).unwrap();
    store.migrate().await.unwrap();
    (Stores::from(&Arc::new(store)), left)
}

dwar_testkit::store_contract_tests!(open().await);
