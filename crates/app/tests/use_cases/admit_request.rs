use crate::common::{World, down, limits};
use dwar_app::{AdmitRequest, Limits, ModeLimits};
use dwar_kernel::{KeyMode, ProjectMode};
use dwar_ratelimit::{Admission, MockRequestLimiter, RequestKey, RequestScope};
use dwar_testkit::{START, minutes};
use mockall::predicate::eq;
use std::sync::Arc;

fn admit(world: &World, limiter: MockRequestLimiter) -> AdmitRequest {
    AdmitRequest {
        tools: world.tools(),
        limiter: Arc::new(limiter),
        limits: limits(),
        usage_recorder: world.usage_recorder(),
    }
}

fn whose(world: &World) -> ProjectMode {
    world.caller.project_mode()
}

#[tokio::test]
async fn each_mode_and_scope_has_its_quota() {
    for (mode, scope, limit) in [
        (KeyMode::Live, RequestScope::Send, 6_000),
        (KeyMode::Live, RequestScope::Verify, 12_000),
        (KeyMode::Test, RequestScope::Send, 3_000),
        (KeyMode::Test, RequestScope::Verify, 6_000),
        (KeyMode::Live, RequestScope::Validate, 3_000),
        (KeyMode::Live, RequestScope::General, 1_000),
        (KeyMode::Test, RequestScope::Validate, 300),
        (KeyMode::Test, RequestScope::General, 100),
    ] {
        let world = World::of(mode);
        let key = RequestKey { key: world.caller.key, scope };
        let quota = dwar_ratelimit::Quota { limit, window: minutes(1) };
        let answer = Admission { admitted: false, limit, remaining: 0, reset: minutes(1) };
        let mut limiter = MockRequestLimiter::new();
        let hit = limiter.expect_hit().with(eq(key), eq(quota), eq(START));
        hit.times(1).returning(move |_, _, _| Ok(answer));
        let told = admit(&world, limiter).admit(whose(&world), world.caller.key, scope).await;
        assert_eq!(told.unwrap(), Some(answer));
    }
}

#[tokio::test]
async fn a_limiter_that_fails_admits_nobody() {
    let world = World::live();
    let mut limiter = MockRequestLimiter::new();
    limiter.expect_hit().returning(|_, _, _| Err(down()));
    assert!(
        admit(&world, limiter)
            .admit(whose(&world), world.caller.key, RequestScope::General)
            .await
            .is_err()
    );
}

#[tokio::test]
async fn without_a_ceiling_nobody_counts() {
    let world = World::live();
    let live = ModeLimits { sends: None, verifies: None, ..limits().live };
    // The mock panics if it is called.
    let admit = AdmitRequest {
        limits: Limits { live, ..limits() },
        ..admit(&world, MockRequestLimiter::new())
    };
    for scope in [RequestScope::Send, RequestScope::Verify] {
        assert_eq!(admit.admit(whose(&world), world.caller.key, scope).await.unwrap(), None);
    }
}
