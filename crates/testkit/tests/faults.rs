//! A store in memory fails on request, and such a failure changes nothing.

use dwar_kernel::{KeyMode, StoreError};
use dwar_login::Prepared;
use dwar_memory::{Fault, MemoryStore};
use dwar_testkit::{Fixtures, START, Stores};
use dwar_wallet::{Credited, Paise};
use std::sync::Arc;

fn open() -> (Arc<MemoryStore>, Stores, Fixtures) {
    let store = Arc::new(MemoryStore::default());
    let stores = Stores::from(&store);
    (store, stores, Fixtures::seeded(1))
}

#[tokio::test]
async fn the_next_call_of_a_step_fails_once_and_no_other() {
    let (store, stores, make) = open();
    let project = make.project();
    let id = project.id;
    stores.projects.create(project, make.keys()).await.unwrap();
    store.faults().next("WalletStore::credit", Fault::Fails);
    assert_eq!(stores.wallets.balance(id).await.unwrap().balance, Paise::ZERO);
    let credit = make.credit(Paise(5));
    let failed = stores.wallets.credit(id, credit.clone(), START).await;
    assert!(matches!(failed, Err(StoreError::Unavailable(said)) if said.contains("credit")));
    assert_eq!(stores.wallets.balance(id).await.unwrap().balance, Paise::ZERO);
    let credited = stores.wallets.credit(id, credit, START).await.unwrap();
    assert_eq!(credited, Credited::Booked);
    assert_eq!(store.faults().calls("WalletStore::credit"), 2);
}

#[tokio::test]
async fn every_call_fails_until_the_store_is_mended() {
    let (store, stores, make) = open();
    let project = make.project();
    let id = project.id;
    stores.projects.create(project, make.keys()).await.unwrap();
    store.faults().every(Some(Fault::Fails));
    let line = make.line(id.in_mode(KeyMode::Live));
    assert!(stores.logins.prepare(make.new_send(&line), START).await.is_err());
    assert!(stores.projects.list().await.is_err());
    assert!(stores.receipts.unknown().await.is_err());
    store.faults().every(None);
    let prepared = stores.logins.prepare(make.new_send(&line), START).await.unwrap();
    assert!(matches!(prepared, Prepared::Ready(_)));
}

#[tokio::test]
async fn a_step_that_panics_leaves_the_store_usable() {
    let (store, stores, _) = open();
    store.faults().next("ProjectStore::list", Fault::Panics);
    let projects = stores.projects.clone();
    let panicked = tokio::spawn(async move { projects.list().await }).await;
    assert!(panicked.is_err_and(|end| end.is_panic()));
    assert!(stores.projects.list().await.unwrap().is_empty());
}
