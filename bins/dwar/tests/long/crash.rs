//! The state after the process was repeatedly killed in the middle of its work.

use crate::common::{Database, Service, World};
use reqwest::StatusCode;
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::time::{Duration, Instant};
use tokio::sync::mpsc;

on_both_databases! {
    money_survives_crash_after_crash;
    what_was_answered_survives_a_crash;
}

const ROUNDS: u8 = 10;
const CROWD: usize = 50;
const FUNDS: i64 = 100_000;
/// The code of every second send, which is a relay: long enough to be recognised anywhere.
const RELAYED: &str = "8642097531";

/// A world in which every delay before clean-up is short.
fn world(database: Database) -> World {
    World::new(database)
        .with("DWAR__GATEWAYS__CALL_TIMEOUT_MS", "200")
        .with("DWAR__GATEWAYS__FALLBACK_WINDOW_SECONDS", "0")
}

#[derive(Clone, Copy)]
enum Moment {
    After(Duration),
    /// As soon as this many sends have been answered.
    Answers(usize),
}

/// Sends to a crowd of phones at once, every second time a relayed code, and kills the process
/// meanwhile. Returns the ids of the sends that were answered with a 200, and of those that reached
/// the provider.
async fn interrupted(
    service: Service,
    key: &str,
    moment: Moment,
) -> (World, Vec<String>, Vec<String>) {
    let (answered, mut answers) = mpsc::unbounded_channel();
    for number in 0..CROWD {
        let phone = service.world.phone();
        let (path, body) = match number % 2 {
            0 => ("/v1/otp/send", json!({ "phone": phone })),
            _ => ("/v1/otp/relay", json!({ "phone": phone, "code": RELAYED, "expires_in": 600 })),
        };
        let (send, answered) = (service.call(key, path, &body).send(), answered.clone());
        tokio::spawn(async move {
            let response = send.await.ok()?;
            assert_eq!(response.status(), StatusCode::OK);
            let body: Value = response.json().await.ok()?;
            answered.send(body["otp_id"].as_str().unwrap().to_owned()).ok()
        });
    }
    drop(answered);
    let mut accepted = Vec::new();
    match moment {
        Moment::After(delay) => tokio::time::sleep(delay).await,
        Moment::Answers(count) => {
            while accepted.len() < count {
                accepted.push(answers.recv().await.unwrap());
            }
        }
    }
    let (world, messages) = service.last_words();
    while let Some(send) = answers.recv().await {
        accepted.push(send);
    }
    let id = |message: &String| -> Option<String> {
        // The last line may be incomplete.
        let message: Value = serde_json::from_str(message).ok()?;
        message["otp_id"].as_str().map(str::to_owned)
    };
    (world, accepted, messages.iter().filter_map(id).collect())
}

/// No file of the database contains a relayed code in plain text.
fn assert_sealed(world: &World) {
    for file in std::fs::read_dir(world.database.folder()).unwrap() {
        let path = file.unwrap().path();
        let is_data = path.file_name().is_some_and(|name| name.to_string_lossy().contains(".db"));
        let bytes = if is_data { std::fs::read(&path).unwrap() } else { Vec::new() };
        let found = bytes.windows(RELAYED.len()).any(|part| part == RELAYED.as_bytes());
        assert!(!found, "{path:?} has a code in clear");
    }
}

/// Waits until no hold is open.
async fn settled(service: &Service, id: &str) -> Value {
    let until = Instant::now() + Duration::from_secs(30);
    loop {
        let balance = service.world.cli(&["wallet", "balance", "--project", id]);
        if balance["held_paise"] == 0 {
            return balance;
        }
        assert!(Instant::now() < until, "{balance}");
        tokio::time::sleep(Duration::from_millis(200)).await;
    }
}

