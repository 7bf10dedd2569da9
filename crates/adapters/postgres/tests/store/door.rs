//! The order in which callers get a connection when there are too few.

use crate::support::{Database, assert_unavailable};
use diesel::connection::SimpleConnection;
use diesel::prelude::*;
use dwar_kernel::{ProjectId, StoreError};
use dwar_postgres::{PostgresStore, Settings};
use dwar_testkit::Fixtures;
use dwar_wallet::{Balance, WalletStore};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;
use tokio::task::JoinHandle;

type Asking = JoinHandle<Result<Balance, StoreError>>;

/// A store with a single connection besides those of the look-ups, and a transaction that blocks
/// it.
struct Scene {
    store: PostgresStore,
    /// Holds the lock that the connection waits for; dropped before the tables.
    other: PgConnection,
    database: Database,
    flooding: ProjectId,
    quiet: ProjectId,
    answered: Arc<AtomicUsize>,
}

impl Scene {
    async fn set(acquire_timeout: Duration) -> Self {
        let (database, make) = (Database::create(), Fixtures::random());
        let ready = database.store().await;
        let flooding = crate::support::project(&ready, &make).await.id;
        let quiet = crate::support::project(&ready, &make).await.id;
        let settings = Settings { pool_size: 1, acquire_timeout, ..database.settings() };
        let store = PostgresStore::connect(settings).unwrap();
        let mut other = database.connection();
        other.batch_execute("BEGIN; LOCK TABLE wallets IN ACCESS EXCLUSIVE MODE").unwrap();
        let answered = Arc::default();
        let scene = Self { store, other, database, flooding, quiet, answered };
        drop(scene.asks(flooding).await);
        scene.database.until_blocked(1).await;
        scene
    }

    /// Asks for a project's balance, and returns once the query waits.
    async fn asks(&self, project: ProjectId) -> Asking {
        let (store, answered) = (self.store.clone(), Arc::clone(&self.answered));
        let asking = tokio::spawn(async move {
            let balance = store.balance(project).await;
            answered.fetch_add(1, Ordering::SeqCst);
            balance
        });
        tokio::task::yield_now().await;
        asking
    }

    async fn flood(&self, count: usize) -> Vec<Asking> {
        let mut flood = Vec::with_capacity(count);
        for _ in 0..count {
            flood.push(self.asks(self.flooding).await);
        }
        flood
    }

    fn let_go(&mut self) {
        self.other.batch_execute("ROLLBACK").unwrap();
    }
}

/// The tests of the queue check the exact order. Here a busy machine may suspend threads, which
/// lets more answers pass.
#[tokio::test]
#[ignore = "needs DWAR_TEST_POSTGRES_URL"]
async fn another_project_does_not_wait_for_the_flood_of_one() {
    let mut scene = Scene::set(Duration::from_secs(60)).await;
    let flood = scene.flood(500).await;
    let quiet = scene.asks(scene.quiet).await;
    let (store, answered) = (scene.store.clone(), Arc::clone(&scene.answered));
    let nobody = tokio::spawn(async move {
        store.ping().await.unwrap();
        answered.fetch_add(1, Ordering::SeqCst)
    });
    tokio::task::yield_now().await;
    scene.let_go();
    quiet.await.unwrap().unwrap();
    let before = scene.answered.load(Ordering::SeqCst);
    assert!(before < 250, "{before} answers went before");
    let before = nobody.await.unwrap();
    assert!(before < 250, "{before} answers went before");
    for asking in flood {
        asking.await.unwrap().unwrap();
    }
    assert_eq!(scene.answered.load(Ordering::SeqCst), 503);
}

#[tokio::test]
#[ignore = "needs DWAR_TEST_POSTGRES_URL"]
async fn where_as_many_wait_as_may_another_project_still_gets_its_turn() {
    let mut scene = Scene::set(Duration::from_secs(60)).await;
    let mut flood = scene.flood(4_096).await;
    assert_unavailable(scene.store.balance(scene.flooding).await);
    let quiet = scene.asks(scene.quiet).await;
    let pushed_out = tokio::time::timeout(Duration::from_secs(2), flood.pop().unwrap()).await;
    assert_unavailable(pushed_out.unwrap().unwrap());
    assert!(!flood.iter().any(JoinHandle::is_finished));
    scene.let_go();
    quiet.await.unwrap().unwrap();
    flood.iter().for_each(JoinHandle::abort);
}

#[tokio::test]
#[ignore = "needs DWAR_TEST_POSTGRES_URL"]
async fn whoever_gives_up_leaves_the_connection_to_others() {
    let mut scene = Scene::set(Duration::from_millis(300)).await;
    let (gone, patient) = (scene.flood(50).await, scene.flood(50).await);
    gone.iter().for_each(JoinHandle::abort);
    for asking in patient {
        assert_unavailable(asking.await.unwrap());
    }
    // Also while it is being released.
    let gone = scene.flood(50).await;
    scene.let_go();
    gone.iter().for_each(JoinHandle::abort);
    for _ in 0..3 {
        scene.store.balance(scene.quiet).await.unwrap();
    }
}
