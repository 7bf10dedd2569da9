//! The cost of metrics for a whole request. A separate program, because no other code may allocate
//! meanwhile.

#![allow(clippy::unwrap_used, reason = "everything here runs inside tests")]

use actix_web::http::Method;
use actix_web::test::{TestRequest, call_service, init_service};
use actix_web::web::Data;
use async_trait::async_trait;
use dwar_app::{Observer, Stores};
use dwar_http::{Api, Readiness, Settings, app, endpoints, refusals};
use dwar_kernel::KeyMode;
use dwar_memory::{MemoryRequestLimiter, MemoryStore};
use dwar_metrics::{Counts, Providers};
use dwar_project::{ApiKey, KeyRecord, ProjectStore};
use dwar_testkit::{ClearVault, FixedClock, Fixtures, Post, Postbox, START, outside, parts};
use stats_alloc::{INSTRUMENTED_SYSTEM, Region, StatsAlloc};
use std::alloc::System;
use std::sync::Arc;
use tokio::runtime::Handle;

/// Rust has no other way to choose an allocator.
#[global_allocator]
static ALLOCATOR: &StatsAlloc<System> = &INSTRUMENTED_SYSTEM;

const REQUESTS: usize = 50;

struct Prepared;

#[async_trait]
impl Readiness for Prepared {
    async fn ready(&self) -> bool {
        true
    }
}

/// Fewest allocations of a validate, a status and a request without a route.
async fn allocations(observer: Arc<dyn Observer>) -> [usize; 3] {
    let make = Fixtures::seeded(7);
    let store = Arc::new(MemoryStore::default());
    let modes = [KeyMode::Live, KeyMode::Test];
    let [live, test] = modes.map(|mode| ApiKey::generate(mode, &make.entropy));
    let keys = [&live, &test]
        .map(|key| KeyRecord { digest: key.digest(&ClearVault), ..make.key(key.mode()) });
    store.create(make.project(), keys).await.unwrap();
    let mut parts = parts(Stores::from(&store), &Arc::new(FixedClock::at(START)));
    parts.tools.observer = observer;
    let limiter = Arc::new(MemoryRequestLimiter::default());
    let outside = outside(limiter, &Arc::new(Postbox::default()), &Arc::new(Post::default()));
    let defaults = include_str!("../../../../config.default.toml");
    let defaults: toml::Table = defaults.parse().unwrap();
    let settings: Settings = defaults["http"].clone().try_into().unwrap();
    let use_cases = parts.service(outside).use_cases;
    let api = Api::new(&settings, use_cases, Arc::new(Prepared), Handle::current());
    let service = init_service(app(Data::new(api))).await;
    let ask = |method: Method, path: &str, body: &'static str| {
        let request = TestRequest::with_uri(path).method(method).set_payload(body);
        let request = request.insert_header(("X-Api-Key", live.expose()));
        request.insert_header(("Content-Type", "application/json")).to_request()
    };
    let asked = || {
        [
            ask(Method::POST, "/v1/session/validate", r#"{"access_token":"none"}"#),
            ask(Method::GET, "/v1/otp/status/01920000-0000-7000-8000-000000000000", ""),
            ask(Method::GET, "/nowhere", ""),
        ]
    };
    let mut least = [usize::MAX; 3];
    for _ in 0..REQUESTS {
        for (request, least) in asked().into_iter().zip(&mut least) {
            let region = Region::new(ALLOCATOR);
            let answer = call_service(&service, request).await;
            let change = region.change();
            drop(answer);
            // Further allocations are one-time work of a thread or a limiter, or of the test
            // harness.
            *least = (*least).min(change.allocations + change.reallocations);
        }
    }
    least
}

#[actix_web::test]
async fn a_request_asks_for_memory_as_often_with_metrics_as_without() {
    let api = dwar_metrics::Api {
        endpoints: endpoints(),
        methods: dwar_http::METHODS.to_vec(),
        refusals: refusals(),
    };
    let counts = Arc::new(Counts::new(api, Providers::default()));
    let (without, with) = (allocations(Arc::new(())).await, allocations(counts).await);
    assert!(!without.contains(&0));
    assert_eq!(with, without);
}
