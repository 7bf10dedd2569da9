//! Devices on which a phone logged in, while an attacker stops the phone.

use crate::common::{Answer, Database, Project, Service, World, at_once, tally, wrong};
use serde_json::{Value, json};

on_both_databases! {
    an_attacker_stops_a_phone_and_its_owner_still_logs_in;
    twenty_wrong_codes_of_known_devices_make_them_strangers;
    a_device_ends_with_its_identity_and_with_the_guard;
}

const KEY: &str = "Vg4Xk0rYfFz1P8mJq7yq2cS0hVd3Zk9uLw5t1oRb6nE=";

/// A project whose guard watches; five wrong codes stop a phone for a day, and it gets so many sends in ten minutes.
fn guarded(database: Database, sends: &str) -> (Service, Project) {
    let world = World::new(database)
        .with("DWAR__LIMITS__GUESSES__STOP_AT", "5")
        .with("DWAR__LIMITS__LIVE__SEND", sends);
    let service = Service::start_in(world);
    let project = service.world.project("100");
    guard(&service, &project, "watch");
    (service, project)
}

fn guard(service: &Service, project: &Project, mode: &str) {
    service.world.cli(&["project", "set", "--project", &project.id, "--guard", mode]);
}

/// A person at a login form, with a known device or without one.
#[derive(Clone, Copy)]
struct Person<'a> {
    service: &'a Service,
    key: &'a str,
    phone: &'a str,
    device: Option<&'a str>,
}

impl Person<'_> {
    async fn send(self) -> Answer {
        let body = json!({ "phone": self.phone, "device": self.device });
        self.service.post(self.key, "/v1/otp/send", body).await
    }

    async fn enter(self, code: &str) -> Answer {
        let body = json!({ "phone": self.phone, "code": code, "device": self.device });
        self.service.post(self.key, "/v1/otp/verify", body).await
    }

    /// Sends a code and returns it.
    async fn asks(self) -> String {
        let sent = self.send().await.ok();
        let otp = sent["otp_id"].as_str().unwrap().to_owned();
        self.service.code(self.key, &otp).await
    }

    async fn logs_in(self) -> Value {
        let code = self.asks().await;
        self.enter(&code).await.ok()
    }

    async fn guesses_wrong(self, code: &str, times: u32) {
        for number in 0..times {
            self.enter(&wrong(code, number)).await.refused(400, "INVALID_OTP");
        }
    }
}

fn device_of(tokens: &Value) -> &str {
    tokens["device"].as_str().unwrap()
}

async fn an_attacker_stops_a_phone_and_its_owner_still_logs_in(database: Database) {
    let (service, project) = guarded(database, "3");
    let (key, phone) = (project.live.as_str(), service.world.phone());
    let stranger = Person { service: &service, key, phone: &phone, device: None };
    let first = stranger.logs_in().await;
    assert!(device_of(&first).starts_with("svc_dt_"));
    let owner = Person { device: Some(device_of(&first)), ..stranger };

    let code = stranger.asks().await;
    stranger.guesses_wrong(&code, 5).await;
    stranger.send().await.refused(429, "OTP_RATE_LIMITED");
    for other in ["", "svc_dt_", &device_of(&first).replacen("svc_dt_0", "svc_dt_1", 1)] {
        let other = Person { device: Some(other), ..stranger };
        other.send().await.refused(429, "OTP_RATE_LIMITED");
    }

    // The owner has one place left of the three in ten minutes. No stranger can use or lock the code.
    let code = owner.asks().await;
    for entered in [wrong(&code, 1), code.clone(), wrong(&code, 2), wrong(&code, 3)] {
        stranger.enter(&entered).await.refused(429, "VERIFY_RATE_LIMITED");
    }
    owner.enter(&wrong(&code, 1)).await.refused(400, "INVALID_OTP");
    let second = owner.enter(&code).await.ok();
    assert_eq!(second["identity_id"], first["identity_id"]);
    let tokens = service.refresh(key, &second["refresh_token"]).await.ok();
    assert!(tokens.get("device").is_none(), "{tokens}");
    // The limit of the specification holds for the owner too.
    let owner = Person { device: Some(device_of(&second)), ..stranger };
    owner.send().await.refused(429, "OTP_RATE_LIMITED");
}

