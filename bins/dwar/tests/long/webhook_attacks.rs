//! Attacks on `/webhooks/`, over raw sockets against the whole binary.
//!
//! Limits are generous, because the machine may be busy; the figures are printed.

#![allow(clippy::print_stdout, reason = "the figures are what these tests are read for")]

use crate::common::{Database, Service, World};
use hmac::{Hmac, KeyInit, Mac};
use serde_json::json;
use sha2::Sha256;
use std::io::{ErrorKind, Read, Write};
use std::net::TcpStream;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

const APP_SECRET: &str = "an app secret of the tests alone";
const NUMBER: &str = "106540352242922";
const META: &str = "/webhooks/whatsapp_cloud";
const TWILIO: &str = "/webhooks/twilio";
const MEBIBYTE: usize = 1_024 * 1_024;
const LONG: usize = 3 * MEBIBYTE;
const FORGED_TWILIO: &str = "X-Twilio-Signature: AAAAAAAAAAAAAAAAAAAAAAAAAAA=\r\n";
/// A refusal that does not wait for the body arrives before any time limit for bodies.
const AT_ONCE: Duration = Duration::from_secs(3);
const MOST_RESIDENT: usize = 150 * MEBIBYTE;

/// One attack at a time, or they would affect each other's measurements.
static ALONE: tokio::sync::Mutex<()> = tokio::sync::Mutex::const_new(());

/// A service that Meta and Twilio report to.
fn service() -> Service {
    let world = World::new(Database::sqlite())
        .with("DWAR__GATEWAYS__PUBLIC_URL", "https://otp.example.com/")
        .with("DWAR__GATEWAYS__WHATSAPP_CLOUD__ACCESS_TOKEN", "token")
        .with("DWAR__GATEWAYS__WHATSAPP_CLOUD__APP_SECRET", APP_SECRET)
        .with("DWAR__GATEWAYS__WHATSAPP_CLOUD__PHONE_NUMBER_ID", NUMBER)
        .with("DWAR__GATEWAYS__TWILIO__ACCOUNT_SID", "AC0")
        .with("DWAR__GATEWAYS__TWILIO__AUTH_TOKEN", "auth token of the tests alone")
        .with("DWAR__HTTP__CLIENT_TIMEOUT_SECONDS", "4");
    Service::start_in(world)
}

fn forged_meta() -> String {
    format!("X-Hub-Signature-256: sha256={}\r\n", "a".repeat(64))
}

fn signed_by_meta(body: &[u8]) -> String {
    let mac = Hmac::<Sha256>::new_from_slice(APP_SECRET.as_bytes()).unwrap();
    let mac = mac.chain_update(body).finalize().into_bytes();
    let hex: String = mac.iter().map(|byte| format!("{byte:02x}")).collect();
    format!("X-Hub-Signature-256: sha256={hex}\r\n")
}

/// A genuine report of Meta, padded to about `length` bytes.
fn report(length: usize) -> Vec<u8> {
    let status = json!({ "id": "wamid.x", "status": "delivered" });
    let value = json!({ "metadata": { "phone_number_id": NUMBER }, "statuses": [status] });
    let change = json!({ "field": "messages", "value": value });
    let padding = "x".repeat(length);
    json!({ "padding": padding, "entry": [{ "changes": [change] }] }).to_string().into_bytes()
}

fn head(method: &str, path: &str, headers: &str) -> String {
    format!("{method} {path} HTTP/1.1\r\nHost: dwar\r\n{headers}\r\n")
}

fn declares(length: usize) -> String {
    format!("Content-Length: {length}\r\n")
}

fn connect(base: &str) -> TcpStream {
    let stream = TcpStream::connect(base.trim_start_matches("http://")).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
    stream.set_write_timeout(Some(Duration::from_secs(20))).unwrap();
    stream
}

