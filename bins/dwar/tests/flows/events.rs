//! Delivery of events: to the endpoints that a project names, signed, at least once.

use crate::common::{Database, Endpoint, Project, Service, Told, World, answer};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use hmac::{Hmac, KeyInit, Mac};
use serde_json::{Value, json};
use sha2::Sha256;
use std::time::{Duration, Instant};

on_both_databases! {
    everything_that_happens_is_told;
    the_spend_of_a_day_is_told_and_then_refused;
    what_was_not_taken_is_told_again_even_after_a_crash;
    a_replaced_secret_signs_along;
    what_was_told_is_on_record_and_told_again;
    an_endpoint_that_is_gone_is_disabled_at_once;
    an_endpoint_that_asks_for_a_pause_is_left_alone;
    an_instance_is_on_record_while_it_runs;
}

fn signature(secret: &str, told: &Told) -> String {
    let key = STANDARD.decode(secret.strip_prefix("whsec_").unwrap()).unwrap();
    let mut mac = Hmac::<Sha256>::new_from_slice(&key).unwrap();
    mac.update(format!("{}.{}.{}", told.id, told.timestamp, told.text).as_bytes());
    format!("v1,{}", STANDARD.encode(mac.finalize().into_bytes()))
}

fn world(database: Database) -> World {
    World::new(database).with("DWAR__EVENTS__ALLOW_PRIVATE", "true")
}

fn tell(world: &World, project: &Project, endpoint: &Endpoint, more: &[&str]) -> Value {
    let add = ["webhook", "add", "--project", &project.id, "--url", &endpoint.url];
    world.cli(&[add.as_slice(), more].concat())
}

async fn everything_that_happens_is_told(database: Database) {
    let service = Service::start_in(world(database));
    let project = service.world.project("0.50");
    let set = ["--identity-delete", "on", "--low-balance-rupees", "0.40"];
    let set = [&["project", "set", "--project", &project.id], set.as_slice()].concat();
    service.world.cli(&set);
    let (masked, full) = (Endpoint::start().await, Endpoint::start().await);
    let added = tell(&service.world, &project, &masked, &[]);
    tell(&service.world, &project, &full, &["--full-phone"]);
    let secret = added["secret"].as_str().unwrap();

    let phone = service.world.phone();
    let first = service.log_in(&project.live, &phone).await;
    service.logout(&project.live, &first["access_token"]).await.ok();
    let second = service.log_in(&project.live, &phone).await;
    let identity = second["identity_id"].as_str().unwrap();
    // Delivered before the number is erased, so that it can still be shown.
    let sent = masked.hears("otp.sent").await;
    full.hears("otp.sent").await;
    masked.hears("otp.verified").await;
    service.delete(&project.live, &format!("/v1/identity/{identity}")).await.ok();
    service.send(&project.test, "9000000002").await.refused(500, "SMS_FAILED");
    service.send(&project.test, "9000000001").await.ok();

    assert_eq!(sent.signature, signature(secret, &sent));
    let shown = format!("+91{}••••{}", &phone[..2], &phone[6..]);
    assert_eq!(sent.body["data"]["phone"], shown);
    assert_eq!(sent.body["data"]["mode"], "live");
    assert_eq!(full.hears("otp.sent").await.body["data"]["phone"], format!("+91{phone}"));
    let verified = masked.hears("otp.verified").await;
    assert_eq!(verified.body["data"]["phone"], shown);
    let revoked = masked.hears("session.revoked").await;
    assert_eq!(revoked.body["data"]["session_id"], first["session_id"]);
    let deleted = masked.hears("identity.deleted").await;
    assert_eq!(
        deleted.body["data"],
        json!({
            "project_id": project.id, "mode": "live", "identity_id": identity, "sessions_revoked": 1
        })
    );
    let low = masked.hears("wallet.low").await;
    assert_eq!(low.body["data"]["balance_paise"], 30);
    let failed = masked.hears("otp.failed").await;
    assert_eq!(failed.body["data"]["mode"], "test");
    assert_eq!(failed.body["data"]["phone"], "+9190••••0002");
    let delivered = masked.hears("otp.delivered").await;
    assert_eq!(delivered.body["data"]["phone"], "+9190••••0001");
    for told in masked.told() {
        assert!(!told.text.contains(&phone), "{}", told.text);
        assert_eq!(told.signature, signature(secret, &told));
    }
    // Events of one project do not reach another.
    let other = service.world.project("0");
    let stranger = Endpoint::start().await;
    tell(&service.world, &other, &stranger, &[]);
    service.send(&project.test, &service.world.phone()).await.ok();
    masked.hears("otp.sent").await;
    assert!(stranger.told().is_empty());
}

