//! One tenant, one endpoint or one provider does not delay the others.

use crate::common::{
    Database, Play, Project, Service, Vendor, World, answer, at_once, raise_descriptors, stray,
};
use dwar_testkit::reserved_port;
use serde_json::Value;
use std::io::Write;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;
use tokio::task::JoinHandle;

on_both_databases! {
    a_receiver_that_never_answers_delays_nobody_elses_events;
    an_endpoint_that_keeps_failing_is_switched_off_and_on_again;
    receipts_on_messages_of_others_delay_no_receipt_of_ours;
    a_receipt_that_overtakes_its_answer_counts_with_it;
    a_flood_of_one_project_delays_another_by_a_few_of_its_answers;
}

/// Bypasses the test runner, which hides what passing tests print.
fn tell(line: &str) {
    writeln!(std::io::stderr().lock(), "{line}").unwrap();
}

struct Receiver {
    url: String,
    told: Arc<Mutex<Vec<Value>>>,
    /// The status that it answers from now on; `None` means that it never answers.
    status: Arc<Mutex<Option<u16>>>,
}

impl Receiver {
    async fn start(status: Option<u16>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}/events", listener.local_addr().unwrap());
        let (told, status) = (Arc::default(), Arc::new(Mutex::new(status)));
        let receiver = Self { url, told, status };
        let (told, status) = (Arc::clone(&receiver.told), Arc::clone(&receiver.status));
        tokio::spawn(async move {
            while let Ok((mut stream, _)) = listener.accept().await {
                let (told, status) = (Arc::clone(&told), Arc::clone(&status));
                tokio::spawn(async move {
                    let mut bytes = Vec::new();
                    let body = loop {
                        if stream.read_buf(&mut bytes).await.unwrap_or(0) == 0 {
                            return;
                        }
                        let text = String::from_utf8_lossy(&bytes);
                        let body = text.split_once("\r\n\r\n").map(|(_, body)| body);
                        if let Some(body) = body.and_then(|it| serde_json::from_str(it).ok()) {
                            break body;
                        }
                    };
                    told.lock().unwrap().push(body);
                    let status = *status.lock().unwrap();
                    let Some(status) = status else {
                        tokio::time::sleep(Duration::from_secs(600)).await;
                        return;
                    };
                    let answer = format!(
                        "HTTP/1.1 {status} X\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
                    );
                    let _gone = stream.write_all(answer.as_bytes()).await;
                });
            }
        });
        receiver
    }

    fn count(&self) -> usize {
        self.told.lock().unwrap().len()
    }

    /// Waits until an event of this type was delivered, and returns it.
    async fn hears(&self, kind: &str) -> Value {
        let until = Instant::now() + Duration::from_secs(60);
        loop {
            let told = self.told.lock().unwrap().clone();
            if let Some(told) = told.iter().find(|told| told["type"] == kind) {
                return told.clone();
            }
            assert!(Instant::now() < until, "{kind} was never told: {told:?}");
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    }
}

fn add(world: &World, project: &Project, receiver: &Receiver) -> String {
    let add = ["webhook", "add", "--project", &project.id, "--url", &receiver.url];
    world.cli(&add)["webhook"]["webhook_id"].as_str().unwrap().to_owned()
}

async fn a_receiver_that_never_answers_delays_nobody_elses_events(database: Database) {
    let world = World::new(database).with("DWAR__EVENTS__ALLOW_PRIVATE", "true");
    let service = Service::start_in(world);
    let (slow, other) = (service.world.project("0"), service.world.project("0"));
    let (dead, quick) = (Receiver::start(None).await, Receiver::start(Some(204)).await);
    add(&service.world, &slow, &dead);
    add(&service.world, &other, &quick);
    for _ in 0..6 {
        let phones: Vec<String> = (0..50).map(|_| service.world.phone()).collect();
        let send = |phone: &String| {
            let body = serde_json::json!({ "phone": phone });
            service.call(&slow.test, "/v1/otp/send", &body)
        };
        for sent in at_once(phones.iter().map(send)).await {
            sent.ok();
        }
    }
    let waiting = service.world.database.number("SELECT count(*) FROM event_deliveries").await;
    assert!(waiting >= 300, "{waiting}");
    tokio::time::sleep(Duration::from_secs(2)).await;
    // The slow one has only one unanswered call in progress, or a few.
    assert!((1..=8).contains(&dead.count()), "{}", dead.count());
    let began = Instant::now();
    service.send(&other.test, &service.world.phone()).await.ok();
    quick.hears("otp.sent").await;
    let late = began.elapsed();
    tell(&format!("another tenant's event beside {waiting} untold ones: {late:?} (was 135 s)"));
    assert!(late < Duration::from_secs(5), "{late:?}");
}

