//! A wall clock that is set while the service runs, and one that was wrong before: sweeps,
//! validity, and money. The monotonic clock is unaffected (libfaketime, whose library
//! `DWAR_TEST_FAKETIME` names).

use crate::common::{Answer, Database, Project, Service, World};
use dwar_testkit::reserved_port;
use serde_json::{Value, json};
use std::path::PathBuf;
use std::time::{Duration, Instant};

const KEY: &str = "Vg4Xk0rYfFz1P8mJq7yq2cS0hVd3Zk9uLw5t1oRb6nE=";
const JUMPS: [(&str, i64); 5] =
    [("+5m", 300), ("-5m", -300), ("+1h", 3_600), ("-1h", -3_600), ("+40d", 3_456_000)];
const SWEPT: Duration = Duration::from_secs(63);
/// How soon a wrong clock is noticed, and a corrected one.
const SOON: Duration = Duration::from_secs(4);
/// Longest time of a start, or until a service is ready again.
const LATE: Duration = Duration::from_secs(20);
const RIGHT: &str = "+0";

/// A service whose wall clock a test sets.
struct Faked {
    service: Service,
    clock: PathBuf,
}

impl Faked {
    fn start(database: Database, name: &str, settings: &[(&str, &str)], shows: &str) -> Self {
        let library = std::env::var("DWAR_TEST_FAKETIME").expect("DWAR_TEST_FAKETIME");
        let clock = std::env::temp_dir().join(format!("dwar-clock-{}-{name}", std::process::id()));
        std::fs::write(&clock, shows).unwrap();
        let mut world = World::new(database)
            .with("DWAR__SECRETS__MASTER_KEY", KEY)
            .with("DWAR__METRICS__ADDRESS", "127.0.0.1:0")
            .with("LD_PRELOAD", &library)
            .with("FAKETIME_TIMESTAMP_FILE", clock.to_str().unwrap())
            .with("FAKETIME_NO_CACHE", "1")
            .with("DONT_FAKE_MONOTONIC", "1")
            .with("NO_FAKE_STAT", "1");
        for (name, value) in settings {
            world = world.with(name, value);
        }
        let service = match shows {
            RIGHT => Service::start_in(world),
            _ => Service::start_unprepared(world),
        };
        Self { service, clock }
    }

    fn beside(&self, name: &str, shows: &str) -> Self {
        let url = self.service.world.database.url();
        Self::start(Database::None, name, &[("DWAR__DATABASE__URL", &url)], shows)
    }

    fn set(&self, by: &str) {
        let new = self.clock.with_extension("new");
        std::fs::write(&new, by).unwrap();
        std::fs::rename(new, &self.clock).unwrap();
    }

    async fn metric(&self, name: &str) -> f64 {
        let text = reqwest::get(self.service.metrics()).await.unwrap().text().await.unwrap();
        let line = text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' '));
        line.unwrap_or_else(|| panic!("no {name} in {text}")).parse().unwrap()
    }

    fn told(&self, text: &str) -> bool {
        self.service.stderr().iter().any(|line| line.contains(text))
    }
}

impl Drop for Faked {
    fn drop(&mut self) {
        let _gone = std::fs::remove_file(&self.clock);
    }
}

struct Before {
    project: Project,
    phone: String,
    otp: Value,
    code: String,
    session: Value,
    used: (String, String),
    balance: Value,
}

async fn send(service: &Service, project: &Project, phone: &str, key: &str) -> Answer {
    let call = service.call(&project.live, "/v1/otp/send", &json!({ "phone": phone }));
    crate::common::answer(call.header("Idempotency-Key", key)).await
}

impl Before {
    async fn on(service: &Service) -> Self {
        let project = service.world.project("100");
        let (used, phone) = (service.world.phone(), service.world.phone());
        let session = service.log_in(&project.live, &used).await;
        let code_used = service.code(&project.live, &used).await;
        let otp = send(service, &project, &phone, "once").await.ok()["otp_id"].clone();
        let code = service.code(&project.live, &phone).await;
        let balance = service.world.balance(&project);
        Self { project, phone, otp, code, session, used: (used, code_used), balance }
    }

