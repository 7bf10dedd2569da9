//! An archived project: its keys are refused everywhere at once, work in progress continues, and
//! nothing is lost.

use crate::common::{
    Answer, Database, Endpoint, Play, Program, Project, Service, Vendor, World, answer, delivered,
};
use reqwest::Method;
use serde_json::{Value, json};
use std::time::{Duration, Instant};

on_both_databases! {
    an_archived_project_is_refused_everywhere_and_comes_back;
}

const KEY: &str = "Vg4Xk0rYfFz1P8mJq7yq2cS0hVd3Zk9uLw5t1oRb6nE=";
const PHONE: &str = "9876543210";

/// A key with a login of that key's mode.
struct Login {
    key: String,
    pair: Value,
    otp: String,
}

impl Login {
    /// Every call that takes a key, on one instance.
    async fn calls(&self, service: &Service) -> Vec<Answer> {
        let Self { key, pair, otp } = self;
        let identity = format!("/v1/identity/{}", pair["identity_id"].as_str().unwrap());
        vec![
            service.send(key, PHONE).await,
            service.verify(key, PHONE, "000000").await,
            service.get(key, &format!("/v1/otp/status/{otp}")).await,
            service.validate(key, &pair["access_token"]).await,
            service.refresh(key, &pair["refresh_token"]).await,
            service.logout(key, &pair["access_token"]).await,
            service.get(key, &identity).await,
            service.get(key, &format!("/v1/identity?phone={PHONE}")).await,
            service.delete(key, &identity).await,
            service.get(key, "/v1/sandbox/messages").await,
            service.get(key, "/v1/nothing").await,
        ]
    }
}

async fn log_in(service: &Service, vendor: &Vendor, key: &str) -> Login {
    let sent = service.send(key, PHONE).await.ok();
    let code = match key.starts_with("svc_live_") {
        true => vendor.taken().last().unwrap().text[..6].to_owned(),
        false => service.code(key, PHONE).await,
    };
    let pair = service.verify(key, PHONE, &code).await.ok();
    Login { key: key.to_owned(), pair, otp: sent["otp_id"].as_str().unwrap().to_owned() }
}

