//! The cost of counting for a request. A separate program, because no other code may allocate
//! meanwhile.

#![allow(clippy::unwrap_used, reason = "everything here runs inside tests")]

use dwar_app::{AnsweredRequest, GuessEnd, Observer, ReceiptEnd, SendEnd, SendKind};
use dwar_event::SendFailure;
use dwar_kernel::{Channel, KeyMode, Timestamp};
use dwar_metrics::{Api, Counts, Endpoint, Providers};
use dwar_otp::{Delivery, DeliveryAttempt, Hop, Reason, Report, Route};
use dwar_ratelimit::RequestScope;
use stats_alloc::{INSTRUMENTED_SYSTEM, Region, StatsAlloc};
use std::alloc::System;
use std::time::Duration;

/// Rust has no other way to choose an allocator.
#[global_allocator]
static ALLOCATOR: &StatsAlloc<System> = &INSTRUMENTED_SYSTEM;

/// A message to a provider of this name.
fn attempt(provider: &str) -> DeliveryAttempt {
    let hop = Hop::new(Channel::Sms, provider);
    let route = Route { hops: vec![hop], receipt_window: None, lease: Duration::ZERO };
    let id = "01920000-0000-7000-8000-000000000001".parse().unwrap();
    Delivery::begin(&route, id, Timestamp::UNIX_EPOCH).attempts.remove(0)
}

fn count(counts: &dyn Observer, attempts: &[DeliveryAttempt]) {
    for (route, status, code) in [
        (Some("/v1/otp/send"), Some(200), None),
        (Some("/v1/otp/send"), Some(422), Some("INVALID_PHONE")),
        (None, Some(404), Some("NOT_FOUND")),
        (Some("/never/heard/of"), None, None),
    ] {
        let took = Duration::from_micros(1_500);
        counts.answered(&AnsweredRequest { route, method: "POST", status, code, took });
    }
    let second = Duration::from_secs(1);
    counts.limited(RequestScope::Validate, true);
    counts.sent(KeyMode::Live, SendKind::Otp, SendEnd::Sent);
    counts.called(Channel::Sms, "msg91", second);
    counts.called(Channel::Sms, "forgotten", second);
    counts.fell_back();
    counts.delivered(Channel::Whatsapp, second);
    counts.guessed(KeyMode::Live, GuessEnd::Accepted, Some(second));
    counts.reported("msg91", ReceiptEnd::Delivered);
    counts.told(Err(SendFailure::TimedOut), second);
    counts.calling(3, 5);
    for attempt in attempts {
        counts.attempted(attempt, &Report::Failed(Reason::Timeout));
        counts.attempted(attempt, &Report::Accepted { provider_ref: None, awaits_receipt: true });
    }
}

#[test]
fn counting_asks_for_no_memory() {
    let send = Endpoint { route: "/v1/otp/send", method: "POST", answers: vec![(200, "")] };
    let refusals = vec![(422, "INVALID_PHONE"), (404, "NOT_FOUND")];
    let api = Api { endpoints: vec![send], methods: vec!["POST"], refusals };
    let names = vec!["msg91".to_owned()];
    let providers =
        Providers { reporting: names.clone(), names, lifetime: Duration::from_secs(600) };
    let counts = Counts::new(api, providers);
    // One-time work of the thread is done.
    let attempts = [attempt("msg91"), attempt("forgotten")];
    count(&counts, &attempts);
    let asked = || {
        let region = Region::new(ALLOCATOR);
        count(&counts, &attempts);
        let change = region.change();
        change.allocations + change.reallocations + change.deallocations
    };
    // The test harness has a thread of its own, which allocates now and then.
    assert_eq!((0..1_000).map(|_| asked()).min(), Some(0));
}
