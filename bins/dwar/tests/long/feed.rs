//! Twenty consumers of the feed, one of them slow, with concurrent senders, on three instances that
//! are killed repeatedly: every consumer gets each event of answered requests once, and all in the
//! same order.
//!
//! `FEED_EVENTS=200000` sets the number of events, which then takes more than half an hour; the
//! figures are printed.

use crate::common::{Database, Service, World};
use reqwest::{Client, StatusCode};
use serde_json::{Value, json};
use std::collections::HashSet;
use std::hash::{BuildHasher, RandomState};
use std::io::{Write, stdout};
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};
use tokio::time::sleep;

on_both_databases! {
    each_consumer_gets_each_event_once;
}

const CONSUMERS: usize = 20;
/// The last of them reads a page and then pauses for a while.
const SLOW: usize = CONSUMERS - 1;
const INSTANCES: usize = 3;
const SENDERS: usize = 6;
const PATIENCE: Duration = Duration::from_secs(60);

#[derive(Clone, Copy)]
struct Amount {
    /// Number of events that some consumer has to read before sending stops.
    events: usize,
    least_kills: usize,
    most_kills: usize,
    between_kills: Duration,
    /// The page sizes that consumers use, one after another.
    pages: [usize; 4],
    slow: Duration,
    patience: Duration,
}

const FEW: Amount = Amount {
    events: 300,
    least_kills: 9,
    most_kills: 9,
    between_kills: Duration::from_millis(500),
    pages: [1, 7, 100, 500],
    slow: Duration::from_millis(200),
    patience: PATIENCE,
};

impl Amount {
    fn asked_for() -> Self {
        let Some(events) = std::env::var("FEED_EVENTS").ok().map(|it| it.parse().unwrap()) else {
            return FEW;
        };
        Self {
            events,
            least_kills: 9,
            most_kills: usize::MAX,
            between_kills: Duration::from_secs(10),
            pages: [50, 100, 200, 500],
            slow: Duration::from_secs(1),
            patience: Duration::from_secs(4 * 3_600),
        }
    }
}

fn world(database: Database) -> World {
    let bounds = [
        "LIMITS__TEST__GENERAL_PER_MINUTE",
        "LIMITS__TEST__SENDS_PER_MINUTE",
        "RETENTION__TEST_RECORDS",
    ];
    bounds
        .into_iter()
        .fold(World::new(database), |world, name| world.with(&format!("DWAR__{name}"), "1000000"))
        .with("DWAR__SECRETS__MASTER_KEY", "QUJDREVGR0hJSktMTU5PUFFSU1RVVldYWVphYmNkZWY=")
        .with("DWAR__DATABASE__TIMEOUT_MS", "10000")
}

/// The current addresses of the instances, and their clients.
#[derive(Clone)]
struct Crowd {
    key: String,
    client: Client,
    bases: Arc<Mutex<[String; INSTANCES]>>,
    amount: Amount,
    is_over: Arc<AtomicBool>,
    /// The expected events: of sends that were answered.
    wanted: Arc<Mutex<HashSet<u64>>>,
    /// How many events the fastest consumer has read.
    read: Arc<AtomicUsize>,
    /// Events are identified by a hash of their ids, to save memory.
    hash: RandomState,
    phones: Arc<AtomicU32>,
}

impl Crowd {
    fn base(&self, number: usize) -> String {
        self.bases.lock().unwrap()[number % INSTANCES].clone()
    }

    /// Sends to one phone after another. A send without an answer may have happened or not.
    async fn send(self, number: usize) {
        while !self.is_over.load(Ordering::Relaxed) {
            let phone = 7_000_000_000_u64 + u64::from(self.phones.fetch_add(1, Ordering::Relaxed));
            let url = format!("{}/v1/otp/send", self.base(number));
            let send = self.client.post(url).header("X-Api-Key", &self.key);
            let sent = send.json(&json!({ "phone": phone.to_string() })).send().await;
            let Some(body) = body(sent).await else {
                sleep(Duration::from_millis(20)).await;
                continue;
            };
            let id = body["otp_id"].as_str().unwrap().replace('-', "");
            self.wanted.lock().unwrap().insert(self.hash.hash_one(format!("otp_sent_{id}")));
        }
    }

