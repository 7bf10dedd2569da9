//! The guard over HTTP, on both databases, and on two instances of PostgreSQL.

use crate::common::{Answer, Database, Endpoint, Project, Service, Told, World};
use serde_json::{Value, json};
use std::time::{Duration, Instant};

on_both_databases! {
    a_flood_has_to_give_proofs;
    a_restart_keeps_levels;
    an_empty_level_is_told_once;
}

const KEY: &str = "Vg4Xk0rYfFz1P8mJq7yq2cS0hVd3Zk9uLw5t1oRb6nE=";

mod postgres_together {
    use super::*;

    #[tokio::test(flavor = "multi_thread", worker_threads = 4)]
    #[ignore = "needs DWAR_TEST_POSTGRES_URL"]
    async fn two_instances_share_levels() {
        let world = telling(Database::postgres().await);
        let one = Service::start_in(world.with("DWAR__SECRETS__MASTER_KEY", KEY));
        let two = one.twin();
        let project = guarded(&one, "enforce");
        let endpoint = endpoint_of(&one, &project).await;
        flood(&one, &project).await;
        assert_eq!(send(&one, &project, &number(20), json!({})).await.code(), "PROOF_REQUIRED");
        // A number of another series makes the second instance know the project.
        send(&two, &project, "9112340001", json!({})).await.ok();
        is_asked_soon(&two, &project).await;
        // Each person with a proof gives half a token back. It takes a few: before the second instance had read the
        // levels, it admitted sends that are owed now.
        let until = Instant::now() + Duration::from_secs(20);
        for person in 100.. {
            let phone = number(person);
            send(&two, &project, &phone, json!({ "trusted": true })).await.ok();
            let code = two.code(&project.live, &phone).await;
            two.verify(&project.live, &phone, &code).await.ok();
            if send(&one, &project, &number(30), json!({})).await.status == 200 {
                break;
            }
            assert!(Instant::now() < until, "what the other instance gave back was not read");
            tokio::time::sleep(Duration::from_millis(500)).await;
        }
        // Both have asked for proofs, and both tell of it.
        is_told_once(&endpoint).await;
    }
}

/// A world whose events may go to this machine.
fn telling(database: Database) -> World {
    World::new(database).with("DWAR__EVENTS__ALLOW_PRIVATE", "true")
}

async fn endpoint_of(service: &Service, project: &Project) -> Endpoint {
    let endpoint = Endpoint::start().await;
    service.world.cli(&["webhook", "add", "--project", &project.id, "--url", &endpoint.url]);
    endpoint
}

/// Waits for the event of an empty level, and for some rounds of the loop that records it.
async fn is_told_once(endpoint: &Endpoint) -> Told {
    let first = endpoint.hears("guard.emptied").await;
    tokio::time::sleep(Duration::from_secs(3)).await;
    let hour = |told: &Told| told.body["timestamp"].as_str().unwrap()[..13].to_owned();
    let mut told = endpoint.told();
    told.retain(|told| told.body["type"] == "guard.emptied" && hour(told) == hour(&first));
    assert_eq!(told.len(), 1);
    first
}

fn guarded(service: &Service, mode: &str) -> Project {
    let project = service.world.project("1000");
    service.world.cli(&["project", "set", "--project", &project.id, "--guard", mode]);
    project
}

/// A number of one series.
fn number(number: u32) -> String {
    format!("987654{number:04}")
}

async fn send(service: &Service, project: &Project, phone: &str, visitor: Value) -> Answer {
    let body = json!({ "phone": phone, "visitor": visitor });
    service.post(&project.live, "/v1/otp/send", body).await
}

/// As many numbers of a series as it has tokens.
async fn flood(service: &Service, project: &Project) {
    for sent in 0..20 {
        send(service, project, &number(sent), json!({ "address": "203.0.113.7" })).await.ok();
    }
}

/// The instance has read the levels of others, within a few seconds.
async fn is_asked_soon(service: &Service, project: &Project) {
    let until = Instant::now() + Duration::from_secs(20);
    for next in 40.. {
        let answer = send(service, project, &number(next), json!({})).await;
        if answer.code() == "PROOF_REQUIRED" {
            return;
        }
        assert!(Instant::now() < until, "the levels of the other instance were not read");
        tokio::time::sleep(Duration::from_millis(500)).await;
    }
}

async fn a_flood_has_to_give_proofs(database: Database) {
    let service = Service::start(database);
    let project = guarded(&service, "enforce");
    let known = number(9_999);
    send(&service, &project, &known, json!({ "trusted": true })).await.ok();
    let code = service.code(&project.live, &known).await;
    service.verify(&project.live, &known, &code).await.ok();
    flood(&service, &project).await;
    let before = service.world.balance(&project);
    for phone in [&known, &number(20)] {
        let asked = send(&service, &project, phone, json!({})).await;
        asked.refused(403, "PROOF_REQUIRED");
    }
    assert_eq!(service.world.balance(&project), before);
    send(&service, &project, &number(20), json!({ "trusted": true })).await.ok();
    // The test key knows no levels, and a project with the guard off has none.
    service.send(&project.test, &number(21)).await.ok();
    let other = service.world.project("1000");
    for sent in 0..25 {
        send(&service, &other, &number(sent), json!({})).await.ok();
    }
    let set = ["project", "set", "--project", &project.id, "--guard", "watch"];
    service.world.cli(&set);
    send(&service, &project, &number(22), json!({})).await.ok();
}

async fn a_restart_keeps_levels(database: Database) {
    let service = Service::start(database);
    let project = guarded(&service, "enforce");
    flood(&service, &project).await;
    // Levels are written each second.
    tokio::time::sleep(Duration::from_secs(3)).await;
    let service = Service::start_in(service.kill());
    send(&service, &project, "9112340001", json!({})).await.ok();
    is_asked_soon(&service, &project).await;
}

async fn an_empty_level_is_told_once(database: Database) {
    let service = Service::start_in(telling(database));
    let project = guarded(&service, "watch");
    let endpoint = endpoint_of(&service, &project).await;
    flood(&service, &project).await;
    for next in 20..25 {
        send(&service, &project, &number(next), json!({})).await.ok();
    }
    endpoint.hears("guard.emptied").await;
    send(&service, &project, &number(25), json!({})).await.ok();
    let told = is_told_once(&endpoint).await;
    let data = json!({
        "project_id": project.id, "mode": "live", "subject": "series", "guard": "watch"
    });
    assert_eq!(told.body["data"], data);
}
