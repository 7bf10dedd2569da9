//! A project whose live tokens name an issuer of its own, which others verify by discovery.

use crate::common::{Answer, Database, Project, Service, World, answer};
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use reqwest::Method;
use serde_json::{Value, json};

on_both_databases! {
    pages_of_any_site_may_read_keys_and_metadata;
    live_tokens_name_the_project_and_say_its_claims;
    discovery_is_there_for_such_projects_alone;
    a_project_has_an_issuer_only_where_others_can_find_it;
    its_tokens_are_of_the_type_that_the_project_chose;
    a_loopback_issuer_is_for_development;
}

/// The `typ` in the header.
fn typ(token: &Value) -> Value {
    let header = token.as_str().unwrap().split('.').next().unwrap();
    let header: Value = serde_json::from_slice(&URL_SAFE_NO_PAD.decode(header).unwrap()).unwrap();
    header["typ"].clone()
}

const ISSUER: &str = "https://otp.example.com";

async fn service(database: Database) -> Service {
    let world = World::new(database)
        .with("DWAR__TOKENS__ISSUER", ISSUER)
        .with("DWAR__TOKENS__PUBLISH_BEFORE_SECONDS", "7200");
    Service::start_in(world)
}

fn set(service: &Service, project: &Project, settings: &[&str]) -> Value {
    let change = [&["project", "set", "--project", &project.id], settings].concat();
    service.world.cli(&change)
}

fn claims(token: &Value) -> Value {
    let payload = token.as_str().unwrap().split('.').nth(1).unwrap();
    serde_json::from_slice(&URL_SAFE_NO_PAD.decode(payload).unwrap()).unwrap()
}

async fn get(service: &Service, path: &str) -> Answer {
    answer(service.request(Method::GET, path)).await
}

async fn live_tokens_name_the_project_and_say_its_claims(database: Database) {
    let service = service(database).await;
    let project = service.world.project("100");
    let before = service.log_in(&project.live, &service.world.phone()).await;
    assert_eq!(claims(&before["access_token"])["iss"], ISSUER);
    let lines = "role=authenticated,https://shop.example/tenant=a b";
    set(&service, &project, &["--own-issuer", "on", "--token-claims", lines]);

    let login = service.log_in(&project.live, &service.world.phone()).await;
    let refreshed = service.refresh(&project.live, &login["refresh_token"]).await.ok();
    let own = format!("{ISSUER}/p/{}", project.id);
    for pair in [&login, &refreshed] {
        let claims = claims(&pair["access_token"]);
        assert_eq!((&claims["iss"], &claims["aud"]), (&json!(own), &json!(project.id)));
        assert_eq!(claims["role"], "authenticated");
        assert_eq!(claims["https://shop.example/tenant"], "a b");
    }
    // Older tokens stay valid, and so do current ones after it is switched off again.
    service.validate(&project.live, &before["access_token"]).await.ok();
    service.validate(&project.live, &refreshed["access_token"]).await.ok();
    // Neither the sandbox nor another project ever names it.
    let test = service.log_in(&project.test, &service.world.phone()).await;
    let other = service.world.project("100");
    let other = service.log_in(&other.live, &service.world.phone()).await;
    for pair in [&test, &other] {
        let claims = claims(&pair["access_token"]);
        assert_eq!((&claims["iss"], &claims["role"]), (&json!(ISSUER), &Value::Null));
    }
    set(&service, &project, &["--own-issuer", "off"]);
    service.validate(&project.live, &refreshed["access_token"]).await.ok();
    let after = service.refresh(&project.live, &refreshed["refresh_token"]).await.ok();
    let after = claims(&after["access_token"]);
    assert_eq!((&after["iss"], &after["role"]), (&json!(ISSUER), &Value::Null));
}

