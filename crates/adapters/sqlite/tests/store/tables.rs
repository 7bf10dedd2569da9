//! The content of the tables: nothing stays behind, the ledger only grows, and no line of the audit
//! log changes.

use diesel::SqliteConnection;
use diesel::connection::{Connection, SimpleConnection};
use diesel::dsl::sql;
use diesel::query_dsl::RunQueryDsl;
use diesel::sql_types::BigInt;
use dwar_event::{CallLog, ClaimCapacity, Endpoint, Event, EventStore};
use dwar_identity::IdentityStore;
use dwar_kernel::{EntryId, KeptSecret, KeyMode, ProjectId, Sealed, StoreError};
use dwar_operator::{AuditFilter, AuditStore};
use dwar_otp::{
    GuessPolicy, GuessVerdict, Otp, OtpStore, ReceiptRoom, ReceiptStore, Report, ReportedRequest,
};
use dwar_project::{ProjectChange, ProjectStore};
use dwar_session::SessionStore;
use dwar_sqlite::{Settings, SqliteStore, Synchronous};
use dwar_testkit::{CODE, Fixtures, Line, START, any_project, ledger_of, seconds};
use dwar_wallet::{
    Adjusted, Adjustment, Closing, ClosingStore, Credited, FileDigest, Month, Paise, WalletStore,
};
use std::time::Duration;
use tempfile::TempDir;

const ENTRIES: &str = "ledger entries are only ever added";
const CLOSINGS: &str = "a closed month is never changed";

struct Scene {
    store: SqliteStore,
    tables: SqliteConnection,
    make: Fixtures,
    project: ProjectId,
    folder: TempDir,
}

impl Scene {
    async fn open() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("dwar.db");
        let settings = Settings { synchronous: Synchronous::Normal, ..Settings::new(&path) };
        let store = SqliteStore::open(settings).unwrap();
        store.migrate().await.unwrap();
        let make = Fixtures::random();
        let (new, keys) = (make.project(), make.keys());
        let project = new.id;
        store.create(new, keys).await.unwrap();
        let tables = SqliteConnection::establish(path.to_str().unwrap()).unwrap();
        Self { store, tables, make, project, folder }
    }

    fn count(&mut self, rows: &str) -> i64 {
        let count = sql::<BigInt>(&format!("SELECT count(*) FROM {rows}"));
        count.get_result(&mut self.tables).unwrap()
    }

    async fn endpoint(&self) -> Endpoint {
        let endpoint = Endpoint {
            id: self.make.id(),
            project: self.project,
            url: "https://example.com/dwar".to_owned(),
            full_phone: false,
            secret: KeptSecret::first(Sealed(vec![1])),
            created_at: START,
            failing: None,
            disabled_at: None,
        };
        self.store.add_endpoint(endpoint.clone()).await.unwrap();
        endpoint
    }

    /// A code that was sent, delivered and used.
    async fn verified(&self) -> (Line, Otp) {
        let line = self.make.line(self.project.in_mode(KeyMode::Live));
        let otp = self.make.issue(&self.store, self.make.otp(&line)).await;
        let accepted = Report::Accepted { provider_ref: None, awaits_receipt: true };
        for report in [accepted, Report::Delivered] {
            let request = ReportedRequest::Id(self.project, otp.id);
            let applied = self.make.report(&self.store, request, &otp, report, START).await;
            assert!(applied.is_some());
        }
        let judged = self.make.judge(&self.store, &line, CODE, GuessPolicy::OFF, START).await;
        assert!(matches!(judged, GuessVerdict::Accepted(_)));
        (line, otp)
    }

    /// A login and logout on a line, before the identity is erased.
    async fn end(&self, line: &Line) {
        let login = self.make.login(line);
        let (session, token) = (login.session.clone(), login.session.access.token);
        let identity = self.make.log_in(&self.store, line, login).await;
        assert!(self.store.revoke(session, token, START).await.unwrap());
        self.store
            .erase(self.project.in_mode(line.project_mode.mode), identity, START)
            .await
            .unwrap()
            .unwrap();
    }

    async fn credit(&self, amount: i64) {
        let credit = self.make.credit(Paise(amount));
        let credited = self.store.credit(self.project, credit, START).await.unwrap();
        assert_eq!(credited, Credited::Booked);
    }

    async fn adjust(&self, amount: i64) {
        let (id, amount): (EntryId, _) = (self.make.id(), amount.try_into().unwrap());
        let adjustment = Adjustment { id, amount, reference: id.into() };
        let adjusted = self.store.adjust(self.project, adjustment, START).await.unwrap();
        assert_eq!(adjusted, Adjusted::Booked);
    }

    async fn warn_below(&self, threshold: i64) {
        let change =
            ProjectChange { low_balance: Some(Some(Paise(threshold))), ..ProjectChange::default() };
        self.store.change(self.project, change, any_project()).await.unwrap().done().unwrap();
    }

    async fn due(&self) -> Vec<Event> {
        let due = EventStore::claim_due(&self.store, START, seconds(60), ClaimCapacity::of(1_000))
            .await
            .unwrap();
        due.into_iter().map(|dispatch| dispatch.event).collect()
    }
}

