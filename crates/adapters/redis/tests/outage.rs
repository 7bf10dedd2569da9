//! What becomes of requests while Redis is frozen, gone, or no Redis at all.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "everything here runs inside tests")]

mod support;

use dwar_kernel::StoreError;
use dwar_memory::MemoryRequestLimiter;
use dwar_ratelimit::{Quota, RequestKey, RequestLimiter};
use dwar_redis::{FallbackRequestLimiter, RedisRequestLimiter};
use dwar_testkit::{MS, RedisServer, START, minutes, race, reserved_port};
use std::net::{SocketAddr, TcpListener};
use std::sync::Arc;
use std::time::{Duration, Instant};
use support::{LONG, fresh_key};

const TEN: Quota = Quota { limit: 10, window: minutes(1) };
const PATIENCE: Duration = Duration::from_millis(100);

fn limiter_of(server: &RedisServer, user: &str, timeout: Duration) -> RedisRequestLimiter {
    RedisRequestLimiter::new(&server.url(user).parse().unwrap(), timeout)
}

fn instance(server: &RedisServer) -> Arc<dyn RequestLimiter> {
    let shared = Arc::new(limiter_of(server, "", PATIENCE));
    Arc::new(FallbackRequestLimiter::new(shared, Arc::new(MemoryRequestLimiter::new())))
}

/// How many of this many hits at once are admitted.
async fn admitted(limiter: &Arc<dyn RequestLimiter>, key: RequestKey, hits: usize) -> usize {
    let answers = race(hits, |_| {
        let limiter = Arc::clone(limiter);
        async move { limiter.hit(key, TEN, START).await.unwrap().admitted }
    });
    answers.await.into_iter().filter(|admitted| *admitted).count()
}

/// Waits until what one instance admits is known to the other.
async fn reunited(one: &Arc<dyn RequestLimiter>, other: &Arc<dyn RequestLimiter>) {
    let until = Instant::now() + LONG;
    loop {
        let key = fresh_key();
        let alone = one.hit(key, TEN, START).await.unwrap();
        let together = other.hit(key, TEN, START).await.unwrap();
        if (alone.remaining, together.remaining) == (9, 8) {
            return;
        }
        assert!(Instant::now() < until, "they still count apart");
        tokio::time::sleep(MS * 50).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
#[ignore = "needs DWAR_TEST_REDIS_URL"]
async fn a_frozen_server_delays_each_request_once_and_limits_hold() {
    let server = RedisServer::start();
    let (one, other) = (instance(&server), instance(&server));
    reunited(&one, &other).await;
    let key = fresh_key();
    assert_eq!(admitted(&one, key, 4).await, 4);
    server.freeze();
    let began = Instant::now();
    // Its own four count on.
    assert_eq!(admitted(&one, key, 100).await, 6);
    let first = began.elapsed();
    assert!(first >= PATIENCE && first < 10 * PATIENCE, "{first:?}");
    // From now on hardly anybody waits.
    let began = Instant::now();
    for _ in 0..1_000 {
        assert!(!one.hit(key, TEN, START).await.unwrap().admitted);
    }
    assert!(began.elapsed() < 10 * PATIENCE, "{:?}", began.elapsed());
    // The other one counts by itself.
    assert_eq!(admitted(&other, key, 100).await, 10);
    server.thaw();
    reunited(&one, &other).await;
    let key = fresh_key();
    let both = tokio::join!(admitted(&one, key, 50), admitted(&other, key, 50));
    assert_eq!(both.0 + both.1, 10);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
#[ignore = "needs DWAR_TEST_REDIS_URL"]
async fn a_server_that_is_gone_and_comes_back_empty() {
    let mut server = RedisServer::start();
    let (one, other) = (instance(&server), instance(&server));
    for _ in 0..2 {
        reunited(&one, &other).await;
        let key = fresh_key();
        assert_eq!(admitted(&one, key, 3).await, 3);
        server.kill();
        let began = Instant::now();
        assert_eq!(admitted(&one, key, 100).await, 7);
        assert!(began.elapsed() < 10 * PATIENCE, "{:?}", began.elapsed());
        assert_eq!(admitted(&other, key, 100).await, 10);
        server.restart();
    }
    reunited(&one, &other).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn whatever_is_no_redis_is_given_up_in_time_and_not_quoted() {
    let silent = TcpListener::bind("127.0.0.1:0").unwrap();
    let nobody = SocketAddr::from(([127, 0, 0, 1], reserved_port()));
    for address in [silent.local_addr().unwrap(), nobody] {
        let url = format!("redis://user:secret@{address}").parse().unwrap();
        let limiter = Arc::new(RedisRequestLimiter::new(&url, PATIENCE));
        let began = Instant::now();
        let answers = race(100, |_| {
            let limiter = Arc::clone(&limiter);
            async move { limiter.hit(fresh_key(), TEN, START).await.unwrap_err() }
        })
        .await;
        assert!(began.elapsed() < 10 * PATIENCE, "{:?}", began.elapsed());
        for cause in answers {
            assert!(matches!(&cause, StoreError::Unavailable(_)), "{cause:?}");
            assert!(!format!("{cause} {cause:?}").contains("secret"));
        }
    }
}

#[tokio::test]
#[ignore = "needs DWAR_TEST_REDIS_URL"]
async fn a_server_that_speaks_no_tls_is_not_called_without() {
    let server = RedisServer::start();
    let url = server.url(":secret@").replace("redis://", "rediss://").parse().unwrap();
    let limiter = RedisRequestLimiter::new(&url, PATIENCE);
    assert!(limiter.hit(fresh_key(), TEN, START).await.is_err());
    assert!(!server.command(&["INFO", "commandstats"]).contains("cmdstat_auth"));
}

#[tokio::test]
#[ignore = "needs DWAR_TEST_REDIS_URL"]
async fn a_server_that_refuses_is_told_by_its_word_alone() {
    let server = RedisServer::start();
    let limiter = limiter_of(&server, "", LONG);
    let refused = async || limiter.hit(fresh_key(), TEN, START).await.unwrap_err().to_string();
    server.command(&["CONFIG", "SET", "maxmemory", "1"]);
    assert!(refused().await.ends_with("Redis: it answered OOM"), "{}", refused().await);
    server.command(&["CONFIG", "SET", "maxmemory", "0"]);
    server.command(&["REPLICAOF", "127.0.0.1", "1"]);
    assert!(refused().await.ends_with("Redis: it answered READONLY"), "{}", refused().await);
    server.command(&["REPLICAOF", "NO", "ONE"]);
    // The rights that docs/operations/instances.md names are enough.
    let rights = ["~dwar:*", "+@read", "+@write", "+@scripting", "+@connection"];
    let user = ["ACL", "SETUSER", "dwar", "on", ">right-one", "resetkeys"];
    assert_eq!(server.command(&[&user[..], &rights].concat()), "OK\n");
    let limiter = limiter_of(&server, "dwar:wrong-one@", LONG);
    let refused = limiter.hit(fresh_key(), TEN, START).await.unwrap_err().to_string();
    assert!(refused.ends_with("Redis: it refused user or password"), "{refused}");
    let limiter = limiter_of(&server, "dwar:right-one@", LONG);
    assert!(limiter.hit(fresh_key(), TEN, START).await.unwrap().admitted);
}