async fn discovery_is_there_for_such_projects_alone(database: Database) {
    let service = service(database).await;
    let project = service.world.project("0");
    let own = |document: &str| format!("/p/{}/.well-known/{document}", project.id);
    let by_path = format!("/.well-known/oauth-authorization-server/p/{}", project.id);
    let documents = [own("openid-configuration"), own("oauth-authorization-server"), by_path];
    let all = documents.iter().cloned().chain([own("jwks.json")]).collect::<Vec<_>>();
    for path in &all {
        get(&service, path).await.refused(404, "NOT_FOUND");
    }
    set(&service, &project, &["--own-issuer", "on"]);
    for path in &documents {
        let found = get(&service, path).await;
        assert_eq!(found.header("cache-control"), "public, max-age=300");
        let found = found.ok();
        let issuer = format!("{ISSUER}/p/{}", project.id);
        assert_eq!(found["issuer"], issuer);
        assert_eq!(found["jwks_uri"], format!("{issuer}/.well-known/jwks.json"));
        assert_eq!(found["id_token_signing_alg_values_supported"], json!(["ES256"]));
        assert_eq!(found["subject_types_supported"], json!(["public"]));
    }
    let keys = get(&service, &own("jwks.json")).await;
    let etag = keys.header("etag").to_owned();
    assert_eq!(keys.ok(), get(&service, "/.well-known/jwks.json").await.ok());
    let again = service.request(Method::GET, &own("jwks.json")).header("if-none-match", etag);
    assert_eq!(answer(again).await.status.as_u16(), 304);
    for other in ["nonsense", "0199a000-0000-7000-8000-000000000000"] {
        let path = format!("/p/{other}/.well-known/openid-configuration");
        get(&service, &path).await.refused(404, "NOT_FOUND");
    }
    service.world.cli(&["project", "archive", "--project", &project.id]);
    for path in &all {
        get(&service, path).await.refused(404, "NOT_FOUND");
    }
}

async fn a_project_has_an_issuer_only_where_others_can_find_it(database: Database) {
    let service = Service::start(database);
    let project = service.world.project("0");
    let refused = |name: &str, value: &str| {
        let output = service.world.run(&["project", "set", "--project", &project.id, name, value]);
        assert_ne!(output.status.code(), Some(0), "{name} {value}");
        String::from_utf8(output.stderr).unwrap()
    };
    assert!(refused("--own-issuer", "on").contains("tokens.issuer"));
    for claims in ["role=service_role", "service_role=x", "sub=x", "iss=x", "role", "a b=c"] {
        refused("--token-claims", claims);
    }
    // Claims alone change nothing.
    set(&service, &project, &["--token-claims", "role=authenticated"]);
    set(&service, &project, &["--token-claims", "none"]);
}

/// Both types are accepted everywhere, whatever the project's current setting.
async fn its_tokens_are_of_the_type_that_the_project_chose(database: Database) {
    let service = service(database).await;
    let project = service.world.project("100");
    // Alone it changes nothing, but it is stored.
    assert_eq!(set(&service, &project, &["--token-type", "JWT"])["token_type"], "JWT");
    let installation = service.log_in(&project.live, &service.world.phone()).await;
    assert_eq!(typ(&installation["access_token"]), "at+jwt");
    set(&service, &project, &["--own-issuer", "on"]);

    let jwt = service.log_in(&project.live, &service.world.phone()).await;
    let refreshed = service.refresh(&project.live, &jwt["refresh_token"]).await.ok();
    let test = service.log_in(&project.test, &service.world.phone()).await;
    let other = service.world.project("100");
    let other = service.log_in(&other.live, &service.world.phone()).await;
    let types = [&jwt, &refreshed, &test, &other].map(|pair| typ(&pair["access_token"]));
    assert_eq!(types, ["JWT", "JWT", "at+jwt", "at+jwt"]);
    assert_eq!(claims(&refreshed["access_token"])["iss"], format!("{ISSUER}/p/{}", project.id));

    let service = Service::start_in(service.kill());
    set(&service, &project, &["--token-type", "at+jwt"]);
    let profiled = service.log_in(&project.live, &service.world.phone()).await;
    assert_eq!(typ(&profiled["access_token"]), "at+jwt");
    for pair in [&installation, &refreshed, &profiled] {
        let token = &pair["access_token"];
        service.validate(&project.live, token).await.ok();
        service.validate(&project.test, token).await.refused(401, "INVALID_ACCESS_TOKEN");
        service.logout(&project.live, token).await.ok();
        service.validate(&project.live, token).await.refused(401, "INVALID_ACCESS_TOKEN");
    }
    let wrong = ["project", "set", "--project", &project.id, "--token-type", "jwt"];
    assert_eq!(service.world.run(&wrong).status.code(), Some(2));
}

