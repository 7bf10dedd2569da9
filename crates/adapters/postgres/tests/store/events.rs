//! Recording an event works together with removal, delivery and erasure.

use crate::support::{Database, project};
use diesel::connection::SimpleConnection;
use dwar_event::{
    CallLog, ClaimCapacity, Dispatch, Endpoint, Event, EventKind, EventPhone, EventStore,
    NewSecret, Subject,
};
use dwar_identity::IdentityStore;
use dwar_kernel::{KeptSecret, KeyMode, ProjectId, StoreError};
use dwar_login::LoginStore;
use dwar_otp::{GuessVerdict, Otp, OtpStore, ReceiptRoom, ReceiptStore, Report, ReportedRequest};
use dwar_postgres::{PostgresStore, Settings};
use dwar_project::{ProjectChange, ProjectStore};
use dwar_session::SessionStore;
use dwar_testkit::{CODE, Fixtures, Line, START, any_project, race, seconds, verdict};
use dwar_wallet::{Paise, Settlement, WalletStore};
use std::sync::Arc;

const EVENTS: &str = "events";
const DELIVERIES: &str = "event_deliveries";
const CALLS: &str = "webhook_calls";

/// A project in a database of its own.
pub struct Scene {
    pub database: Database,
    pub store: PostgresStore,
    pub make: Fixtures,
    pub project: ProjectId,
}

impl Scene {
    pub async fn open() -> Self {
        let database = Database::create();
        let store = database.store().await;
        let make = Fixtures::random();
        let project = project(&store, &make).await.id;
        Self { database, store, make, project }
    }

    async fn endpoint(&self) -> Endpoint {
        let endpoint = endpoint(&self.make, self.project);
        self.store.add_endpoint(endpoint.clone()).await.unwrap();
        endpoint
    }

    async fn issued(&self) -> (Line, Otp) {
        let line = self.make.line(self.project.in_mode(KeyMode::Live));
        let otp = self.make.otp(&line);
        self.make.issue(&self.store, otp.clone()).await;
        (line, otp)
    }

    async fn verify(&self) {
        let (line, _) = self.issued().await;
        let verified = verify(&self.store, &self.make, &line).await.unwrap();
        assert!(matches!(verified, GuessVerdict::Accepted(_)), "{verified:?}");
    }
}

fn endpoint(make: &Fixtures, project: ProjectId) -> Endpoint {
    Endpoint {
        id: make.id(),
        project,
        url: "https://example.com/hook".to_owned(),
        full_phone: false,
        secret: KeptSecret::first(make.sealed()),
        created_at: START,
        failing: None,
        disabled_at: None,
    }
}

async fn verify(
    store: &PostgresStore,
    make: &Fixtures,
    line: &Line,
) -> Result<GuessVerdict, StoreError> {
    store.redeem(make.redemption(line, CODE), START).await.map(verdict)
}

async fn due(store: &PostgresStore) -> Vec<Dispatch> {
    EventStore::claim_due(store, START, seconds(60), ClaimCapacity::of(9)).await.unwrap()
}