#[tokio::test]
async fn lines_of_the_audit_log_cannot_be_changed() {
    let mut scene = Scene::open().await;
    let entry = scene.make.audit_entry(scene.project, START);
    scene.store.append(entry.clone()).await.unwrap();
    let change = "UPDATE audit_entries SET subject = 'nothing'";
    let refused = scene.tables.batch_execute(change).unwrap_err();
    assert_eq!(refused.to_string(), "the audit log is never changed");
    let page = scene.store.page(AuditFilter::default(), None, 9).await.unwrap();
    assert_eq!(page, [entry]);
}

#[tokio::test]
async fn ledger_entries_can_be_neither_changed_nor_deleted() {
    let mut scene = Scene::open().await;
    scene.credit(1_000).await;
    let otp = scene.make.otp(&scene.make.line(scene.project.in_mode(KeyMode::Live)));
    assert!(scene.make.hold(&scene.store, otp, Paise(40)).await);
    let before = ledger_of(&scene.store, scene.project).await;
    for forbidden in [
        "UPDATE ledger_entries SET amount = 1",
        "UPDATE ledger_entries SET reference = reference WHERE kind = 'hold'",
        "DELETE FROM ledger_entries",
        "DELETE FROM ledger_entries WHERE kind = 'credit'",
    ] {
        let refused = scene.tables.batch_execute(forbidden).unwrap_err();
        assert_eq!(refused.to_string(), ENTRIES, "{forbidden}");
    }
    assert_eq!(before.len(), 2);
    assert_eq!(ledger_of(&scene.store, scene.project).await, before);
}

#[tokio::test]
async fn entries_leave_only_into_the_closing_of_their_month() {
    let mut scene = Scene::open().await;
    scene.credit(1_000).await;
    for _ in 0..2 {
        let otp = scene.make.otp(&scene.make.line(scene.project.in_mode(KeyMode::Live)));
        assert!(scene.make.hold(&scene.store, otp, Paise(40)).await);
    }
    let month = Month::of(START).unwrap();
    let exported = scene.store.closable(scene.project, month).await.unwrap().unwrap();
    let of = (scene.project, month);
    let closing = Closing::begin(scene.make.id(), of, exported, FileDigest([7; 32]));
    assert!(scene.store.begin_closing(closing).await.unwrap());
    let before = ledger_of(&scene.store, scene.project).await;
    for (forbidden, told) in [
        ("UPDATE ledger_entries SET amount = 1", ENTRIES),
        ("DELETE FROM ledger_entries", ENTRIES),
        ("DELETE FROM ledger_entries WHERE kind = 'credit'", ENTRIES),
        ("UPDATE ledger_closings SET entries = entries + 1", CLOSINGS),
        ("UPDATE ledger_closings SET entries = entries + 1, position = position + 1", CLOSINGS),
        ("UPDATE ledger_closings SET digest = x'00'", CLOSINGS),
        ("DELETE FROM ledger_closings", CLOSINGS),
    ] {
        let refused = scene.tables.batch_execute(forbidden).unwrap_err();
        assert_eq!(refused.to_string(), told, "{forbidden}");
    }
    let again = "REPLACE INTO ledger_closings SELECT * FROM ledger_closings";
    scene.tables.batch_execute(again).unwrap();
    assert_eq!(scene.store.closings(scene.project).await.unwrap(), [closing]);
    assert_eq!(ledger_of(&scene.store, scene.project).await, before);

    // Any connection may do what the step itself does, and nothing is lost.
    scene.tables.batch_execute("DELETE FROM ledger_entries WHERE position = 2").unwrap();
    assert_eq!(scene.store.audit().await.unwrap().difference, Paise::ZERO);
    let closed = scene.store.close(scene.project, month).await.unwrap().unwrap();
    assert_eq!((closed.closed.entries, closed.closed.sums.held), (2, Paise(80)));
    assert_eq!(scene.store.audit().await.unwrap().difference, Paise::ZERO);
    let late = scene.tables.batch_execute("UPDATE ledger_closings SET amount = 1").unwrap_err();
    assert_eq!(late.to_string(), CLOSINGS);
}

