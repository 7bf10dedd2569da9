//! Requests counted by Redis are admitted as the port says, with and without the stand-in for when
//! it is away.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "everything here runs inside tests")]

mod support;

use dwar_memory::MemoryRequestLimiter;
use dwar_ratelimit::RequestLimiter;
use dwar_redis::FallbackRequestLimiter;
use std::sync::Arc;
use support::instance;

fn open() -> (Arc<dyn RequestLimiter>, ()) {
    (Arc::new(instance()), ())
}

fn open_with_fallback() -> (Arc<dyn RequestLimiter>, ()) {
    let own = Arc::new(MemoryRequestLimiter::new());
    (Arc::new(FallbackRequestLimiter::new(Arc::new(instance()), own)), ())
}

mod redis {
    use super::*;
    dwar_testkit::request_limiter_contract_tests! {
        #[ignore = "needs DWAR_TEST_REDIS_URL"]
        each: open()
    }
}

mod fallback {
    use super::*;
    dwar_testkit::request_limiter_contract_tests! {
        #[ignore = "needs DWAR_TEST_REDIS_URL"]
        each: open_with_fallback()
    }
}
