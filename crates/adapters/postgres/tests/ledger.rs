//! The ledger is only ever added to, and nothing of a wallet is locked while a message is sent.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "everything here runs inside tests")]

mod support;

use diesel::connection::SimpleConnection;
use dwar_testkit::{Fixtures, START};
use dwar_wallet::{Balance, HoldOutcome, Paise, Settlement, WalletStore};
use support::{Database, project};

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs DWAR_TEST_POSTGRES_URL"]
async fn entries_cannot_be_changed_or_deleted() {
    let database = Database::create();
    let store = database.store().await;
    let make = Fixtures::random();
    let id = project(&store, &make).await.id;
    store.credit(id, make.credit(Paise(500)), START).await.unwrap();
    let before = store.statement(id, 9).await.unwrap();

    let mut conn = database.connection();
    for change in [
        "UPDATE ledger_entries SET amount = 900",
        "DELETE FROM ledger_entries",
        "TRUNCATE ledger_entries",
    ] {
        let refusal = conn.batch_execute(change).unwrap_err();
        assert_eq!(refusal.to_string(), "ledger entries are only ever added", "{change}");
    }
    assert_eq!(store.statement(id, 9).await.unwrap(), before);
    assert_eq!(before.len(), 1);
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs DWAR_TEST_POSTGRES_URL"]
async fn a_send_under_way_locks_nothing() {
    let database = Database::create();
    let store = database.store().await;
    let make = Fixtures::random();
    let id = project(&store, &make).await.id;
    let (send, other) = (make.id(), make.id());
    store.credit(id, make.credit(Paise(500)), START).await.unwrap();
    let hold = |send| store.hold(id, send, Paise(100), make.id(), START);
    assert_eq!(hold(send).await.unwrap(), HoldOutcome::Held);

    // The provider is being called now: nobody has to wait for its answer.
    let mut conn = database.connection();
    conn.batch_execute(
        "BEGIN; SELECT * FROM wallets, wallet_holds, ledger_entries FOR UPDATE NOWAIT; ROLLBACK",
    )
    .unwrap();
    assert_eq!(database.in_transaction(), 0);
    assert_eq!(hold(other).await.unwrap(), HoldOutcome::Held);

    let entries = [make.id(), make.id()];
    let capture = Settlement::Capture(Paise(100));
    assert!(store.settle(id, send, capture, entries, START).await.unwrap());
    let left = Balance { balance: Paise(400), held: Paise(100) };
    assert_eq!(store.balance(id).await.unwrap(), left);
}