async fn an_endpoint_that_keeps_failing_is_switched_off_and_on_again(database: Database) {
    let world = World::new(database).with("DWAR__EVENTS__ALLOW_PRIVATE", "true");
    let service = Service::start_in(world);
    let project = service.world.project("0");
    let (bad, good) = (Receiver::start(Some(500)).await, Receiver::start(Some(200)).await);
    let id = add(&service.world, &project, &bad);
    add(&service.world, &project, &good);
    service.send(&project.test, &service.world.phone()).await.ok();
    // It failed once, counted as nine times, for longer than a day.
    let database = &service.world.database;
    let failed = "SELECT count(*) FROM webhook_endpoints WHERE failures > 0";
    let until = Instant::now() + Duration::from_secs(20);
    while database.number(failed).await == 0 {
        assert!(Instant::now() < until, "never failed");
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    let earlier = match database {
        Database::Postgres { .. } => "failing_since - interval '25 hours'",
        _ => "failing_since - 90000000",
    };
    let aged = format!("failures = 9, failing_since = {earlier} WHERE failures > 0");
    database.run(&format!("UPDATE webhook_endpoints SET {aged}")).await;
    service.send(&project.test, &service.world.phone()).await.ok();
    let told = good.hears("endpoint.disabled").await;
    assert_eq!(told["data"]["webhook_id"], id);
    assert!(told["data"]["failures"].as_u64().is_some_and(|count| count >= 10), "{told}");
    let line = "kept failing and is disabled";
    assert!(service.stderr().iter().any(|said| said.contains(line) && said.contains(&id)));
    assert!(bad.told.lock().unwrap().iter().all(|told| told["type"] != "endpoint.disabled"));

    let listed = service.world.cli(&["webhook", "list", "--project", &project.id]);
    let off = listed["items"].as_array().unwrap().iter().find(|it| it["webhook_id"] == *id);
    assert!(off.unwrap()["disabled_at"].is_string(), "{listed}");
    let report = service.world.cli(&["doctor"]);
    assert_eq!(report["ok"], true);
    assert!(report.to_string().contains(&id), "{report}");

    let before = bad.count();
    *bad.status.lock().unwrap() = Some(200);
    service.send(&project.test, &service.world.phone()).await.ok();
    tokio::time::sleep(Duration::from_secs(2)).await;
    assert_eq!(bad.count(), before, "what is switched off is told nothing");
    let enable = ["webhook", "enable", "--project", &project.id, "--webhook", &id];
    assert_eq!(service.world.cli(&enable)["enabled"], true);
    service.send(&project.test, &service.world.phone()).await.ok();
    let until = Instant::now() + Duration::from_secs(20);
    while bad.count() == before {
        assert!(Instant::now() < until, "never told again");
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    assert!(!service.world.cli(&["doctor"]).to_string().contains(&id));
}

/// A service that sends through this vendor and waits this long for a receipt.
async fn carried(database: Database, window: &str, play: Play) -> (Service, Vendor) {
    let port = reserved_port();
    let vendor = Vendor::start(port, move |_, _| play).await;
    let world = World::new(database)
        .with("DWAR__HTTP__ADDRESS", &format!("127.0.0.1:{port}"))
        .with("DWAR__GATEWAYS__CALL_TIMEOUT_MS", "5000")
        .with("DWAR__GATEWAYS__FALLBACK_WINDOW_SECONDS", window);
    (Service::start_in(vendor.carry(world)), vendor)
}

/// Time from the answer to a send until it is reported as delivered.
async fn delivered_after(service: &Service, project: &Project) -> Duration {
    let sent = service.send(&project.live, &service.world.phone()).await.ok();
    let answered = Instant::now();
    let path = format!("/v1/otp/status/{}", sent["otp_id"].as_str().unwrap());
    while service.get(&project.live, &path).await.ok()["status"] != "delivered" {
        assert!(answered.elapsed() < Duration::from_secs(60), "never delivered");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    answered.elapsed()
}

async fn receipts_on_messages_of_others_delay_no_receipt_of_ours(database: Database) {
    let (service, vendor) = carried(database, "8", Play::Deliver).await;
    let project = service.world.project("10");
    for batch in 0..80 {
        let strays =
            (0..50).map(|number| stray(&service.client, &service.base, batch * 50 + number));
        for taken in at_once(strays).await {
            assert!(taken.status.is_success(), "{}", taken.text);
        }
    }
    let kept = service.world.database.number("SELECT count(*) FROM receipts").await;
    let late = delivered_after(&service, &project).await;
    tell(&format!("a receipt of ours beside {kept} of others counted after {late:?} (was 27.9 s)"));
    assert!(late < Duration::from_secs(4), "{late:?}");
    assert_eq!(kept, 4_000);
    assert!(vendor.taken().iter().all(|taken| taken.provider == "wa"), "an SMS went out");
    let report = service.world.cli(&["doctor"]);
    assert!(report.to_string().contains("4000 of 20000 places"), "{report}");
}

async fn a_receipt_that_overtakes_its_answer_counts_with_it(database: Database) {
    let (service, vendor) = carried(database, "5", Play::DeliverFirst).await;
    let project = service.world.project("10");
    let late = delivered_after(&service, &project).await;
    tell(&format!("a receipt that overtook its answer counted {late:?} after it (was 10 s)"));
    assert!(late < Duration::from_secs(3), "{late:?}");
    tokio::time::sleep(Duration::from_secs(5)).await;
    assert!(vendor.taken().iter().all(|taken| taken.provider == "wa"), "an SMS went out");
}

/// Connections of the flood, each with one request at a time.
const FLOODING: usize = 1_000;
const LOGINS: usize = 40;

/// A crowd that sends codes for one project until it is stopped.
struct Flood {
    counts: Arc<Counts>,
    tasks: Vec<JoinHandle<()>>,
}

#[derive(Default)]
struct Counts {
    asked: AtomicUsize,
    answered: AtomicUsize,
    stop: AtomicBool,
}

impl Flood {
    async fn of(service: &Service, project: &Project) -> Self {
        let (client, counts) = (reqwest::Client::new(), Arc::<Counts>::default());
        let task = |_| {
            let send = client.post(format!("{}/v1/otp/send", service.base));
            let send = send.header("X-Api-Key", &project.test);
            let counts = Arc::clone(&counts);
            tokio::spawn(async move {
                while !counts.stop.load(Ordering::SeqCst) {
                    let number = counts.asked.fetch_add(1, Ordering::SeqCst);
                    let body = serde_json::json!({ "phone": format!("97{number:08}") });
                    answer(send.try_clone().unwrap().json(&body)).await.ok();
                    counts.answered.fetch_add(1, Ordering::SeqCst);
                }
            })
        };
        let tasks = (0..FLOODING).map(task).collect();
        while counts.answered.load(Ordering::SeqCst) < FLOODING {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        Self { counts, tasks }
    }

    /// Stops the flood; returns the number of codes it has sent.
    async fn ends(self) -> usize {
        self.counts.stop.store(true, Ordering::SeqCst);
        for task in self.tasks {
            task.await.unwrap();
        }
        self.counts.answered.load(Ordering::SeqCst)
    }
}

/// The measurements of a client that sends one request after another.
#[derive(Default)]
struct Met {
    waits: Vec<Duration>,
    /// How many answers the flood got between a request and its answer.
    overtaken_by: Vec<usize>,
}

impl Met {
    async fn by<T>(&mut self, answered: &AtomicUsize, question: impl Future<Output = T>) -> T {
        let (began, before) = (Instant::now(), answered.load(Ordering::SeqCst));
        let said = question.await;
        self.overtaken_by.push(answered.load(Ordering::SeqCst) - before);
        self.waits.push(began.elapsed());
        said
    }

    /// Logs in this many times, and validates the session.
    async fn logins(service: &Service, project: &Project, answered: &AtomicUsize) -> Self {
        let (key, mut met) = (project.test.as_str(), Self::default());
        for _ in 0..LOGINS {
            let phone = service.world.phone();
            met.by(answered, service.send(key, &phone)).await.ok();
            let code = met.by(answered, service.code(key, &phone)).await;
            let session = met.by(answered, service.verify(key, &phone, &code)).await.ok();
            let valid = met.by(answered, service.validate(key, &session["access_token"])).await;
            assert_eq!(valid.ok()["valid"], true);
        }
        met.waits.sort_unstable();
        met.overtaken_by.sort_unstable();
        met
    }
}

/// The median and the 99th percentile.
fn p50_p99<T: Copy>(sorted: &[T]) -> (T, T) {
    (sorted[sorted.len() / 2], sorted[sorted.len() * 99 / 100])
}

async fn a_flood_of_one_project_delays_another_by_a_few_of_its_answers(database: Database) {
    let world = World::new(database)
        .with("DWAR__LIMITS__TEST__GENERAL_PER_MINUTE", "1000000")
        .with("DWAR__LIMITS__TEST__VALIDATE_PER_MINUTE", "1000000")
        .with("DWAR__LIMITS__TEST__SENDS_PER_MINUTE", "0")
        .with("DWAR__LOG__LEVEL", "info,dwar::access=off,dwar_app=warn")
        // Waits of the flood itself are not failures here.
        .with("DWAR__HTTP__CLIENT_TIMEOUT_SECONDS", "60")
        .with("DWAR__DATABASE__TIMEOUT_MS", "30000");
    raise_descriptors();
    let service = Service::start_in(world);
    let (flooding, quiet) = (service.world.project("0"), service.world.project("0"));
    let alone = Met::logins(&service, &quiet, &AtomicUsize::new(0)).await;
    let flood = Flood::of(&service, &flooding).await;
    let under = Met::logins(&service, &quiet, &flood.counts.answered).await;
    let answered = flood.ends().await;
    let (usual, longest) = p50_p99(&under.overtaken_by);
    tell(&format!(
        "a quiet project, p50 and p99: alone {:?}, beside {FLOODING} connections that flood {:?}; \
         answers of these that went before: {usual} and {longest}, of {answered}",
        p50_p99(&alone.waits),
        p50_p99(&under.waits),
    ));
    // First come, first served, each send would wait for one of every connection.
    assert!(longest < FLOODING * 4 / 5, "{:?}", under.overtaken_by);
}