async fn the_spend_of_a_day_is_told_and_then_refused(database: Database) {
    let service = Service::start_in(world(database));
    let project = service.world.project("100");
    let limit = |rupees: &str| {
        let set = ["project", "set", "--project", &project.id, "--daily-spend-rupees", rupees];
        service.world.cli(&set)
    };
    assert_eq!(limit("0.60")["daily_spend_paise"], 60);
    let relay = ["project", "set", "--project", &project.id, "--relay-live", "on"];
    service.world.cli(&relay);
    let endpoint = Endpoint::start().await;
    tell(&service.world, &project, &endpoint, &[]);
    // The first two hold 25 and cost 20 each.
    for _ in 0..2 {
        service.send(&project.live, &service.world.phone()).await.ok();
    }
    let (phone, key) = (service.world.phone(), "one-intent");
    let send = || {
        let send = service.call(&project.live, "/v1/otp/send", &json!({ "phone": phone }));
        answer(send.header("Idempotency-Key", key))
    };
    let refused = send().await;
    refused.refused(402, "SPEND_LIMIT_REACHED");
    assert_eq!(refused.header("ratelimit-remaining"), "3", "no place is taken");
    let body = json!({ "phone": phone, "code": "4711", "expires_in": 300 });
    let relayed = answer(service.call(&project.live, "/v1/otp/relay", &body)).await;
    relayed.refused(402, "SPEND_LIMIT_REACHED");
    service.send(&project.test, &phone).await.ok();
    let balance = service.world.balance(&project);
    assert_eq!((&balance["balance_paise"], &balance["held_paise"]), (&json!(9_960), &json!(0)));

    for (percent, spent) in [(50, 45), (100, 40)] {
        let told = endpoint.hears_about("spend.reached", "percent", percent).await;
        let wanted = json!({
            "project_id": project.id, "mode": "live", "percent": percent, "spent_paise": spent,
            "limit_paise": 60
        });
        assert_eq!(told.body["data"], wanted);
    }
    let changes = service.audited("project.repriced");
    limit("0.65");
    assert_eq!(service.audited("project.repriced"), changes + 1);
    send().await.refused(402, "SPEND_LIMIT_REACHED");
    assert_eq!(send().await.header("idempotent-replayed"), "true", "the first answer is kept");
    service.send(&project.live, &phone).await.ok();
    service.world.audit();
}

