//! The limiter in memory keeps what its port promises.

use dwar_memory::MemoryRequestLimiter;
use dwar_ratelimit::RequestLimiter;
use std::sync::Arc;

fn open() -> (Arc<dyn RequestLimiter>, ()) {
    (Arc::new(MemoryRequestLimiter::new()), ())
}

dwar_testkit::request_limiter_contract_tests!(open());
