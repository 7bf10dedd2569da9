//! The endpoints that proxies and frameworks use instead of validate.

use crate::common::{Answer, Database, Service, Wire, World, answer};
use reqwest::Method;
use serde_json::{Value, json};
use std::time::{Duration, Instant};

on_both_databases! {
    a_proxy_lets_pass_who_is_logged_in;
    a_framework_learns_of_a_logout;
    no_body_is_waited_for;
    both_count_against_the_limit_of_validate;
}

const FORWARD_AUTH: &str = "/v1/session/forward-auth";

async fn pass(service: &Service, key: &str, method: Method, path: &str, token: &Value) -> Answer {
    let request = service.request(method, path).header("X-Api-Key", key);
    answer(request.bearer_auth(token.as_str().unwrap())).await
}

async fn introspect(service: &Service, key: &str, token: &Value) -> Answer {
    let request = service.request(Method::POST, "/oauth2/introspect").basic_auth("any", Some(key));
    answer(request.form(&[("token", token.as_str().unwrap())])).await
}

async fn a_proxy_lets_pass_who_is_logged_in(database: Database) {
    let service = Service::start(database);
    let project = service.world.project("100");
    let pair = service.log_in(&project.live, &service.world.phone()).await;
    let token = &pair["access_token"];
    for method in [Method::GET, Method::HEAD, Method::POST, Method::OPTIONS, Method::DELETE] {
        for path in ["", "/", "/orders/7?x=%zz", "/a%2Fb/%ff"] {
            let path = format!("{FORWARD_AUTH}{path}");
            let passed = pass(&service, &project.live, method.clone(), &path, token).await;
            assert_eq!(passed.status, 200, "{method} {path}: {}", passed.text);
            assert_eq!(passed.header("x-dwar-identity"), pair["identity_id"].as_str().unwrap());
            assert_eq!(passed.header("x-dwar-session"), pair["session_id"].as_str().unwrap());
        }
    }
    let bare = service.request(Method::GET, FORWARD_AUTH).header("X-Api-Key", &project.live);
    let none = answer(bare).await;
    assert_eq!(none.header("www-authenticate"), r#"Bearer realm="v1""#);
    none.refused(401, "INVALID_ACCESS_TOKEN");
    let other = service.world.project("100");
    for key in [&project.test, &other.live] {
        let refused = pass(&service, key, Method::GET, FORWARD_AUTH, token).await;
        assert_eq!(
            refused.header("www-authenticate"),
            r#"Bearer realm="v1", error="invalid_token""#
        );
        refused.refused(401, "INVALID_ACCESS_TOKEN");
    }
    service.logout(&project.live, token).await.ok();
    let after = pass(&service, &project.live, Method::GET, FORWARD_AUTH, token).await;
    after.refused(401, "INVALID_ACCESS_TOKEN");
}

async fn a_framework_learns_of_a_logout(database: Database) {
    const ISSUER: &str = "https://otp.example.com";
    let world = World::new(database)
        .with("DWAR__TOKENS__ISSUER", ISSUER)
        .with("DWAR__TOKENS__PUBLISH_BEFORE_SECONDS", "7200");
    let service = Service::start_in(world);
    let project = service.world.project("100");
    let before = service.log_in(&project.live, &service.world.phone()).await;
    service.world.cli(&["project", "set", "--project", &project.id, "--own-issuer", "on"]);
    let after = service.log_in(&project.live, &service.world.phone()).await;
    // Each token has the issuer that it names, even if the project has another one by now.
    let own = format!("{ISSUER}/p/{}", project.id);
    for (pair, issuer) in [(&before, ISSUER), (&after, own.as_str())] {
        let told = introspect(&service, &project.live, &pair["access_token"]).await;
        assert_eq!(told.header("cache-control"), "no-store");
        let told = told.ok();
        let (iat, exp) = (told["iat"].as_i64().unwrap(), told["exp"].as_i64().unwrap());
        assert_eq!(exp - iat, 900);
        let expected = json!({
            "active": true,
            "sub": pair["identity_id"],
            "client_id": project.id,
            "sid": pair["session_id"],
            "iat": iat,
            "exp": exp,
            "iss": issuer,
            "aud": project.id,
            "token_type": "Bearer",
        });
        assert_eq!(told, expected);
    }
    let token = &after["access_token"];
    let inactive = json!({ "active": false });
    assert_eq!(introspect(&service, &project.test, token).await.ok(), inactive);
    assert_eq!(introspect(&service, &project.live, &after["refresh_token"]).await.ok(), inactive);
    service.logout(&project.live, token).await.ok();
    assert_eq!(introspect(&service, &project.live, token).await.ok(), inactive);
    let wrong = introspect(&service, "svc_live_nobody", token).await;
    assert_eq!(wrong.header("www-authenticate"), r#"Basic realm="v1""#);
    wrong.refused(401, "INVALID_API_KEY");
}

/// A proxy may declare the length of a body and send none, or send one anyway.
async fn no_body_is_waited_for(database: Database) {
    let service = Service::start(database);
    let project = service.world.project("100");
    let pair = service.log_in(&project.live, &service.world.phone()).await;
    let token = pair["access_token"].as_str().unwrap();
    let head = |line: &str, more: &str| {
        format!(
            "{line}\r\nHost: dwar\r\nX-Api-Key: {}\r\nAuthorization: Bearer {token}\r\n{more}\r\n",
            project.live
        )
    };
    let post = format!("POST {FORWARD_AUTH}/upload HTTP/1.1");
    // Bytes after an unread body must not be taken for a request.
    let smuggled = "GET /healthz HTTP/1.1\r\nHost: dwar\r\n\r\n";
    let length = format!("Content-Length: {}\r\nConnection: close\r\n", smuggled.len());
    for (request, ends) in [
        (head(&post, "Content-Length: 70000\r\n"), true),
        (head(&post, "Content-Length: 70000\r\nExpect: 100-continue\r\n"), true),
        (head(&post, "Transfer-Encoding: chunked\r\n"), true),
        (head(&post, &length) + smuggled, true),
        (
            head(
                &format!("GET {FORWARD_AUTH} HTTP/1.1"),
                "Connection: Upgrade\r\nUpgrade: websocket\r\n",
            ),
            true,
        ),
        (head(&format!("GET {FORWARD_AUTH} HTTP/1.0"), ""), true),
        (head(&format!("GET {FORWARD_AUTH} HTTP/1.1"), "Connection: close\r\n"), true),
        (head(&format!("GET {FORWARD_AUTH} HTTP/1.1"), "Content-Length: 0\r\n"), false),
    ] {
        let began = Instant::now();
        let mut wire = Wire::to(&service.base);
        wire.write(&request);
        if !ends {
            // The connection serves the next request too.
            wire.write(&head(
                &format!("HEAD {FORWARD_AUTH}/next HTTP/1.1"),
                "Connection: close\r\n",
            ));
        }
        let told = wire.read_to_end();
        let wanted = if ends { 1 } else { 2 };
        assert_eq!(told.matches(" 200 OK").count(), wanted, "{request}\n{told}");
        assert_eq!(told.matches("x-dwar-identity: ").count(), wanted, "{request}\n{told}");
        assert!(began.elapsed() < Duration::from_secs(4), "{request}");
    }
}

async fn both_count_against_the_limit_of_validate(database: Database) {
    let world = World::new(database).with("DWAR__LIMITS__LIVE__VALIDATE_PER_MINUTE", "3");
    let service = Service::start_in(world);
    let project = service.world.project("100");
    let pair = service.log_in(&project.live, &service.world.phone()).await;
    let token = &pair["access_token"];
    service.validate(&project.live, token).await.ok();
    let passed = pass(&service, &project.live, Method::GET, FORWARD_AUTH, token).await;
    assert_eq!(passed.header("ratelimit-remaining"), "1");
    introspect(&service, &project.live, token).await.ok();
    for refused in [
        pass(&service, &project.live, Method::GET, &format!("{FORWARD_AUTH}/x"), token).await,
        introspect(&service, &project.live, token).await,
        service.validate(&project.live, token).await,
    ] {
        assert!(refused.header("retry-after").parse::<u32>().unwrap() >= 1);
        refused.refused(429, "RATE_LIMITED");
    }
}
