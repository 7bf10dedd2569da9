//! Providers that echo, providers that hang, and the way from providers to this service.

use crate::common::{Database, Play, RECEIPTS, Service, TOKEN, Vendor, World, answer};
use dwar_testkit::reserved_port;
use hmac::{Hmac, KeyInit, Mac};
use reqwest::Method;
use serde_json::{Value, json};
use sha2::Sha256;
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

on_both_databases! {
    what_a_provider_echoes_is_nowhere_afterwards;
    a_provider_that_hangs_leaves_room_for_the_next;
    an_odd_entry_of_a_call_takes_no_other_with_it;
    what_msg91_fails_by_itself_is_a_failure_and_costs_nothing;
}

/// A provider that answers each message with its own number and code, each time in another place.
struct Echo {
    port: u16,
    told: Arc<Mutex<Vec<(String, String)>>>,
}

impl Echo {
    fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let told: Arc<Mutex<Vec<_>>> = Arc::default();
        let heard = Arc::clone(&told);
        std::thread::spawn(move || {
            for (n, stream) in listener.incoming().enumerate() {
                let message = Self::answer(stream.unwrap(), n);
                heard.lock().unwrap().extend(message);
            }
        });
        Self { port, told }
    }

    /// Reads a message and echoes it; returns its number and code.
    fn answer(mut stream: TcpStream, n: usize) -> Option<(String, String)> {
        let body = read(&mut stream)?;
        let (phone, code) = (body["to"].as_str()?.to_owned(), body["code"].as_str()?.to_owned());
        let echo = format!("{phone} {code}");
        let (status, headers, said) = match n % 8 {
            0 => ("200 OK", String::new(), json!({ "id": phone })),
            1 => ("200 OK", String::new(), json!({ "id": format!("m-{code}-{phone}") })),
            2 => ("200 OK", String::new(), json!({ "id": code })),
            3 => ("200 OK", format!("X-Echo: {echo}\r\n"), json!({ "id": [echo], "x": echo })),
            4 => ("400 Bad", format!("Retry-After: {phone}\r\n"), json!({ "message": echo })),
            5 => ("429 Slow", format!("Retry-After: {phone}\r\n"), json!({ "code": phone })),
            6 => ("503 Down", format!("Location: /{phone}/{code}\r\n"), json!(echo)),
            _ => ("200 OK", format!("X {echo}\r\n"), json!({ "id": "broken head" })),
        };
        let said = said.to_string();
        let length = said.len();
        let _gone = write!(
            stream,
            "HTTP/1.1 {status} {echo}\r\nConnection: close\r\nContent-Length: {length}\r\n\
             {headers}\r\n{said}"
        );
        Some((phone, code))
    }

    fn carry(&self, world: World) -> World {
        let port = self.port;
        let description = format!(
            r#"
name = "echo"
[secrets]
webhook_token = "{TOKEN}"
[request]
url = "http://127.0.0.1:{port}/{{phone_national}}"
json = '''{{"to":"{{phone_national}}","code":"{{code}}"}}'''
[answer]
reference = "/id"
{RECEIPTS}"#
        );
        std::fs::write(world.database.folder().join("echo.toml"), description).unwrap();
        world
            .with("DWAR__GATEWAYS__GENERIC_FILES", "echo.toml")
            .with("DWAR__GATEWAYS__WHATSAPP", "")
            .with("DWAR__GATEWAYS__SMS", "echo")
            .with("DWAR__GATEWAYS__BREAKER_FAULTS", "1000000")
    }
}

fn read(stream: &mut TcpStream) -> Option<Value> {
    let mut bytes = Vec::new();
    let mut part = [0; 4_096];
    loop {
        let end = bytes.windows(4).position(|window| window == b"\r\n\r\n");
        if let Some(body) = end.and_then(|end| serde_json::from_slice(&bytes[end + 4..]).ok()) {
            return Some(body);
        }
        match stream.read(&mut part).ok()? {
            0 => return None,
            count => bytes.extend_from_slice(&part[..count]),
        }
    }
}