async fn what_was_not_taken_is_told_again_even_after_a_crash(database: Database) {
    let service = Service::start_in(world(database));
    let project = service.world.project("0");
    let endpoint = Endpoint::start().await;
    tell(&service.world, &project, &endpoint, &[]);
    *endpoint.status.lock().unwrap() = 500;
    service.send(&project.test, &service.world.phone()).await.ok();
    let refused = endpoint.hears("otp.sent").await;
    // A call that is cut short is repeated after its lease; these two are recorded as failed.
    let failed = "SELECT count(*) FROM event_deliveries WHERE failures > 0";
    let until = Instant::now() + Duration::from_secs(20);
    while service.world.database.number(failed).await < 2 {
        assert!(Instant::now() < until, "the failures are not on record");
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    let service = Service::start_in(service.kill());
    *endpoint.status.lock().unwrap() = 204;
    let again = || {
        let told = endpoint.told();
        told.into_iter().filter(|told| told.id == refused.id).collect::<Vec<_>>()
    };
    // The first repetition is five seconds after the failure.
    let until = Instant::now() + Duration::from_secs(20);
    while again().len() < 2 {
        assert!(Instant::now() < until, "never told again");
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    assert_eq!(again()[1].text, refused.text);
    let until = Instant::now() + Duration::from_secs(10);
    let pending = "SELECT count(*) FROM event_deliveries";
    while service.world.database.number(pending).await > 0 {
        assert!(Instant::now() < until);
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    // Only its calls keep an event.
    let kept = "SELECT count(*) FROM events WHERE id NOT IN (SELECT event_id FROM webhook_calls)";
    assert_eq!(service.world.database.number(kept).await, 0);
}

async fn a_replaced_secret_signs_along(database: Database) {
    let service = Service::start_in(world(database));
    let project = service.world.project("0");
    let endpoint = Endpoint::start().await;
    let added = tell(&service.world, &project, &endpoint, &[]);
    let id = added["webhook"]["webhook_id"].as_str().unwrap();
    let of_endpoint = |command: &'static str| {
        ["webhook", command, "--project", &project.id, "--webhook", id].map(str::to_owned)
    };
    let rotate = of_endpoint("rotate-secret");
    let rotated = service.world.cli(&rotate.iter().map(String::as_str).collect::<Vec<_>>());
    service.send(&project.test, &service.world.phone()).await.ok();
    let told = endpoint.hears("otp.sent").await;
    let secrets = [&rotated["secret"], &added["secret"]].map(|secret| secret.as_str().unwrap());
    let both = secrets.map(|secret| signature(secret, &told)).join(" ");
    assert_eq!(told.signature, both);

    let listed = service.world.cli(&["webhook", "list", "--project", &project.id]);
    assert_eq!(listed["items"].as_array().unwrap().len(), 1);
    assert!(!listed.to_string().contains("whsec_"));
    let remove = of_endpoint("remove");
    let remove: Vec<&str> = remove.iter().map(String::as_str).collect();
    assert_eq!(service.world.cli(&remove)["removed"], true);
    assert_eq!(service.world.run(&remove).status.code(), Some(1));
}

#[test]
fn addresses_inside_are_refused() {
    let world = World::new(Database::sqlite());
    let project = world.project("0");
    for url in ["http://example.com/", "https://127.0.0.1/", "https://localhost/", "nonsense"] {
        let add = ["webhook", "add", "--project", &project.id, "--url", url];
        let output = world.run(&add);
        assert_eq!(output.status.code(), Some(1), "{url}");
        assert!(String::from_utf8_lossy(&output.stderr).contains("events.allow_private"));
    }
}

async fn what_was_told_is_on_record_and_told_again(database: Database) {
    let service = Service::start_in(world(database));
    let project = service.world.project("0");
    let endpoint = Endpoint::start().await;
    let added = tell(&service.world, &project, &endpoint, &[]);
    let id = added["webhook"]["webhook_id"].as_str().unwrap();
    let run = |command: &str, more: &[&str]| {
        let of = ["webhook", command, "--project", &project.id, "--webhook", id];
        [of.as_slice(), more].concat().into_iter().map(str::to_owned).collect::<Vec<_>>()
    };
    let cli =
        |line: Vec<String>| service.world.cli(&line.iter().map(String::as_str).collect::<Vec<_>>());
    let tested = cli(run("test", &[]));
    assert_eq!((&tested["event"], &tested["status"]), (&json!("webhook.test"), &json!(200)));
    let told = endpoint.hears("webhook.test").await;
    assert_eq!(told.body["data"]["webhook_id"], added["webhook"]["webhook_id"]);
    assert_eq!(told.signature, signature(added["secret"].as_str().unwrap(), &told));

    service.send(&project.test, &service.world.phone()).await.ok();
    let told = endpoint.hears("otp.sent").await;
    let again = run("resend", &["--event", &told.id]);
    let again: Vec<&str> = again.iter().map(String::as_str).collect();
    let until = Instant::now() + Duration::from_secs(30);
    assert!(!service.world.run(&again).status.success(), "a moment after it was told");
    while !service.world.run(&again).status.success() {
        assert!(Instant::now() < until, "never sent again");
        tokio::time::sleep(Duration::from_millis(500)).await;
    }
    while endpoint.told().iter().filter(|it| it.id == told.id).count() < 2 {
        assert!(Instant::now() < until, "never told again");
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    let of_event = || {
        let log = cli(run("log", &[]));
        let calls = log["items"].as_array().unwrap().clone();
        assert!(!log.to_string().contains("127.0.0.1"), "{log}");
        calls
            .into_iter()
            .filter(|call| call["call"]["event_id"] == told.id.as_str())
            .collect::<Vec<_>>()
    };
    while of_event().len() < 2 {
        assert!(Instant::now() < until, "the second call is not on record");
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    assert_eq!(cli(run("log", &["--failed"]))["items"], json!([]));
    // The log of another project is not visible.
    let other = service.world.project("0");
    let strange = ["webhook", "log", "--project", &other.id, "--webhook", id];
    assert!(!service.world.run(&strange).status.success());
}

async fn an_endpoint_that_is_gone_is_disabled_at_once(database: Database) {
    let service = Service::start_in(world(database));
    let project = service.world.project("0");
    let (gone, other) = (Endpoint::start().await, Endpoint::start().await);
    let id = tell(&service.world, &project, &gone, &[])["webhook"]["webhook_id"].clone();
    tell(&service.world, &project, &other, &[]);
    *gone.status.lock().unwrap() = 410;
    service.send(&project.test, &service.world.phone()).await.ok();
    let told = other.hears("endpoint.disabled").await.body;
    assert_eq!(told["data"]["webhook_id"], id);
    let listed = service.world.cli(&["webhook", "list", "--project", &project.id]);
    let off = listed["items"].as_array().unwrap().iter().find(|it| it["webhook_id"] == id);
    assert!(off.unwrap()["disabled_at"].is_string(), "{listed}");
    let line = "an endpoint is gone (410) and is disabled";
    assert!(service.stderr().iter().any(|said| said.contains(line)), "{:?}", service.stderr());

    // Waiting deliveries are dropped, and nothing more is sent to it.
    let before = gone.told().len();
    *gone.status.lock().unwrap() = 200;
    service.send(&project.test, &service.world.phone()).await.ok();
    let pending = "SELECT count(*) FROM event_deliveries";
    let until = Instant::now() + Duration::from_secs(30);
    while service.world.database.number(pending).await > 0 {
        assert!(Instant::now() < until);
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    assert_eq!(gone.told().len(), before);
}

async fn an_endpoint_that_asks_for_a_pause_is_left_alone(database: Database) {
    let service = Service::start_in(world(database));
    let project = service.world.project("0");
    let (busy, other) = (Endpoint::start().await, Endpoint::start().await);
    let added = tell(&service.world, &project, &busy, &[]);
    tell(&service.world, &project, &other, &[]);
    let id = added["webhook"]["webhook_id"].as_str().unwrap();
    (*busy.status.lock().unwrap(), *busy.retry_after.lock().unwrap()) = (429, Some(100));
    service.send(&project.test, "9000000003").await.ok();
    let refused = busy.hears("otp.sent").await;
    let until = Instant::now() + Duration::from_secs(20);
    let line = loop {
        let told = service.stderr();
        let found = told.iter().find(|line| line.contains("did not accept an event"));
        if let Some(line) = found {
            break line.clone();
        }
        assert!(Instant::now() < until, "{told:?}");
        tokio::time::sleep(Duration::from_millis(50)).await;
    };
    // Later than the five seconds of the usual schedule, and nothing else arrives meanwhile.
    assert!(line.contains(r#""again_in_seconds":100"#), "{line}");
    (*busy.status.lock().unwrap(), *busy.retry_after.lock().unwrap()) = (200, None);
    let before = busy.told().len();
    service.send(&project.test, &service.world.phone()).await.ok();
    other.hears("otp.delivered").await;
    tokio::time::sleep(Duration::from_millis(1_500)).await;
    assert_eq!(busy.told().len(), before, "it is called all the same");
    // Once it accepts a call, such as a test, it gets the waiting events; the event that it refused
    // keeps its schedule.
    let test = ["webhook", "test", "--project", &project.id, "--webhook", id];
    assert_eq!(service.world.cli(&test)["status"], 200);
    busy.hears("otp.delivered").await;
    assert_eq!(busy.told().iter().filter(|told| told.id == refused.id).count(), 1);
}

async fn an_instance_is_on_record_while_it_runs(database: Database) {
    let mut service = Service::start_in(world(database));
    let pid = service.pid();
    let doctor = || {
        let report = service.world.cli(&["doctor"]);
        let checks = report["checks"].as_array().unwrap().clone();
        checks.into_iter().find(|check| check["name"] == "instances").unwrap()
    };
    let until = Instant::now() + Duration::from_secs(20);
    while !doctor()["detail"].as_str().unwrap().contains(&format!("process {pid},")) {
        assert!(Instant::now() < until, "{}", doctor());
        tokio::time::sleep(Duration::from_millis(200)).await;
    }
    assert_eq!(doctor()["status"], "ok");
    service.terminate();
    assert!(service.wait(Duration::from_secs(20)).is_some(), "it does not stop");
    assert_eq!(service.world.database.number("SELECT count(*) FROM instances").await, 0);
}
