//! The behaviour of the process: when it is stopped, with hostile clients, and in its output.

use crate::common::{Database, Project, Service, Wire, World, answer};
use reqwest::Method;
use serde_json::{Value, json};
use std::time::{Duration, Instant};

on_both_databases! {
    a_signal_to_stop_lets_requests_in_flight_finish;
    a_client_that_dawdles_does_not_hold_up_a_stop;
    health_and_readiness_tell_the_truth;
    a_request_id_is_kept_if_it_is_sane;
    who_dawdles_is_cut_off;
    bodies_have_an_end;
    requests_are_told_apart;
    every_request_is_one_line_and_no_line_tells_a_secret;
    who_hangs_up_loses_nothing;
    the_console_writes_its_five_fields;
    a_deleted_identity_leaves_no_trace_in_the_file;
}

const MOMENT: Duration = Duration::from_millis(300);

fn lines_of(service: &Service, message: &str) -> Vec<Value> {
    let lines = service.stderr().into_iter();
    lines
        .map(|line| serde_json::from_str::<Value>(&line).unwrap_or_else(|_| panic!("{line}")))
        .filter(|line| line["message"] == message)
        .collect()
}

/// The access log once it has `count` lines; checks that no more follow.
async fn answered(service: &Service, count: usize) -> Vec<Value> {
    let until = Instant::now() + Duration::from_secs(10);
    while lines_of(service, "answered").len() < count && Instant::now() < until {
        tokio::time::sleep(MOMENT).await;
    }
    tokio::time::sleep(MOMENT).await;
    let lines = lines_of(service, "answered");
    assert_eq!(lines.len(), count);
    lines
}

async fn a_signal_to_stop_lets_requests_in_flight_finish(database: Database) {
    const CROWD: usize = 20;
    let mut service = Service::start(database);
    let project = service.world.project("100");
    let idle = Wire::to(&service.base);
    let mut begun = Vec::new();
    for n in 0..CROWD {
        let key = if n % 2 == 0 { &project.live } else { &project.test };
        let call = Wire::call(key, "/v1/otp/send", &json!({ "phone": service.world.phone() }));
        let (first, rest) = call.split_at(call.len() - 5);
        let mut wire = Wire::to(&service.base);
        wire.write(first);
        begun.push((wire, rest.to_owned()));
    }
    tokio::time::sleep(MOMENT).await;
    service.terminate();
    let asked = Instant::now();
    tokio::time::sleep(MOMENT).await;
    assert!(Wire::try_to(&service.base).is_err(), "still takes connections");
    for (wire, rest) in &mut begun {
        wire.write(rest);
    }
    for (mut wire, _) in begun {
        let answer = wire.read_to_end();
        assert!(answer.starts_with("HTTP/1.1 200 "), "{answer}");
        assert!(answer.contains("\"otp_id\""), "{answer}");
    }
    let status = service.wait(Duration::from_secs(15)).expect("still runs");
    assert_eq!(status.code(), Some(0), "{:?}", service.stderr());
    assert!(asked.elapsed() < Duration::from_secs(10), "{:?}", asked.elapsed());
    idle.close();

    let balance = service.world.balance(&project);
    let sent = i64::try_from(CROWD / 2).unwrap();
    assert_eq!(balance["balance_paise"], 10_000 - 20 * sent);
    assert_eq!(balance["held_paise"], 0);
    answered(&service, CROWD).await;
    assert_eq!(lines_of(&service, "stopped").len(), 1);
}

async fn a_client_that_dawdles_does_not_hold_up_a_stop(database: Database) {
    let world = World::new(database).with("DWAR__HTTP__CLIENT_TIMEOUT_SECONDS", "1");
    let mut service = Service::start_in(world);
    let key = service.world.project("0").test;
    let call = Wire::call(&key, "/v1/otp/send", &json!({ "phone": service.world.phone() }));
    let mut wire = Wire::to(&service.base);
    wire.write(&call[..call.len() - 5]);
    tokio::time::sleep(MOMENT).await;
    service.terminate();
    let status = service.wait(Duration::from_secs(6)).expect("still runs");
    assert_eq!(status.code(), Some(0), "{:?}", service.stderr());
    assert!(!wire.read_to_end().contains("200 OK"));
}

