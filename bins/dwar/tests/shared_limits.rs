//! Requests of one key, counted across processes with a Redis, and without it while it is away.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "everything here runs inside tests")]

mod common;

use common::{Database, Project, Service, World, at_once, tally};
use dwar_testkit::RedisServer;
use reqwest::Method;
use serde_json::Value;
use std::time::{Duration, Instant};

const LIMIT: usize = 40;
const KEY: &str = "Vg4Xk0rYfFz1P8mJq7yq2cS0hVd3Zk9uLw5t1oRb6nE=";
const STATUS: &str = "/v1/otp/status/unknown";
const ALONE: &str = "requests are counted per process for now";
const TOGETHER: &str = "requests are counted across instances again";
const PATIENCE: Duration = Duration::from_secs(20);

mod sqlite {
    #[tokio::test(flavor = "multi_thread", worker_threads = 4)]
    #[ignore = "needs DWAR_TEST_REDIS_URL"]
    async fn two_processes_share_a_limit_and_keep_their_own_without_redis() {
        super::share_and_part(super::Database::sqlite()).await;
    }
}

mod postgres {
    #[tokio::test(flavor = "multi_thread", worker_threads = 4)]
    #[ignore = "needs DWAR_TEST_POSTGRES_URL and DWAR_TEST_REDIS_URL"]
    async fn two_processes_share_a_limit_and_keep_their_own_without_redis() {
        super::share_and_part(super::Database::postgres().await).await;
    }
}

async fn share_and_part(database: Database) {
    let mut redis = RedisServer::start();
    let world = World::new(database)
        .with("DWAR__SECRETS__MASTER_KEY", KEY)
        .with("DWAR__LIMITS__TEST__GENERAL_PER_MINUTE", &LIMIT.to_string())
        .with("DWAR__REDIS__URL", &redis.url(""))
        // More than a busy machine needs: what is tested is how it is counted, not how soon.
        .with("DWAR__REDIS__TIMEOUT_MS", "1000");
    let one = Service::start_in(world);
    let two = one.twin();
    let [first, second, third] = [(); 3].map(|()| one.world.project("0"));

    let both = [&one, &two];
    assert_eq!(admitted(&both, &first.test, 60).await, LIMIT);
    // Refusals on either took no place of anybody else.
    assert_eq!(told(&two, &first.live).await, "999");
    assert_eq!(told(&one, &first.live).await, "998");
    assert_eq!(redis_check(&one), ("ok".to_owned(), true));

    redis.kill();
    assert_eq!(admitted(&[&one], &second.test, 100).await, LIMIT);
    assert_eq!(admitted(&[&two], &second.test, 100).await, LIMIT);
    // Each remembers what it admitted for both, and counts on from there.
    assert_eq!((lines(&one, ALONE), lines(&two, ALONE)), (1, 1));
    assert_eq!((lines(&one, TOGETHER), lines(&two, TOGETHER)), (0, 0));
    assert_eq!(redis_check(&one), ("failed".to_owned(), false));

    redis.restart();
    for service in both {
        come_back(service, &third).await;
    }
    assert_eq!(admitted(&both, &third.test, 60).await, LIMIT);
    assert_eq!((lines(&one, ALONE), lines(&two, ALONE)), (1, 1));
}

/// How many of `each` requests to every one of the services, all at once, are admitted.
async fn admitted(services: &[&Service], key: &str, each: usize) -> usize {
    let calls = services.iter().flat_map(|service| {
        (0..each).map(|_| service.request(Method::GET, STATUS).header("X-Api-Key", key))
    });
    let answers = at_once(calls).await;
    let tally = tally(&answers);
    let (found, refused) = (tally["OTP_REQUEST_NOT_FOUND"], tally["RATE_LIMITED"]);
    assert_eq!(found + refused, each * services.len(), "{tally:?}");
    found
}

/// How many requests are left to the key.
async fn told(service: &Service, key: &str) -> String {
    service.get(key, STATUS).await.header("ratelimit-remaining").to_owned()
}

fn lines(service: &Service, text: &str) -> usize {
    service.stderr().iter().filter(|line| line.contains(text)).count()
}

/// Makes requests with another key until the service has noticed that Redis is there.
async fn come_back(service: &Service, project: &Project) {
    let until = Instant::now() + PATIENCE;
    while lines(service, TOGETHER) == 0 {
        assert!(Instant::now() < until, "it does not come back");
        told(service, &project.live).await;
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
}

/// What `dwar doctor` says of Redis, and of everything.
fn redis_check(service: &Service) -> (String, bool) {
    let output = service.world.run(&["doctor", "--json"]);
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    let checks = report["checks"].as_array().unwrap();
    let redis = checks.iter().find(|check| check["name"] == "redis").unwrap();
    (redis["status"].as_str().unwrap().to_owned(), report["ok"].as_bool().unwrap())
}
