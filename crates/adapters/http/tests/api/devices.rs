//! `device` in the bodies of send, verify and check, and in the answer of verify.

use crate::ports::Ports;
use crate::support::TestApp;
use dwar_identity::{DeviceToken, Identity};
use dwar_kernel::{GuardMode, KeyMode, Vault};
use dwar_login::Redeemed;
use dwar_otp::{Allowance, Outcome};
use dwar_ratelimit::SendLog;
use dwar_testkit::{ClearVault, START, minutes};
use dwar_wallet::HoldOutcome;
use std::sync::{Arc, Mutex};

const ACCEPTED: &[Outcome] = &[Outcome::Accepted { provider_ref: None, awaits_receipt: false }];
const LEFT: Allowance = Allowance { limit: 5, remaining: 4, reset: minutes(9) };
const VERIFY: &str = r#"{"phone":"9876543210","code":"123456"}"#;

/// An API whose project has a guard that only watches.
fn guarded(set_up: impl FnOnce(&mut Ports)) -> TestApp {
    TestApp::with(|ports| {
        ports.project.guard = GuardMode::Watch;
        set_up(ports);
    })
}

fn logs_in(ports: &mut Ports) {
    ports.sign_anything();
    let redeem = ports.logins.expect_redeem();
    redeem.returning(|asked, _| {
        Ok(asked.session().map_or(Redeemed::Verified(LEFT, None), |session| {
            Redeemed::LoggedIn(LEFT, session.identity, None)
        }))
    });
}

#[actix_web::test]
async fn verify_answers_a_device_where_the_guard_is_not_off_and_check_none() {
    let app = guarded(logs_in);
    for reply in [
        app.post("/v1/otp/verify", VERIFY).await,
        app.post_in_test_mode("/v1/otp/verify", VERIFY).await,
    ] {
        let device = reply.json()["device"].as_str().unwrap().to_owned();
        assert!(device.starts_with("svc_dt_") && device.len() == 119, "{device}");
    }
    assert_eq!(app.post("/v1/otp/check", VERIFY).await.body, r#"{"verified":true}"#);
    let unguarded = TestApp::with(logs_in).post("/v1/otp/verify", VERIFY).await;
    assert_eq!(unguarded.status, 200);
    assert!(unguarded.json().get("device").is_none(), "{}", unguarded.body);
}

#[actix_web::test]
async fn a_device_of_other_text_is_absent_and_one_of_another_type_is_refused() {
    // The store of identities has no expectation: a look-up would answer 500.
    let app = guarded(|ports| {
        logs_in(ports);
        ports.send_through(ACCEPTED);
    });
    let long = |length| format!(r#""{}""#, "ü".repeat(length));
    let absent = ["null", r#""""#, r#""svc_dt_""#, r#""\u0000ü""#, &long(512)];
    let refused = ["42", "true", "[]", "{}", &long(513)];
    let with = |device: &str| {
        let send = format!(r#"{{"phone":"9876543210","device":{device}}}"#);
        let guess = format!(r#"{{"phone":"9876543210","code":"123456","device":{device}}}"#);
        [("/v1/otp/send", send), ("/v1/otp/verify", guess.clone()), ("/v1/otp/check", guess)]
    };
    for value in absent {
        for (path, body) in with(value) {
            assert_eq!(app.post(path, &body).await.status, 200, "{path} {value}");
        }
    }
    for value in refused {
        for (path, body) in with(value) {
            let reply = app.post(path, &body).await;
            assert_eq!(reply.status, 422, "{path} {value}");
            assert_eq!(reply.json()["code"], "INVALID_FIELD");
            assert_eq!(reply.json()["error"], "device: must be text of at most 512 characters.");
        }
    }
}

#[actix_web::test]
async fn a_genuine_device_reaches_the_step_of_a_send() {
    let seen: Arc<Mutex<Vec<bool>>> = Arc::default();
    let noted = Arc::clone(&seen);
    let mut device = String::new();
    let app = guarded(|ports| {
        let project_mode = ports.project.id.in_mode(KeyMode::Live);
        let index = ClearVault.phone_index(project_mode, &"9876543210".parse().unwrap());
        let (id, phone) = (ports.fixtures.id(), ports.fixtures.sealed());
        let token = DeviceToken::issue((project_mode, &index), id, &ClearVault, START);
        token.expose().clone_into(&mut device);
        let (created_at, last_verified_at) = (START, START);
        let identity = Identity { id, project_mode, phone, created_at, last_verified_at };
        let find = ports.identities.expect_find().times(1);
        find.return_once(move |_, _| Ok(Some(identity)));
        ports.logins.expect_prepare().returning(move |send, now| {
            noted.lock().unwrap().push(send.by_device);
            send.judge(&mut SendLog::default(), |_| Ok(HoldOutcome::Insufficient), now)
        });
    });
    for body in [
        format!(r#"{{"phone":"9876543210","device":"{device}"}}"#),
        r#"{"phone":"9876543210"}"#.to_owned(),
    ] {
        assert_eq!(app.post("/v1/otp/send", &body).await.code(), "INSUFFICIENT_BALANCE");
    }
    assert_eq!(*seen.lock().unwrap(), [true, false]);
}
