//! SQLite keeps what the ports promise, and every id as 16 bytes.

use dwar_sqlite::{Settings, SqliteStore, Synchronous};
use dwar_testkit::Stores;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;
use tempfile::TempDir;

/// Looks at what a test has left behind, however it got there.
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
        // The suites never cut the power.
        synchronous: Synchronous::Normal,
        patience: Duration::from_secs(60),
        ..Settings::new(left.database())
    };
    let store = SqliteStore::open(settings).unwrap();
    store.migrate().await.unwrap();
    (Stores::from(&Arc::new(store)), left)
}

dwar_testkit::store_contract_tests!(open().await);