async fn twenty_wrong_codes_of_known_devices_make_them_strangers(database: Database) {
    let world = World::new(database)
        .with("DWAR__SECRETS__MASTER_KEY", KEY)
        .with("DWAR__LIMITS__GUESSES__STOP_AT", "5")
        .with("DWAR__LIMITS__LIVE__SEND", "10")
        .with("DWAR__LIMITS__LIVE__VERIFY_ATTEMPTS", "10");
    let service = Service::start_in(world);
    let twin = service.twin();
    let project = service.world.project("100");
    guard(&service, &project, "enforce");
    let (key, phone) = (project.live.as_str(), service.world.phone());
    let stranger = Person { service: &service, key, phone: &phone, device: None };
    let tokens = stranger.logs_in().await;
    let thief = Person { device: Some(device_of(&tokens)), ..stranger };
    let code = stranger.asks().await;
    stranger.guesses_wrong(&code, 5).await;

    let code = thief.asks().await;
    thief.guesses_wrong(&code, 9).await;
    // On two instances at once, exactly eleven more are judged.
    let code = thief.asks().await;
    thief.guesses_wrong(&code, 1).await;
    let code = thief.asks().await;
    let body = |n| json!({ "phone": phone, "code": wrong(&code, n), "device": thief.device });
    let guess = |n: u32| {
        let instance = if n.is_multiple_of(2) { &service } else { &twin };
        instance.call(key, "/v1/otp/verify", &body(n))
    };
    let answers = at_once((0..9).map(guess)).await;
    assert_eq!(tally(&answers)["INVALID_OTP"], 9, "{:?}", tally(&answers));
    let code = thief.asks().await;
    let body = |n| json!({ "phone": phone, "code": wrong(&code, n), "device": thief.device });
    let guess = |n: u32| {
        let instance = if n.is_multiple_of(2) { &service } else { &twin };
        instance.call(key, "/v1/otp/verify", &body(n))
    };
    let answers = at_once((0..9).map(guess)).await;
    let counted = tally(&answers);
    assert_eq!((counted["INVALID_OTP"], counted["VERIFY_RATE_LIMITED"]), (1, 8), "{counted:?}");
    thief.enter(&code).await.refused(429, "VERIFY_RATE_LIMITED");
    thief.send().await.refused(429, "OTP_RATE_LIMITED");
}

async fn a_device_ends_with_its_identity_and_with_the_guard(database: Database) {
    let (service, project) = guarded(database, "10");
    let other = service.world.project("100");
    guard(&service, &other, "watch");
    service.world.cli(&["project", "set", "--project", &project.id, "--identity-delete", "on"]);
    let key = project.live.as_str();
    let (phone, another) = (service.world.phone(), service.world.phone());
    let stranger = Person { service: &service, key, phone: &phone, device: None };
    let tokens = stranger.logs_in().await;
    let code = stranger.asks().await;
    stranger.guesses_wrong(&code, 5).await;
    let owner = Person { device: Some(device_of(&tokens)), ..stranger };

    // A device of another phone and one of another project are strangers'.
    let of_another = Person { phone: &another, ..stranger }.logs_in().await;
    let elsewhere = Person { key: &other.live, ..stranger }.logs_in().await;
    for foreign in [&of_another, &elsewhere] {
        let foreign = Person { device: Some(device_of(foreign)), ..stranger };
        foreign.send().await.refused(429, "OTP_RATE_LIMITED");
    }

    guard(&service, &project, "off");
    owner.send().await.refused(429, "OTP_RATE_LIMITED");
    guard(&service, &project, "watch");
    let tokens = owner.logs_in().await;
    let identity = tokens["identity_id"].as_str().unwrap();
    service.delete(key, &format!("/v1/identity/{identity}")).await.ok();
    for device in [device_of(&tokens), owner.device.unwrap()] {
        let owner = Person { device: Some(device), ..stranger };
        owner.send().await.refused(429, "OTP_RATE_LIMITED");
    }
    // With the guard off no device is issued.
    guard(&service, &other, "off");
    let tokens = Person { key: &other.live, phone: &another, ..stranger }.logs_in().await;
    assert!(tokens.get("device").is_none(), "{tokens}");
}