async fn health_and_readiness_tell_the_truth(database: Database) {
    let service = Service::start(database);
    let get = |path| answer(service.request(Method::GET, path));
    assert_eq!(get("/healthz").await.ok(), json!({"status": "ok"}));
    assert_eq!(get("/readyz").await.ok(), json!({"status": "ready"}));
    if !matches!(service.world.database, Database::Postgres { .. }) {
        return;
    }
    service.world.database.shut().await;
    service.becomes(503).await;
    get("/readyz").await.refused(503, "SERVICE_UNAVAILABLE");
    get("/healthz").await.ok();
    service.world.database.reopen().await;
    service.becomes(200).await;
}

async fn a_request_id_is_kept_if_it_is_sane(database: Database) {
    let service = Service::start(database);
    let ask = |ids: &[&str]| {
        let request = service.request(Method::GET, "/v1/otp/status/x");
        answer(ids.iter().fold(request, |request, id| request.header("X-Request-Id", *id)))
    };
    let longest = "x".repeat(64);
    for kept in ["a", "Trace/7:b-{c}", longest.as_str()] {
        let answer = ask(&[kept]).await;
        answer.refused(401, "MISSING_API_KEY");
        assert_eq!(answer.header("x-request-id"), kept);
    }
    let too_long = "x".repeat(65);
    let mut made = Vec::new();
    for insane in [&["two words"][..], &[&too_long], &["a", "b"], &[]] {
        let answer = ask(insane).await;
        answer.refused(401, "MISSING_API_KEY");
        made.push(answer.header("x-request-id").to_owned());
    }
    assert!(made.iter().all(|id| id.len() == 36), "{made:?}");
    made.sort();
    made.dedup();
    assert_eq!(made.len(), 4);
    let logged = answered(&service, 7).await;
    for id in made.iter().chain([&longest]) {
        assert_eq!(logged.iter().filter(|line| line["request_id"] == id.as_str()).count(), 1);
    }
}

/// Writes `text` one byte at a time until it is no longer accepted; returns the answer and its
/// time.
fn dawdle(base: &str, prompt: &str, text: &str) -> (String, Duration) {
    let began = Instant::now();
    let mut wire = Wire::to(base);
    wire.write(prompt);
    for letter in text.chars() {
        std::thread::sleep(Duration::from_millis(150));
        if began.elapsed() > Duration::from_secs(6) || !wire.takes(&letter.to_string()) {
            break;
        }
    }
    (wire.read_to_end(), began.elapsed())
}

async fn who_dawdles_is_cut_off(database: Database) {
    let world = World::new(database)
        .with("DWAR__HTTP__CLIENT_TIMEOUT_SECONDS", "1")
        .with("DWAR__LIMITS__TEST__GENERAL_PER_MINUTE", "100000");
    let service = Service::start_in(world);
    let key = service.world.project("0").test;
    let long = "x".repeat(200);
    let head = format!("GET /healthz HTTP/1.1\r\nHost: dwar\r\nX-Long: {long}");
    let body = Wire::call(&key, "/v1/otp/send", &json!({ "phone": long }));
    let split = body.find("{\"phone").unwrap();
    let rude = {
        let base = service.base.clone();
        let slow = move |prompt: String, text: String| {
            let base = base.clone();
            tokio::task::spawn_blocking(move || dawdle(&base, &prompt, &text))
        };
        let chunked = "POST /v1/otp/send HTTP/1.1\r\nHost: dwar\r\nX-Api-Key: KEY\r\n\
                       Transfer-Encoding: chunked\r\n\r\n"
            .replace("KEY", &key);
        let chunks = "1\r\nx\r\n".repeat(40);
        [
            slow(String::new(), head),
            slow(body[..split].to_owned(), body[split..].to_owned()),
            slow(chunked, chunks),
        ]
    };
    // Normal traffic is not affected.
    let until = Instant::now() + Duration::from_millis(1_500);
    let mut logins = 0;
    while Instant::now() < until {
        service.log_in(&key, &service.world.phone()).await;
        logins += 1;
    }
    assert!(logins > 3, "{logins}");
    for rude in rude {
        let (answer, took) = rude.await.unwrap();
        assert!(took < Duration::from_secs(5), "{took:?}: {answer}");
        assert!(!answer.contains(" 200 OK"), "{answer}");
        assert!(!answer.contains(" 500 "), "{answer}");
    }
    assert!(lines_of(&service, "answered").iter().all(|line| line["status"] != 500));
}