    /// Reads until every event has come; returns the events in order.
    async fn consume(self, number: usize) -> Vec<u64> {
        let (mut after, mut seen, mut asked) = (String::new(), Vec::new(), number);
        let mut known = HashSet::new();
        let mut idle_since = Instant::now();
        let limit = self.amount.pages[number % 4];
        loop {
            asked += 1;
            let url = format!("{}/v1/events?limit={limit}&after={after}", self.base(asked));
            let page = self.client.get(url).header("X-Api-Key", &self.key).send().await;
            let Some(page) = body(page).await else {
                sleep(Duration::from_millis(20)).await;
                continue;
            };
            after = page["cursor"].as_str().unwrap().to_owned();
            let events = page["events"].as_array().unwrap();
            for event in events {
                let id = event["id"].as_str().unwrap();
                let event = self.hash.hash_one(id.to_owned());
                assert!(known.insert(event), "{id} came twice");
                seen.push(event);
            }
            self.read.fetch_max(seen.len(), Ordering::Relaxed);
            if number == SLOW {
                sleep(self.amount.slow).await;
            }
            if !events.is_empty() {
                idle_since = Instant::now();
                continue;
            }
            let all_came = || self.wanted.lock().unwrap().is_subset(&known);
            if self.is_over.load(Ordering::Relaxed) && all_came() {
                return seen;
            }
            let missing = || self.wanted.lock().unwrap().difference(&known).count();
            assert!(idle_since.elapsed() < PATIENCE, "{} events never came", missing());
            sleep(Duration::from_millis(10)).await;
        }
    }
}

/// The body of a 200. A killed instance does not answer, and a starting one may answer 503.
async fn body(answer: reqwest::Result<reqwest::Response>) -> Option<Value> {
    let answer = answer.ok()?;
    if answer.status() == StatusCode::OK {
        return answer.json().await.ok();
    }
    let (status, text) = (answer.status(), answer.text().await.unwrap_or_default());
    assert_eq!(status, StatusCode::SERVICE_UNAVAILABLE, "{text}");
    None
}

async fn each_consumer_gets_each_event_once(database: Database) {
    let amount = Amount::asked_for();
    let kind = if matches!(database, Database::Postgres { .. }) { "PostgreSQL" } else { "SQLite" };
    let first = Service::start_in(world(database));
    let project = first.world.project("0");
    first.world.cli(&["project", "set", "--project", &project.id, "--events-feed", "on"]);
    let mut instances = [(); INSTANCES].map(|()| Some(first.twin()));
    let bases = instances.each_ref().map(|one| one.as_ref().unwrap().base.clone());
    let crowd = Crowd {
        key: project.test.clone(),
        client: Client::builder().timeout(Duration::from_secs(15)).build().unwrap(),
        bases: Arc::new(Mutex::new(bases)),
        amount,
        is_over: Arc::default(),
        wanted: Arc::default(),
        read: Arc::default(),
        hash: RandomState::new(),
        phones: Arc::default(),
    };
    let begun = Instant::now();
    let senders: Vec<_> =
        (0..SENDERS).map(|number| tokio::spawn(crowd.clone().send(number))).collect();
    let consumers: Vec<_> =
        (0..CONSUMERS).map(|number| tokio::spawn(crowd.clone().consume(number))).collect();
    // Enough kills for a meaningful result, however slow the machine is.
    let mut kills = 0;
    let enough = || crowd.read.load(Ordering::Relaxed) >= amount.events;
    while !enough() || kills < amount.least_kills {
        assert!(begun.elapsed() < amount.patience, "only a few sends were answered");
        sleep(amount.between_kills).await;
        if kills == amount.most_kills {
            continue;
        }
        let place = kills % INSTANCES;
        drop(instances[place].take().unwrap().kill());
        let next = first.twin();
        crowd.bases.lock().unwrap()[place].clone_from(&next.base);
        instances[place] = Some(next);
        kills += 1;
    }
    let sent = begun.elapsed();
    crowd.is_over.store(true, Ordering::Relaxed);
    for sender in senders {
        sender.await.unwrap();
    }
    let mut read = Vec::new();
    for consumer in consumers {
        read.push(consumer.await.unwrap());
    }
    for seen in &read {
        let both = seen.len().min(read[0].len());
        assert_eq!(seen[..both], read[0][..both]);
    }
    if amount.events == FEW.events {
        return;
    }
    let figures = format!(
        "{kind}: {} events of {} sends in {} s, read by {CONSUMERS} in {} s, beside {kills} kills",
        read[0].len(),
        crowd.wanted.lock().unwrap().len(),
        sent.as_secs(),
        begun.elapsed().as_secs()
    );
    stdout().write_all(format!("{figures}\n").as_bytes()).unwrap();
}
