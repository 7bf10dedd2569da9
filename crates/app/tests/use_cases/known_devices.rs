//! Devices on which a phone logged in: when a token is issued, and when one that is shown counts.

use crate::common::{World, down};
use dwar_app::{GuessExtras, SendExtras, VerifiedOtp, VerifyOtp, VerifyOtpError};
use dwar_identity::{DeviceToken, Identity};
use dwar_kernel::{GuardMode, IdentityId, KeyMode};
use dwar_login::{Prepared, Redeemed};
use dwar_otp::Allowance;
use dwar_ratelimit::SendLog;
use dwar_testkit::{CODE, ClearVault, START, minutes, phone};
use mockall::predicate::eq;
use std::mem::take;
use std::sync::{Arc, Mutex};

const LEFT: Allowance = Allowance { limit: 5, remaining: 4, reset: minutes(9) };

/// A world whose project has a guard that only watches.
fn guarded(mode: KeyMode) -> World {
    let mut world = World::of(mode);
    world.caller.project.guard = GuardMode::Watch;
    world
}

fn token(world: &World, identity: IdentityId) -> DeviceToken {
    let line = (world.line.project_mode, &world.line.index);
    DeviceToken::issue(line, identity, &ClearVault, START)
}

fn shown(text: &str) -> DeviceToken {
    let Ok(token) = text.parse();
    token
}

/// The identity is looked up once in the caller's project and mode, and exists or not.
fn looks_up(world: &mut World, id: IdentityId, exists: bool) {
    let (project_mode, phone) = (world.line.project_mode, world.make.sealed());
    let (created_at, last_verified_at) = (START, START);
    let identity = Identity { id, project_mode, phone, created_at, last_verified_at };
    let find = world.identities.expect_find().with(eq(project_mode), eq(id)).times(1);
    find.return_once(move |_, _| Ok(exists.then_some(identity)));
}

/// Whether a send that shows this device is prepared as one of a known device.
async fn send_is_known(world: &mut World, device: DeviceToken) -> bool {
    let seen = Arc::new(Mutex::new(None));
    let noted = Arc::clone(&seen);
    world.logins.expect_prepare().times(1).returning(move |send, now| {
        *noted.lock().unwrap() = Some(send.by_device);
        Ok(Prepared::Limited(send.admit(&mut SendLog::default(), now)))
    });
    let extras = SendExtras { device: Some(device), ..SendExtras::default() };
    let extras = Some(extras);
    let refused = world.send_otp().send(&world.caller, &world.line.phone, extras, None).await;
    assert!(refused.is_err());
    let known = seen.lock().unwrap().take();
    known.unwrap()
}

fn verify_otp(world: &mut World) -> VerifyOtp {
    VerifyOtp {
        tools: world.tools(),
        logins: Arc::new(take(&mut world.logins)),
        tokens: world.tokens(),
        codes: Arc::clone(&world.make.codes),
        devices: world.known_devices(),
        limits: crate::common::limits(),
        guard: world.guard(),
    }
}

async fn verify(world: &mut World) -> Result<VerifiedOtp, VerifyOtpError> {
    world.signs().signer.expect_ready().returning(|_| Ok(()));
    let redeem = world.logins.expect_redeem();
    redeem.returning(|asked, _| {
        Ok(Redeemed::LoggedIn(LEFT, asked.session().unwrap().identity, None))
    });
    let use_case = verify_otp(world);
    use_case.verify(&world.caller, &world.line.phone, CODE.parse().unwrap(), None).await
}

#[tokio::test]
async fn a_login_makes_its_device_known_in_either_mode() {
    for mode in [KeyMode::Live, KeyMode::Test] {
        let mut world = guarded(mode);
        let verified = verify(&mut world).await.unwrap();
        let line = (world.line.project_mode, &world.line.index);
        let named = verified.device.unwrap().identity(line, &ClearVault, START);
        assert_eq!(named, Some(verified.tokens.identity));
        let mut unguarded = World::of(mode);
        assert!(verify(&mut unguarded).await.unwrap().device.is_none());
    }
}