    async fn status(&self, service: &Service) -> u16 {
        let path = format!("/v1/otp/status/{}", self.otp.as_str().unwrap());
        service.get(&self.project.live, &path).await.status.as_u16()
    }

    /// Once the clock is right again, everything is as before.
    async fn holds(&self, service: &Service) {
        let key = &self.project.live;
        assert_eq!(self.status(service).await, 200, "the request was swept");
        let again = send(service, &self.project, &self.phone, "once").await;
        assert_eq!(again.header("idempotent-replayed"), "true", "{}", again.text);
        assert_eq!(service.world.balance(&self.project), self.balance, "paid twice");
        let (phone, code) = &self.used;
        service.verify(key, phone, code).await.refused(400, "OTP_NOT_FOUND");
        service.validate(key, &self.session["access_token"]).await.ok();
        service.verify(key, &self.phone, &self.code).await.ok();
        service.verify(key, &self.phone, &self.code).await.refused(400, "OTP_NOT_FOUND");
        service.refresh(key, &self.session["refresh_token"]).await.ok();
        service.world.audit();
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
#[ignore = "needs DWAR_TEST_FAKETIME"]
async fn on_a_file_a_clock_that_is_set_sweeps_nothing_for_time_that_did_not_go_by() {
    let one = async |(by, seconds): (&str, i64)| {
        let faked = Faked::start(Database::sqlite(), &format!("file{by}"), &[], RIGHT);
        let service = &faked.service;
        let (before, began) = (Before::on(service).await, Instant::now());
        faked.set(by);
        tokio::time::sleep(SOON).await;
        assert!(faked.told("the clock of this machine was set"), "{by}");
        // It uses the new time, because no code here can know whether that is the right one.
        service.becomes(200).await;
        let key = &before.project.live;
        // Codes of unknown age are refused, and new ones are accepted.
        service.log_in(&before.project.test, &service.world.phone()).await;
        if !(0..3_600).contains(&seconds) {
            service.verify(key, &before.phone, &before.code).await.refused(400, "OTP_NOT_FOUND");
        }
        if seconds >= 3_600 {
            let token = &before.session["access_token"];
            service.validate(key, token).await.refused(401, "INVALID_ACCESS_TOKEN");
        }
        if seconds > 0 {
            let behind = faked.metric("dwar_clock_set_forward_seconds").await;
            assert!((behind - seconds as f64).abs() < 2.0, "{by}: {behind}");
            let told = service.get("", "/readyz").await.ok();
            assert!(told["clock"].as_str().unwrap().contains("was set forward by"), "{told}");
        }
        let (phone, code) = &before.used;
        service.verify(key, phone, code).await.refused(400, "OTP_NOT_FOUND");
        tokio::time::sleep(SWEPT.saturating_sub(began.elapsed())).await;
        assert_eq!(before.status(service).await, 200, "{by}: the request was swept");
        faked.set(RIGHT);
        tokio::time::sleep(SOON).await;
        before.holds(service).await;
        let told = service.get("", "/readyz").await.ok();
        // No code here can know whether the clock was right before or is now, so sweeps ignore the
        // way back too.
        let set_forward = told["clock"].as_str().is_some_and(|told| told.contains("set forward"));
        assert_eq!(set_forward, seconds < 0, "{by}: {told}");
    };
    futures_util::future::join_all(JUMPS.map(one)).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
#[ignore = "needs DWAR_TEST_POSTGRES_URL and DWAR_TEST_FAKETIME"]
async fn an_instance_whose_clock_is_not_the_databases_serves_nothing_and_sweeps_nothing() {
    let right = Faked::start(Database::postgres().await, "right", &[], RIGHT);
    let others = JUMPS.map(|(by, _)| right.beside(&format!("other{by}"), RIGHT));
    let before = Before::on(&right.service).await;
    let ended = right.service.log_in(&before.project.live, &right.service.world.phone()).await;
    right.service.logout(&before.project.live, &ended["access_token"]).await.ok();
    let began = Instant::now();
    for (other, (by, _)) in others.iter().zip(JUMPS) {
        other.set(by);
    }
    for (other, (by, seconds)) in others.iter().zip(JUMPS) {
        is_out(other, by, seconds, &before, &ended).await;
    }
    // The instance with the right time continues, and takes over the work.
    right.service.becomes(200).await;
    right.service.log_in(&before.project.live, &right.service.world.phone()).await;
    tokio::time::sleep(SWEPT.saturating_sub(began.elapsed())).await;
    assert_eq!(before.status(&right.service).await, 200, "the request was swept");
    let alive = "SELECT count(*) FROM instances WHERE seen_at > now() - interval '30 s' AND seen_at < now() + interval '30 s'";
    assert_eq!(right.service.world.database.number(alive).await, 6, "all are seen by one clock");
    for other in &others {
        other.set(RIGHT);
    }
    for other in &others {
        let until = Instant::now() + LATE;
        while other.service.get("", "/readyz").await.status != 200 {
            assert!(Instant::now() < until, "never ready again");
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
    }
    let balance = right.service.world.balance(&before.project);
    let before = Before { balance, ..before };
    before.holds(&others[4].service).await;
    assert!(!right.told("the clock of this machine"), "the right one was blamed");
}

/// The instance reports why it is not ready, refuses everything, and appears in log and metrics.
async fn is_out(other: &Faked, by: &str, seconds: i64, before: &Before, ended: &Value) {
    let (service, key) = (&other.service, &before.project.live);
    service.becomes(503).await;
    let refusal = service.get("", "/readyz").await;
    refusal.refused(503, "SERVICE_UNAVAILABLE");
    let told = refusal.body["error"].as_str().unwrap();
    let side = if seconds < 0 { "behind" } else { "ahead of" };
    assert!(told.starts_with("the clock of this machine is") && told.contains(side), "{told}");
    for token in [&before.session["access_token"], &ended["access_token"]] {
        service.validate(key, token).await.refused(503, "SERVICE_UNAVAILABLE");
    }
    for (phone, code) in [(&before.phone, &before.code), (&before.used.0, &before.used.1)] {
        service.verify(key, phone, code).await.refused(503, "SERVICE_UNAVAILABLE");
    }
    service.send(key, &before.phone).await.refused(503, "SERVICE_UNAVAILABLE");
    assert_eq!(service.get("", "/healthz").await.status, 200);
    let until = Instant::now() + LATE;
    while !other.told("differs from the database's by 30 s or more") {
        assert!(Instant::now() < until, "{by}: nothing was told");
    }
    let offset = other.metric("dwar_clock_offset_seconds").await;
    assert!((offset - seconds as f64).abs() < 2.0, "{by}: {offset}");
    let report = service.world.run(&["doctor", "--json"]);
    let report: Value = serde_json::from_slice(&report.stdout).unwrap();
    let clock = report["checks"].as_array().unwrap().iter().find(|it| it["name"] == "clock");
    assert_eq!(clock.unwrap()["status"], "failed", "{report}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
#[ignore = "needs DWAR_TEST_POSTGRES_URL and DWAR_TEST_FAKETIME"]
async fn one_that_starts_with_a_wrong_clock_makes_nothing_and_begins_once_it_is_right() {
    let database = Database::postgres().await;
    let port = reserved_port().to_string();
    let settings = [("DWAR__HTTP__ADDRESS", format!("127.0.0.1:{port}"))];
    let settings = settings.each_ref().map(|(name, value)| (*name, value.as_str()));
    let faked = Faked::start(database, "late", &settings, "-1h");
    faked.service.becomes(503).await;
    let until = Instant::now() + LATE;
    while !faked.told("differs from the database's by 30 s or more") {
        assert!(Instant::now() < until, "nothing was told");
    }
    let keys = "SELECT count(*) FROM signing_keys";
    assert_eq!(faked.service.world.database.number(keys).await, 0, "a key of another hour");
    // A command that writes refuses too.
    let made = faked.service.world.run(&["project", "create", "--name", "Shop"]);
    let error = String::from_utf8_lossy(&made.stderr).into_owned();
    assert!(!made.status.success() && error.contains("behind the database's"), "{error}");
    faked.set(RIGHT);
    faked.service.becomes(200).await;
    assert_eq!(faked.service.world.database.number(keys).await, 1);
    let project = faked.service.world.project("1");
    faked.service.log_in(&project.test, &faked.service.world.phone()).await;
}
