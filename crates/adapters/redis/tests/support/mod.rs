//! The server of DWAR_TEST_REDIS_URL, which every test may use and none stops.
#![allow(dead_code, reason = "each test file uses its part")]

use dwar_ratelimit::{RequestKey, RequestScope};
use dwar_redis::{RedisRequestLimiter, RedisUrl};
use dwar_testkit::Fixtures;
use std::time::Duration;

/// Far more than any bound under test, far less than for ever.
pub const LONG: Duration = Duration::from_secs(20);

pub fn url() -> RedisUrl {
    let url = std::env::var("DWAR_TEST_REDIS_URL")
        .expect("DWAR_TEST_REDIS_URL names a server; scripts/test.sh starts one");
    url.parse().unwrap()
}

/// A limiter with a connection of its own, as patient as a crowd on a busy machine needs it.
pub fn instance() -> RedisRequestLimiter {
    RedisRequestLimiter::new(&url(), LONG)
}

pub fn fresh_key() -> RequestKey {
    RequestKey { key: Fixtures::random().id(), scope: RequestScope::General }
}
