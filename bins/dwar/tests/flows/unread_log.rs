//! A service whose log nobody reads, because the collector hangs.

use crate::common::{Database, World};
use serde_json::Value;
use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};
use std::time::Duration;

/// More than can wait for a reader, in the process and in its pipe.
const REQUESTS: usize = 18_000;
const CLIENTS: usize = 16;
const PATIENCE: Duration = Duration::from_secs(5);

#[tokio::test(flavor = "multi_thread")]
async fn holds_no_request_up_and_says_how_many_lines_are_lost() {
    let world = World::new(Database::sqlite());
    let mut service = world
        .command(&["serve"])
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let log = BufReader::new(service.stderr.take().unwrap());
    let mut lines = log.lines().map(|line| serde_json::from_str::<Value>(&line.unwrap()).unwrap());
    let message = |line: &Value| line["message"].as_str().unwrap().to_owned();
    let listening = lines.by_ref().map(|line| message(&line)).find(|line| line.contains("http://"));
    let listening = listening.unwrap();
    let url = format!("http://{}/healthz", listening.split_once("http://").unwrap().1);
    lines.by_ref().find(|line| message(line) == "Dwar is ready").unwrap();

    let client = reqwest::Client::builder().timeout(PATIENCE).build().unwrap();
    let asking = (0..CLIENTS).map(|_| {
        let (client, url) = (client.clone(), url.clone());
        tokio::spawn(async move {
            for _ in 0..REQUESTS / CLIENTS {
                assert!(client.get(&url).send().await.unwrap().status().is_success());
            }
        })
    });
    for asking in asking.collect::<Vec<_>>() {
        asking.await.unwrap();
    }
    // Once it is read again, all waiting lines arrive, and the lost ones are counted.
    let reading = std::thread::spawn(move || {
        let (mut answered, mut lost) = (0, 0);
        for line in lines {
            answered += usize::from(line["message"] == "answered");
            lost = line["lost"].as_u64().unwrap_or(lost);
        }
        (answered, usize::try_from(lost).unwrap())
    });
    tokio::time::sleep(Duration::from_secs(1)).await;
    assert!(Command::new("kill").arg(service.id().to_string()).status().unwrap().success());
    assert!(service.wait().unwrap().success());
    let (answered, lost) = reading.join().unwrap();
    assert!(lost > 0, "the log held {answered} lines");
    assert_eq!(answered + lost, REQUESTS);
}
