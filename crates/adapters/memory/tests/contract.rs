//! The adapters in memory keep what their ports promise.

use dwar_memory::{MemoryRequestLimiter, MemoryStore};
use dwar_ratelimit::RequestLimiter;
use dwar_testkit::Stores;
use std::sync::Arc;

fn open() -> (Stores, ()) {
    (Stores::of(&Arc::new(MemoryStore::default())), ())
}

fn open_limiter() -> (Arc<dyn RequestLimiter>, ()) {
    (Arc::new(MemoryRequestLimiter::new()), ())
}

dwar_testkit::store_contract_tests!(open());
dwar_testkit::request_limiter_contract_tests!(open_limiter());
