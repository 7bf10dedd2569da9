//! Authentication, and the form of every refusal.

use super::{Program, code, json_of, text};
use crate::support::{HOST, House, ORIGIN};
use actix_web::http::Method;
use actix_web::test::TestRequest;
use dwar_operator::{Access, Requester, Role};
use dwar_testkit::{minutes, new_token, seconds};
use serde_json::{Value, json};

#[actix_web::test]
async fn a_token_sees_its_projects_and_pages_through_them() {
    let house = House::new().await;
    let owner = Program::owner(&house).await;
    let first = json_of(&owner.get("/projects?limit=1").await);
    assert_eq!(first["items"][0]["name"], "Acme");
    let cursor = text(&first["next_cursor"]);
    let second = json_of(&owner.get(&format!("/projects?limit=1&cursor={cursor}")).await);
    assert_eq!(
        (&second["items"][0]["name"], &second["next_cursor"]),
        (&json!("Other"), &Value::Null)
    );
    let viewer = Program::new(&house, Access::one(house.other, Role::Viewer)).await;
    let seen = json_of(&viewer.get("/projects").await);
    assert_eq!(seen["items"].as_array().unwrap().len(), 1);
    assert_eq!(seen["items"][0]["name"], "Other");
    for query in ["limit=0", "limit=501", "cursor=x"] {
        assert_eq!(owner.get(&format!("/projects?{query}")).await.status, 422, "{query}");
    }
    for query in ["limit=x", "limt=5", "limit=1&limit=2"] {
        let reply = owner.get(&format!("/projects?{query}")).await;
        assert_eq!((reply.status, code(&reply).as_str()), (400, "INVALID_REQUEST"), "{query}");
    }
}