async fn bodies_have_an_end(database: Database) {
    let service = Service::start(database);
    let key = service.world.project("0").test;
    let head = format!(
        "POST /v1/otp/send HTTP/1.1\r\nHost: dwar\r\nX-Api-Key: {key}\r\nConnection: close\r\n\
         Transfer-Encoding: chunked\r\n\r\n"
    );
    let chunk = |size: usize| format!("{size:x}\r\n{}\r\n", " ".repeat(size));
    let mut wire = Wire::to(&service.base);
    wire.write(&head);
    for _ in 0..17 {
        wire.write(&chunk(1_024));
    }
    let answer = wire.read_to_end();
    assert!(answer.starts_with("HTTP/1.1 413 "), "{answer}");
    assert!(answer.contains("\"PAYLOAD_TOO_LARGE\""), "{answer}");

    let phone = format!("{{\"phone\":\"{}\"}}", service.world.phone());
    let mut wire = Wire::to(&service.base);
    wire.write(&head);
    for _ in 0..15 {
        wire.write(&chunk(1_024));
    }
    wire.write(&format!("{:x}\r\n{phone}\r\n0\r\n\r\n", phone.len()));
    let answer = wire.read_to_end();
    assert!(answer.starts_with("HTTP/1.1 200 "), "{answer}");
}

async fn requests_are_told_apart(database: Database) {
    let service = Service::start(database);
    let key = service.world.project("0").test;
    let exchange = |text: &str| {
        let mut wire = Wire::to(&service.base);
        wire.write(text);
        wire.read_to_end()
    };
    // Several requests in one packet are answered in order.
    let piped: String = (0..5)
        .map(|n| {
            let close = if n == 4 { "Connection: close\r\n" } else { "" };
            format!("GET /healthz HTTP/1.1\r\nHost: dwar\r\nX-Request-Id: n{n}\r\n{close}\r\n")
        })
        .collect();
    let answers = exchange(&piped);
    assert_eq!(answers.matches("HTTP/1.1 200 OK").count(), 5, "{answers}");
    let ids: Vec<usize> =
        (0..5).map(|n| answers.find(&format!("x-request-id: n{n}")).unwrap()).collect();
    assert!(ids.is_sorted(), "{answers}");

    let refused = |text: &str, status: &str| {
        let answer = exchange(text);
        assert!(answer.starts_with(&format!("HTTP/1.1 {status} ")), "{text}\n{answer}");
        assert_eq!(answer.matches("HTTP/1.1 ").count(), 1, "{answer}");
    };
    let body = json!({ "phone": service.world.phone() });
    let call = Wire::call(&key, "/v1/otp/send", &body);
    let header = format!("X-Api-Key: {key}\r\n");
    refused(&call.replace(&header, &header.repeat(2)), "401");
    // Two readers could see two different requests, so neither is answered.
    let length = format!("Content-Length: {}\r\n", body.to_string().len());
    refused(&call.replace(&length, &format!("{length}Content-Length: 3\r\n")), "400");
    let both = format!("{length}Transfer-Encoding: chunked\r\n");
    refused(&call.replace(&length, &both), "400");
    refused(&call.replace(&length, "Content-Length: +5\r\n"), "400");
    assert!(service.stdout().is_empty());
    let inbox = format!("/v1/sandbox/messages?phone={}", body["phone"].as_str().unwrap());
    assert_eq!(service.get(&key, &inbox).await.ok()["messages"], json!([]));
}

#[derive(Default)]
struct Secrets {
    always: Vec<String>,
    /// Six digits may occur by chance, for example in an instant; several sets of them do not.
    codes: Vec<String>,
}