/// The fate of an event whose project's only endpoint is being removed.
async fn recorded_during_a_removal(end: &'static str) -> i64 {
    let scene = Arc::new(Scene::open().await);
    scene.endpoint().await;
    let mut removal = scene.database.connection();
    removal.batch_execute("BEGIN; DELETE FROM webhook_endpoints").unwrap();
    let verifying = tokio::spawn({
        let scene = Arc::clone(&scene);
        async move { scene.verify().await }
    });
    scene.database.until_blocked(1).await;
    removal.batch_execute(end).unwrap();
    verifying.await.unwrap();
    assert_eq!(scene.database.rows(EVENTS), scene.database.rows(DELIVERIES));
    scene.database.rows(DELIVERIES)
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs DWAR_TEST_POSTGRES_URL"]
async fn an_endpoint_that_goes_meanwhile_fails_nobody() {
    assert_eq!(recorded_during_a_removal("COMMIT").await, 0);
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs DWAR_TEST_POSTGRES_URL"]
async fn an_endpoint_whose_removal_is_undone_misses_nothing() {
    assert_eq!(recorded_during_a_removal("ROLLBACK").await, 1);
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs DWAR_TEST_POSTGRES_URL"]
async fn a_change_of_a_secret_and_an_event_do_not_wait_for_each_other() {
    let scene = Scene::open().await;
    let endpoint = scene.endpoint().await;
    let mut other = scene.database.connection();
    other.batch_execute("BEGIN; UPDATE webhook_endpoints SET secret = 'new'").unwrap();
    scene.verify().await;
    assert_eq!(scene.database.rows(DELIVERIES), 1);
    other.batch_execute("ROLLBACK; BEGIN; SELECT * FROM webhook_endpoints FOR KEY SHARE").unwrap();
    let secret = NewSecret { secret: scene.make.sealed(), previous_until: START };
    assert!(scene.store.replace_secret(scene.project, endpoint.id, secret).await.unwrap());
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs DWAR_TEST_POSTGRES_URL"]
async fn an_event_on_record_is_not_recorded_again() {
    let scene = Scene::open().await;
    let first = scene.endpoint().await;
    scene.verify().await;
    let told = due(&scene.store).await.remove(0);
    let second = scene.endpoint().await;
    // As if it had been guessed right again.
    let mut conn = scene.database.connection();
    conn.batch_execute("UPDATE otps SET state = 'active'").unwrap();
    let Subject::Otp { phone: Some(EventPhone { index, .. }), .. } = told.event.subject else {
        panic!("not about a code: {told:?}");
    };
    let line = Line { index, ..scene.make.line(scene.project.in_mode(KeyMode::Live)) };
    let verified = verify(&scene.store, &scene.make, &line).await.unwrap();
    assert!(matches!(verified, GuessVerdict::Accepted(_)), "{verified:?}");
    assert_eq!((scene.database.rows(EVENTS), scene.database.rows(DELIVERIES)), (1, 1));
    assert_eq!(told.endpoint, first);
    assert!(scene.store.remove_endpoint(scene.project, second.id).await.unwrap());
    assert_eq!(scene.database.rows(DELIVERIES), 1);
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs DWAR_TEST_POSTGRES_URL"]
async fn nothing_is_recorded_for_nobody() {
    let scene = Scene::open().await;
    let other = project(&scene.store, &scene.make).await.id;
    scene.store.add_endpoint(endpoint(&scene.make, other)).await.unwrap();
    scene.verify().await;
    assert_eq!((scene.database.rows(EVENTS), scene.database.rows(DELIVERIES)), (0, 0));
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs DWAR_TEST_POSTGRES_URL"]
async fn an_event_goes_when_all_are_told_at_the_same_moment() {
    let scene = Scene::open().await;
    for _ in 0..5 {
        scene.endpoint().await;
    }
    for _ in 0..20 {
        scene.verify().await;
        let due = due(&scene.store).await;
        assert_eq!(due.len(), 5);
        race(due.len(), |number| {
            let (store, dispatch) = (scene.store.clone(), due[number].clone());
            let endpoint = dispatch.endpoint.id;
            let call = scene.make.call(endpoint, &dispatch.event.id());
            async move {
                match number {
                    0 => store.give_up(call).await.unwrap(),
                    1 => {
                        let removed = store
                            .remove_endpoint(dispatch.event.project_mode.project, endpoint)
                            .await;
                        assert!(removed.unwrap());
                    }
                    _ => store.delivered(vec![call]).await.unwrap(),
                }
            }
        })
        .await;
        assert_eq!((scene.database.rows(EVENTS), scene.database.rows(DELIVERIES)), (1, 0));
        // Its calls keep it, and concurrent deletions of the calls delete it once.
        race(3, |number| {
            let (store, endpoint) = (scene.store.clone(), due[2].endpoint.id);
            async move {
                match number {
                    0 => drop(store.trim_calls(endpoint, 0).await.unwrap()),
                    _ => drop(store.sweep_calls(START + seconds(1)).await.unwrap()),
                }
            }
        })
        .await;
        assert_eq!((scene.database.rows(EVENTS), scene.database.rows(CALLS)), (0, 0));
        scene.endpoint().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs DWAR_TEST_POSTGRES_URL"]
async fn an_event_goes_when_one_is_told_and_the_other_removed() {
    let scene = Scene::open().await;
    let told = scene.endpoint().await;
    for _ in 0..60 {
        let removed = scene.endpoint().await.id;
        scene.verify().await;
        let event = due(&scene.store).await.remove(0).event.id();
        race(2, |number| {
            let (store, project) = (scene.store.clone(), scene.project);
            let call = scene.make.call(told.id, &event);
            async move {
                match number {
                    0 => store.delivered(vec![call]).await.unwrap(),
                    _ => assert!(store.remove_endpoint(project, removed).await.unwrap()),
                }
            }
        })
        .await;
        assert_eq!(scene.store.trim_calls(told.id, 0).await.unwrap(), 1);
        assert_eq!(scene.database.rows(EVENTS), 0);
    }
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs DWAR_TEST_POSTGRES_URL"]
async fn an_erasure_holds_no_event_while_it_waits_for_an_endpoint() {
    let scene = Scene::open().await;
    let (store, project) = (patient(&scene.database), scene.project);
    let endpoint = scene.endpoint().await.id;
    let line = scene.make.line(project.in_mode(KeyMode::Live));
    let identity = scene.make.log_in(&store, &line, scene.make.login(&line)).await;
    scene.make.issue(&store, scene.make.otp(&line)).await;
    verify(&store, &scene.make, &line).await.unwrap();
    let (_, other) = scene.issued().await;
    report(&store, &scene.make, &other, Report::Delivered).await.unwrap();

    // The removal has locked the endpoint and waits for the first of its events; the erasure's
    // event is next.
    let mut held = scene.database.connection();
    held.batch_execute("BEGIN; SELECT * FROM events WHERE kind = 'otp.delivered' FOR UPDATE")
        .unwrap();
    let removing = tokio::spawn({
        let store = store.clone();
        async move { store.remove_endpoint(project, endpoint).await }
    });
    scene.database.until_blocked(1).await;
    let erasing = tokio::spawn(async move {
        store.erase(project.in_mode(line.project_mode.mode), identity, START).await
    });
    scene.database.until_blocked(2).await;
    drop(held);

    assert!(removing.await.unwrap().unwrap());
    assert!(erasing.await.unwrap().unwrap().is_some());
    assert_eq!(scene.database.rows(EVENTS), 0);
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs DWAR_TEST_POSTGRES_URL"]
async fn a_change_that_fails_records_nothing() {
    let scene = Scene::open().await;
    scene.endpoint().await;
    let broken = "ALTER TABLE event_deliveries ADD CHECK (failures > 0)";
    scene.database.connection().batch_execute(broken).unwrap();
    let (line, otp) = scene.issued().await;
    verify(&scene.store, &scene.make, &line).await.unwrap_err();
    let kept = OtpStore::find(&scene.store, line.project_mode, otp.id).await.unwrap();
    assert_eq!(kept, Some(otp));
    assert_eq!(scene.database.rows(EVENTS), 0);
}

/// A store for which a deadlock is not a conflict to retry but an endless wait.
fn patient(database: &Database) -> PostgresStore {
    let settings = database.settings();
    let url = format!("{}%20-c%20deadlock_timeout%3D5min", settings.url);
    PostgresStore::connect(Settings { url, lock_timeout: seconds(5), ..settings }).unwrap()
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs DWAR_TEST_POSTGRES_URL"]
async fn all_that_records_and_all_that_tells_get_along() {
    let scene = Scene::open().await;
    let store = patient(&scene.database);
    let (make, project) = (Arc::new(Fixtures::random()), scene.project);
    let low =
        ProjectChange { low_balance: Some(Some(Paise(1_000_000))), ..ProjectChange::default() };
    store.change(project, low, any_project()).await.unwrap();
    let kept = scene.endpoint().await;
    for _ in 0..20 {
        let line = make.line(project.in_mode(KeyMode::Live));
        let login = make.login(&line);
        let session = login.session.clone();
        let identity = make.log_in(&store, &line, login).await;
        store.credit(project, make.credit(Paise(1_000_100)), START).await.unwrap();
        let owned = store.balance(project).await.unwrap().balance;
        let spent = Paise(owned.0 - 999_999);
        let otp = make.otp(&line);
        assert!(make.hold(&store, otp.clone(), spent).await);
        let leaving = scene.endpoint().await;
        // Both endpoints have events to deliver already, some of them about this phone.
        report(&store, &make, &otp, accepted(&otp)).await.unwrap();

        race(32, |number| {
            let (store, make) = (store.clone(), Arc::clone(&make));
            let (line, otp, session) = (line.clone(), otp.clone(), session.clone());
            let (kept, leaving) = (kept.id, leaving.id);
            async move {
                let (project_mode, entries) = (line.project_mode, [make.id(), make.id()]);
                match number % 9 {
                    0 => drop(verify(&store, &make, &line).await.unwrap()),
                    1 => report(&store, &make, &otp, Report::Delivered).await.unwrap(),
                    2 => drop(store.erase(project_mode, identity, START).await.unwrap()),
                    3 => drop(store.remove_endpoint(project, leaving).await.unwrap()),
                    4 => {
                        let capture = Settlement::Capture(spent);
                        store.settle(project, otp.id, capture, entries, START).await.unwrap();
                    }
                    5 => {
                        let token = session.access.token;
                        store.revoke(session, token, START).await.unwrap();
                    }
                    6 => {
                        let secret = NewSecret { secret: make.sealed(), previous_until: START };
                        store.replace_secret(project, kept, secret).await.unwrap();
                    }
                    _ => tell_some(&store, &make, number).await.unwrap(),
                }
            }
        })
        .await;
        assert_eq!(scene.database.phones(EVENTS, &line.index.0), 0);
    }
    while scene.database.rows(DELIVERIES) > 0 {
        tell_some(&store, &make, 7).await.unwrap();
    }
    store.sweep_calls(START + seconds(1)).await.unwrap();
    assert_eq!(scene.database.rows(EVENTS), 0);
}

fn accepted(otp: &Otp) -> Report {
    Report::Accepted { provider_ref: Some(otp.id.to_string()), awaits_receipt: true }
}

async fn report(
    store: &PostgresStore,
    make: &Fixtures,
    otp: &Otp,
    report: Report,
) -> Result<(), StoreError> {
    let report = make.send_report(otp.delivery.attempts[0].id, report);
    store
        .report(ReportedRequest::Id(otp.project_mode.project, otp.id), report, START)
        .await
        .map(drop)
}

/// Delivers to a few endpoints, and fails to reach a few others.
async fn tell_some(
    store: &PostgresStore,
    make: &Fixtures,
    number: usize,
) -> Result<(), StoreError> {
    for due in EventStore::claim_due(store, START, seconds(0), ClaimCapacity::of(5)).await? {
        let (endpoint, event) = (due.endpoint.id, due.event.id());
        match number % 2 {
            0 => {
                let call = make.failed_call(endpoint, &event, Some(START));
                assert_eq!(store.failed(call, None).await?, None);
            }
            _ => store.delivered(vec![make.call(endpoint, &event)]).await?,
        }
    }
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs DWAR_TEST_POSTGRES_URL"]
async fn what_an_erasure_waits_for_is_forgotten_too() {
    let scene = Scene::open().await;
    let (store, line) =
        (scene.store.clone(), scene.make.line(scene.project.in_mode(KeyMode::Live)));
    let identity = scene.make.log_in(&store, &line, scene.make.login(&line)).await;
    scene.endpoint().await;
    let otp = scene.make.issue(&store, scene.make.otp(&line)).await;

    // The report has locked its request and waits to record, because another transaction is about
    // to record an event of the same id. The erasure waits for the request.
    let mut held = scene.database.connection();
    let taken = format!(
        "BEGIN; INSERT INTO events (id, project_id, mode, kind, subject_id, happened_at) \
         VALUES ('otp_sent_{}', '{}', 'live', 'otp.sent', '{}', now())",
        otp.id.uuid().simple(),
        scene.project,
        otp.id
    );
    held.batch_execute(&taken).unwrap();
    let reporting = tokio::spawn({
        let (store, otp) = (store.clone(), otp.clone());
        let report = scene.make.send_report(otp.delivery.attempts[0].id, accepted(&otp));
        let request = ReportedRequest::Id(otp.project_mode.project, otp.id);
        async move { store.report(request, report, START).await.unwrap() }
    });
    scene.database.until_blocked(1).await;
    let erasing = tokio::spawn({
        let store = store.clone();
        async move { store.erase(line.project_mode, identity, START).await.unwrap() }
    });
    scene.database.until_blocked(2).await;
    held.batch_execute("ROLLBACK").unwrap();

    assert!(reporting.await.unwrap().is_some());
    assert!(erasing.await.unwrap().is_some());
    let told = due(&store).await;
    let kinds: Vec<EventKind> = told.iter().map(|due| due.event.kind).collect();
    assert_eq!(kinds.len(), 2);
    assert!(kinds.contains(&EventKind::OtpSent) && kinds.contains(&EventKind::IdentityDeleted));
    assert!(told.iter().all(|due| !knows_phone(&due.event)));
    assert_eq!(scene.database.phones(EVENTS, &otp.phone.0), 0);
}

/// Every other send of the project waits for the wallet, and for nothing that this one waits for.
#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs DWAR_TEST_POSTGRES_URL"]
async fn a_report_that_waits_to_record_an_event_does_not_hold_the_wallet() {
    let scene = Scene::open().await;
    let (store, project) = (scene.store.clone(), scene.project);
    scene.endpoint().await;
    store.credit(project, scene.make.credit(Paise(100)), START).await.unwrap();
    let otp = scene.make.otp(&scene.make.line(project.in_mode(KeyMode::Live)));
    assert!(scene.make.hold(&store, otp.clone(), Paise(30)).await);
    let mut held = scene.database.connection();
    held.batch_execute("BEGIN; SELECT FROM webhook_endpoints FOR UPDATE").unwrap();
    let reporting = tokio::spawn({
        let (store, report) =
            (store.clone(), scene.make.send_report(otp.delivery.attempts[0].id, Report::Delivered));
        async move { store.report(ReportedRequest::Id(project, otp.id), report, START).await.unwrap() }
    });
    scene.database.until_blocked(1).await;
    scene.database.connection().batch_execute("SELECT FROM wallets FOR UPDATE NOWAIT").unwrap();
    held.batch_execute("COMMIT").unwrap();
    assert!(reporting.await.unwrap().is_some());
    let balance = store.balance(project).await.unwrap();
    assert_eq!((balance.balance < Paise(100), balance.held), (true, Paise::ZERO));
    assert_eq!(due(&store).await.len(), 1);
}

const fn knows_phone(event: &Event) -> bool {
    matches!(event.subject, Subject::Otp { phone: Some(_), .. })
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs DWAR_TEST_POSTGRES_URL"]
async fn a_previous_secret_without_its_end_is_told() {
    let scene = Scene::open().await;
    scene.endpoint().await;
    let half = "UPDATE webhook_endpoints SET previous_secret = 'x'";
    scene.database.connection().batch_execute(half).unwrap();
    let (table, column) = match scene.store.endpoints(scene.project).await {
        Err(StoreError::Inconsistent { table, column, .. }) => (table, column),
        other => panic!("{other:?}"),
    };
    assert_eq!((table, column), ("webhook_endpoints", "previous_until"));
}

/// A row that cannot be decoded must not delay those behind it.
#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs DWAR_TEST_POSTGRES_URL"]
async fn what_cannot_be_read_keeps_no_work_of_others_waiting() {
    let scene = Scene::open().await;
    let (late, lease) = (START + seconds(3_600), seconds(60));
    let lines = [(); 2].map(|()| scene.make.line(scene.project.in_mode(KeyMode::Live)));
    let [spoilt, good] = lines.map(|line| scene.make.otp(&line));
    for otp in [&spoilt, &good] {
        scene.make.issue(&scene.store, otp.clone()).await;
    }
    let receipts = [(); 2].map(|()| scene.make.receipt(Report::Delivered));
    let ids = receipts.each_ref().map(|kept| kept.id);
    ReceiptStore::keep(&scene.store, receipts.to_vec()).await.unwrap();
    let (otp, receipt) = (format!("'{}'", spoilt.id), format!("'{}'", ids[0]));
    for spoil in [
        format!("UPDATE otps SET created_at = 'infinity', due_at = '2000-01-01' WHERE id = {otp}"),
        "UPDATE receipts SET known = true, due_at = '2000-01-01'".to_owned(),
        format!("UPDATE receipts SET received_at = 'infinity' WHERE id = {receipt}"),
    ] {
        scene.database.connection().batch_execute(&spoil).unwrap();
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
