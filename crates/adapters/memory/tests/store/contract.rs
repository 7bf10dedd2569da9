//! The contract tests of the ports, run on the memory adapters.

use dwar_memory::{LeasedRequestLimiter, MemoryQuotaLeases, MemoryRequestLimiter, MemoryStore};
use dwar_ratelimit::RequestLimiter;
use dwar_testkit::contract::quota_leases::Leases;
use dwar_testkit::{Fixtures, Stores};
use std::sync::Arc;

fn open() -> (Stores, ()) {
    (Stores::from(&Arc::new(MemoryStore::default())), ())
}

fn open_limiter() -> (Arc<dyn RequestLimiter>, ()) {
    (Arc::new(MemoryRequestLimiter::new()), ())
}

fn open_leases() -> (Leases, ()) {
    let store = Arc::new(MemoryQuotaLeases::new());
    let (clock, shares) = (Arc::clone(&store), Arc::clone(&store));
    let leases = Leases {
        store,
        pass: Arc::new(move |time| {
            clock.pass(time);
            Box::pin(async {})
        }),
        instance: Arc::new(move || {
            Arc::new(LeasedRequestLimiter::new(shares.clone(), Fixtures::random().id()))
        }),
    };
    (leases, ())
}

fn open_leased() -> (Arc<dyn RequestLimiter>, ()) {
    ((open_leases().0.instance)(), ())
}

dwar_testkit::store_contract_tests!(open());
dwar_testkit::request_limiter_contract_tests!(open_limiter());
dwar_testkit::quota_leases_contract_tests!(each: open_leases());

mod leased {
    use super::*;
    dwar_testkit::request_limiter_contract_tests!(open_leased());
}
