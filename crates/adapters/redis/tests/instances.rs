//! What several instances promise together.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "everything here runs inside tests")]

mod support;

use dwar_ratelimit::{Quota, RequestKey, RequestLimiter, RequestScope};
use dwar_redis::RedisRequestLimiter;
use dwar_testkit::{MS, RedisServer, START, minutes, race};
use std::sync::Arc;
use support::{fresh_key, instance};

const QUOTA: Quota = Quota { limit: 250, window: minutes(1) };

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
#[ignore = "needs DWAR_TEST_REDIS_URL"]
async fn together_they_admit_exactly_the_quota() {
    let instances = [(); 3].map(|()| Arc::new(instance()));
    for _ in 0..5 {
        let key = fresh_key();
        let admitted = race(12, |number| {
            let instance = Arc::clone(&instances[number % instances.len()]);
            async move {
                let mut admitted = Vec::new();
                for _ in 0..60 {
                    let answer = instance.hit(key, QUOTA, START).await.unwrap();
                    admitted.extend(answer.admitted.then_some(answer.remaining));
                }
                admitted
            }
        })
        .await;
        // Each place was given once.
        let mut left = admitted.concat();
        left.sort_unstable();
        assert_eq!(left, (0..QUOTA.limit).collect::<Vec<_>>());
        for instance in &instances {
            let refused = instance.hit(key, QUOTA, START + QUOTA.window - MS).await.unwrap();
            assert!(!refused.admitted && refused.reset == MS);
        }
    }
}

#[tokio::test]
#[ignore = "needs DWAR_TEST_REDIS_URL"]
async fn one_sees_what_the_other_admitted_and_no_refusal() {
    let (one, other, key) = (instance(), instance(), fresh_key());
    let two = Quota { limit: 2, ..QUOTA };
    assert_eq!(one.hit(key, two, START).await.unwrap().remaining, 1);
    assert_eq!(other.hit(key, two, START + MS).await.unwrap().remaining, 0);
    for _ in 0..20 {
        assert!(!one.hit(key, two, START + MS).await.unwrap().admitted);
        assert!(!other.hit(key, two, START + MS).await.unwrap().admitted);
    }
    // The first place is free again, and only that.
    let later = START + two.window;
    assert!(other.hit(key, two, later).await.unwrap().admitted);
    assert!(!one.hit(key, two, later).await.unwrap().admitted);
    // Other keys are not affected.
    let others = [fresh_key(), RequestKey { scope: RequestScope::Validate, ..key }];
    for key in others {
        assert_eq!(one.hit(key, two, later).await.unwrap().remaining, 1);
    }
}

#[tokio::test]
#[ignore = "needs DWAR_TEST_REDIS_URL"]
async fn a_window_goes_by_itself_and_is_small() {
    let (limiter, key) = (instance(), fresh_key());
    for number in 0..1_000 {
        let quota = Quota { limit: 1_000, ..QUOTA };
        assert!(limiter.hit(key, quota, START + MS * number).await.unwrap().admitted);
    }
    let name = format!("dwar:requests:{{{}}}:general", key.key);
    let client = redis::Client::open(std::env::var("DWAR_TEST_REDIS_URL").unwrap()).unwrap();
    let mut connection = client.get_multiplexed_async_connection().await.unwrap();
    let lives: i64 = redis::cmd("PTTL").arg(&name).query_async(&mut connection).await.unwrap();
    assert!((1..=60_000).contains(&lives), "{lives}");
    let usage = redis::cmd("MEMORY").arg("USAGE").arg(&name).query_async(&mut connection).await;
    let bytes: u64 = usage.unwrap();
    assert!(bytes < 20_000, "{bytes}");
    // A refusal does not make it live longer, and what is short is gone soon.
    let short = Quota { limit: 1, window: MS * 50 };
    let key = fresh_key();
    assert!(limiter.hit(key, short, START).await.unwrap().admitted);
    let until = tokio::time::Instant::now() + support::LONG;
    while !limiter.hit(key, short, START).await.unwrap().admitted {
        assert!(tokio::time::Instant::now() < until);
        tokio::time::sleep(MS * 5).await;
    }
}

#[tokio::test]
#[ignore = "needs DWAR_TEST_REDIS_URL"]
async fn a_server_that_forgot_the_script_is_told_it_again() {
    let server = RedisServer::start();
    let limiter = RedisRequestLimiter::new(&server.url("").parse().unwrap(), support::LONG);
    let (key, quota) = (fresh_key(), Quota { limit: 2, ..QUOTA });
    assert!(limiter.hit(key, quota, START).await.unwrap().admitted);
    assert_eq!(server.command(&["SCRIPT", "FLUSH"]), "OK\n");
    assert!(limiter.hit(key, quota, START).await.unwrap().admitted);
    assert!(!limiter.hit(key, quota, START).await.unwrap().admitted);
}