#[tokio::test]
async fn a_send_of_a_known_device_says_so_while_its_identity_exists() {
    for exists in [true, false] {
        let mut world = guarded(KeyMode::Live);
        let identity = world.make.id();
        looks_up(&mut world, identity, exists);
        let device = token(&world, identity);
        assert_eq!(send_is_known(&mut world, device).await, exists);
    }
}

#[tokio::test]
async fn a_device_that_is_not_the_phones_asks_no_store_and_is_a_strangers() {
    let world = guarded(KeyMode::Live);
    let (project_mode, index, identity) =
        (world.line.project_mode, world.line.index, world.make.id());
    let other = world.make.line(project_mode);
    let project = world.stranger().project_mode();
    let issue = |line, at| DeviceToken::issue(line, identity, &ClearVault, at);
    let genuine = token(&world, identity).expose().to_owned();
    for device in [
        issue((project_mode, &other.index), START),
        issue((project, &index), START),
        issue((world.other_mode().project_mode(), &index), START),
        issue((project_mode, &index), START - DeviceToken::LIFETIME),
        shown(""),
        shown("svc_dt_"),
        shown(&genuine[1..]),
        shown(&genuine.to_uppercase()),
    ] {
        assert!(!send_is_known(&mut guarded(KeyMode::Live), device).await);
    }
}

#[tokio::test]
async fn a_test_key_has_no_use_for_a_known_device() {
    let mut world = guarded(KeyMode::Test);
    let device = token(&world, world.make.id());
    assert!(!send_is_known(&mut world, device).await);
}

#[tokio::test]
async fn a_guess_of_a_known_device_is_looked_up_once() {
    let mut world = guarded(KeyMode::Live);
    let identity = world.make.id();
    looks_up(&mut world, identity, true);
    world.logins.expect_redeem().times(1).returning(|_, _| Ok(Redeemed::Verified(LEFT, None)));
    let device = Some(token(&world, identity));
    let extras = Some(GuessExtras { device, ..GuessExtras::default() });
    let use_case = verify_otp(&mut world);
    let checked =
        use_case.check(&world.caller, &world.line.phone, CODE.parse().unwrap(), extras).await;
    assert_eq!(checked.unwrap(), LEFT);
}

#[tokio::test]
async fn a_store_that_is_out_of_reach_refuses_instead_of_taking_a_device_for_a_strangers() {
    let mut world = guarded(KeyMode::Live);
    world.identities.expect_find().returning(|_, _| Err(down()));
    let device = Some(token(&world, world.make.id()));
    let extras = Some(GuessExtras { device, ..GuessExtras::default() });
    let use_case = verify_otp(&mut world);
    let answer =
        use_case.check(&world.caller, &world.line.phone, CODE.parse().unwrap(), extras).await;
    assert!(matches!(answer, Err(VerifyOtpError::Store(_))), "{answer:?}");
}

#[tokio::test]
async fn an_idempotency_key_does_not_compare_devices() {
    let mut world = guarded(KeyMode::Live);
    let same = [None, Some(shown("svc_dt_other"))]
        .map(|device| SendExtras { device, ..SendExtras::default() });
    let bodies = Arc::new(Mutex::new(Vec::new()));
    let noted = Arc::clone(&bodies);
    world.answers.expect_begin().returning(move |_, record, _| {
        noted.lock().unwrap().push(record.fingerprint);
        Err(down())
    });
    let (use_case, key) = (world.send_otp(), "order-1".parse().unwrap());
    for extras in same {
        let _ = use_case.send(&world.caller, &phone(1), Some(extras), Some(&key)).await;
    }
    let bodies = bodies.lock().unwrap();
    assert_eq!((bodies.len(), bodies[0]), (2, bodies[1]));
}