#[actix_web::test]
async fn a_token_ends_at_its_instant_and_with_its_revocation() {
    let house = House::new().await;
    let program = Program::owner(&house).await;
    assert_eq!(program.get("/projects").await.status, 200);
    let other = Program::new(&house, Access::everything()).await;
    let tokens = json_of(&program.get("/tokens").await);
    assert_eq!(tokens["items"].as_array().unwrap().len(), 2);
    assert!(!tokens.to_string().contains("svc_adm_"));
    let id = text(&tokens["items"][1]["token_id"]).to_owned();
    let revoked = program.ask(Method::DELETE, &format!("/tokens/{id}"), json!({})).await;
    assert_eq!(revoked.status, 200, "{}", revoked.body);
    let late = other.get("/projects").await;
    assert_eq!((late.status, code(&late).as_str()), (401, "INVALID_ADMIN_TOKEN"));
    assert_eq!(late.header("www-authenticate"), r#"Bearer realm="admin", error="invalid_token""#);
    house.clock.advance(seconds(86_399));
    assert_eq!(program.get("/projects").await.status, 200);
    house.clock.advance(seconds(1));
    assert_eq!(program.get("/projects").await.status, 401);
}

#[actix_web::test]
async fn a_use_is_noted_with_its_address_once_a_minute() {
    let house = House::new().await;
    let program = Program::owner(&house).await;
    let ask = |port: u16| {
        let peer = std::net::SocketAddr::from(([192, 0, 2, 7], port));
        house.send(program.request(Method::GET, "/tokens").peer_addr(peer))
    };
    let first = json_of(&ask(1).await)["items"][0]["used_at"].clone();
    house.clock.advance(seconds(59));
    let second = json_of(&ask(2).await)["items"][0].clone();
    assert_eq!((&second["used_at"], &second["used_from"]), (&first, &json!("192.0.2.7")));
    house.clock.advance(seconds(1));
    assert_ne!(json_of(&ask(3).await)["items"][0]["used_at"], first);
}

#[actix_web::test]
async fn a_page_in_a_browser_cannot_use_it_and_no_answer_lets_it() {
    let house = House::new().await;
    let program = Program::owner(&house).await;
    for (name, value) in [
        ("Origin", "https://evil.example"),
        ("Origin", ORIGIN),
        ("Origin", "null"),
        ("Sec-Fetch-Site", "cross-site"),
        ("Sec-Fetch-Site", "same-site"),
        ("Sec-Fetch-Site", "same-origin"),
    ] {
        for method in [Method::GET, Method::POST, Method::OPTIONS] {
            let request = program.request(method.clone(), "/projects").insert_header((name, value));
            let reply = house.send(request).await;
            let seen = (reply.status, code(&reply));
            assert_eq!(seen, (403, "FOREIGN_ORIGIN".to_owned()), "{method} {name} {value}");
            assert!(
                !reply.headers.iter().any(|(name, _)| name.as_str().starts_with("access-control"))
            );
        }
    }
    let elsewhere = TestRequest::with_uri("/admin/v1/projects")
        .insert_header(("Host", "evil.example"))
        .insert_header(("Authorization", format!("Bearer {}", program.token)));
    let reply = house.send(elsewhere).await;
    assert_eq!((reply.status, code(&reply).as_str()), (421, "MISDIRECTED_REQUEST"));
    // However the path is encoded, the API answers.
    let odd = TestRequest::with_uri("/%61dmin/v1/projects").insert_header(("Host", HOST));
    assert_eq!(code(&house.send(odd.insert_header(("Origin", ORIGIN))).await), "FOREIGN_ORIGIN");
}

#[actix_web::test]
async fn a_token_opens_no_page() {
    let house = House::new().await;
    let token = house.token("deploy", Access::everything()).await;
    for path in ["/projects".to_owned(), house.page("keys"), "/tokens".to_owned()] {
        let asked = TestRequest::with_uri(&path)
            .insert_header(("Host", HOST))
            .insert_header(("Authorization", format!("Bearer {token}")))
            .cookie(actix_web::cookie::Cookie::new("dwar_dashboard", token.clone()));
        let reply = house.send(asked).await;
        assert_eq!(reply.status, 303, "{path}");
        assert!(reply.header("location").starts_with("/sign-in?next="), "{path}");
    }
}

#[actix_web::test]
async fn refusals_have_the_body_of_the_public_api_and_the_requests_id() {
    let house = House::new().await;
    let program = Program::owner(&house).await;
    let nowhere =
        program.request(Method::GET, "/nowhere").insert_header(("X-Request-Id", "mine-7"));
    let reply = house.send(nowhere).await;
    assert_eq!((reply.status, reply.header("x-request-id")), (404, "mine-7"));
    assert_eq!(
        json_of(&reply),
        json!({
            "error": "There is no such resource.", "code": "NOT_FOUND", "request_id": "mine-7",
        })
    );
    assert_eq!(reply.header("content-type"), "application/json");
    let fresh = program.request(Method::GET, "/nowhere").insert_header(("X-Request-Id", "a b"));
    let fresh = house.send(fresh).await;
    assert_eq!(fresh.header("x-request-id").len(), 36);
    assert_eq!(json_of(&fresh)["request_id"], fresh.header("x-request-id"));

    let put = program.ask(Method::PUT, "/projects", json!({})).await;
    assert_eq!((put.status, code(&put).as_str()), (405, "METHOD_NOT_ALLOWED"));
    let allowed: std::collections::BTreeSet<&str> = put.header("allow").split(", ").collect();
    assert_eq!(allowed, ["GET", "HEAD", "POST"].into());
    let good = program.get("/projects").await;
    assert_eq!((good.header("cache-control"), good.header("x-request-id").len()), ("no-store", 36));
}

#[actix_web::test]
async fn bodies_are_bounded_json_and_name_the_field_that_is_wrong() {
    let house = House::new().await;
    let program = Program::owner(&house).await;
    let path = program.own("/wallet/credits");
    let raw = |kind: &'static str, body: String| {
        let request = program.request(Method::POST, &path).insert_header(("Content-Type", kind));
        house.send(request.set_payload(body))
    };
    for (kind, body, status, word) in [
        ("text/plain", "{}".to_owned(), 415, "UNSUPPORTED_MEDIA_TYPE"),
        ("application/x-www-form-urlencoded", "a=b".to_owned(), 415, "UNSUPPORTED_MEDIA_TYPE"),
        ("application/json", "{".to_owned(), 400, "INVALID_REQUEST"),
        ("application/json", "[]".to_owned(), 400, "INVALID_REQUEST"),
        ("application/json", String::new(), 400, "INVALID_REQUEST"),
        ("application/json", " ".repeat(40_000), 413, "PAYLOAD_TOO_LARGE"),
    ] {
        let reply = raw(kind, body).await;
        assert_eq!((reply.status, code(&reply).as_str()), (status, word), "{}", reply.body);
    }
    let declared = program.request(Method::POST, &path).insert_header(("Content-Length", "40000"));
    assert_eq!(house.send(declared).await.status, 413, "before anything is read");
    for (body, said) in [
        (json!({"amount_paise": "98765 43210", "reference": "x"}), "amount_paise: expected i64"),
        (json!({"amount_paise": 5}), "missing field `reference`"),
        (
            json!({"amount_paise": 5, "reference": "x", "amuont": 1}),
            "amuont: unknown field `amuont`",
        ),
        (json!({"amount_paise": 0, "reference": "x"}), "amount_paise: more than zero"),
        (
            json!({"amount_paise": 5, "reference": " "}),
            "reference: 1 to 200 visible characters on one line",
        ),
    ] {
        let reply = program.post(&path, body).await;
        assert_eq!((reply.status, code(&reply).as_str()), (422, "INVALID_FIELD"), "{}", reply.body);
        assert!(text(&json_of(&reply)["error"]).starts_with(said), "{}", reply.body);
        assert!(!reply.body.contains("43210"), "no value is said back");
    }
    let phone = program.post(&program.own("/unlock"), json!({"phone": "5876543210"})).await;
    assert_eq!((phone.status, phone.body.contains("5876543210")), (422, false), "{}", phone.body);
}