async fn what_a_provider_echoes_is_nowhere_afterwards(database: Database) {
    let echo = Echo::start();
    let world = World::new(database).with("DWAR__LOG__LEVEL", "trace");
    let service = Service::start_in(echo.carry(world));
    let project = service.world.project("100");
    let mut accepted = 0;
    for _ in 0..16 {
        let sent = service.send(&project.live, &service.world.phone()).await;
        accepted += usize::from(sent.status == 200);
    }
    assert_eq!(accepted, 8, "an echo is no reason to refuse what was accepted");
    let told = echo.told.lock().unwrap().clone();
    assert_eq!(told.len(), 16);
    let path = format!("/webhooks/echo?token={TOKEN}");
    for (phone, code) in &told {
        for reference in [phone.clone(), code.clone(), format!("{phone} {code}")] {
            let receipt = json!({ "reference": reference, "status": "delivered", "to": phone });
            answer(service.request(Method::POST, &path).json(&receipt)).await;
        }
        let unreadable = service.request(Method::POST, &path).body(format!("{phone} {code}"));
        answer(unreadable).await.refused(400, "INVALID_REQUEST");
    }
    tokio::time::sleep(Duration::from_secs(1)).await;

    let mut places = vec![("the log".to_owned(), service.stderr().join("\n").into_bytes())];
    let world = service.kill();
    for file in std::fs::read_dir(world.database.folder()).unwrap() {
        let path = file.unwrap().path();
        places.push((path.display().to_string(), std::fs::read(&path).unwrap()));
    }
    for (table, rows) in world.database.rows().await {
        places.push((table, rows.into_bytes()));
    }
    for (place, text) in places {
        let holds = |secret: &str| text.windows(secret.len()).any(|it| it == secret.as_bytes());
        for (phone, _) in &told {
            assert!(!holds(phone), "{place} tells {phone}");
        }
        // Six digits may occur by chance; many sets of them do not.
        let codes = told.iter().filter(|(_, code)| holds(code)).count();
        assert!(codes <= 1, "{place} tells {codes} codes");
    }
}

async fn a_provider_that_hangs_leaves_room_for_the_next(database: Database) {
    // The messages that fall back fit within the limit of the next provider.
    const BOUND: usize = 6;
    const CROWD: usize = 10;
    let vendor = Vendor::start(0, |provider, _| match provider {
        "wa" => Play::Hang,
        _ => Play::Accept,
    })
    .await;
    let world = World::new(database)
        .with("DWAR__GATEWAYS__CALLS_AT_ONCE", &BOUND.to_string())
        .with("DWAR__GATEWAYS__CALL_TIMEOUT_MS", "8000")
        .with("DWAR__GATEWAYS__BREAKER_FAULTS", "1000000");
    let service = Arc::new(Service::start_in(vendor.carry(world)));
    let project = service.world.project("100");
    let sends: Vec<_> = (0..CROWD)
        .map(|_| {
            let (service, key) = (Arc::clone(&service), project.live.clone());
            let phone = service.world.phone();
            tokio::spawn(async move {
                let began = Instant::now();
                let sent = service.send(&key, &phone).await.ok();
                (sent, began.elapsed())
            })
        })
        .collect();
    let mut soon = 0;
    for send in sends {
        let (sent, took) = send.await.unwrap();
        assert_eq!(sent["channel"], "sms");
        let path = format!("/v1/otp/status/{}", sent["otp_id"].as_str().unwrap());
        let status = service.get(&project.live, &path).await.ok();
        let reason = if took < Duration::from_secs(6) { "provider_unavailable" } else { "timeout" };
        assert_eq!(status["attempts"][0]["reason"], reason, "{status}");
        soon += usize::from(took < Duration::from_secs(6));
    }
    assert_eq!(soon, CROWD - BOUND, "all but those that hang go on at once");
    let taken = vendor.taken();
    assert_eq!(taken.iter().filter(|taken| taken.provider == "wa").count(), BOUND);
}

/// A vendor that accepts every message with a reference from this function; returns its address.
fn taking(named: fn(usize) -> Value) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    std::thread::spawn(move || {
        for (n, stream) in listener.incoming().enumerate() {
            let mut stream = stream.unwrap();
            read(&mut stream);
            let said = named(n).to_string();
            let length = said.len();
            let head = format!("HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: {length}");
            let _gone = write!(stream, "{head}\r\n\r\n{said}");
        }
    });
    url
}