/// Others must find the keys of exactly this service, so nobody may be able to change them on the
/// way.
async fn a_loopback_issuer_is_for_development(database: Database) {
    let world = World::new(database)
        .with("DWAR__TOKENS__ISSUER", "http://otp.example.com")
        .with("DWAR__TOKENS__PUBLISH_BEFORE_SECONDS", "7200");
    let project = world.project("0");
    let own = ["project", "set", "--project", &project.id, "--own-issuer", "on"];
    let elsewhere = world.run(&own);
    assert_eq!(elsewhere.status.code(), Some(1));
    let told = String::from_utf8_lossy(&elsewhere.stderr).into_owned();
    assert!(told.contains("tokens.issuer has to be"), "{told}");

    let world = world.with("DWAR__TOKENS__ISSUER", "http://127.0.0.1:8080");
    assert_eq!(world.cli(&own)["own_issuer"], true);
    let production = world
        .with("DWAR__ENVIRONMENT", "production")
        .with("DWAR__GATEWAYS__WHATSAPP", "")
        .with("DWAR__GATEWAYS__SMS", "");
    let refused = production.run(&own);
    assert_eq!(refused.status.code(), Some(1));
    let told = String::from_utf8_lossy(&refused.stderr).into_owned();
    assert!(told.contains("\n  tokens.issuer: begins with http://"), "{told}");
}

/// Scripts of other sites may read public information, including refusals, but nothing else.
async fn pages_of_any_site_may_read_keys_and_metadata(database: Database) {
    let service = service(database).await;
    let project = service.world.project("0");
    let own = |document: &str| format!("/p/{}/.well-known/{document}", project.id);
    let all = [
        "/.well-known/jwks.json".to_owned(),
        own("jwks.json"),
        own("openid-configuration"),
        own("oauth-authorization-server"),
        format!("/.well-known/oauth-authorization-server/p/{}", project.id),
    ];
    let allowed = |answer: &Answer| answer.header("access-control-allow-origin").to_owned();
    for path in &all[1..] {
        let missing = get(&service, path).await;
        assert_eq!((missing.status.as_u16(), allowed(&missing).as_str()), (404, "*"), "{path}");
    }
    set(&service, &project, &["--own-issuer", "on"]);
    for path in &all {
        let found = get(&service, path).await;
        assert_eq!((found.status.as_u16(), allowed(&found).as_str()), (200, "*"), "{path}");
        let head = service.request(Method::HEAD, path).send().await.unwrap();
        assert_eq!(
            (head.status().as_u16(), &head.headers()["access-control-allow-origin"]),
            (200, &"*".parse().unwrap())
        );
        if path.ends_with("jwks.json") {
            let again =
                service.request(Method::GET, path).header("If-None-Match", found.header("etag"));
            let again = answer(again).await;
            assert_eq!((again.status.as_u16(), allowed(&again).as_str()), (304, "*"), "{path}");
        }
        let wrong = service.request(Method::POST, path).send().await.unwrap();
        assert_eq!(
            (wrong.status().as_u16(), &wrong.headers()["access-control-allow-origin"]),
            (405, &"*".parse().unwrap())
        );
        let asked = service.request(Method::OPTIONS, path);
        let asked = asked.header("Origin", "https://app.example.com");
        let asked = asked.header("Access-Control-Request-Method", "GET");
        let asked = asked.header("Access-Control-Request-Headers", "if-none-match");
        let asked = asked.send().await.unwrap();
        assert_eq!(asked.status().as_u16(), 204, "{path}");
        for (name, value) in [
            ("access-control-allow-origin", "*"),
            ("access-control-allow-methods", "GET, HEAD"),
            ("access-control-allow-headers", "*"),
        ] {
            assert_eq!(asked.headers()[name], value, "{path}");
        }
    }
    for path in ["/openapi.json", "/healthz", "/v1/sandbox/messages"] {
        let other = service.request(Method::GET, path).send().await.unwrap();
        assert!(!other.headers().contains_key("access-control-allow-origin"), "{path}");
    }
}
