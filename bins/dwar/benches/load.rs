//! Measures how fast the service starts, how much memory it uses, and how many requests it answers.
//!
//! `cargo bench -p dwar --bench load` measures on SQLite, and on PostgreSQL too if
//! DWAR_TEST_POSTGRES_URL names a server. The load comes from this process, over keep-alive
//! connections on loopback, so it shares the machine's cores with the service. `healthz` does
//! nothing and is the floor with which every other figure should be compared.

#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "a measurement, not a program")]

#[path = "../tests/common/mod.rs"]
mod common;

use common::{Database, Project, Service, World, answer};
use reqwest::Method;
use serde_json::Value;
use std::future::Future;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::task::JoinSet;

const CLIENTS: usize = 32;
const LOGINS: usize = 6_000;
const SECONDS: u64 = 5;

#[tokio::main]
async fn main() {
    start_and_idle().await;
    measure("SQLite", Database::sqlite()).await;
    if std::env::var_os("DWAR_TEST_POSTGRES_URL").is_some() {
        measure("PostgreSQL", Database::postgres().await).await;
    }
}

/// From the start of the process to its first 200, on an existing database, and its use of
/// resources when idle.
async fn start_and_idle() {
    let world = World::new(Database::sqlite()).with("DWAR__HTTP__ADDRESS", "127.0.0.1:18087");
    let mut world = Service::start_in(world).kill();
    let mut starts = Vec::new();
    for round in 0..10 {
        let begun = Instant::now();
        let service = Service::start_in(world);
        answer(service.request(Method::GET, "/readyz")).await;
        starts.push(begun.elapsed());
        if round == 9 {
            tokio::time::sleep(Duration::from_secs(2)).await;
            println!("resident when idle   {:>8.1} MiB", resident(service.pid()));
        }
        world = service.kill();
    }
    starts.sort_unstable();
    println!("start to first 200   {:>8.1} ms (median of 10)", millis(starts[5]));
}

async fn measure(name: &str, database: Database) {
    let plenty = "1000000000";
    let world = World::new(database)
        .with("DWAR__LOG__LEVEL", "warn,dwar::cli=info")
        .with("DWAR__LIMITS__LIVE__VALIDATE_PER_MINUTE", plenty)
        .with("DWAR__LIMITS__LIVE__GENERAL_PER_MINUTE", plenty);
    let service = Arc::new(Service::start_in(world));
    let project = Arc::new(service.world.project("1000000"));
    println!("\n{name}, {CLIENTS} clients        req/s    p50 ms    p99 ms");

    let floor = Arc::clone(&service);
    run("healthz (the floor)", SECONDS, move |_, _| {
        let service = Arc::clone(&floor);
        async move { answer(service.request(Method::GET, "/healthz")).await.ok() }
    })
    .await;
    let codes = sends(&service, &project).await;
    let pairs = verifies(&service, &project, codes).await;
    let (validating, access) = (Arc::clone(&service), pairs[0]["access_token"].clone());
    let key = project.live.clone();
    run("validate", SECONDS, move |_, _| {
        let (service, key, access) = (Arc::clone(&validating), key.clone(), access.clone());
        async move { service.validate(&key, &access).await.ok() }
    })
    .await;
    refreshes(&service, &project, pairs).await;
    println!("resident after all this  {:>8.1} MiB", resident(service.pid()));
}

/// Live sends through the console gateway, each charged; returns the sent codes.
async fn sends(service: &Arc<Service>, project: &Arc<Project>) -> Vec<(String, String)> {
    let (sending, key) = (Arc::clone(service), project.live.clone());
    times("send", LOGINS, move |number| {
        let (service, key) = (Arc::clone(&sending), key.clone());
        async move { service.send(&key, &format!("98{number:08}")).await.ok() }
    })
    .await;
    let lines = service.stdout();
    let messages = lines.iter().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    messages.map(|m| (text(&m["to"]), text(&m["text"])[..6].to_owned())).collect()
}

async fn verifies(
    service: &Arc<Service>,
    project: &Arc<Project>,
    codes: Vec<(String, String)>,
) -> Vec<Value> {
    let (verifying, key, count) = (Arc::clone(service), project.live.clone(), codes.len());
    let codes = Arc::new(codes);
    times("verify", count, move |number| {
        let (service, key, codes) = (Arc::clone(&verifying), key.clone(), Arc::clone(&codes));
        async move {
            let (phone, code) = &codes[number];
            service.verify(&key, phone, code).await.ok()
        }
    })
    .await
}

async fn refreshes(service: &Arc<Service>, project: &Arc<Project>, pairs: Vec<Value>) {
    let (refreshing, key, count) = (Arc::clone(service), project.live.clone(), pairs.len());
    let pairs = Arc::new(pairs);
    times("refresh", count, move |number| {
        let (service, key, pairs) = (Arc::clone(&refreshing), key.clone(), Arc::clone(&pairs));
        async move { service.refresh(&key, &pairs[number]["refresh_token"]).await.ok() }
    })
    .await;
}

/// Calls until `seconds` have passed.
async fn run<F, W>(name: &str, seconds: u64, work: W)
where
    F: Future<Output = Value> + Send + 'static,
    W: Fn(usize, usize) -> F + Clone + Send + 'static,
{
    let begun = Instant::now();
    let end = begun + Duration::from_secs(seconds);
    let mut clients = JoinSet::new();
    for client in 0..CLIENTS {
        let work = work.clone();
        clients.spawn(async move {
            let mut times = Vec::new();
            while Instant::now() < end {
                let asked = Instant::now();
                work(client, times.len()).await;
                times.push(asked.elapsed());
            }
            times
        });
    }
    let times = clients.join_all().await.concat();
    report(name, begun.elapsed(), times);
}

/// Calls `count` times in total, and returns the answers.
async fn times<F, W>(name: &str, count: usize, work: W) -> Vec<Value>
where
    F: Future<Output = Value> + Send + 'static,
    W: Fn(usize) -> F + Clone + Send + 'static,
{
    let begun = Instant::now();
    let mut clients = JoinSet::new();
    for client in 0..CLIENTS {
        let work = work.clone();
        clients.spawn(async move {
            let mut done = Vec::new();
            for number in (client..count).step_by(CLIENTS) {
                let asked = Instant::now();
                let answer = work(number).await;
                done.push((asked.elapsed(), answer));
            }
            done
        });
    }
    let done: Vec<(Duration, Value)> = clients.join_all().await.into_iter().flatten().collect();
    let (times, answers) = done.into_iter().unzip();
    report(name, begun.elapsed(), times);
    answers
}

fn report(name: &str, took: Duration, mut times: Vec<Duration>) {
    times.sort_unstable();
    let at = |share: usize| millis(times[(times.len() * share / 100).min(times.len() - 1)]);
    let rate = times.len() as f64 / took.as_secs_f64();
    println!("{name:<24} {rate:>12.0} {:>9.2} {:>9.2}", at(50), at(99));
}

fn millis(time: Duration) -> f64 {
    time.as_secs_f64() * 1_000.0
}

/// Resident memory of a process in MiB (Linux).
fn resident(pid: u32) -> f64 {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    let kib = line.and_then(|line| line.split_whitespace().next()?.parse::<f64>().ok());
    kib.unwrap_or_default() / 1_024.0
}
