//! Answers before the database is migrated, `dwar health` at that time, log lines about projects
//! that cannot work, the traces of a failed start, and signals. How settings are read:
//! `start/settings.rs`.

mod settings;

use crate::common::{Answer, Database, Play, Service, Tap, Vendor, World, answer};
use dwar_testkit::reserved_port;
use reqwest::Method;
use serde_json::{Value, json};
use std::io::Read;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};
use tokio_postgres::NoTls;

const PATIENCE: Duration = Duration::from_secs(30);
const MASTER_KEY: &str = "q2PDHzIRjHzmUoFHWvSXPzC6tXjyEdDSQjUSLmK0TYE=";

/// Sends one request of each kind that needs the database, and one for a page of the dashboard.
async fn ask(service: &Service, key: &str, pages: &str) -> Vec<Answer> {
    let call = |path: &str, body| answer(service.call(key, path, &body));
    let page = reqwest::Client::new().get(format!("{pages}/sign-in"));
    let keys = service.request(Method::GET, "/.well-known/jwks.json");
    let receipt = service.request(Method::POST, "/webhooks/meta").body("{}");
    vec![
        call("/v1/otp/send", json!({ "phone": "9812345678" })).await,
        call("/v1/session/validate", json!({ "access_token": "a.b.c" })).await,
        answer(keys).await,
        answer(receipt).await,
        answer(page).await,
    ]
}

/// A database that becomes available, still empty, while requests arrive. No request meets missing
/// tables, or a service without a signing key.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs DWAR_TEST_POSTGRES_URL"]
async fn nobody_is_served_before_a_late_database_is_prepared() {
    let database = Database::postgres().await;
    let url = database.url();
    let (user, place) = url.rsplit_once('@').unwrap();
    let (server, name) = place.split_once('/').unwrap();
    let port = reserved_port();
    let late = format!("{user}@127.0.0.1:{port}/{name}?sslmode=disable");
    let world = World::new(database)
        .with("DWAR__DATABASE__URL", &late)
        // No key is created while the database may be a new one or not.
        .with("DWAR__SECRETS__MASTER_KEY", MASTER_KEY)
        .with("DWAR__DASHBOARD__ADDRESS", "127.0.0.1:0");
    let service = Service::start_unprepared(world);
    let told = service.stderr();
    let pages = told.iter().find_map(|line| line.split_once("the dashboard is on ")).unwrap().1;
    let pages = pages.split('"').next().unwrap();

    // Well-formed; a malformed one is refused without reading the database.
    let key = World::new(Database::sqlite()).project("1").live;
    for refused in ask(&service, &key, pages).await {
        assert_eq!(refused.status, 503, "{}", refused.text);
    }
    let _tap = Tap::at(port, server).await;
    let until = Instant::now() + PATIENCE;
    loop {
        let answers = ask(&service, &key, pages).await;
        let failed = answers.iter().find(|answer| answer.status == 500);
        assert!(failed.is_none(), "{}", failed.unwrap().text);
        // Each request now gets its own answer, and none that blames the service.
        if answers.iter().all(|answer| answer.status != 503) {
            break;
        }
        assert!(Instant::now() < until, "not ready: {:?}", answers.iter().map(|a| a.status));
    }
    let project = service.world.project("10");
    service.log_in(&project.test, &service.world.phone()).await;
}