/// Like a command during a service that keeps taking the lock of the file.
#[tokio::test]
async fn a_closing_outlasts_those_who_hold_the_file_longer_than_a_step_waits() {
    let mut scene = Scene::open().await;
    scene.credit(1_000).await;
    let otp = scene.make.otp(&scene.make.line(scene.project.in_mode(KeyMode::Live)));
    assert!(scene.make.hold(&scene.store, otp, Paise(40)).await);
    let (project, month) = (scene.project, Month::of(START).unwrap());
    let exported = scene.store.closable(project, month).await.unwrap().unwrap();
    let closing = Closing::begin(scene.make.id(), (project, month), exported, FileDigest([7; 32]));
    assert!(scene.store.begin_closing(closing).await.unwrap());
    let path = scene.folder.path().join("dwar.db");
    let hasty = Settings { busy_timeout: Duration::from_millis(20), ..Settings::new(&path) };
    let hasty = SqliteStore::open(hasty).unwrap();
    scene.tables.batch_execute("BEGIN IMMEDIATE").unwrap();
    let closed = tokio::spawn(async move { hasty.close(project, month).await });
    tokio::time::sleep(Duration::from_millis(200)).await;
    assert!(!closed.is_finished());
    scene.tables.batch_execute("COMMIT").unwrap();
    let closed = closed.await.unwrap().unwrap().unwrap();
    assert_eq!((closed.closed.entries, closed.is_complete()), (1, true));
}

#[tokio::test]
async fn without_an_endpoint_no_event_is_on_record() {
    let mut scene = Scene::open().await;
    let (line, _) = scene.verified().await;
    scene.end(&line).await;
    scene.warn_below(500).await;
    scene.credit(600).await;
    scene.adjust(-200).await;
    assert_eq!(scene.count("events"), 0);
    scene.endpoint().await;
    assert!(scene.due().await.is_empty(), "what happened before is nobody's news");
}

#[tokio::test]
async fn an_event_goes_with_the_last_who_had_to_be_told() {
    let mut scene = Scene::open().await;
    let endpoints = [scene.endpoint().await, scene.endpoint().await, scene.endpoint().await];
    scene.verified().await;
    assert_eq!((scene.count("events"), scene.count("event_deliveries")), (3, 9));
    let ids: Vec<String> = scene.due().await.iter().map(Event::id).collect();
    assert_eq!(ids.len(), 9);
    for event in &ids {
        scene.store.delivered(vec![scene.make.call(endpoints[0].id, event)]).await.unwrap();
        scene.store.give_up(scene.make.call(endpoints[1].id, event)).await.unwrap();
    }
    assert_eq!((scene.count("events"), scene.count("event_deliveries")), (3, 3));
    scene.store.delivered(vec![scene.make.call(endpoints[2].id, &ids[0])]).await.unwrap();
    assert_eq!((scene.count("events"), scene.count("event_deliveries")), (3, 2));
    // The calls keep events that were delivered to every endpoint.
    assert_eq!(scene.store.sweep_calls(START + seconds(1)).await.unwrap(), 19);
    assert_eq!((scene.count("events"), scene.count("event_deliveries")), (2, 2));
    scene.store.remove_endpoint(scene.project, endpoints[2].id).await.unwrap();
    assert_eq!((scene.count("events"), scene.count("event_deliveries")), (0, 0));
}

#[tokio::test]
async fn a_claim_leaves_the_same_event_to_other_endpoints() {
    let scene = Scene::open().await;
    let endpoints = [scene.endpoint().await.id, scene.endpoint().await.id];
    scene.adjust(600).await;
    scene.warn_below(500).await;
    scene.adjust(-200).await;
    let mut told = Vec::new();
    for _ in endpoints {
        let due = EventStore::claim_due(&scene.store, START, seconds(60), ClaimCapacity::of(1))
            .await
            .unwrap();
        assert_eq!(due.len(), 1);
        told.push(due[0].endpoint.id);
    }
    assert!(endpoints.iter().all(|endpoint| told.contains(endpoint)));
    assert!(scene.due().await.is_empty());
}

#[tokio::test]
async fn a_removed_endpoint_takes_nothing_from_the_others() {
    let mut scene = Scene::open().await;
    let first = scene.endpoint().await;
    scene.verified().await;
    let second = scene.endpoint().await;
    scene.verified().await;
    assert_eq!((scene.count("events"), scene.count("event_deliveries")), (6, 9));
    assert!(scene.store.remove_endpoint(scene.project, first.id).await.unwrap());
    assert_eq!((scene.count("events"), scene.count("event_deliveries")), (3, 3));
    assert_eq!(scene.due().await.len(), 3);
    assert!(scene.store.remove_endpoint(scene.project, second.id).await.unwrap());
    assert_eq!((scene.count("events"), scene.count("webhook_endpoints")), (0, 0));
}

