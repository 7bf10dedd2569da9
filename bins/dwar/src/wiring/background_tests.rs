use super::*;
use async_trait::async_trait;
use dwar_activity::installation::{KeyHolder, StoredKeys};
use dwar_console::alerts::NoLocalFacts;
use dwar_console::{ConsoleParts, Management, ProcessInfo, ProofScope};
use dwar_kernel::{KeyMode, ProjectId, Timestamp};
use dwar_login::SendReport;
use dwar_memory::{Fault, MemoryRequestLimiter, MemoryStore};
use dwar_operator::Requester;
use dwar_otp::{DeliveryStatus, Refusal, Report, ReportedRequest, Route};
use dwar_project::ProjectName;
use dwar_ratelimit::{Admission, Quota, RequestKey, RequestLimiter};
use dwar_testkit::{CODE, FixedClock, Fixtures, Post, START, console, minutes, outside, seconds};
use dwar_turns::Load;
use dwar_wallet::Paise;
use std::sync::atomic::{AtomicU64, Ordering};
use tokio::sync::SetOnce;

const STEPS: [(&str, &str); 15] = [
    ("apply_receipts", "ReceiptStore::claim"),
    ("drop_untold", "EventStore::drop_undelivered"),
    ("follow_up", "OtpStore::claim_due"),
    ("heartbeat", "InstanceStore::beat"),
    ("keep_figures", "FiguresStore::acquire_lease"),
    ("look_for_room", "room"),
    ("prove_ledgers", "LedgerStore::snapshot"),
    ("read_for_metrics", "QueueStore::queues"),
    ("review_receipts", "ReceiptStore::review"),
    ("settle_stale_holds", "WalletStore::stale_holds"),
    ("tell_events", "EventStore::claim_due"),
    ("tend_quotas", "tend"),
    ("tidy", "OtpStore::sweep"),
    ("watch_alerts", "AlertStore::open_alerts"),
    ("write_tally", "RefusalStore::count"),
];

/// More than the restarts in an hour of a loop that panics at each proof.
const PROOFS: usize = 80;

/// A database with controllable disk space, and its store.
struct Room {
    store: Arc<MemoryStore>,
    asked: AtomicU64,
    tended: AtomicU64,
    panics: AtomicU64,
}

#[async_trait]
impl Database for Room {
    async fn migrate(&self, _: Arc<dyn KeyHolder>) -> Result<Vec<String>, StoreError> {
        Ok(Vec::new())
    }

    async fn look_for_keys(&self) -> Result<StoredKeys, StoreError> {
        Ok(StoredKeys::default())
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

    async fn tables(&self) -> Result<Vec<String>, StoreError> {
        Ok(Vec::new())
    }

    async fn unreadable(&self) -> Result<Vec<StoreError>, StoreError> {
        Ok(Vec::new())
    }

    async fn room(&self) -> Result<Option<u64>, StoreError> {
        Ok(None)
    }

    async fn prove_writable(&self) -> Result<Option<u64>, StoreError> {
        let asked = self.asked.fetch_add(1, Ordering::Relaxed);
        assert!(asked >= self.panics.load(Ordering::Relaxed), "nobody knows");
        Ok(None)
    }

    fn load(&self) -> Load {
        Load::default()
    }
}

struct Limiter {
    counts: MemoryRequestLimiter,
    room: Arc<Room>,
}

#[async_trait]
impl RequestLimiter for Limiter {
    async fn hit(
        &self,
        key: RequestKey,
        quota: Quota,
        now: Timestamp,
    ) -> Result<Admission, StoreError> {
        self.counts.hit(key, quota, now).await
    }

    async fn sweep(&self, now: Timestamp) -> Result<(), StoreError> {
        self.counts.sweep(now).await
    }

