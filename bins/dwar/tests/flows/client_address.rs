//! The client address behind a proxy that adds its own `X-Forwarded-For` line.

use crate::common::{Database, Service, World};
use reqwest::{Client, Method, RequestBuilder, StatusCode};
use serde_json::{Value, json};
use std::time::{Duration, Instant};

const PATIENCE: Duration = Duration::from_secs(90);
/// The real client, as the proxy records it.
const CLIENT: &str = "203.0.113.9";
/// Wrong admin tokens of one address in a minute that are answered as wrong.
const WRONG_TOKENS: usize = 30;

fn behind_a_proxy(database: Database) -> Service {
    let world = World::new(database)
        .with("DWAR__DASHBOARD__ADDRESS", "127.0.0.1:0")
        .with("DWAR__DASHBOARD__BEHIND_TLS_PROXY", "true")
        .with("DWAR__HTTP__BEHIND_PROXY", "true");
    Service::start_in(world)
}

/// As it arrives from a proxy: with a line of the client's own, followed by the proxy's.
fn forwarded(request: RequestBuilder, claimed: &str) -> RequestBuilder {
    request.header("X-Forwarded-For", claimed).header("X-Forwarded-For", CLIENT)
}

fn admin(service: &Service, method: Method, path: &str) -> RequestBuilder {
    Client::new().request(method, format!("{}/admin/v1{path}", service.dashboard()))
}

fn token(service: &Service) -> String {
    let make = ["admin-token", "add", "--name", "deploy", "--everything", "--days", "1"];
    service.world.cli(&make)["secret"].as_str().unwrap().to_owned()
}

async fn the_audit_log_names_the_client(database: Database) {
    let service = behind_a_proxy(database);
    let (project, token) = (service.world.project("10"), token(&service));
    let rename = admin(&service, Method::PATCH, &format!("/projects/{}", project.id));
    let rename = forwarded(rename, "6.6.6.6").bearer_auth(token).json(&json!({ "name": "Other" }));
    assert_eq!(rename.send().await.unwrap().status(), StatusCode::OK);
    let output = service.world.run(&["audit", "--json"]);
    let lines = String::from_utf8(output.stdout).unwrap();
    let entries = lines.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    let from: Vec<Value> = entries.map(|entry| entry["from"].clone()).collect();
    assert!(from.contains(&json!(CLIENT)), "{lines}");
    assert!(!from.contains(&json!("6.6.6.6")), "{lines}");
}

async fn wrong_tokens_are_counted_against_the_client(database: Database) {
    let service = behind_a_proxy(database);
    let guess = async |number: usize| {
        let asked =
            forwarded(admin(&service, Method::GET, "/projects"), &format!("6.6.6.{number}"));
        asked.bearer_auth("svc_adm_wrong").send().await.unwrap().status()
    };
    for number in 0..WRONG_TOKENS {
        assert_eq!(guess(number).await, StatusCode::UNAUTHORIZED, "{number}");
    }
    assert_eq!(guess(WRONG_TOKENS).await, StatusCode::TOO_MANY_REQUESTS);
}

async fn a_keys_use_names_the_client(database: Database) {
    let service = behind_a_proxy(database);
    let (project, token) = (service.world.project("10"), token(&service));
    let send = service.call(&project.test, "/v1/otp/send", &json!({ "phone": "9876543210" }));
    assert_eq!(forwarded(send, "6.6.6.6").send().await.unwrap().status(), StatusCode::OK);
    let until = Instant::now() + PATIENCE;
    let used_from = loop {
        let keys = admin(&service, Method::GET, &format!("/projects/{}/keys", project.id));
        let keys = keys.bearer_auth(&token).send().await.unwrap().json::<Value>().await.unwrap();
        let mut keys = keys["items"].as_array().unwrap().iter();
        let used = keys.find(|key| key["mode"] == "test").unwrap()["used_from"].clone();
        if !used.is_null() {
            break used;
        }
        assert!(Instant::now() < until, "no use is on record");
        tokio::time::sleep(Duration::from_millis(100)).await;
    };
    assert_eq!(used_from, CLIENT);
}

async fn without_a_proxy_nobody_is_believed(database: Database) {
    let world = World::new(database).with("DWAR__DASHBOARD__ADDRESS", "127.0.0.1:0");
    let service = Service::start_in(world);
    let token = token(&service);
    let asked = forwarded(admin(&service, Method::GET, "/projects"), "6.6.6.6").bearer_auth(token);
    assert_eq!(asked.send().await.unwrap().status(), StatusCode::OK);
    let listed = service.world.cli(&["admin-token", "list"]);
    assert_eq!(listed["items"][0]["used_from"], "127.0.0.1");
}

on_both_databases! {
    the_audit_log_names_the_client;
    wrong_tokens_are_counted_against_the_client;
    a_keys_use_names_the_client;
    without_a_proxy_nobody_is_believed;
}
