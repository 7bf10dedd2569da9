//! Validate, forward-auth and introspection judge every token alike: 10,000 tokens of several
//! projects, modes, issuers and ages, both unchanged and changed in many ways.
//!
//! `AGREEMENT_SEED` repeats a run, and `AGREEMENT_TOKENS` sets its size.

#![allow(clippy::print_stdout, reason = "prints the seed, and how many of each verdict there were")]

mod forge;

use crate::common::{Database, Project, Service, World};
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use forge::{Draw, Given, Key, MASTER_KEY, Signers, Worth};
use futures_util::StreamExt;
use reqwest::{Method, Response};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, UNIX_EPOCH};

on_both_databases! {
    validate_forward_auth_and_introspection_judge_alike;
}

const TOKENS: u64 = 10_000;
const AT_ONCE: usize = 16;
const ISSUER: &str = "https://otp.example.com";

struct Issued {
    token: String,
    /// The key with which the token is valid, if it is.
    key: String,
    is_alive: bool,
    what: &'static str,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Verdict {
    Valid { session: String, identity: String, times: Option<[i64; 2]> },
    Refused,
}

fn world(database: Database, access_seconds: &str) -> World {
    World::new(database)
        .with("DWAR__SECRETS__MASTER_KEY", MASTER_KEY)
        .with("DWAR__TOKENS__ISSUER", ISSUER)
        .with("DWAR__TOKENS__PUBLISH_BEFORE_SECONDS", "7200")
        .with("DWAR__LIMITS__LIVE__VALIDATE_PER_MINUTE", "1000000")
        .with("DWAR__LIMITS__TEST__VALIDATE_PER_MINUTE", "1000000")
        .with("DWAR__SESSION__ACCESS_SECONDS", access_seconds)
}

async fn validate_forward_auth_and_introspection_judge_alike(database: Database) {
    let number = |name: &str| std::env::var(name).ok().and_then(|text| text.parse::<u64>().ok());
    let fresh = || UNIX_EPOCH.elapsed().unwrap().as_micros().try_into().unwrap();
    let seed = number("AGREEMENT_SEED").unwrap_or_else(fresh);
    println!("AGREEMENT_SEED={seed}");
    let (service, keys, issued) = open(database).await;
    let signers = Signers {
        service: Key::of_service(&service.world.database).await,
        stranger: Key::stranger(),
    };
    let (valid, asked) = (AtomicU64::new(0), number("AGREEMENT_TOKENS").unwrap_or(TOKENS));
    let judged = (0..asked).map(|turn| {
        let mut draw = Draw(seed ^ turn.wrapping_mul(0xD134_2543_DE82_EF95));
        let base = draw.of(&issued);
        let other = &draw.of(&issued).token;
        let given = Given { token: &base.token, other };
        let (token, how, worth) = signers.vary(&given, &mut draw);
        let key = if draw.below(5) == 0 { draw.of(&keys) } else { &base.key };
        let (service, valid) = (&service, &valid);
        async move {
            let what = format!("turn {turn}: {}, {how}: {token}", base.what);
            let verdict = agreed(service, key, &token, &what).await;
            let is_valid = verdict != Verdict::Refused;
            valid.fetch_add(u64::from(is_valid), Ordering::Relaxed);
            let own = base.is_alive && *key == base.key;
            match worth {
                Worth::Same => assert_eq!(is_valid, own, "{what}"),
                Worth::Nothing => assert!(!is_valid, "{what}"),
                Worth::Open => {}
            }
            (base.what, is_valid)
        }
    });
    let told: Vec<_> = futures_util::stream::iter(judged).buffer_unordered(AT_ONCE).collect().await;
    let mut counts = BTreeMap::new();
    told.into_iter().for_each(|one| *counts.entry(one).or_insert(0) += 1);
    let valid = valid.into_inner();
    println!("{asked} tokens, {valid} of them valid: {counts:?}");
    // Agreement would prove little if almost all tokens were valid, or almost none.
    assert!((asked / 20..asked / 2).contains(&valid), "{valid} of {asked}");
}

/// A service with tokens of all kinds, and every key of its projects.
async fn open(database: Database) -> (Service, Vec<String>, Vec<Issued>) {
    let short = Service::start_in(world(database, "1"));
    let plain = short.world.project("1000");
    let own = short.world.project("1000");
    let mut issued = Vec::new();
    issue(&short, &plain, "expired", &mut issued).await;
    let switch_on = ["--own-issuer", "on", "--token-claims", "role=authenticated"];
    let settings = [&["project", "set", "--project", &own.id], &switch_on[..]].concat();
    short.world.cli(&settings);
    issue(&short, &own, "expired, own issuer", &mut issued).await;
    issued.iter_mut().for_each(|one| one.is_alive = false);
    tokio::time::sleep(Duration::from_millis(1_100)).await;
    let World { database, .. } = short.kill();
    let service = Service::start_in(world(database, "3600"));
    for project in [&plain, &own] {
        for _ in 0..3 {
            issue(&service, project, "current", &mut issued).await;
        }
        for key in [&project.live, &project.test] {
            ended(&service, key, &mut issued).await;
        }
    }
    // A token whose project changed its issuer after it was issued.
    service.world.cli(&["project", "set", "--project", &plain.id, "--own-issuer", "on"]);
    let keys = [&plain, &own].into_iter().flat_map(|it| [it.live.clone(), it.test.clone()]);
    (service, keys.collect(), issued)
}