#[tokio::test]
async fn no_event_knows_an_erased_phone() {
    let mut scene = Scene::open().await;
    scene.endpoint().await;
    let (line, otp) = scene.verified().await;
    scene.verified().await;
    scene.end(&line).await;
    assert_eq!(scene.count("events"), 9);
    let of_erased = format!("events WHERE subject_id = x'{}'", otp.id.uuid().simple());
    assert_eq!(scene.count(&of_erased), 3);
    let known = "phone_index IS NOT NULL OR phone_sealed IS NOT NULL";
    assert_eq!(scene.count(&format!("{of_erased} AND ({known})")), 0);
    assert_eq!(scene.count("events WHERE phone_index IS NOT NULL AND phone_sealed IS NOT NULL"), 3);
}

#[tokio::test]
async fn a_previous_secret_without_its_end_is_told() {
    let mut scene = Scene::open().await;
    scene.endpoint().await;
    scene.tables.batch_execute("UPDATE webhook_endpoints SET previous_secret = x'01'").unwrap();
    let (table, column) = match scene.store.endpoints(scene.project).await {
        Err(StoreError::Inconsistent { table, column, .. }) => (table, column),
        other => panic!("{other:?}"),
    };
    assert_eq!((table, column), ("webhook_endpoints", "previous_until"));
}

#[tokio::test]
async fn what_is_no_id_or_no_instant_is_told_with_its_place() {
    let mut scene = Scene::open().await;
    for (spoil, spoilt) in [
        ("UPDATE api_keys SET created_at = 9223372036854775807", "created_at"),
        ("UPDATE api_keys SET id = substr(id, 2)", "id"),
        ("UPDATE api_keys SET id = 'sixteen letters ' WHERE mode = 'live'", "id"),
    ] {
        scene.tables.batch_execute(spoil).unwrap();
        let (table, column) = match scene.store.keys(scene.project).await {
            Err(StoreError::Inconsistent { table, column, .. }) => (table, column),
            other => panic!("{other:?}"),
        };
        assert_eq!((table, column), ("api_keys", spoilt));
    }
}

/// A row that cannot be decoded must not delay those behind it.
#[tokio::test]
async fn what_cannot_be_read_keeps_no_work_of_others_waiting() {
    let mut scene = Scene::open().await;
    let (late, lease) = (START + seconds(3_600), seconds(60));
    let lines = [(); 2].map(|()| scene.make.line(scene.project.in_mode(KeyMode::Live)));
    let [spoilt, good] = lines.map(|line| scene.make.otp(&line));
    for otp in [&spoilt, &good] {
        scene.make.issue(&scene.store, otp.clone()).await;
    }
    let receipts = [(); 2].map(|()| scene.make.receipt(Report::Delivered));
    let ids = receipts.each_ref().map(|kept| kept.id);
    ReceiptStore::keep(&scene.store, receipts.to_vec()).await.unwrap();
    let (otp, receipt) = (blob(spoilt.id.uuid()), blob(ids[0].uuid()));
    for spoil in [
        format!("UPDATE otps SET created_at = 9223372036854775807, due_at = 0 WHERE id = {otp}"),
        "UPDATE receipts SET known = true, due_at = 0".to_owned(),
        format!("UPDATE receipts SET received_at = 9223372036854775807 WHERE id = {receipt}"),
    ] {
        scene.tables.batch_execute(&spoil).unwrap();
    }

    let due = OtpStore::claim_due(&scene.store, late, lease, 9).await.unwrap();
    assert_eq!(due.iter().map(|otp| otp.id).collect::<Vec<_>>(), [good.id]);
    // It is postponed like the other.
    assert!(OtpStore::claim_due(&scene.store, late, lease, 9).await.unwrap().is_empty());
    let room = ReceiptRoom { calling: 9, others: 9 };
    let due = ReceiptStore::claim(&scene.store, late, lease, room).await.unwrap();
    assert_eq!(due.iter().map(|kept| kept.id).collect::<Vec<_>>(), [ids[1]]);
    let known = scene.store.unreadable().await.unwrap();
    assert!(known.is_empty(), "neither is set up by people: {known:?}");
}

fn blob(id: uuid::Uuid) -> String {
    format!("x'{}'", id.simple())
}
