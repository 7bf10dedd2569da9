//! Refresh, logout and deletion of one session or identity.

use super::{CROWD, Herd, ROUNDS, alive, dead, dead_access, expect, verification, winners};
use crate::common::{Database, Service};
use reqwest::Method;
use serde_json::json;

on_both_databases! {
    a_refresh_token_is_exchanged_once;
    a_refresh_token_is_exchanged_once_by_two_processes;
    nothing_of_a_deleted_identity_survives;
    nothing_of_a_session_survives_its_logout;
    a_session_ends_once;
}

async fn a_refresh_token_is_exchanged_once(database: Database) {
    exchange_once(Herd::one(database)).await;
}

async fn a_refresh_token_is_exchanged_once_by_two_processes(database: Database) {
    exchange_once(Herd::two(database)).await;
}

async fn exchange_once(herd: Herd) {
    let key = herd.world().project("0").test;
    let mut pair = herd.first().log_in(&key, &herd.world().phone()).await;
    // If a request can see an exchange that is half done, it is one of the first few of a crowd. So there are
    // many small crowds as well.
    for crowd in [&[CROWD; ROUNDS][..], &[6; 30]].concat() {
        let body = json!({ "refresh_token": pair["refresh_token"] });
        let refresh = |service: &Service, _| service.call(&key, "/v1/session/refresh", &body);
        let answers = herd.race(crowd, refresh).await;
        expect(&answers, &[("200", 1), ("SESSION_EXPIRED", crowd - 1)]);
        let old = herd.first().validate(&key, &pair["access_token"]).await;
        old.refused(401, "INVALID_ACCESS_TOKEN");
        pair = alive(herd.first(), &key, winners(&answers)[0]).await;
    }
}

async fn nothing_of_a_deleted_identity_survives(database: Database) {
    let herd = Herd::two(database);
    let world = herd.world();
    let project = world.project("0");
    world.cli(&["project", "set", "--project", &project.id, "--identity-delete", "on"]);
    let key = project.test.as_str();
    for _ in 0..4 * ROUNDS {
        let phone = world.phone();
        let sessions =
            [herd.first().log_in(key, &phone).await, herd.first().log_in(key, &phone).await];
        let identity = sessions[0]["identity_id"].as_str().unwrap().to_owned();
        herd.first().send(key, &phone).await.ok();
        let code = herd.first().code(key, &phone).await;

        let answers = herd
            .race(12, |service, n| match n {
                4 => {
                    let path = format!("/v1/identity/{identity}");
                    service.request(Method::DELETE, &path).header("X-Api-Key", key)
                }
                _ if n % 3 == 0 => verification(service, key, &phone, &code),
                _ => {
                    let body = json!({ "refresh_token": sessions[n % 2]["refresh_token"] });
                    service.call(key, "/v1/session/refresh", &body)
                }
            })
            .await;
        assert!(answers.iter().all(|answer| !answer.status.is_server_error()), "{answers:?}");
        assert_eq!(answers[4].body["deleted"], true, "{}", answers[4].text);

        let pairs = winners(&answers).into_iter().filter(|body| body["access_token"].is_string());
        for pair in pairs.chain(&sessions) {
            if pair["identity_id"] == identity.as_str() {
                for service in &herd.0 {
                    dead(service, key, pair).await;
                }
            } else {
                // The code was accepted, and the old identity was deleted before the login was complete: the
                // login made a new identity.
                alive(herd.first(), key, pair).await;
            }
        }
    }
}

/// Either the logout came first, and nothing works, or the refresh did: then its pair works, and
/// the logout was refused, because its token was no longer valid.
async fn nothing_of_a_session_survives_its_logout(database: Database) {
    let herd = Herd::two(database);
    let key = herd.world().project("0").test;
    let mut ended = 0;
    for round in 0..10 * ROUNDS {
        let old = herd.first().log_in(&key, &herd.world().phone()).await;
        let answers = herd
            .race(2, |service, n| {
                // Logout and refresh take turns in being the first call and in calling the first process.
                if (n + round) % 2 == 0 {
                    let body = json!({ "access_token": old["access_token"] });
                    service.call(&key, "/v1/session/logout", &body)
                } else {
                    let body = json!({ "refresh_token": old["refresh_token"] });
                    service.call(&key, "/v1/session/refresh", &body)
                }
            })
            .await;
        let (logout, refresh) = (&answers[round % 2], &answers[(round + 1) % 2]);
        dead_access(&herd, &key, &old).await;
        if logout.status == 200 {
            ended += 1;
            dead(herd.first(), &key, &old).await;
            if refresh.status == 200 {
                dead(herd.first(), &key, &refresh.body).await;
            } else {
                refresh.refused(401, "SESSION_EXPIRED");
            }
        } else {
            logout.refused(401, "INVALID_ACCESS_TOKEN");
            alive(herd.first(), &key, &refresh.body).await;
        }
    }
    assert!(ended > 0, "the logout never came first");
}

async fn a_session_ends_once(database: Database) {
    const FEW: usize = 8;
    let herd = Herd::two(database);
    let key = herd.world().project("0").test;
    for _ in 0..5 * ROUNDS {
        let pair = herd.first().log_in(&key, &herd.world().phone()).await;
        let body = json!({ "access_token": pair["access_token"] });
        let logout = |service: &Service, _| service.call(&key, "/v1/session/logout", &body);
        let answers = herd.race(FEW, logout).await;
        expect(&answers, &[("200", 1), ("INVALID_ACCESS_TOKEN", FEW - 1)]);
        dead(herd.first(), &key, &pair).await;
    }
}