    async fn renew_leases(&self, _: Timestamp) -> Result<(), StoreError> {
        let tended = self.room.tended.fetch_add(1, Ordering::Relaxed);
        assert!(tended >= self.room.panics.load(Ordering::Relaxed), "nobody knows");
        Ok(())
    }
}

impl Room {
    fn calls(&self, step: &str) -> u64 {
        match step {
            "room" => self.asked.load(Ordering::Relaxed),
            "tend" => self.tended.load(Ordering::Relaxed),
            step => self.store.faults().calls(step),
        }
    }
}

/// A service in memory, six minutes after [`START`]; its loops do not run yet.
struct Scene {
    parts: ConsoleParts,
    make: Fixtures,
    manage: Management,
    proven: Vec<ProjectId>,
    room: Arc<Room>,
    post: Arc<Post>,
    restarts: Arc<Restarts>,
}

impl Scene {
    fn new() -> Self {
        let store = Arc::new(MemoryStore::default());
        let clock = Arc::new(FixedClock::at(START + minutes(6)));
        let (parts, post) = (console((&store).into(), &clock), Arc::default());
        let (manage, by) = (dwar_testkit::management(&parts, &post), Requester::command_line());
        let ask = async {
            let mut proven = Vec::new();
            for _ in 0..PROOFS {
                let made =
                    manage.projects.create(&by, &ProjectName::demo(), 0.into()).await.unwrap();
                manage.ledger.begin(&by, made.id, ProofScope::Newer).await.unwrap();
                proven.push(made.id);
            }
            proven
        };
        let proven = ask.now_or_never().unwrap();
        Self {
            parts,
            make: Fixtures::seeded(1),
            manage,
            proven,
            room: Arc::new(Room {
                store,
                asked: AtomicU64::new(0),
                tended: AtomicU64::new(0),
                panics: AtomicU64::new(0),
            }),
            post,
            restarts: Arc::default(),
        }
    }

    fn start(&self) -> Running {
        let counts = MemoryRequestLimiter::new();
        let requests = Arc::new(Limiter { counts, room: self.room.clone() });
        let outside = outside(requests, &Arc::default(), &self.post);
        let service = self.parts.login.service(outside);
        let upkeep = self.parts.upkeep(ProcessInfo::default(), Arc::new(NoLocalFacts));
        // Refusals arrive all the time, so there is always something to record.
        let (usage_recorder, project) =
            (service.usage_recorder.clone(), self.make.id::<ProjectId>());
        tokio::spawn(async move {
            loop {
                usage_recorder.refused(project.in_mode(KeyMode::Live), None, Refusal::Ceiling);
                sleep(WRITE_USAGE / 2).await;
            }
        });
        let ConsoleParts { login, stores } = self.parts.clone();
        let (keys, queues) = (login.stores.signing_keys, stores.queues);
        let read = Arc::new(DatabaseFigures::new(login.tools, keys, queues, self.room.clone()));
        Background::new(&service, upkeep, &self.manage, self.room.clone(), Some(read))
            .start(&Arc::new(SetOnce::new_with(Some(()))), &self.restarts)
    }

    /// Makes the first step of every loop panic.
    fn kill_each_once(&self) {
        STEPS.iter().for_each(|(_, step)| self.room.store.faults().next(step, Fault::Panics));
        self.room.panics.store(1, Ordering::Relaxed);
    }

