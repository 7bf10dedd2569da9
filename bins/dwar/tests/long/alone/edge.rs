//! Attacks with connections: raw sockets against the whole binary.
//!
//! Each test prints the memory cost of the attack, and how long another client waited meanwhile.
//! `cargo test --release -p dwar --test long edge:: -- --nocapture --test-threads 1` prints
//! representative figures; the assertions allow for a debug build on a busy machine.

#![allow(clippy::print_stdout, reason = "the figures are what these tests are read for")]

use crate::common::{
    Bystander, Database, Resident, Service, Wire, World, attacker, raise_descriptors,
};
use futures_util::future::join_all;
use serde_json::Value;
use std::time::{Duration, Instant};
use tokio::task::JoinHandle;

const BOUND_MIB: u64 = 150;
const SERVED: Duration = Duration::from_secs(3);
/// The longest time limit of every test, and the delay of a busy machine.
const LIMIT: Duration = Duration::from_secs(2);
const SLACK: Duration = Duration::from_secs(6);
const OFTEN: Duration = Duration::from_millis(100);
const GET: &str = "GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n";

type Attackers = Vec<JoinHandle<(Duration, String)>>;

fn world() -> World {
    raise_descriptors();
    // For heads and bodies; answers have twice as long.
    World::new(Database::sqlite()).with("DWAR__HTTP__CLIENT_TIMEOUT_SECONDS", "1")
}

/// Runs the attackers until each has been cut off, while another client sends requests. Returns
/// what the attackers read.
async fn withstand(
    name: &str,
    service: &Service,
    attack: impl FnOnce() -> Attackers,
) -> Vec<String> {
    withstand_within(SLACK, name, service, attack).await
}

async fn withstand_within(
    slack: Duration,
    name: &str,
    service: &Service,
    attack: impl FnOnce() -> Attackers,
) -> Vec<String> {
    let before = Resident::of(service);
    let bystander = Bystander::of(service);
    tokio::time::sleep(OFTEN).await;
    let cut_off = join_all(attack()).await;
    let (lasted, read): (Vec<_>, Vec<_>) = cut_off.into_iter().map(Result::unwrap).unzip();
    let (longest, p99) = (lasted.into_iter().max().unwrap(), bystander.p99().await);
    let after = Resident::of(service);
    println!(
        "{name}: {} attackers cut off within {longest:.1?}; {} MiB before, {} at most, {} after; \
         another client's p99 {p99:.1?}",
        read.len(),
        before.now,
        after.peak,
        after.now,
    );
    assert!(after.peak < BOUND_MIB, "{name}: {after:?}");
    assert!(longest < LIMIT + slack, "{name}: {longest:?}");
    assert!(p99 < SERVED, "{name}: {p99:?}");
    read
}

