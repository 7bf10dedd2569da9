use super::*;
use dwar_activity::installation::{KeyHolder, StoredKeys};
use dwar_kernel::StoreError;
use dwar_testkit::{FixedClock, START, watch};
use dwar_turns::Load;
use futures_util::future::join_all;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use tokio::sync::Notify;
use tokio::time::{sleep, timeout};

/// A database that counts proofs and may be frozen.
#[derive(Default)]
struct Counted {
    proofs: AtomicU64,
    is_frozen: AtomicBool,
    thaw: Notify,
}

#[async_trait]
impl Database for Counted {
    async fn migrate(&self, _: Arc<dyn KeyHolder>) -> Result<Vec<String>, StoreError> {
        Ok(Vec::new())
    }

    async fn look_for_keys(&self) -> Result<StoredKeys, StoreError> {
        Ok(StoredKeys::default())
    }

    async fn tables(&self) -> Result<Vec<String>, StoreError> {
        Ok(Vec::new())
    }

    async fn unreadable(&self) -> Result<Vec<StoreError>, StoreError> {
        Ok(Vec::new())
    }

    async fn pending_migrations(&self) -> Result<Vec<String>, StoreError> {
        Ok(Vec::new())
    }

    async fn ping(&self) -> Result<(), StoreError> {
        Ok(())
    }

    async fn cautions(&self) -> Result<Vec<String>, StoreError> {
        Ok(Vec::new())
    }

    async fn room(&self) -> Result<Option<u64>, StoreError> {
        Ok(None)
    }

    async fn prove_writable(&self) -> Result<Option<u64>, StoreError> {
        self.proofs.fetch_add(1, Ordering::Relaxed);
        if self.is_frozen.load(Ordering::Relaxed) {
            self.thaw.notified().await;
        }
        Ok(None)
    }

    fn load(&self) -> Load {
        Load::default()
    }
}

impl Counted {
    fn proofs(&self) -> u64 {
        self.proofs.load(Ordering::Relaxed)
    }
}

fn ready() -> (Ready, Arc<Counted>) {
    let (prepared, database) = (Prepared::default(), Arc::new(Counted::default()));
    prepared.set(()).unwrap();
    let watch = watch(&Arc::new(FixedClock::at(START)));
    (Ready::new(prepared, watch, Arc::default(), database.clone()), database)
}

#[tokio::test(start_paused = true)]
async fn all_who_ask_within_a_second_share_one_proof() {
    let (ready, database) = ready();
    assert!(join_all((0..100).map(|_| ready.ready())).await.into_iter().all(|ready| ready));
    sleep(FRESH / 2).await;
    assert!(ready.ready().await);
    assert_eq!(database.proofs(), 1);
    sleep(FRESH).await;
    assert!(ready.ready().await);
    assert_eq!(database.proofs(), 2);
}

#[tokio::test(start_paused = true)]
async fn a_frozen_database_is_asked_once_however_many_give_up() {
    let (ready, database) = ready();
    database.is_frozen.store(true, Ordering::Relaxed);
    for _ in 0..5 {
        assert!(timeout(FRESH * 2, ready.ready()).await.is_err());
    }
    assert_eq!(database.proofs(), 1);
    database.is_frozen.store(false, Ordering::Relaxed);
    database.thaw.notify_one();
    sleep(FRESH).await;
    // The result of ten seconds ago is no longer valid.
    assert!(ready.ready().await);
    assert_eq!(database.proofs(), 2);
}
