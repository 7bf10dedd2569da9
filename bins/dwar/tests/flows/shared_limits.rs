//! Requests of one key, counted across processes: with a Redis, by shares of the quota on PostgreSQL,
//! and by one after the other.

use crate::common::{Database, Project, Service, World, at_once, tally};
use dwar_testkit::RedisServer;
use reqwest::Method;
use serde_json::Value;
use std::time::{Duration, Instant};

const LIMIT: usize = 40;
/// What each process may leave unused of it while others are refused: a sixteenth.
const BLOCK: usize = 2;
const KEY: &str = "Vg4Xk0rYfFz1P8mJq7yq2cS0hVd3Zk9uLw5t1oRb6nE=";
const STATUS: &str = "/v1/otp/status/unknown";
const ALONE: &str = "requests are counted without Redis for now";
const TOGETHER: &str = "requests are counted with Redis again";
const PATIENCE: Duration = Duration::from_secs(20);

mod sqlite {
    #[tokio::test(flavor = "multi_thread", worker_threads = 4)]
    #[ignore = "needs DWAR_TEST_REDIS_URL"]
    async fn two_processes_share_a_limit_and_keep_their_own_without_redis() {
        super::share_and_part(super::Database::sqlite()).await;
    }
}

mod postgres {
    use super::*;

    #[tokio::test(flavor = "multi_thread", worker_threads = 4)]
    #[ignore = "needs DWAR_TEST_POSTGRES_URL"]
    async fn three_processes_share_a_limit_by_blocks() {
        let world = limited(Database::postgres().await);
        let one = Service::start_in(world);
        let (two, three) = (one.twin(), one.twin());
        let all = [&one, &two, &three];
        let [first, second] = [(); 2].map(|()| one.world.project("0"));
        let total = admitted(&all, &first.test, 60).await;
        assert!((LIMIT - all.len() * BLOCK..=LIMIT).contains(&total), "{total}");
        let rest = admitted(&all, &first.test, 20).await;
        assert!(total + rest <= LIMIT, "{total}, {rest}");
        // One after the other, and with refusals on each that take no place of anybody else.
        let mut total = 0;
        for service in all {
            total += admitted(&[service], &second.test, 2).await;
        }
        total += admitted(&[&two], &second.test, 100).await;
        assert!((LIMIT - 2 * BLOCK..=LIMIT).contains(&total), "{total}");
        assert_eq!(told(&two, &first.live).await, "999");
    }

    #[tokio::test(flavor = "multi_thread", worker_threads = 4)]
    #[ignore = "needs DWAR_TEST_POSTGRES_URL"]
    async fn one_process_is_exact_and_what_it_admitted_outlives_it() {
        let one = Service::start_in(limited(Database::postgres().await));
        let [first, second] = [(); 2].map(|()| one.world.project("0"));
        for left in (0..LIMIT).rev() {
            assert_eq!(told(&one, &first.test).await, left.to_string());
        }
        assert_eq!(admitted(&[&one], &first.test, 20).await, 0);
        assert_eq!(admitted(&[&one], &second.test, 20).await, 20);
        // What was put on record before it was killed: all but a block at most.
        let one = Service::start_in(one.kill());
        assert_eq!(admitted(&[&one], &first.test, 20).await, 0);
        let more = admitted(&[&one], &second.test, 40).await;
        assert!((LIMIT - 20 - BLOCK..=LIMIT - 20).contains(&more), "{more}");
        // One that stops gives back what it did not use.
        let third = one.world.project("0");
        assert_eq!(admitted(&[&one], &third.test, 20).await, 20);
        let mut one = one;
        one.terminate();
        assert!(one.wait(PATIENCE).unwrap().success());
        let one = Service::start_in(one.kill());
        assert_eq!(admitted(&[&one], &third.test, 40).await, LIMIT - 20);
    }

