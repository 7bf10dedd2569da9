//! Twenty consumers of the feed beside senders, on two instances that are killed again and again: each event of what
//! was answered comes to each of them once, and in one order.

use crate::common::{Database, Service, World};
use reqwest::{Client, StatusCode};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};
use tokio::time::sleep;

on_both_databases! {
    each_consumer_gets_each_event_once;
}

const CONSUMERS: usize = 20;
const SENDERS: u32 = 6;
const KILLS: usize = 8;
/// Sends that are answered, at least.
const ENOUGH: usize = 150;
const PATIENCE: Duration = Duration::from_secs(60);

fn world(database: Database) -> World {
    ["LIMITS__TEST__GENERAL_PER_MINUTE", "LIMITS__TEST__SENDS_PER_MINUTE"]
        .into_iter()
        .fold(World::new(database), |world, name| world.with(&format!("DWAR__{name}"), "1000000"))
        .with("DWAR__SECRETS__MASTER_KEY", "QUJDREVGR0hJSktMTU5PUFFSU1RVVldYWVphYmNkZWY=")
        .with("DWAR__DATABASE__TIMEOUT_MS", "10000")
}

/// Where the instances are now, and who asks them.
#[derive(Clone)]
struct Crowd {
    key: String,
    client: Client,
    bases: Arc<Mutex<[String; 2]>>,
    is_over: Arc<AtomicBool>,
    /// The events that have to come: of sends that were answered.
    wanted: Arc<Mutex<BTreeSet<String>>>,
    phones: Arc<AtomicU32>,
}

impl Crowd {
    fn base(&self, number: usize) -> String {
        self.bases.lock().unwrap()[number % 2].clone()
    }

    /// Sends to one phone after the other. What was not answered may have happened or not.
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
            self.wanted.lock().unwrap().insert(format!("otp_sent_{id}"));
        }
    }

    /// Reads until everything has come; gives the ids in their order.
    async fn consume(self, number: usize) -> Vec<String> {
        let (mut after, mut seen, mut asked) = (String::new(), Vec::new(), number);
        let mut known = BTreeSet::new();
        let mut idle_since = Instant::now();
        loop {
            asked += 1;
            let limit = [1, 7, 100, 500][number % 4];
            let url = format!("{}/v1/events?limit={limit}&after={after}", self.base(asked));
            let page = self.client.get(url).header("X-Api-Key", &self.key).send().await;
            let Some(page) = body(page).await else {
                sleep(Duration::from_millis(20)).await;
                continue;
            };
            after = page["cursor"].as_str().unwrap().to_owned();
            let events = page["events"].as_array().unwrap();
            for event in events {
                let id = event["id"].as_str().unwrap().to_owned();
                assert!(known.insert(id.clone()), "{id} came twice");
                seen.push(id);
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

/// The body of a 200. An instance that is killed does not answer, and one that starts may say 503.
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
    let first = Service::start_in(world(database));
    let project = first.world.project("0");
    first.world.cli(&["project", "set", "--project", &project.id, "--events-feed", "on"]);
    let mut instances = [Some(first.twin()), Some(first.twin())];
    let bases = instances.each_ref().map(|one| one.as_ref().unwrap().base.clone());
    let crowd = Crowd {
        key: project.test.clone(),
        client: Client::builder().timeout(Duration::from_secs(15)).build().unwrap(),
        bases: Arc::new(Mutex::new(bases)),
        is_over: Arc::default(),
        wanted: Arc::default(),
        phones: Arc::default(),
    };
    let senders: Vec<_> =
        (0..SENDERS as usize).map(|number| tokio::spawn(crowd.clone().send(number))).collect();
    let consumers: Vec<_> =
        (0..CONSUMERS).map(|number| tokio::spawn(crowd.clone().consume(number))).collect();
    for kill in 0..KILLS {
        sleep(Duration::from_millis(500)).await;
        let place = kill % 2;
        drop(instances[place].take().unwrap().kill());
        let next = first.twin();
        crowd.bases.lock().unwrap()[place].clone_from(&next.base);
        instances[place] = Some(next);
    }
    // As many as say something, however slow the machine is.
    let begun = Instant::now();
    while crowd.wanted.lock().unwrap().len() < ENOUGH {
        assert!(begun.elapsed() < PATIENCE, "only a few sends were answered");
        sleep(Duration::from_millis(100)).await;
    }
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
}