/// Waits until the send has this status.
async fn becomes(service: &Service, key: &str, sent: &Value, status: &str) {
    let path = format!("/v1/otp/status/{}", sent["otp_id"].as_str().unwrap());
    let until = Instant::now() + Duration::from_secs(20);
    loop {
        let now = service.get(key, &path).await.ok();
        if now["status"] == status {
            return;
        }
        assert!(Instant::now() < until, "{now}");
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
}

async fn an_odd_entry_of_a_call_takes_no_other_with_it(database: Database) {
    const SECRET: &str = "an app secret of the tests alone";
    const NUMBER: &str = "106540352242922";
    let meta = taking(|n| json!({ "messages": [{ "id": format!("wamid.{n}") }] }));
    let world = World::new(database)
        .with("DWAR__GATEWAYS__WHATSAPP", "whatsapp_cloud")
        .with("DWAR__GATEWAYS__SMS", "")
        .with("DWAR__GATEWAYS__WHATSAPP_CLOUD__BASE_URL", &meta)
        .with("DWAR__GATEWAYS__WHATSAPP_CLOUD__ACCESS_TOKEN", "token")
        .with("DWAR__GATEWAYS__WHATSAPP_CLOUD__APP_SECRET", SECRET)
        .with("DWAR__GATEWAYS__WHATSAPP_CLOUD__PHONE_NUMBER_ID", NUMBER);
    let service = Service::start_in(world);
    let project = service.world.project("10");
    let first = service.send(&project.live, "9876543210").await.ok();
    let second = service.send(&project.live, "9876543211").await.ok();
    let report = async |body: Value| {
        let body = body.to_string();
        let mac = Hmac::<Sha256>::new_from_slice(SECRET.as_bytes()).unwrap();
        let mac = mac.chain_update(&body).finalize().into_bytes();
        let hex: String = mac.iter().map(|byte| format!("{byte:02x}")).collect();
        let call = service.request(Method::POST, "/webhooks/whatsapp_cloud").body(body);
        answer(call.header("X-Hub-Signature-256", format!("sha256={hex}"))).await
    };
    let changed = |statuses: Value| {
        let value = json!({ "metadata": { "phone_number_id": NUMBER }, "statuses": statuses });
        json!({ "field": "messages", "value": value })
    };
    let odd = json!({ "id": "an entry without changes" });
    report(json!({ "entry": [odd] })).await.refused(400, "INVALID_REQUEST");
    let good = changed(json!([
        { "id": "wamid.0", "status": "delivered" }, { "status": "delivered" },
        { "id": "wamid.1", "status": "failed" },
    ]));
    let call = json!({ "entry": [odd, { "changes": [{ "field": "messages" }, good, null] }, odd] });
    report(call).await.ok();
    becomes(&service, &project.live, &first, "delivered").await;
    becomes(&service, &project.live, &second, "failed").await;
    // An irrelevant report is accepted, so that the provider does not repeat it.
    let nothing = json!({ "changes": [{ "field": "account_update", "value": {} }] });
    report(json!({ "entry": [odd, nothing] })).await.ok();
}

async fn what_msg91_fails_by_itself_is_a_failure_and_costs_nothing(database: Database) {
    let msg91 = taking(|n| json!({ "type": "success", "message": format!("request-{n}") }));
    let world = World::new(database)
        .with("DWAR__GATEWAYS__WHATSAPP", "")
        .with("DWAR__GATEWAYS__SMS", "msg91")
        .with("DWAR__GATEWAYS__MSG91__BASE_URL", &msg91)
        .with("DWAR__GATEWAYS__MSG91__AUTH_KEY", "key")
        .with("DWAR__GATEWAYS__MSG91__WEBHOOK_TOKEN", TOKEN)
        .with("DWAR__GATEWAYS__MSG91__SMS_TEMPLATE_ID", "flow");
    let service = Service::start_in(world);
    let project = service.world.project("10");
    let sent = service.send(&project.live, "9876543210").await.ok();
    let path = format!("/webhooks/msg91?token={TOKEN}");
    let receipt = json!({ "requestId": "request-0", "status": "Auto failed" });
    answer(service.request(Method::POST, &path).json(&receipt)).await.ok();
    becomes(&service, &project.live, &sent, "failed").await;
    let balance = service.world.balance(&project);
    assert_eq!((&balance["balance_paise"], &balance["held_paise"]), (&json!(1000), &json!(0)));
    service.world.audit();
}

fn reachable(world: World, url: &str) -> World {
    world
        .with("DWAR__GATEWAYS__PUBLIC_URL", url)
        .with("DWAR__GATEWAYS__TWILIO__ACCOUNT_SID", "AC0")
        .with("DWAR__GATEWAYS__TWILIO__AUTH_TOKEN", "auth token of the tests alone")
}

/// The checks of the way to this service, as words.
fn online(world: &World) -> Vec<(String, String, String)> {
    let report = world.run(&["doctor", "--online", "--json"]);
    let report: Value = serde_json::from_slice(&report.stdout).unwrap();
    let text = |check: &Value, field: &str| check[field].as_str().unwrap().to_owned();
    let checks = report["checks"].as_array().unwrap().iter();
    let checks = checks.map(|it| (text(it, "name"), text(it, "status"), text(it, "detail")));
    checks
        .filter(|(name, ..)| ["loops", "public address", "webhook"].contains(&name.as_str()))
        .collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn doctor_takes_the_providers_way_when_it_is_asked_to() {
    let port = reserved_port();
    let url = format!("http://127.0.0.1:{port}");
    let world =
        World::new(Database::sqlite()).with("DWAR__HTTP__ADDRESS", &format!("127.0.0.1:{port}"));
    let service = Service::start_in(reachable(world, &format!("{url}/")));
    let found = online(&service.world);
    let well = |name: &str, path: &str| {
        (name.to_owned(), "ok".to_owned(), format!("{url}{path} is answered by this service"))
    };
    let loops = ("loops".to_owned(), "ok".to_owned(), "none had to be restarted".to_owned());
    let way = [well("public address", "/healthz"), well("webhook", "/webhooks/twilio")];
    assert_eq!((&found[0], &found[1..]), (&loops, &way[..]));

    // The service runs with other settings than those that doctor reads.
    let world = service.kill();
    let without =
        World::new(Database::sqlite()).with("DWAR__HTTP__ADDRESS", &format!("127.0.0.1:{port}"));
    let other = Service::start_in(without);
    let found = online(&world);
    assert_eq!(found[1], well("public address", "/healthz"));
    assert_eq!(found[2].1, "failed");
    assert!(found[2].2.contains("does not know this provider"), "{found:?}");
    drop(other);
    for (name, status, detail) in online(&world) {
        assert_eq!(status, if name == "loops" { "warning" } else { "failed" });
        assert!(detail.contains("cannot be reached"), "{detail}");
    }
    // Another server answers at that address, even with the right status.
    let somebody = TcpListener::bind(("127.0.0.1", port)).unwrap();
    std::thread::spawn(move || {
        for stream in somebody.incoming() {
            let mut stream = stream.unwrap();
            let _request = stream.read(&mut [0; 4_096]);
            let body = r#"{"status":"ok","loops":[{"name":"tidy","restarts":7,"running":false}]}"#;
            let _gone = write!(
                stream,
                "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: {}\r\n\r\n{body}",
                body.len()
            );
        }
    });
    let found = online(&world);
    assert_eq!((&*found[0].1, &*found[0].2), ("warning", "tidy is down, restarts: 7"));
    for (_, status, detail) in &found[1..] {
        assert_eq!(status, "failed");
        assert!(detail.contains("unlike this service"), "{detail}");
    }
}

#[test]
fn doctor_calls_nobody_unless_it_is_asked_to() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    listener.set_nonblocking(true).unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let world = reachable(World::new(Database::sqlite()), &url)
        .with("DWAR__GATEWAYS__TWILIO__BASE_URL", &url);
    world.cli(&["doctor"]);
    assert!(listener.accept().is_err(), "a provider was called");
    let found = online(&World::new(Database::sqlite()));
    let found: Vec<_> = found.iter().map(|(name, status, _)| (&**name, &**status)).collect();
    assert_eq!(found, [("loops", "warning"), ("public address", "warning")]);
}

#[test]
fn an_address_that_cannot_be_meant_stops_the_start_with_a_sentence() {
    for (key, value, why) in [
        ("PUBLIC_URL", "ftp://x", "it begins with https:// or http://"),
        ("PUBLIC_URL", "https://user:pw@otp.example.com", "no user and no password"),
        ("PUBLIC_URL", "https://otp.example.com/?a=1", "no query and no fragment"),
        ("PUBLIC_URL", "https://", "it is not an address"),
        ("TWILIO__BASE_URL", "http://localhost:x@evil.example", "no user and no password"),
        ("TWILIO__BASE_URL", "http://evil.example", "calls would go unencrypted"),
    ] {
        let world = reachable(World::new(Database::sqlite()), "https://otp.example.com")
            .with(&format!("DWAR__GATEWAYS__{key}"), value);
        let output = world.run(&["serve"]);
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(1), "{key} {value}: {said}");
        let key = format!("gateways.{}", key.to_ascii_lowercase().replace("__", "."));
        assert!(said.contains(&key) && said.contains(why), "{key} {value}: {said}");
        assert!(!said.contains("evil") && !said.contains("user:pw"), "{said}");
    }
}
