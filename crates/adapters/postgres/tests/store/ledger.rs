//! Ledger entries are only added, and nothing of a wallet is locked while a message is sent.

use crate::support::{Database, project};
use diesel::connection::SimpleConnection;
use diesel::prelude::*;
use diesel::sql_types::Text;
use dwar_kernel::KeyMode;
use dwar_login::{Cost, LoginStore, NewSend, Prepared, SendReport};
use dwar_otp::{Reason, Report, ReportedRequest, Route};
use dwar_testkit::{Fixtures, START, ledger_of, race};
use dwar_wallet::{
    Balance, Closing, ClosingStore, EntryKind, FileDigest, Month, Paise, Settlement, WalletStore,
};

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs DWAR_TEST_POSTGRES_URL"]
async fn entries_cannot_be_changed_or_deleted() {
    let database = Database::create();
    let store = database.store().await;
    let make = Fixtures::random();
    let id = project(&store, &make).await.id;
    store.credit(id, make.credit(Paise(500)), START).await.unwrap();
    let before = ledger_of(&store, id).await;

    let mut conn = database.connection();
    for change in [
        "UPDATE ledger_entries SET amount = 900",
        "DELETE FROM ledger_entries",
        "TRUNCATE ledger_entries",
    ] {
        let refusal = conn.batch_execute(change).unwrap_err();
        assert_eq!(refusal.to_string(), "ledger entries are only ever added", "{change}");
    }
    assert_eq!(ledger_of(&store, id).await, before);
    assert_eq!(before.len(), 1);
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs DWAR_TEST_POSTGRES_URL"]
async fn entries_leave_only_into_the_closing_of_their_month() {
    let database = Database::create();
    let store = database.store().await;
    let make = Fixtures::random();
    let id = project(&store, &make).await.id;
    store.credit(id, make.credit(Paise(500)), START).await.unwrap();
    for _ in 0..2 {
        assert!(
            make.hold(&store, make.otp(&make.line(id.in_mode(KeyMode::Live))), Paise(40)).await
        );
    }
    let month = Month::of(START).unwrap();
    let exported = store.closable(id, month).await.unwrap().unwrap();
    let closing = Closing::begin(make.id(), (id, month), exported, FileDigest([7; 32]));
    assert!(store.begin_closing(closing).await.unwrap());
    let before = ledger_of(&store, id).await;
    let (entries, closings) =
        ("ledger entries are only ever added", "a closed month is never changed");
    let mut conn = database.connection();
    for (forbidden, told) in [
        ("UPDATE ledger_entries SET amount = 1", entries),
        ("DELETE FROM ledger_entries", entries),
        ("DELETE FROM ledger_entries WHERE kind = 'credit'", entries),
        ("TRUNCATE ledger_entries", entries),
        ("UPDATE ledger_closings SET entries = entries + 1", closings),
        ("UPDATE ledger_closings SET digest = digest", closings),
        ("DELETE FROM ledger_closings", closings),
        ("TRUNCATE ledger_closings", closings),
    ] {
        let refused = conn.batch_execute(forbidden).unwrap_err();
        assert_eq!(refused.to_string(), told, "{forbidden}");
    }
    assert_eq!(store.closings(id).await.unwrap(), [closing]);
    assert_eq!(ledger_of(&store, id).await, before);

    // Any connection may do what the step itself does, and nothing is lost.
    conn.batch_execute("DELETE FROM ledger_entries WHERE position = 2").unwrap();
    assert_eq!(store.audit().await.unwrap().difference, Paise(0));
    let closed = store.close(id, month).await.unwrap().unwrap();
    assert_eq!((closed.closed.entries, closed.closed.sums.held), (2, Paise(80)));
    assert_eq!(store.audit().await.unwrap().difference, Paise(0));
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs DWAR_TEST_POSTGRES_URL"]
async fn a_send_under_way_locks_nothing() {
    let database = Database::create();
    let store = database.store().await;
    let make = Fixtures::random();
    let id = project(&store, &make).await.id;
    let otp = || make.otp(&make.line(id.in_mode(KeyMode::Live)));
    let (send, other) = (otp(), otp());
    store.credit(id, make.credit(Paise(500)), START).await.unwrap();
    assert!(make.hold(&store, send.clone(), Paise(100)).await);

    // The provider is being called now, and nobody has to wait for its answer.
    let mut conn = database.connection();
    conn.batch_execute(
        "BEGIN; SELECT * FROM wallets, wallet_holds, ledger_entries FOR UPDATE NOWAIT; ROLLBACK",
    )
    .unwrap();
    assert_eq!(database.in_transaction(), 0);
    assert!(make.hold(&store, other, Paise(100)).await);

    let entries = [make.id(), make.id()];
    let capture = Settlement::Capture(Paise(100));
    assert!(store.settle(id, send.id, capture, entries, START).await.unwrap());
    let left = Balance { balance: Paise(400), held: Paise(100) };
    assert_eq!(store.balance(id).await.unwrap(), left);
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs DWAR_TEST_POSTGRES_URL"]
async fn a_hold_and_a_settlement_that_are_sent_again_happen_once() {
    let database = Database::create();
    let store = database.store().await;
    let make = Fixtures::random();
    let id = project(&store, &make).await.id;
    store.credit(id, make.credit(Paise(100)), START).await.unwrap();
    let otp = make.otp(&make.line(id.in_mode(KeyMode::Live)));
    let (send, entries) = (otp.id, [make.id(), make.id()]);
    let held = NewSend { cost: Cost::Hold(Paise(60)), ..make.new_send_of(otp) };
    let answers = race(32, |_| {
        let (store, held) = (store.clone(), held.clone());
        async move { store.prepare(held, START).await.unwrap() }
    })
    .await;
    assert!(answers.iter().all(|answer| matches!(answer, Prepared::Ready(_))), "{answers:?}");
    assert_eq!(store.balance(id).await.unwrap(), Balance { balance: Paise(100), held: Paise(60) });

    let capture = Settlement::Capture(Paise(25));
    let answers = race(32, |_| {
        let store = store.clone();
        async move { store.settle(id, send, capture, entries, START).await.unwrap() }
    })
    .await;
    assert_eq!(answers.iter().filter(|settled| **settled).count(), 1, "{answers:?}");
    assert!(!store.settle(id, send, capture, [make.id(), make.id()], START).await.unwrap());
    // Still its own, although there is no hold any more.
    assert!(matches!(store.prepare(held, START).await.unwrap(), Prepared::Ready(_)));
    let kinds: Vec<_> = ledger_of(&store, id).await.iter().map(|e| e.kind).collect();
    let wanted = [EntryKind::Release, EntryKind::Capture, EntryKind::Hold, EntryKind::Credit];
    assert_eq!(kinds, wanted);
    assert_eq!(store.balance(id).await.unwrap(), Balance { balance: Paise(75), held: Paise(0) });
}

#[derive(QueryableByName)]
struct NotedCommit {
    #[diesel(sql_type = Text)]
    waited: String,
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs DWAR_TEST_POSTGRES_URL"]
async fn a_send_and_its_end_change_the_wallet_once_each_and_are_on_disk() {
    let database = Database::create();
    let store = database.store().await;
    let make = Fixtures::random();
    let id = project(&store, &make).await.id;
    store.credit(id, make.credit(Paise(100)), START).await.unwrap();
    let mut conn = database.connection();
    // At the commit, so that it sees the same state as the commit.
    conn.batch_execute(
        "CREATE TABLE changes (waited text NOT NULL);
         CREATE FUNCTION note_change() RETURNS trigger LANGUAGE plpgsql AS $$
         BEGIN INSERT INTO changes VALUES (current_setting('synchronous_commit')); RETURN NULL; END
         $$;
         CREATE CONSTRAINT TRIGGER note_change AFTER UPDATE ON wallets
         DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION note_change()",
    )
    .unwrap();
    let mut changes = || {
        let noted = diesel::sql_query("DELETE FROM changes RETURNING waited");
        let noted: Vec<NotedCommit> = noted.load(&mut conn).unwrap();
        noted.into_iter().map(|change| change.waited).collect::<Vec<_>>()
    };
    for settled in [Report::Delivered, Report::Failed(Reason::Blocked)] {
        let otp = make.otp(&make.line(id.in_mode(KeyMode::Live)));
        assert!(make.hold(&store, otp.clone(), Paise(60)).await);
        assert_eq!(changes(), ["on"]);
        let (attempt, request) = (otp.delivery.attempts[0].id, ReportedRequest::Id(id, otp.id));
        let route = Route { hops: Vec::new(), ..make.route() };
        let report = SendReport { route, ..make.send_report(attempt, settled) };
        store.report(request, report, START).await.unwrap().unwrap();
        assert_eq!(changes(), ["on"]);
        // On the same connections, one after the other.
        for _ in 0..8 {
            store.credit(id, make.credit(Paise(1)), START).await.unwrap();
        }
        assert_eq!(changes(), ["on"; 8]);
    }
}