    fn kill_for_ever(&self, yes: bool) {
        self.room.store.faults().every(yes.then_some(Fault::Panics));
        self.room.panics.store(if yes { u64::MAX } else { 0 }, Ordering::Relaxed);
    }
}

#[test]
fn every_loop_is_put_to_the_test() {
    let mut loops = LOOPS.map(|(name, _)| name);
    loops.sort_unstable();
    assert_eq!(loops, STEPS.map(|(name, _)| name));
}

#[tokio::test(start_paused = true)]
async fn an_instance_says_sooner_that_it_is_there_after_its_start() {
    let (_stop, stopped) = watch::channel(());
    let start = Instant::now();
    let beats = beats(|| false, stopped).map(|()| start.elapsed().as_secs());
    assert_eq!(beats.take(7).collect::<Vec<_>>().await, [0, 1, 3, 7, 15, 25, 35]);
}

#[tokio::test(start_paused = true)]
async fn a_clock_that_was_set_is_compared_within_a_second() {
    let ((_stop, stopped), start) = (watch::channel(()), Instant::now());
    let at = |from, until| (from..until).contains(&start.elapsed().as_secs());
    let beats = beats(|| at(18, 20), stopped).map(|()| start.elapsed().as_secs());
    assert_eq!(beats.take(9).collect::<Vec<_>>().await, [0, 1, 3, 7, 15, 18, 19, 29, 39]);
}

#[tokio::test(start_paused = true)]
async fn a_loop_that_panics_is_started_again_and_counted() {
    let scene = Scene::new();
    scene.kill_each_once();
    let running = scene.start();
    sleep(FIRST_PAUSE / 2).await;
    let fallen = |name, restarts, running| LoopHealth { name, restarts, running };
    assert_eq!(scene.restarts.list(), STEPS.map(|(name, _)| fallen(name, 0, false)));
    sleep(TIDY * 2).await;
    assert_eq!(scene.restarts.list(), STEPS.map(|(name, _)| fallen(name, 1, true)));
    for (name, step) in STEPS {
        assert!(scene.room.calls(step) >= 3, "{name} did not go on");
    }
    running.stop().await;
}

#[tokio::test(start_paused = true)]
async fn the_work_of_loops_that_panicked_is_done() {
    let scene = Scene::new();
    let Scene { parts, make, .. } = &scene;
    let (stores, project) = (&parts.login.stores, make.project());
    let id = project.id;
    stores.projects.create(project, make.keys()).await.unwrap();
    let (line, other) =
        (make.line(id.in_mode(KeyMode::Live)), make.line(id.in_mode(KeyMode::Live)));
    // A provider was called, and the process died.
    let logins = stores.logins.as_ref();
    let lost = make.issue(logins, make.otp(&line)).await;
    // An accepted message and its receipt.
    let receipt = make.receipt(Report::Delivered);
    let sent = make.issue(logins, make.otp(&other)).await;
    let provider_ref = Some(receipt.receipt.provider_ref.clone());
    let taken = Report::Accepted { provider_ref, awaits_receipt: true };
    let route = Route { receipt_window: None, ..make.route() };
    let report = make.send_report(sent.delivery.attempts[0].id, taken);
    let report = SendReport { route, ..report };
    logins.report(ReportedRequest::Id(id, sent.id), report, START).await.unwrap();
    stores.receipts.keep(vec![receipt]).await.unwrap();
    // An unknown receipt, ten minutes old.
    let mut unknown = make.receipt(Report::Delivered);
    unknown.received_at = START - minutes(10);
    stores.receipts.keep(vec![unknown]).await.unwrap();
    // A request, two days old, and money reserved for it.
    stores.wallets.credit(id, make.credit(Paise(100)), START).await.unwrap();
    let mut old =
        make.otp_with(&make.line(id.in_mode(KeyMode::Live)), CODE, START - minutes(2 * 24 * 60));
    old.delivery.due_at = None;
    assert!(make.hold(logins, old.clone(), Paise(30)).await);

    // An endpoint with an event about a login to deliver.
    scene
        .manage
        .endpoints
        .add(&Requester::command_line(), id, "https://events.example.com", false)
        .await
        .unwrap();
    let third = make.line(id.in_mode(KeyMode::Live));
    let identity = make.log_in(logins, &third, make.login(&third)).await;
    stores.identities.erase(id.in_mode(KeyMode::Live), identity, START).await.unwrap().unwrap();

    scene.kill_each_once();
    let running = scene.start();
    sleep(TIDY * 2).await;
    running.stop().await;

    let find = |otp| stores.otps.find(id.in_mode(KeyMode::Live), otp);
    let status = |otp| async move { find(otp).await.unwrap().unwrap().delivery.status };
    assert_eq!(status(lost.id).await, DeliveryStatus::Failed);
    assert_eq!(status(sent.id).await, DeliveryStatus::Delivered);
    assert_eq!(stores.receipts.unknown().await.unwrap().count, 0);
    assert_eq!(stores.wallets.balance(id).await.unwrap().held, Paise::ZERO);
    assert_eq!(find(old.id).await.unwrap(), None);
    assert!(!scene.post.bodies().is_empty(), "nobody was told");
    for project in &scene.proven[1..] {
        let proof = parts.stores.ledger.last_proof(*project).await.unwrap();
        assert!(proof.is_some_and(|proof| proof.is_sound()));
    }
    assert_eq!(parts.stores.figures.progress().await.unwrap().as_of, Some(START + minutes(6)));
}

#[tokio::test(start_paused = true)]
async fn a_loop_that_cannot_run_costs_little_and_runs_once_it_can() {
    let scene = Scene::new();
    scene.kill_for_ever(true);
    let running = scene.start();
    sleep(seconds(3_600)).await;
    for LoopHealth { name, restarts, running } in scene.restarts.list() {
        assert!((50..=70).contains(&restarts), "{name}: {restarts} in an hour");
        assert!(!running, "{name}");
    }
    scene.kill_for_ever(false);
    sleep(LONGEST_PAUSE).await;
    assert!(scene.restarts.list().iter().all(|it| it.running));
    // After running long enough, the loop begins with the short pause again.
    sleep(STEADY).await;
    scene.room.store.faults().next("OtpStore::claim_due", Fault::Panics);
    sleep(FOLLOW_UP + FIRST_PAUSE * 2).await;
    assert!(scene.restarts.list().iter().all(|it| it.running));
    running.stop().await;
}

#[tokio::test(start_paused = true)]
async fn a_stop_waits_for_no_pause() {
    let scene = Scene::new();
    scene.kill_for_ever(true);
    let running = scene.start();
    sleep(seconds(600)).await;
    let before = Instant::now();
    running.stop().await;
    assert!(before.elapsed() < FIRST_PAUSE);
}