async fn money_survives_crash_after_crash(database: Database) {
    let mut service = Service::start_in(world(database));
    let project = service.world.project("1000");
    service.world.cli(&["project", "set", "--project", &project.id, "--relay-live", "on"]);
    let (mut accepted, mut carried) = (Vec::new(), BTreeSet::new());
    for round in 0..ROUNDS {
        // From before anything is on disk to after most has been answered.
        let moment = match round % 2 {
            0 => Moment::After(Duration::from_millis(10 + 15 * u64::from(round))),
            _ => Moment::Answers(5 * usize::from(round)),
        };
        let (world, sent, messages) = interrupted(service, &project.live, moment).await;
        world.database.check();
        assert_sealed(&world);
        accepted.extend(sent);
        carried.extend(messages);
        service = Service::start_in(world);
    }
    let balance = settled(&service, &project.id).await;
    service.world.audit();

    let statement = ["wallet", "statement", "--project", &project.id, "--limit", "5000"];
    let statement = service.world.cli(&statement);
    let entries = statement["items"].as_array().unwrap();
    let of = |kind: &str| -> Vec<&Value> {
        entries.iter().filter(|entry| entry["kind"] == kind).collect()
    };
    let text = |entry: &Value| entry["reference"].as_str().unwrap().to_owned();
    let charged: Vec<String> = of("capture").into_iter().map(text).collect();
    let once: BTreeSet<&String> = charged.iter().collect();
    assert_eq!(once.len(), charged.len(), "something was charged twice");
    for send in &accepted {
        assert!(once.contains(send), "{send} was accepted and never charged");
    }
    assert!(charged.iter().all(|send| carried.contains(send)), "paid for, but never sent");
    assert!(of("capture").iter().all(|entry| entry["amount_paise"] == -20));
    let paid = 20 * i64::try_from(charged.len()).unwrap();
    assert_eq!(balance["balance_paise"], FUNDS - paid);
    // Every hold has ended: captured, or released completely.
    let held: BTreeSet<String> = of("hold").into_iter().map(text).collect();
    let back: BTreeSet<String> = of("release").into_iter().map(text).collect();
    assert!(held.iter().all(|send| once.contains(send) || back.contains(send)));
    assert!(held.len() > accepted.len(), "no crash ever hit a send");

    // What was answered before a crash is unchanged.
    for send in &accepted {
        let status = service.get(&project.live, &format!("/v1/otp/status/{send}")).await.ok();
        assert_eq!(status["status"], "sent");
    }
    service.log_in(&project.live, &service.world.phone()).await;
    let world = service.kill();
    world.database.check();
}

/// A success is on disk before it is answered.
async fn what_was_answered_survives_a_crash(database: Database) {
    let mut service = Service::start(database);
    let project = service.world.project("100");
    let id = project.id.as_str();
    service.world.cli(&["project", "set", "--project", id, "--identity-delete", "on"]);
    let key = project.test.as_str();
    let phone = service.world.phone();

    service.send(key, &phone).await.ok();
    service = Service::start_in(service.kill());
    let code = service.code(key, &phone).await;
    let first = service.verify(key, &phone, &code).await.ok();
    service = Service::start_in(service.kill());
    service.verify(key, &phone, &code).await.refused(400, "OTP_NOT_FOUND");
    let second = service.refresh(key, &first["refresh_token"]).await.ok();
    service = Service::start_in(service.kill());
    service.refresh(key, &first["refresh_token"]).await.refused(401, "SESSION_EXPIRED");
    service.validate(key, &second["access_token"]).await.ok();
    service.logout(key, &second["access_token"]).await.ok();
    service = Service::start_in(service.kill());
    service.validate(key, &second["access_token"]).await.refused(401, "INVALID_ACCESS_TOKEN");
    service.refresh(key, &second["refresh_token"]).await.refused(401, "SESSION_EXPIRED");
    let identity = format!("/v1/identity/{}", first["identity_id"].as_str().unwrap());
    service.delete(key, &identity).await.ok();
    service = Service::start_in(service.kill());
    service.delete(key, &identity).await.refused(404, "IDENTITY_NOT_FOUND");
}