    #[tokio::test(flavor = "multi_thread", worker_threads = 4)]
    #[ignore = "needs DWAR_TEST_POSTGRES_URL and DWAR_TEST_REDIS_URL"]
    async fn without_redis_two_processes_go_on_sharing_a_limit() {
        let mut redis = RedisServer::start();
        let one = Service::start_in(with_redis(Database::postgres().await, &redis));
        let two = one.twin();
        let both = [&one, &two];
        let [first, second, third, fourth] = [(); 4].map(|()| one.world.project("0"));
        assert_eq!(admitted(&both, &first.test, 60).await, LIMIT);
        assert_eq!(admitted(&both, &second.test, 10).await, 20);

        redis.kill();
        // What Redis admitted counts, and what is admitted without it counts for both.
        assert_eq!(admitted(&both, &first.test, 60).await, 0);
        let total = 20 + admitted(&both, &second.test, 60).await;
        assert!((LIMIT - 2 * BLOCK..=LIMIT).contains(&total), "{total}");
        let alone = admitted(&both, &third.test, 60).await;
        assert!((LIMIT - 2 * BLOCK..=LIMIT).contains(&alone), "{alone}");
        assert_eq!((lines(&one, ALONE), lines(&two, ALONE)), (1, 1));

        // It comes back empty, and that lifts nothing.
        redis.restart();
        for service in both {
            come_back(service, &fourth).await;
        }
        assert!(total + admitted(&both, &second.test, 60).await <= LIMIT);
        assert!(alone + admitted(&both, &third.test, 60).await <= LIMIT);
        assert_eq!(admitted(&both, &first.test, 60).await, 0);
        // For a window it is not relied upon.
        let again = admitted(&both, &fourth.test, 60).await;
        assert!((LIMIT - 2 * BLOCK..=LIMIT).contains(&again), "{again}");
        assert_eq!((lines(&one, ALONE), lines(&two, ALONE)), (1, 1));
    }

    /// One process alone has lost it, and the other goes on.
    #[tokio::test(flavor = "multi_thread", worker_threads = 4)]
    #[ignore = "needs DWAR_TEST_POSTGRES_URL and DWAR_TEST_REDIS_URL"]
    async fn one_process_without_redis_shares_the_limit_with_one_that_has_it() {
        let redis = RedisServer::start();
        let one = Service::start_in(with_redis(Database::postgres().await, &redis));
        let lost = World::new(Database::None)
            .with("DWAR__DATABASE__URL", &one.world.database.url())
            .with("DWAR__SECRETS__MASTER_KEY", KEY)
            .with("DWAR__LIMITS__TEST__GENERAL_PER_MINUTE", &LIMIT.to_string())
            .with("DWAR__REDIS__URL", "redis://127.0.0.1:1");
        let two = Service::start_in(lost);
        let project = one.world.project("0");
        let mut total = 0;
        for services in [&[&one][..], &[&two], &[&one], &[&one, &two], &[&two]] {
            total += admitted(services, &project.test, 7).await;
        }
        total += admitted(&[&one, &two], &project.test, 60).await;
        assert!((LIMIT - 2 * BLOCK..=LIMIT).contains(&total), "{total}");
    }
}

fn limited(database: Database) -> World {
    World::new(database)
        .with("DWAR__SECRETS__MASTER_KEY", KEY)
        .with("DWAR__LIMITS__TEST__GENERAL_PER_MINUTE", &LIMIT.to_string())
}

fn with_redis(database: Database, redis: &RedisServer) -> World {
    limited(database)
        .with("DWAR__REDIS__URL", &redis.url(""))
        // More than a busy machine needs: what is tested is how it is counted, not how soon.
        .with("DWAR__REDIS__TIMEOUT_MS", "1000")
}

async fn share_and_part(database: Database) {
    let mut redis = RedisServer::start();
    let world = with_redis(database, &redis);
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
    let of = |code| tally.get(code).copied().unwrap_or_default();
    let (found, refused) = (of("OTP_REQUEST_NOT_FOUND"), of("RATE_LIMITED"));
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