/// The output of `dwar health`, for people and for programs, and its exit status.
fn health(world: &World) -> (Option<i32>, String) {
    let told = world.run(&["health"]);
    let (text, error) = (String::from_utf8(told.stdout), String::from_utf8(told.stderr));
    assert_eq!(error.as_deref(), Ok(""));
    let report = world.run(&["health", "--json"]);
    assert_eq!(report.status.code(), told.status.code());
    let report: Value = serde_json::from_slice(&report.stdout).unwrap_or_default();
    let text = text.unwrap_or_default().trim_end().to_owned();
    assert_eq!(report, json!({ "ready": told.status.success(), "detail": text }));
    (told.status.code(), text)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn health_says_of_the_configured_service_whether_it_is_ready() {
    let port = reserved_port();
    let url = format!("http://127.0.0.1:{port}/readyz");
    let on = |address: &str, database: &str| {
        World::new(Database::sqlite())
            .with("DWAR__HTTP__ADDRESS", &format!("{address}:{port}"))
            .with("DWAR__HTTP__ALLOW_PUBLIC_DEVELOPMENT", "true")
            .with("DWAR__DATABASE__URL", database)
            .with("DWAR__SECRETS__MASTER_KEY", MASTER_KEY)
            .with("DWAR__DEMO", "true")
    };
    let (status, told) = health(&on("127.0.0.1", "memory:"));
    assert_eq!(status, Some(1));
    assert!(told.starts_with(&format!("{url} cannot be reached: ")), "{told}");

    let service = Service::start_in(on("0.0.0.0", "memory:"));
    assert_eq!(health(&service.world), (Some(0), format!("{url} is ready")));
    drop(service);
    // The process runs, but no server is at the address of its database.
    let nowhere = format!("postgres://dwar@127.0.0.1:{}/dwar?sslmode=disable", reserved_port());
    let service = Service::start_unprepared(on("127.0.0.1", &nowhere));
    assert_eq!(health(&service.world), (Some(1), format!("{url} answered 503: not ready")));
}

on_both_databases! {
    a_project_whose_provider_is_gone_is_named_at_the_start;
    a_service_whose_address_is_taken_leaves_nothing_behind;
    signals_cut_no_send_off;
}

async fn a_service_whose_address_is_taken_leaves_nothing_behind(database: Database) {
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap().to_string();
    let world = World::new(database).with("DWAR__HTTP__ADDRESS", &address);
    let output = world.run(&["serve"]);
    let told = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(1), "{told}");
    let sentence = format!("dwar: another program listens there: cannot listen on {address}: ");
    assert!(told.lines().any(|line| line.starts_with(&sentence)), "{told}");
    let left: Vec<_> = std::fs::read_dir(world.database.folder()).unwrap().collect();
    assert!(left.is_empty(), "{left:?}");
    if let Database::Postgres { .. } = world.database {
        let tables = "SELECT count(*) FROM pg_tables WHERE schemaname = 'public'";
        assert_eq!(world.database.number(tables).await, 0);
    }
}

fn signal(name: &str, pid: &str) {
    assert!(Command::new("kill").args(["-s", name, pid]).status().unwrap().success());
}