/// Status and headers of the answer; empty if the connection ended without one.
fn answer(stream: &mut TcpStream) -> String {
    let mut bytes = Vec::new();
    let mut part = [0; 4_096];
    while !bytes.windows(4).any(|window| window == b"\r\n\r\n") {
        match stream.read(&mut part) {
            Ok(0) => break,
            Ok(count) => bytes.extend_from_slice(&part[..count]),
            Err(cause) if cause.kind() == ErrorKind::ConnectionReset => break,
            Err(cause) => panic!("no answer: {cause}"),
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

/// Sends only a head; returns the status and how long it took.
fn after_the_head(base: &str, head: &str) -> (u16, Duration) {
    let mut stream = connect(base);
    let began = Instant::now();
    stream.write_all(head.as_bytes()).unwrap();
    (status(&answer(&mut stream)), began.elapsed())
}

fn status(answer: &str) -> u16 {
    answer.split(' ').nth(1).and_then(|word| word.parse().ok()).unwrap_or_default()
}

/// Sends everything. A client that is refused half-way may lose the answer with the connection.
fn push(base: &str, head: &str, body: &[u8]) -> String {
    let mut stream = connect(base);
    let _cut_off = stream.write_all(head.as_bytes()).and_then(|()| stream.write_all(body));
    answer(&mut stream)
}

fn resident(service: &Service) -> usize {
    let status = std::fs::read_to_string(format!("/proc/{}/status", service.pid())).unwrap();
    let line = status.lines().find(|line| line.starts_with("VmRSS:")).unwrap();
    line.split_whitespace().nth(1).unwrap().parse::<usize>().unwrap() * 1_024
}

/// Clients that repeat `attack` until they are stopped.
struct Crowd {
    stop: Arc<AtomicBool>,
    rounds: Arc<AtomicUsize>,
    callers: Vec<JoinHandle<()>>,
}

impl Crowd {
    fn of(callers: usize, attack: impl Fn() + Send + Sync + 'static) -> Self {
        let (stop, rounds, attack) =
            (Arc::<AtomicBool>::default(), Arc::<AtomicUsize>::default(), Arc::new(attack));
        let caller = |_| {
            let (stop, rounds, attack) = (stop.clone(), rounds.clone(), attack.clone());
            std::thread::spawn(move || {
                while !stop.load(Ordering::Relaxed) {
                    attack();
                    rounds.fetch_add(1, Ordering::Relaxed);
                    // The attackers run on the same few processors, so a crowd without pauses would
                    // measure itself.
                    std::thread::sleep(Duration::from_millis(50));
                }
            })
        };
        Self { callers: (0..callers).map(caller).collect(), stop, rounds }
    }

    fn end(self) -> usize {
        self.stop.store(true, Ordering::Relaxed);
        for caller in self.callers {
            caller.join().unwrap();
        }
        self.rounds.load(Ordering::Relaxed)
    }
}

/// Measures, while `crowd` attacks, how long another client waits for its answers and how much memory the
/// service uses. Both have a bound.
async fn suffer(name: &str, service: &Service, crowd: Crowd) {
    let key = service.world.project("0").test;
    let phone = service.world.phone();
    let (mut took, mut most) = (Vec::new(), 0);
    let until = Instant::now() + Duration::from_secs(5);
    while Instant::now() < until {
        let began = Instant::now();
        let verified = service.verify(&key, &phone, "000000").await;
        took.push(began.elapsed());
        verified.refused(400, "OTP_NOT_FOUND");
        most = most.max(resident(service));
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    let rounds = crowd.end();
    took.sort();
    let (median, p99) = (took[took.len() / 2], took[took.len() * 99 / 100]);
    println!(
        "{name}: {rounds} calls of strangers; verify p50 {median:?}, p99 {p99:?} of {}; at most \
         {} MiB resident",
        took.len(),
        most / MEBIBYTE
    );
    assert!(most < MOST_RESIDENT, "{name}: {} MiB", most / MEBIBYTE);
    assert!(p99 < Duration::from_secs(1), "{name}: {p99:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_refusal_that_needs_no_body_waits_for_none() {
    let _alone = ALONE.lock().await;
    let service = service();
    let meta = forged_meta();
    let chunked = "Transfer-Encoding: chunked\r\n";
    let long = declares(LONG);
    for (row, method, path, headers, expected) in [
        ("an unknown provider", "POST", "/webhooks/nope", long.clone(), 404),
        ("an unknown provider, chunked", "POST", "/webhooks/nope", chunked.to_owned(), 404),
        ("no signature", "POST", META, long.clone(), 401),
        ("no signature, chunked", "POST", META, chunked.to_owned(), 401),
        ("no signature", "POST", TWILIO, long.clone(), 401),
        ("another's signature", "POST", TWILIO, format!("{meta}{long}"), 401),
        ("two signatures", "POST", META, format!("{meta}{meta}{long}"), 401),
        ("longer than Twilio sends", "POST", TWILIO, format!("{FORGED_TWILIO}{long}"), 413),
        ("longer than Meta sends", "POST", META, format!("{meta}{}", declares(LONG + 1)), 413),
        ("beyond counting", "POST", META, format!("{meta}{}", declares(usize::MAX)), 413),
        ("a wrong method", "PUT", META, format!("{meta}{long}"), 405),
        ("a wrong method", "HEAD", META, meta.clone(), 405),
        ("a report in the query", "GET", META, format!("{meta}{long}"), 401),
    ] {
        let (status, took) = after_the_head(&service.base, &head(method, path, &headers));
        assert_eq!(status, expected, "{row}: {method} {path}");
        assert!(took < AT_ONCE, "{row}: {method} {path} took {took:?}");
    }
    // Many at once are as cheap as one.
    let mut crowd: Vec<_> = (0..200).map(|_| connect(&service.base)).collect();
    let began = Instant::now();
    for stream in &mut crowd {
        stream.write_all(head("POST", "/webhooks/nope", &long).as_bytes()).unwrap();
    }
    assert!(crowd.iter_mut().all(|stream| status(&answer(stream)) == 404));
    assert!(began.elapsed() < AT_ONCE, "{:?}", began.elapsed());
}

#[tokio::test(flavor = "multi_thread")]
async fn bodies_pushed_at_an_unknown_provider_cost_nothing() {
    let _alone = ALONE.lock().await;
    let service = service();
    let (base, body) = (service.base.clone(), vec![b'x'; LONG]);
    let attack = move || drop(push(&base, &head("POST", "/webhooks/nope", &declares(LONG)), &body));
    suffer("3 MiB to nobody", &service, Crowd::of(8, attack)).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn two_hundred_long_bodies_at_once_stay_out_of_memory() {
    let _alone = ALONE.lock().await;
    let service = service();
    let mut most = resident(&service);
    for (path, signature) in [("/webhooks/nope", String::new()), (META, forged_meta())] {
        let head = head("POST", path, &format!("{signature}{}", declares(LONG)));
        let (base, body) = (service.base.clone(), Arc::new(vec![b' '; LONG]));
        let pushing: Vec<_> = (0..200)
            .map(|_| {
                let (base, head, body) = (base.clone(), head.clone(), body.clone());
                std::thread::spawn(move || status(&push(&base, &head, &body)))
            })
            .collect();
        while pushing.iter().any(|push| !push.is_finished()) {
            most = most.max(resident(&service));
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        let statuses: Vec<u16> = pushing.into_iter().map(|push| push.join().unwrap()).collect();
        assert!(statuses.iter().all(|status| [404, 401, 503, 400, 0].contains(status)));
    }
    println!("200 bodies of 3 MiB at once: at most {} MiB resident", most / MEBIBYTE);
    assert!(most < MOST_RESIDENT, "{} MiB", most / MEBIBYTE);
}

#[tokio::test(flavor = "multi_thread")]
async fn forms_without_a_signature_cost_nothing() {
    let _alone = ALONE.lock().await;
    let service = service();
    let (base, body) = (service.base.clone(), b"a=1&".repeat(LONG / 4));
    let attack = move || drop(push(&base, &head("POST", TWILIO, &declares(LONG)), &body));
    suffer("3 MiB forms without a signature", &service, Crowd::of(4, attack)).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn forms_with_a_forged_signature_cost_little() {
    let _alone = ALONE.lock().await;
    let service = service();
    let (base, body) = (service.base.clone(), b"a=1&".repeat(4_096));
    let headers = format!("{FORGED_TWILIO}{}", declares(body.len()));
    let attack = move || {
        let answer = push(&base, &head("POST", TWILIO, &headers), &body);
        assert_eq!(status(&answer), 401, "{answer}");
    };
    suffer("16 KiB forms with a forged signature", &service, Crowd::of(4, attack)).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn large_bodies_with_a_forged_signature_share_a_room() {
    let _alone = ALONE.lock().await;
    let service = service();
    let (base, body) = (service.base.clone(), vec![b' '; LONG]);
    let headers = format!("{}{}", forged_meta(), declares(LONG));
    let attack = move || {
        let answer = push(&base, &head("POST", META, &headers), &body);
        // No answer: the connection ended while the body was being sent.
        assert!([401, 503, 0].contains(&status(&answer)), "{answer}");
    };
    suffer("3 MiB with a forged signature", &service, Crowd::of(8, attack)).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_small_genuine_report_gets_through_while_slow_bodies_fill_the_room() {
    let _alone = ALONE.lock().await;
    let service = service();
    let deliver = |length: usize| {
        let body = report(length);
        let headers = format!("{}{}", signed_by_meta(&body), declares(body.len()));
        push(&service.base, &head("POST", META, &headers), &body)
    };
    assert_eq!(status(&deliver(10)), 200);
    assert_eq!(status(&deliver(LONG - 1_024)), 200, "the largest batch that Meta sends");
    let slow: Vec<_> = (0..40)
        .map(|_| {
            let mut stream = connect(&service.base);
            let headers = format!("{}{}", forged_meta(), declares(LONG));
            stream.write_all(head("POST", META, &headers).as_bytes()).unwrap();
            stream.write_all(&[b' '; 64 * 1_024]).unwrap();
            stream
        })
        .collect();
    tokio::time::sleep(Duration::from_millis(600)).await;
    for _ in 0..20 {
        let began = Instant::now();
        assert_eq!(status(&deliver(10)), 200);
        assert!(began.elapsed() < AT_ONCE, "{:?}", began.elapsed());
    }
    let refused = deliver(MEBIBYTE).to_ascii_lowercase();
    assert_eq!(status(&refused), 503, "{refused}");
    assert!(refused.contains("retry-after: "), "{refused}");
    assert!(resident(&service) < MOST_RESIDENT);
    // The time limit for bodies has passed, so the slow bodies no longer occupy the room, whether
    // or not their clients have disconnected.
    tokio::time::sleep(Duration::from_secs(5)).await;
    assert_eq!(status(&deliver(MEBIBYTE)), 200);
    drop(slow);
}

/// A client that stalls at one provider occupies only the places of that provider.
#[tokio::test(flavor = "multi_thread")]
async fn strangers_at_one_provider_take_no_place_of_another() {
    let _alone = ALONE.lock().await;
    let service = service();
    let crowd: Vec<_> = (0..8)
        .map(|_| {
            let mut stream = connect(&service.base);
            let headers = format!("{FORGED_TWILIO}{}", declares(20 * 1_024));
            stream.write_all(head("POST", TWILIO, &headers).as_bytes()).unwrap();
            stream.write_all(&[b' '; 17 * 1_024]).unwrap();
            stream
        })
        .collect();
    tokio::time::sleep(Duration::from_millis(500)).await;
    let body = report(LONG - 1_024);
    let headers = format!("{}{}", signed_by_meta(&body), declares(body.len()));
    assert_eq!(status(&push(&service.base, &head("POST", META, &headers), &body)), 200);
    drop(crowd);
}

#[tokio::test(flavor = "multi_thread")]
async fn bodies_of_no_declared_length_end_where_the_provider_would() {
    let _alone = ALONE.lock().await;
    let service = service();
    let chunks = |length: usize| {
        let mut body = Vec::with_capacity(length + length / 64);
        for _ in 0..length / 1_024 {
            body.extend_from_slice(b"400\r\n");
            body.resize(body.len() + 1_024, b' ');
            body.extend_from_slice(b"\r\n");
        }
        body.extend_from_slice(b"0\r\n\r\n");
        body
    };
    let chunked = "Transfer-Encoding: chunked\r\n";
    let push = |path: &str, signature: &str, length: usize| {
        let head = head("POST", path, &format!("{signature}{chunked}"));
        status(&push(&service.base, &head, &chunks(length)))
    };
    assert_eq!(push(TWILIO, FORGED_TWILIO, 31 * 1_024), 401);
    assert!([413, 0].contains(&push(TWILIO, FORGED_TWILIO, 64 * 1_024)));
    assert_eq!(push(META, &forged_meta(), LONG), 401);
    assert!([413, 0].contains(&push(META, &forged_meta(), LONG + 64 * 1_024)));
}