async fn issue(service: &Service, project: &Project, what: &'static str, all: &mut Vec<Issued>) {
    for key in [&project.live, &project.test] {
        let pair = service.log_in(key, &service.world.phone()).await;
        all.push(Issued { token: access(&pair), key: key.clone(), is_alive: true, what });
    }
}

/// Tokens that are no longer valid, and the one that replaced one of them.
async fn ended(service: &Service, key: &str, all: &mut Vec<Issued>) {
    let mut push = |pair: &Value, is_alive, what| {
        all.push(Issued { token: access(pair), key: key.to_owned(), is_alive, what });
    };
    let old = service.log_in(key, &service.world.phone()).await;
    let new = service.refresh(key, &old["refresh_token"]).await.ok();
    push(&old, false, "superseded");
    push(&new, true, "refreshed");
    let revoked = service.log_in(key, &service.world.phone()).await;
    service.logout(key, &revoked["access_token"]).await.ok();
    push(&revoked, false, "revoked");
}

fn access(pair: &Value) -> String {
    pair["access_token"].as_str().unwrap().to_owned()
}

/// The common verdict of all three on a token; fails the test if they differ.
async fn agreed(service: &Service, key: &str, token: &str, what: &str) -> Verdict {
    let validated = validate(service, key, token).await;
    let passed = forward_auth(service, key, token).await;
    let introspected = introspect(service, key, token).await;
    let without_times = match validated.clone() {
        Verdict::Valid { session, identity, .. } => {
            Verdict::Valid { session, identity, times: None }
        }
        Verdict::Refused => Verdict::Refused,
    };
    assert_eq!(passed, without_times, "validate and forward-auth differ: {what}");
    assert_eq!(introspected, validated, "validate and introspection differ: {what}");
    validated
}

async fn validate(service: &Service, key: &str, token: &str) -> Verdict {
    let body = json!({ "access_token": token });
    let answer = service.call(key, "/v1/session/validate", &body).send().await.unwrap();
    match answer.status().as_u16() {
        200 => {
            let body = json_of(answer).await;
            let time = |name: &str| {
                let text = body[name].as_str().unwrap();
                chrono::DateTime::parse_from_rfc3339(text).unwrap().timestamp()
            };
            let times = Some([time("issued_at"), time("expires_at")]);
            Verdict::Valid {
                session: text(&body["session_id"]),
                identity: text(&body["identity_id"]),
                times,
            }
        }
        401 | 422 => Verdict::Refused,
        other => panic!("validate: {other}"),
    }
}

async fn forward_auth(service: &Service, key: &str, token: &str) -> Verdict {
    let request = service.request(Method::GET, "/v1/session/forward-auth/any/path");
    let request = request.header("X-Api-Key", key).bearer_auth(token);
    let answer = request.send().await.unwrap();
    let header = |name: &str| answer.headers()[name].to_str().unwrap().to_owned();
    match answer.status().as_u16() {
        200 => Verdict::Valid {
            session: header("x-dwar-session"),
            identity: header("x-dwar-identity"),
            times: None,
        },
        401 => Verdict::Refused,
        other => panic!("forward-auth: {other}"),
    }
}

async fn introspect(service: &Service, key: &str, token: &str) -> Verdict {
    let request = service.request(Method::POST, "/oauth2/introspect").basic_auth("dwar", Some(key));
    let answer = request.form(&[("token", token)]).send().await.unwrap();
    let status = answer.status().as_u16();
    let body = json_of(answer).await;
    match (status, body["active"].as_bool()) {
        (200, Some(true)) => {
            // It repeats the claims of the token.
            let payload = token.split('.').nth(1).unwrap();
            let claims: Value =
                serde_json::from_slice(&URL_SAFE_NO_PAD.decode(payload).unwrap()).unwrap();
            assert_eq!(body["iss"], claims["iss"], "{token}");
            for name in ["aud", "client_id", "sid"] {
                // An id in capitals is the same id.
                let of = |it: &Value| text(&it[name]).to_lowercase();
                assert_eq!(of(&body), of(&claims), "{name} of {token}");
            }
            let times = Some(["iat", "exp"].map(|name| body[name].as_i64().unwrap()));
            Verdict::Valid { session: text(&body["sid"]), identity: text(&body["sub"]), times }
        }
        (200, Some(false)) => {
            assert_eq!(body, json!({ "active": false }));
            Verdict::Refused
        }
        // Without a token there is no valid request.
        (400, None) if token.is_empty() => Verdict::Refused,
        other => panic!("introspection: {other:?} {body}"),
    }
}

async fn json_of(answer: Response) -> Value {
    serde_json::from_slice(&answer.bytes().await.unwrap()).unwrap()
}

fn text(value: &Value) -> String {
    value.as_str().unwrap().to_owned()
}
