//! Invariants under concurrency; each race with one process and with two.

mod codes;
mod sends;
mod sessions;

use crate::common::{Answer, Database, Project, Service, World, at_once, tally};
use reqwest::RequestBuilder;
use serde_json::{Value, json};
use std::collections::BTreeMap;

const CROWD: usize = 200;
const ROUNDS: usize = 3;

fn world(database: Database) -> World {
    World::new(database)
        .with("DWAR__SECRETS__MASTER_KEY", "QUJDREVGR0hJSktMTU5PUFFSU1RVVldYWVphYmNkZWY=")
        .with("DWAR__LIMITS__LIVE__GENERAL_PER_MINUTE", "100000")
        .with("DWAR__LIMITS__TEST__GENERAL_PER_MINUTE", "100000")
        // The leeway is meant for two browser tabs that refresh at once. A race on a busy machine takes
        // longer.
        .with("DWAR__SESSION__LEEWAY_SECONDS", "60")
        // Both channels cost the same, so that a hold is spent completely.
        .with("DWAR__PRICES__SMS_PAISE", "20")
        // A crowd that waits for one row on a busy machine is not an outage.
        .with("DWAR__DATABASE__TIMEOUT_MS", "10000")
}

struct Herd(Vec<Service>);

impl Herd {
    fn one(database: Database) -> Self {
        Self(vec![Service::start_in(world(database))])
    }

    fn two(database: Database) -> Self {
        let first = Service::start_in(world(database));
        let second = first.twin();
        Self(vec![first, second])
    }

    fn first(&self) -> &Service {
        &self.0[0]
    }

    fn world(&self) -> &World {
        &self.first().world
    }

    /// Distributes `count` calls evenly and makes them all at once.
    async fn race(
        &self,
        count: usize,
        call: impl Fn(&Service, usize) -> RequestBuilder,
    ) -> Vec<Answer> {
        let services = self.0.iter().cycle();
        at_once(services.take(count).enumerate().map(|(n, service)| call(service, n))).await
    }
}

/// The bodies of the successful calls of a race.
fn winners(answers: &[Answer]) -> Vec<&Value> {
    answers.iter().filter(|answer| answer.status == 200).map(|answer| &answer.body).collect()
}

fn expect(answers: &[Answer], expected: &[(&str, usize)]) {
    let expected: BTreeMap<&str, usize> = expected.iter().copied().collect();
    assert_eq!(tally(answers), expected);
}

fn keys(project: &Project) -> [(&str, usize, usize); 2] {
    // The key, how many wrong guesses it allows per code, and how many sends per phone.
    [(&project.live, 5, 3), (&project.test, 20, 20)]
}

fn verification(service: &Service, key: &str, phone: &str, code: &str) -> RequestBuilder {
    service.call(key, "/v1/otp/verify", &json!({ "phone": phone, "code": code }))
}

async fn dead(service: &Service, key: &str, pair: &Value) {
    let access = service.validate(key, &pair["access_token"]).await;
    access.refused(401, "INVALID_ACCESS_TOKEN");
    let refresh = service.refresh(key, &pair["refresh_token"]).await;
    refresh.refused(401, "SESSION_EXPIRED");
}

async fn alive(service: &Service, key: &str, pair: &Value) -> Value {
    service.validate(key, &pair["access_token"]).await.ok();
    service.refresh(key, &pair["refresh_token"]).await.ok()
}

async fn dead_access(herd: &Herd, key: &str, pair: &Value) {
    for service in &herd.0 {
        let access = service.validate(key, &pair["access_token"]).await;
        access.refused(401, "INVALID_ACCESS_TOKEN");
    }
}