async fn eventually(world: &World, project: &Project, paise: i64) {
    let until = Instant::now() + Duration::from_secs(20);
    loop {
        let wallet = world.balance(project);
        if wallet["balance_paise"] == paise && wallet["held_paise"] == 0 {
            return;
        }
        assert!(Instant::now() < until, "{wallet}");
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
}

/// With the command line, which is another process, or with the admin API of one instance.
async fn say(owner: Option<&Program>, service: &Service, word: &str, project: &Project) -> Value {
    match owner {
        None => service.world.cli(&["project", word, "--project", &project.id]),
        Some(owner) => {
            let path = format!("/projects/{}/{word}", project.id);
            owner.call(Method::POST, &path, &Value::Null).await.ok()
        }
    }
}

async fn an_archived_project_is_refused_everywhere_and_comes_back(database: Database) {
    let vendor = Vendor::start(0, |_, _| Play::Accept).await;
    let world = World::new(database)
        .with("DWAR__SECRETS__MASTER_KEY", KEY)
        .with("DWAR__DASHBOARD__ADDRESS", "127.0.0.1:0")
        .with("DWAR__EVENTS__ALLOW_PRIVATE", "true")
        .with("DWAR__GATEWAYS__FALLBACK_WINDOW_SECONDS", "300");
    let world = vendor.carry(world);
    // With full paths, because the other instance has a folder of its own.
    let files = ["wa.toml", "text.toml"].map(|file| world.database.folder().join(file));
    let files = files.map(|file| file.to_str().unwrap().to_owned()).join(",");
    let one = Service::start_in(world.with("DWAR__GATEWAYS__GENERIC_FILES", &files));
    let two = one.twin();
    let (project, other) = (one.world.project("10"), one.world.project("10"));
    let program = Program::owner(&one);
    let switches = ["--identity-lookup", "on", "--identity-delete", "on"];
    one.world.cli(&[&["project", "set", "--project", &project.id][..], &switches[..]].concat());
    let endpoint = Endpoint::start().await;
    one.world.cli(&["webhook", "add", "--project", &project.id, "--url", &endpoint.url]);

    let mut logins = vec![
        log_in(&one, &vendor, &project.live).await,
        log_in(&two, &vendor, &project.test).await,
    ];
    let stranger = log_in(&one, &vendor, &other.test).await;
    delivered(&one.client, &one.base, vendor.taken().last().unwrap()).send().await.unwrap();
    eventually(&one.world, &project, 980).await;

    let mut balance = 980;
    for (round, owner) in [None, Some(&program)].into_iter().enumerate() {
        for (service, login) in [(&one, &logins[0]), (&two, &logins[1]), (&one, &logins[1])] {
            service.validate(&login.key, &login.pair["access_token"]).await.ok();
        }
        let under_way = one.send(&logins[0].key, &one.world.phone()).await.ok();
        assert_eq!(one.world.balance(&project)["held_paise"], 25);
        let message = vendor.taken().pop().unwrap();

        let archived = say(owner, &one, "archive", &project).await;
        assert!(archived["archived_at"].is_string(), "{archived}");
        for service in [&one, &two] {
            for login in &logins {
                for answer in login.calls(service).await {
                    answer.refused(401, "INVALID_API_KEY");
                }
            }
            service.validate(&stranger.key, &stranger.pair["access_token"]).await.ok();
            answer(service.request(Method::GET, "/.well-known/jwks.json")).await.ok();
        }
        assert_eq!(say(owner, &one, "archive", &project).await, archived);

        // The receipt counts, the charge is captured, and the event is delivered.
        let receipt = answer(delivered(&two.client, &two.base, &message)).await;
        assert_eq!(receipt.status, 200, "{}", receipt.text);
        balance -= 20;
        eventually(&one.world, &project, balance).await;
        let told = |told: &crate::common::Told| {
            told.body["type"] == "otp.delivered"
                && told.body["data"]["otp_id"] == under_way["otp_id"]
        };
        let until = Instant::now() + Duration::from_secs(20);
        while !endpoint.told().iter().any(told) {
            assert!(Instant::now() < until, "never told: {:?}", endpoint.told());
            tokio::time::sleep(Duration::from_millis(50)).await;
        }

        // A key that is replaced meanwhile is archived too.
        let regenerate = ["key", "regenerate", "--project", &project.id, "--mode", "test"];
        let fresh = one.world.cli(&regenerate)["key"].as_str().unwrap().to_owned();
        two.send(&fresh, PHONE).await.refused(401, "INVALID_API_KEY");
        logins[1].key = fresh;

        let restored = say(owner, &one, "restore", &project).await;
        assert_eq!(restored["archived_at"], Value::Null, "{restored}");
        for service in [&one, &two] {
            for Login { key, pair, otp } in &logins {
                service.validate(key, &pair["access_token"]).await.ok();
                service.get(key, &format!("/v1/otp/status/{otp}")).await.ok();
                let identity = service.get(key, &format!("/v1/identity?phone={PHONE}")).await.ok();
                assert_eq!(identity["id"], pair["identity_id"]);
            }
        }
        let path = format!("/v1/otp/status/{}", under_way["otp_id"].as_str().unwrap());
        assert_eq!(two.get(&logins[0].key, &path).await.ok()["status"], "delivered");
        for login in &mut logins {
            login.pair = two.refresh(&login.key, &login.pair["refresh_token"]).await.ok();
        }
        let log = program.get(&format!("/projects/{}/audit", project.id)).await.ok();
        let entries = log["items"].as_array().unwrap();
        for action in ["project.archived", "project.restored"] {
            let count = entries.iter().filter(|entry| entry["action"] == action).count();
            assert_eq!(count, round + 1, "{action}: one entry a change, none for a repetition");
        }
    }
    for Login { key, pair, .. } in &logins {
        one.logout(key, &pair["access_token"]).await.ok();
    }
    one.send(&project.live, &one.world.phone()).await.ok();
    assert_eq!(one.world.balance(&other)["balance_paise"], json!(1_000));
    one.world.audit();
}
