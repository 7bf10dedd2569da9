//! A closing of months that is killed repeatedly during logins: the balance is always right, and
//! the result is the same as without the kills.
//!
//! `CLOSING_ENTRIES=5000000` sets the number of entries; the durations of each part and of logins
//! are printed.

use crate::common::old_sends::OldSends;
use crate::common::{Database, Service, World};
use serde_json::Value;
use std::fs;
use std::io::{Write, stdout};
use std::process::{Child, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

on_both_databases! {
    a_killed_closing_goes_on;
}

const KILLS: u32 = 20;
/// Entries that leave, three of each send, half of them in each of two months.
const ENTRIES: u32 = 60_000;
/// Writing entries to a file may take long before the first of them leaves.
const PATIENCE: Duration = Duration::from_secs(600);
const ALONE: Duration = Duration::from_secs(20);
/// The entries of sends that were booked before the service ran.
const OLD: &str = "SELECT count(*) FROM ledger_entries WHERE reference LIKE '%er-%'";
/// The first millisecond of October 2020 in India.
const OCTOBER: i64 = 1_601_490_600_000;

/// Logs people in until it is stopped, and returns the start and duration of each login.
async fn log_in_until(
    service: Arc<Service>,
    key: String,
    stop: Arc<AtomicBool>,
) -> Vec<(Instant, Duration)> {
    let mut logins = Vec::new();
    while !stop.load(Ordering::Relaxed) {
        let began = Instant::now();
        service.log_in(&key, &service.world.phone()).await;
        logins.push((began, began.elapsed()));
    }
    logins
}

fn in_words(logins: impl Iterator<Item = Duration>) -> String {
    let mut times: Vec<Duration> = logins.collect();
    times.sort_unstable();
    let part = |part: usize| times.get(times.len() * part / 100).map(Duration::as_millis);
    format!("{} logins, p50 and p99 {:?} and {:?} ms", times.len(), part(50), part(99))
}

fn close(world: &World, folder: &str) -> Child {
    let mut command = world.command(&["wallet", "close", "--before", "2020-12", "--to", folder]);
    command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap()
}

/// Waits until fewer entries than `bound` are left, the command has ended or `patience` is over,
/// and returns whether the patience was enough.
async fn fewer_are_left(world: &World, child: &mut Child, bound: i64, patience: Duration) -> bool {
    let until = Instant::now() + patience;
    while world.database.number(OLD).await >= bound && child.try_wait().unwrap().is_none() {
        if until <= Instant::now() {
            return false;
        }
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    true
}

async fn a_killed_closing_goes_on(database: Database) {
    let measured = std::env::var("CLOSING_ENTRIES").ok().map(|it| it.parse::<u32>().unwrap());
    let sends = measured.unwrap_or(ENTRIES) / 6;
    let world = World::new(database);
    let project = world.project("1000000");
    for (name, since) in [("october", OCTOBER), ("november", OCTOBER + 31 * 86_400_000)] {
        let apart = 1_000;
        world.book_old_sends(&project, OldSends { name, sends, since, apart }).await;
    }
    let all = world.database.number(OLD).await;
    let folder = world.database.folder().join("exports");
    fs::create_dir(&folder).unwrap();
    let folder = folder.to_str().unwrap().to_owned();
    let service = Arc::new(Service::start_in(world));
    let before = service.world.balance(&project)["balance_paise"].as_i64().unwrap();
    let stop = Arc::new(AtomicBool::new(false));
    let logins =
        tokio::spawn(log_in_until(Arc::clone(&service), project.live.clone(), Arc::clone(&stop)));

    tokio::time::sleep(measured.map_or(Duration::ZERO, |_| ALONE)).await;
    let (mut amid, closes) = (0, Instant::now());
    for kill in 0..KILLS {
        let left = service.world.database.number(OLD).await;
        let mut child = close(&service.world, &folder);
        match kill % 2 {
            // At the start, and while the files are written; a quick machine leaves some to the
            // kills that follow.
            0 => {
                let patience = Duration::from_millis(60 * u64::from(kill));
                let bound = left - all / 40;
                fewer_are_left(&service.world, &mut child, bound, patience).await;
            }
            _ => {
                let do_leave = fewer_are_left(&service.world, &mut child, left, PATIENCE).await;
                assert!(do_leave, "nothing leaves");
            }
        }
        let is_amid = child.try_wait().unwrap().is_none();
        amid += u32::from(is_amid && service.world.database.number(OLD).await < left);
        child.kill().unwrap();
        child.wait().unwrap();
        service.world.audit();
        let proof = service.world.cli(&["wallet", "prove", "--project", &project.id]);
        assert_eq!(proof["sound"], true, "{proof}");
    }
    let left = service.world.database.number(OLD).await;
    assert!(amid >= KILLS / 4 && 0 < left && left < all, "{amid} amid, {left} of {all} are left");
    let last = Instant::now();
    let status = close(&service.world, &folder).wait().unwrap();
    assert!(status.success());
    let (whole, last) = (closes.elapsed(), last.elapsed());
    stop.store(true, Ordering::Relaxed);
    let logins = logins.await.unwrap();
    assert!(!logins.is_empty());
    let (before_it, beside): (Vec<_>, Vec<_>) = logins.iter().partition(|(at, _)| *at < closes);
    let took =
        |logins: Vec<(Instant, Duration)>| in_words(logins.into_iter().map(|(_, took)| took));
    let figures = format!(
        "{all} entries in {} s with {KILLS} kills and proofs, the last {left} in {} s; alone: {}; beside it: {}",
        whole.as_secs(),
        last.as_secs(),
        took(before_it),
        took(beside),
    );
    if measured.is_some() {
        stdout().write_all(format!("{figures}\n").as_bytes()).unwrap();
    }

    assert_eq!(service.world.database.number(OLD).await, 0);
    service.world.audit();
    let after = service.world.balance(&project)["balance_paise"].as_i64().unwrap();
    assert_eq!(after, before - 20 * i64::try_from(logins.len()).unwrap());
    // A login has three entries at most.
    let limit = (3 * logins.len() + 100).to_string();
    let statement = ["wallet", "statement", "--project", &project.id, "--limit", &limit];
    let statement = service.world.cli(&statement);
    let entries = statement["items"].as_array().unwrap();
    let closed: Vec<&Value> = entries.iter().filter(|it| it["kind"] == "closed").collect();
    assert_eq!(closed.len(), 2);
    for entry in closed {
        assert_eq!(entry["amount_paise"], -20 * i64::from(sends));
        assert_eq!(entry["closed"]["entries"], 3 * sends);
        let month = entry["reference"].as_str().unwrap();
        let file = fs::read_to_string(format!("{folder}/ledger-{}-{month}.jsonl", project.id));
        assert_eq!(file.unwrap().lines().count(), 3 * sends as usize + 2);
    }
    let drafts = fs::read_dir(&folder).unwrap();
    assert_eq!(drafts.count(), 2, "nothing half written is left");
}