/// Checks that this is a refusal of ours, and nothing more.
fn assert_refusal(answer: &str, status: &str) {
    let (head, body) = answer.split_once("\r\n\r\n").unwrap_or_else(|| panic!("{answer:?}"));
    assert!(head.starts_with(&format!("HTTP/1.1 {status} ")), "{answer}");
    assert!(head.contains("content-type: application/json\r\n"), "{answer}");
    let body: Value = serde_json::from_str(body).unwrap_or_else(|_| panic!("{answer}"));
    assert_eq!(body["code"], "INVALID_REQUEST");
    assert_eq!(body.as_object().unwrap().len(), 3);
    let id = body["request_id"].as_str().unwrap();
    assert!(head.contains(&format!("x-request-id: {id}")), "{answer}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn who_pipelines_and_reads_nothing_queues_next_to_nothing() {
    let service = Service::start_in(world());
    let shapes = [
        GET,
        "GET / HTTP/1.1\r\n\r\n",
        "GET /.well-known/jwks.json HTTP/1.1\r\nHost: x\r\n\r\n",
        "GET /nowhere HTTP/1.1\r\nHost: x\r\n\r\n",
        "HEAD /healthz HTTP/1.0\r\nConnection: keep-alive\r\n\r\n",
        "POST /v1/otp/send HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\n{}",
        "POST /v1/otp/send HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n1\r\n{\r\n0\r\n\r\n",
        "GET /healthz HTTP/1.1\nHost: x\n\n",
        "\r\n\r\n",
    ];
    for shape in shapes {
        let name = format!("pipelining {:?}", shape.lines().next().unwrap_or_default());
        // The deadline begins when the buffers of both systems are full.
        withstand_within(5 * SLACK, &name, &service, || {
            let again = shape.repeat(600);
            (0..20).map(|_| attacker(&service, "", again.clone(), Duration::ZERO, false)).collect()
        })
        .await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_head_has_a_deadline_not_the_first_alone() {
    let service = Service::start_in(world());
    for start in [GET, "G"] {
        let read = withstand("heads a byte at a time", &service, || {
            (0..100).map(|_| attacker(&service, start, "x", OFTEN, true)).collect()
        })
        .await;
        for answer in read {
            let told = if start == GET { answer.find("HTTP/1.1 408").unwrap() } else { 0 };
            assert_refusal(&answer[told..], "408");
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn half_heads_of_any_size_pin_little_and_it_is_given_back() {
    let service = Service::start_in(world());
    let before = Resident::of(&service);
    for (size, status) in [(1_000, "408"), (15_000, "408"), (126_000, "431")] {
        let read = withstand(&format!("half heads of {size} bytes"), &service, || {
            let head = format!("GET / HTTP/1.1\r\nX: {}", "x".repeat(size));
            let attack = || attacker(&service, head.clone(), "", OFTEN, true);
            (0..800).map(|_| attack()).collect()
        })
        .await;
        // Some are cut off while they still write: the refusal can be lost then.
        let told = read.iter().filter(|answer| !answer.is_empty());
        told.clone().for_each(|answer| assert_refusal(answer, status));
        assert!(told.count() > 0, "nobody was told {status}");
    }
    let peak = Resident::of(&service).peak;
    let until = Instant::now() + Duration::from_secs(40);
    let most = before.now + (peak - before.now) / 2;
    while Resident::of(&service).now > most {
        assert!(Instant::now() < until, "{before:?}, {:?}", Resident::of(&service));
        tokio::time::sleep(OFTEN).await;
    }
    println!("half heads, a while later: {} MiB", Resident::of(&service).now);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_body_that_trickles_in_ends_in_time_whether_or_not_it_is_read() {
    let service = Service::start_in(world());
    let key = service.world.project("0").test;
    let heads = |framing: &str| {
        [
            format!(
                "POST /v1/otp/send HTTP/1.1\r\nHost: x\r\nX-Api-Key: {key}\r\n{framing}\r\n\r\n"
            ),
            format!("POST /healthz HTTP/1.1\r\nHost: x\r\n{framing}\r\n\r\n"),
        ]
    };
    for (name, framing, again) in [
        ("a byte at a time", "Content-Length: 9999", " "),
        ("chunks of a byte", "Transfer-Encoding: chunked", "1\r\n \r\n"),
        ("a chunk extension without end", "Transfer-Encoding: chunked\r\n\r\n1;", "x"),
        ("trailers without end", "Transfer-Encoding: chunked\r\n\r\n0\r\nT: ", "x"),
        ("empty lines for a body", "Content-Length: 9999", "\r\n\r\n"),
        ("asking for a 100", "Expect: 100-continue\r\nContent-Length: 9999", ""),
        ("an upgrade", "Connection: upgrade\r\nUpgrade: websocket", "x"),
    ] {
        for head in heads(framing) {
            withstand(name, &service, || {
                (0..30).map(|_| attacker(&service, head.clone(), again, OFTEN, true)).collect()
            })
            .await;
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_body_that_floods_in_is_not_piled_up() {
    let service = Service::start_in(world());
    for path in ["/healthz", "/nowhere", "/v1/otp/send"] {
        let head = format!("POST {path} HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n");
        for chunk in
            ["1\r\na\r\n".repeat(2_000), format!("ffff\r\n{}\r\n", "\r\n".repeat(0x7fff) + "x")]
        {
            withstand(&format!("a flood into {path}"), &service, || {
                let attack =
                    || attacker(&service, head.clone(), chunk.clone(), Duration::ZERO, false);
                (0..30).map(|_| attack()).collect()
            })
            .await;
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn in_a_full_house_who_dawdles_makes_room() {
    let service = Service::start_in(world().with("DWAR__HTTP__MAX_CONNECTIONS", "20"));
    let body =
        "POST /v1/otp/send HTTP/1.1\r\nHost: x\r\nX-Api-Key: x\r\nContent-Length: 99\r\n\r\n";
    for (name, start, again) in [
        ("idle after a request", GET, ""),
        ("a second head byte by byte", GET, "x"),
        ("a first head byte by byte", "G", "x"),
        ("a body byte by byte", body, "x"),
        ("not a byte", "", ""),
    ] {
        let attackers: Attackers =
            (0..60).map(|_| attacker(&service, start, again, OFTEN, true)).collect();
        tokio::time::sleep(OFTEN).await;
        let bystander = Bystander::of(&service);
        tokio::time::sleep(LIMIT).await;
        let p99 = bystander.p99().await;
        println!("a full house, {name}: another client's p99 {p99:.1?}");
        assert!(p99 < SERVED, "{name}: {p99:?}");
        attackers.iter().for_each(JoinHandle::abort);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn more_connections_than_the_soft_limit_has_descriptors() {
    let mut world = world();
    world.ulimit = Some("-Sn 256".to_owned());
    let service = Service::start_in(world);
    let idle: Attackers =
        (0..1_500).map(|_| attacker(&service, GET, "", Duration::from_secs(60), true)).collect();
    let bystander = Bystander::of(&service);
    tokio::time::sleep(LIMIT).await;
    let p99 = bystander.p99().await;
    let alive = idle.iter().filter(|attacker| !attacker.is_finished()).count();
    println!("{alive} idle connections, {:?}, p99 {p99:.1?}", Resident::of(&service));
    assert_eq!(alive, 1_500);
    assert!(p99 < SERVED, "{p99:?}");
    idle.iter().for_each(JoinHandle::abort);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn too_few_descriptors_are_told_and_cost_no_accept() {
    let mut world = world();
    world.ulimit = Some("-n 300".to_owned());
    let service = Service::start_in(world);
    let warned = |line: &String| line.contains("too few file descriptors") && line.contains("WARN");
    assert_eq!(service.stderr().iter().filter(|line| warned(line)).count(), 1);
    let crowd: Attackers =
        (0..600).map(|_| attacker(&service, GET, "", Duration::from_secs(60), true)).collect();
    let bystander = Bystander::of(&service);
    tokio::time::sleep(LIMIT).await;
    assert!(bystander.p99().await < SERVED);
    assert!(!service.stderr().iter().any(|line| line.contains("Error accepting")));
    crowd.iter().for_each(JoinHandle::abort);
}

#[test]
fn what_cannot_be_read_is_refused_like_anything_else() {
    let service = Service::start_in(world());
    let many: String = (0..200).map(|n| format!("X-{n}: x\r\n")).collect();
    for (request, status) in [
        ("nonsense\r\n\r\n".to_owned(), "400"),
        ("GET / HTTP/1.1\r\n\r\n".to_owned(), "400"),
        ("GET / HTTP/1.1\r\nHost: x\r\nContent-Length: x\r\n\r\n".to_owned(), "400"),
        (format!("GET / HTTP/1.1\r\nHost: x\r\nX: {}", "x".repeat(20_000)), "431"),
        (format!("GET / HTTP/1.1\r\nHost: x\r\n{many}\r\n"), "431"),
        ("GET / HTTP/1.1\r\nHost".to_owned(), "408"),
    ] {
        let mut wire = Wire::to(&service.base);
        wire.write(&request);
        assert_refusal(&wire.read_to_end(), status);
    }
    // After a valid request, only the second one is refused.
    let mut wire = Wire::to(&service.base);
    wire.write(&format!("{GET}nonsense\r\n\r\n"));
    let answers = wire.read_to_end();
    assert_refusal(&answers[answers.find("HTTP/1.1 400").unwrap()..], "400");
}

#[test]
fn honest_pipelines_are_answered_in_order_whatever_they_carry() {
    const ROUNDS: usize = 30;
    let service = Service::start_in(world());
    let key = service.world.project("0").test;
    let mut requests = String::new();
    for n in 0..ROUNDS {
        let shared = format!("Host: x\r\nX-Api-Key: {key}\r\nX-Request-Id: ");
        requests += &format!(
            "GET /healthz HTTP/1.1\r\n{shared}a{n};\r\n\r\n\
             POST /v1/otp/verify HTTP/1.1\r\n{shared}b{n};\r\nContent-Length: 6\r\n\r\n{{\r\n\r\n}}\
             POST /v1/otp/verify HTTP/1.1\r\n{shared}c{n};\r\nTransfer-Encoding: chunked\r\n\r\n\
             3;x\r\n{{\r\n\r\n3\r\n\r\n}}\r\n0\r\nT: 1\r\n\r\n\
             HEAD /healthz HTTP/1.1\r\n{shared}d{n};\r\n\r\n"
        );
    }
    requests += "GET /healthz HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n";
    for piece in [1_000_000, 1_000, 7] {
        let mut wire = Wire::to(&service.base);
        let bytes: Vec<char> = requests.chars().collect();
        bytes.chunks(piece).for_each(|piece| wire.write(&piece.iter().collect::<String>()));
        let answers = wire.read_to_end();
        let ids = answers.split("x-request-id: ").skip(1);
        let ids: Vec<&str> = ids.map(|rest| rest.split(';').next().unwrap()).collect();
        let expected: Vec<String> = (0..ROUNDS)
            .flat_map(|n| ["a", "b", "c", "d"].map(|kind| format!("{kind}{n}")))
            .collect();
        assert_eq!(ids[..ids.len() - 1], expected, "in pieces of {piece}");
        assert_eq!(answers.matches("INVALID_PHONE").count(), 2 * ROUNDS);
        assert_eq!(answers.matches("{\"status\":\"ok\"}").count(), ROUNDS + 1);
    }
}
