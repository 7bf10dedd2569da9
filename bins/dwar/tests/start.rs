//! What requests are told before the database has been brought up to date.

mod common;

use common::{Answer, Database, Service, Tap, World, answer};
use dwar_testkit::reserved_port;
use reqwest::Method;
use serde_json::json;
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