/// A send takes more than a second at this provider. Meanwhile come signals that end a process by
/// default.
async fn signals_cut_no_send_off(database: Database) {
    let port = reserved_port();
    let vendor = Vendor::start(port, |_, _| Play::DeliverFirst).await;
    let world = World::new(database).with("DWAR__HTTP__ADDRESS", &format!("127.0.0.1:{port}"));
    let mut service = Service::start_in(vendor.carry(world));
    let project = service.world.project("10");
    let pid = service.pid().to_string();
    for (signals, ends) in [(["HUP", "USR1", "USR2"], false), (["QUIT", "TERM", "HUP"], true)] {
        let phone = service.world.phone();
        let body = json!({ "phone": phone });
        let send = tokio::spawn(answer(service.call(&project.live, "/v1/otp/send", &body)));
        let until = Instant::now() + PATIENCE;
        while !vendor.taken().iter().any(|taken| taken.to.contains(&phone)) {
            assert!(Instant::now() < until, "the provider was not called");
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        signals.into_iter().for_each(|name| signal(name, &pid));
        send.await.unwrap().ok();
        for name in signals {
            let said = format!("\"signal\":\"{name}\"");
            let told = service.stderr();
            assert!(told.iter().any(|line| line.contains(&said)), "{name}: {told:?}");
        }
        let status = service.wait(if ends { PATIENCE } else { Duration::from_millis(100) });
        assert_eq!(status.map(|it| it.code()), ends.then_some(Some(0)));
    }
    let told = service.stderr().join("\n");
    for part in ["stopping: requests in flight finish", "already stopping", "\"stopped\""] {
        assert!(told.contains(part), "{part}: {told}");
    }
}

/// Another instance holds the lock of migrations. This one waits for it, with a configured key and
/// with one that has yet to be created.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs DWAR_TEST_POSTGRES_URL"]
async fn a_start_that_waits_for_the_database_is_stopped_at_once() {
    let database = Database::postgres().await;
    let (other, connection) = tokio_postgres::connect(&database.url(), NoTls).await.unwrap();
    let driving = tokio::spawn(connection);
    other.batch_execute("SELECT pg_advisory_lock(1685545330)").await.unwrap();
    let key = "q2PDHzIRjHzmUoFHWvSXPzC6tXjyEdDSQjUSLmK0TYE=";
    // The server does not notice at once that a waiting client is gone.
    for (gone, key) in [(0, Some(key)), (1, None)] {
        let world = World::new(Database::None).with("DWAR__DATABASE__URL", &database.url());
        let world = match key {
            Some(key) => world.with("DWAR__SECRETS__MASTER_KEY", key),
            None => world,
        };
        let mut command = world.command(&["serve"]);
        command.current_dir(database.folder()).stdout(Stdio::null()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let waiting = "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND NOT granted AND \
                       database = (SELECT oid FROM pg_database WHERE datname = current_database())";
        let until = Instant::now() + PATIENCE;
        while database.number(waiting).await <= gone {
            assert!(
                Instant::now() < until && child.try_wait().unwrap().is_none(),
                "it never waited"
            );
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
        let asked = Instant::now();
        signal("TERM", &child.id().to_string());
        let output = child.wait_with_output().unwrap();
        let told = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.success() && told.contains("stopped"), "{told}");
        assert!(asked.elapsed() < Duration::from_secs(10), "{:?}", asked.elapsed());
    }
    driving.abort();
}

/// Closing the terminal in which a service was started stops it, as Ctrl-C does.
#[test]
fn a_terminal_that_hangs_up_stops_the_service() {
    let world = World::new(Database::sqlite());
    let command = world.command(&["serve"]);
    let binary = command.get_program().to_str().unwrap().to_owned();
    let line = format!("echo $$ > pid; exec {binary} serve");
    let mut script = Command::new("script");
    script.args(["-qec", &line, "/dev/null"]).current_dir(world.database.folder()).env_clear();
    for (name, value) in command.get_envs() {
        script.env(name, value.unwrap());
    }
    script.env("PATH", "/usr/bin:/bin");
    let (stdin, stdout) = (Stdio::piped(), Stdio::piped());
    let mut terminal = script.stdin(stdin).stdout(stdout).spawn().unwrap();
    let mut screen = terminal.stdout.take().unwrap();
    let mut shown = String::new();
    let mut bytes = [0; 4_096];
    while !shown.contains("Dwar is ready") {
        let read = screen.read(&mut bytes).unwrap();
        assert!(read > 0, "{shown}");
        shown.push_str(&String::from_utf8_lossy(&bytes[..read]));
    }
    let pid = std::fs::read_to_string(world.database.folder().join("pid")).unwrap();
    signal("HUP", pid.trim());
    let status = terminal.wait().unwrap();
    screen.read_to_string(&mut shown).unwrap();
    assert!(status.success() && shown.contains("stopped"), "{status}: {shown}");
}

async fn a_project_whose_provider_is_gone_is_named_at_the_start(database: Database) {
    let mut world = World::new(database);
    let configured = world.settings.len();
    for (name, value) in
        [("AUTH_TOKEN", "secret"), ("ACCOUNT_SID", "AC1"), ("SMS_SENDER", "+15005550006")]
    {
        world = world.with(&format!("DWAR__GATEWAYS__TWILIO__{name}"), value);
    }
    let (fit, unfit) = (world.project("1"), world.project("1"));
    world.cli(&["project", "set", "--project", &unfit.id, "--sms-providers", "twilio"]);
    let service = Service::start_in(world);
    let warned = |line: &&String| line.contains("a project cannot work as it is set");
    assert_eq!(service.stderr().iter().find(warned), None);
    let mut world = service.kill();

    world.settings.truncate(configured);
    let service = Service::start_in(world);
    let told = service.stderr();
    let [line] = told.iter().filter(warned).collect::<Vec<_>>()[..] else { panic!("{told:?}") };
    for part in ["WARN", &unfit.id, "sms_providers", "`twilio` is not configured"] {
        assert!(line.contains(part), "{part}: {line}");
    }
    assert!(!line.contains(&fit.id), "{line}");
    let report = service.world.cli(&["doctor"]);
    let mut checks = report["checks"].as_array().into_iter().flatten();
    let named = checks.find(|it| it["name"] == "projects").map(|it| (&it["status"], &it["detail"]));
    let told = format!("{}: sms_providers: `twilio` is not configured", unfit.id);
    let says = |(status, detail): (&Value, &Value)| {
        status == "warning" && detail.as_str().is_some_and(|it| it.starts_with(&told))
    };
    assert!(named.is_some_and(says), "{report}");
    // Its other channel still delivers the code.
    service.log_in(&unfit.live, &service.world.phone()).await;
}