impl Secrets {
    fn assert_absent_from(&self, text: &[u8], place: &str) {
        let contains = |part: &[u8]| text.windows(part.len()).any(|window| window == part);
        // In plain text, or as PostgreSQL writes bytes.
        let hex = |secret: &str| {
            secret.bytes().fold(String::new(), |hex, byte| format!("{hex}{byte:02x}"))
        };
        let found =
            |secret: &String| contains(secret.as_bytes()) || contains(hex(secret).as_bytes());
        for secret in &self.always {
            assert!(!found(secret), "{place} tells {secret}");
        }
        let told = self.codes.iter().filter(|code| found(code)).count();
        assert!(told <= 1, "{place} tells codes");
    }
}

/// Uses every route with both keys; returns the number of requests, and the secrets.
async fn every_route(service: &Service, project: &Project) -> (usize, Secrets) {
    let mut secrets = Secrets::default();
    let mut requests = 0;
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    for key in [&project.live, &project.test] {
        secrets.always.push(key.clone());
        for phone in [service.world.phone(), service.world.phone()] {
            let sent = service.send(key, &format!("+91{phone}")).await.ok();
            let code = service.code(key, &phone).await;
            requests += if key == &project.test { 2 } else { 1 };
            service.verify(key, &phone, &wrong_of(&code)).await.refused(400, "INVALID_OTP");
            let pair = service.verify(key, &phone, &code).await.ok();
            service.get(key, &format!("/v1/otp/status/{}", text(&sent["otp_id"]))).await.ok();
            service.validate(key, &pair["access_token"]).await.ok();
            let new = service.refresh(key, &pair["refresh_token"]).await.ok();
            let old = service.refresh(key, &pair["refresh_token"]).await;
            old.refused(401, "SESSION_EXPIRED");
            service.get(key, &format!("/v1/identity?phone={phone}")).await.ok();
            service.get(key, &format!("/v1/identity?phone=%2B91{phone}x")).await;
            let identity = format!("/v1/identity/{}", text(&new["identity_id"]));
            service.get(key, &identity).await.ok();
            service.logout(key, &new["access_token"]).await.ok();
            service.delete(key, &identity).await.ok();
            // In unexpected places: an unknown path, a body that is not JSON, a wrong type.
            service.get(key, &format!("/v1/{phone}/{code}?key={key}")).await;
            let request = service.request(Method::POST, "/v1/otp/verify").header("X-Api-Key", key);
            answer(request.body(format!("phone={phone}&code={code}"))).await;
            service.post(key, "/v1/otp/send", json!({ "phone": [phone] })).await;
            let token = &new["refresh_token"];
            service
                .post(key, "/v1/session/refresh", json!({ "refresh_token": { "x": token } }))
                .await;
            requests += 15;
            secrets.always.extend([
                phone,
                text(&pair["access_token"]),
                text(&pair["refresh_token"]),
            ]);
            secrets.always.extend([text(&new["access_token"]), text(&new["refresh_token"])]);
            secrets.codes.push(code);
        }
    }
    (requests, secrets)
}

fn wrong_of(code: &str) -> String {
    crate::common::wrong(code, 0)
}

fn switched_on(service: &Service) -> Project {
    let project = service.world.project("100");
    let switches = ["--identity-lookup", "on", "--identity-delete", "on"];
    let set = [&["project", "set", "--project", &project.id], switches.as_slice()].concat();
    service.world.cli(&set);
    project
}