#[actix_web::test]
async fn wrong_tokens_are_counted_per_address_and_a_good_one_still_opens() {
    let house = House::new().await;
    let program = Program::owner(&house).await;
    let (tokens, by) = (&house.manage.tokens, Requester::command_line());
    let (gone, secret) =
        tokens.make(&by, new_token("x", Access::everything(), minutes(5))).await.unwrap();
    tokens.revoke(&by, gone.id).await.unwrap();
    let ask = |token: String, host: u8| {
        let peer = std::net::SocketAddr::from(([192, 0, 2, host], 1));
        let request = TestRequest::with_uri("/admin/v1/projects").insert_header(("Host", HOST));
        let request = request.insert_header(("Authorization", format!("Bearer {token}")));
        house.send(request.peer_addr(peer))
    };
    let wrong = secret.expose().to_owned();
    for _ in 0..30 {
        assert_eq!(ask(wrong.clone(), 1).await.status, 401);
    }
    let limited = ask(wrong.clone(), 1).await;
    assert_eq!((limited.status, code(&limited).as_str()), (429, "TOKEN_RATE_LIMITED"));
    assert!((1..=60).contains(&limited.header("retry-after").parse::<u32>().unwrap()));
    assert_eq!(ask(wrong.clone(), 2).await.status, 401, "another address");
    assert_eq!(ask(program.token.clone(), 1).await.status, 200, "nobody locks out a good token");
    house.clock.advance(minutes(1));
    assert_eq!(ask(wrong, 1).await.status, 401);
}

#[actix_web::test]
async fn the_document_is_for_everybody() {
    let house = House::new().await;
    let asked = TestRequest::with_uri("/admin/v1/openapi.json").insert_header(("Host", HOST));
    let reply = house.send(asked).await;
    assert_eq!((reply.status, json_of(&reply)["openapi"].clone()), (200, json!("3.1.0")));
}
