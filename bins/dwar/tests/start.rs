//! What requests are told before the database has been brought up to date, what `dwar health` says then, and
//! what the start says of projects that cannot work.

mod common;

use common::{Answer, Database, Service, Tap, World, answer};
use dwar_testkit::reserved_port;
use reqwest::Method;
use serde_json::{Value, json};
use std::time::{Duration, Instant};

const PATIENCE: Duration = Duration::from_secs(30);

/// Asks one thing of each kind that needs the database, and the dashboard for a page.
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

/// A database that comes up, and comes up empty, while requests arrive: none of them meets tables
/// that are not there yet, or a service without a key to sign with.
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
        .with("DWAR__DASHBOARD__ADDRESS", "127.0.0.1:0");
    let service = Service::start_unprepared(world);
    let told = service.stderr();
    let pages = told.iter().find_map(|line| line.split_once("the dashboard is on ")).unwrap().1;
    let pages = pages.split('"').next().unwrap();

    // Of the right form; one that is not is refused without a look at the database.
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
        // Each kind is answered by what it is, and no longer by what the service lacks.
        if answers.iter().all(|answer| answer.status != 503) {
            break;
        }
        assert!(Instant::now() < until, "not ready: {:?}", answers.iter().map(|a| a.status));
    }
    let project = service.world.project("10");
    service.log_in(&project.test, &service.world.phone()).await;
}

/// What `dwar health` says, for people and for programs, and its exit status.
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
            .with("DWAR__DEMO", "true")
    };
    let (status, told) = health(&on("127.0.0.1", "memory:"));
    assert_eq!(status, Some(1));
    assert!(told.starts_with(&format!("{url} cannot be reached: ")), "{told}");

    let service = Service::start_in(on("0.0.0.0", "memory:"));
    assert_eq!(health(&service.world), (Some(0), format!("{url} is ready")));
    drop(service);
    // Alive, but nobody is where its database should be.
    let nowhere = format!("postgres://dwar@127.0.0.1:{}/dwar?sslmode=disable", reserved_port());
    let service = Service::start_unprepared(on("127.0.0.1", &nowhere));
    assert_eq!(health(&service.world), (Some(1), format!("{url} answered 503: not ready")));
}

on_both_databases! {
    a_project_whose_provider_is_gone_is_named_at_the_start;
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
    // Its other channel carries the code all the same.
    service.log_in(&unfit.live, &service.world.phone()).await;
}