async fn every_request_is_one_line_and_no_line_tells_a_secret(database: Database) {
    let world = World::new(database).with("DWAR__LOG__LEVEL", "trace");
    let service = Service::start_in(world);
    let project = switched_on(&service);
    let (requests, secrets) = every_route(&service, &project).await;
    let answered = answered(&service, requests).await;
    // Libraries quote what they cannot parse; that must not reach the access log.
    let header = format!("Content-Length: {}x", secrets.always[1]);
    let mut wire = Wire::to(&service.base);
    wire.write(&format!("POST / HTTP/1.1\r\nHost: dwar\r\n{header}\r\n\r\n"));
    assert!(wire.read_to_end().starts_with("HTTP/1.1 400 "));
    tokio::time::sleep(MOMENT).await;
    let logged = service.stderr().join("\n");
    assert!(
        logged.contains("\"TRACE\"") || logged.contains("\"DEBUG\""),
        "nothing fine was logged"
    );
    secrets.assert_absent_from(logged.as_bytes(), "the log");
    let fields = ["method", "route", "status", "duration_ms", "request_id", "level", "timestamp"];
    for line in answered {
        assert!(fields.iter().all(|field| !line[field].is_null()), "{line}");
        assert_eq!(line["project"].as_str(), Some(project.id.as_str()));
    }
}

async fn who_hangs_up_loses_nothing(database: Database) {
    const CROWD: u64 = 40;
    let service = Service::start(database);
    let project = service.world.project("100");
    for n in 0..CROWD {
        let body = json!({ "phone": service.world.phone() });
        let mut wire = Wire::to(&service.base);
        let unread = n % 2 == 1;
        if unread {
            wire.write("GET /healthz HTTP/1.1\r\nHost: dwar\r\n\r\n");
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        wire.write(&Wire::call(&project.live, "/v1/otp/send", &body));
        tokio::time::sleep(Duration::from_micros(n * 250)).await;
        // With an unread answer, the system resets the connection instead of closing it.
        if unread { drop(wire) } else { wire.close() }
    }
    let until = Instant::now() + Duration::from_secs(15);
    loop {
        let messages = service.stdout().len();
        let balance = service.world.balance(&project);
        let paid = 10_000 - balance["balance_paise"].as_i64().unwrap();
        let settled = balance["held_paise"] == 0 && paid == 20 * i64::try_from(messages).unwrap();
        if settled && messages > 0 {
            break;
        }
        assert!(Instant::now() < until, "{messages} messages, {balance}");
        tokio::time::sleep(MOMENT).await;
    }
    service.world.audit();
    // Every request that was received was carried out.
    let statement = ["wallet", "statement", "--project", &project.id, "--limit", "1000"];
    let statement = service.world.cli(&statement);
    let entries = statement["items"].as_array().unwrap();
    let count = |kind: &str| entries.iter().filter(|entry| entry["kind"] == kind).count();
    assert_eq!(count("hold"), count("capture"));
    assert_eq!(count("capture"), service.stdout().len());
}

async fn the_console_writes_its_five_fields(database: Database) {
    let service = Service::start(database);
    let project = service.world.project("100");
    let phone = service.world.phone();
    let sent = service.send(&project.live, &phone).await.ok();
    service.send(&project.test, &phone).await.ok();
    let code = service.code(&project.live, &phone).await;
    let lines = service.stdout();
    assert_eq!(lines.len(), 1, "{lines:?}");
    let line: Value = serde_json::from_str(&lines[0]).unwrap();
    let text = line["text"].as_str().unwrap();
    assert!(text.starts_with(&code) && code.bytes().all(|byte| byte.is_ascii_digit()), "{text}");
    let expected = json!({
        "gateway": "console",
        "channel": "whatsapp",
        "to": format!("+91{phone}"),
        "text": text,
        "otp_id": sent["otp_id"],
    });
    assert_eq!(line, expected);
}

async fn a_deleted_identity_leaves_no_trace_in_the_file(database: Database) {
    let service = Service::start(database);
    let project = switched_on(&service);
    let (_, secrets) = every_route(&service, &project).await;
    search(&service.world, &secrets).await;
    let world = service.kill();
    search(&world, &secrets).await;
    world.audit();
    search(&world, &secrets).await;
}

/// Searches every file beside the service, and on PostgreSQL every row.
async fn search(world: &World, secrets: &Secrets) {
    for file in std::fs::read_dir(world.database.folder()).unwrap() {
        let path = file.unwrap().path();
        let bytes = std::fs::read(&path).unwrap();
        secrets.assert_absent_from(&bytes, &path.display().to_string());
    }
    for (table, rows) in world.database.rows().await {
        secrets.assert_absent_from(rows.as_bytes(), &table);
    }
}
