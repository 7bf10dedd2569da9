//! What programs do by the admin API, and what it refuses.

use crate::admin_api_walk::code;
use crate::support::{HOST, House, ORIGIN, Reply};
use actix_web::http::Method;
use actix_web::test::TestRequest;
use dwar_kernel::{KeyMode, Phone};
use dwar_operator::{Access, By, Role};
use dwar_testkit::{Fixtures, Line, minutes, new_token, seconds};
use serde_json::{Value, json};

/// A program with a token.
pub struct Program<'a> {
    house: &'a House,
    token: String,
}

impl<'a> Program<'a> {
    pub async fn new(house: &'a House, access: Access) -> Self {
        let token = house.token("deploy", access).await;
        Self { house, token }
    }

    pub async fn owner(house: &'a House) -> Self {
        Self::new(house, Access::everything()).await
    }

    pub fn request(&self, method: Method, path: &str) -> TestRequest {
        TestRequest::with_uri(&format!("/admin/v1{path}"))
            .method(method)
            .insert_header(("Host", HOST))
            .insert_header(("Authorization", format!("Bearer {}", self.token)))
    }

    pub async fn ask(&self, method: Method, path: &str, body: Value) -> Reply {
        self.house.send(self.request(method, path).set_json(body)).await
    }

    pub async fn get(&self, path: &str) -> Reply {
        self.house.send(self.request(Method::GET, path)).await
    }

    pub async fn post(&self, path: &str, body: Value) -> Reply {
        self.ask(Method::POST, path, body).await
    }

    pub fn own(&self, rest: &str) -> String {
        format!("/projects/{}{rest}", self.house.project)
    }
}

pub fn json_of(reply: &Reply) -> Value {
    serde_json::from_str(&reply.body).unwrap_or_else(|_| panic!("{}", reply.body))
}

pub fn text(value: &Value) -> &str {
    value.as_str().unwrap()
}

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
    // However the path is written, it is the API that answers.
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
        assert_eq!((reply.status, reply.header("location")), (303, "/sign-in"), "{path}");
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
    let (tokens, by) = (&house.manage.tokens, By::command_line());
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
async fn a_project_is_made_changed_and_repriced() {
    let house = House::new().await;
    let owner = Program::owner(&house).await;
    let made = owner.post("/projects", json!({"name": "Chai", "balance_paise": 500})).await;
    assert_eq!(made.status, 201);
    let made = json_of(&made);
    assert!(
        house.opens(text(&made["live_key"])).await && house.opens(text(&made["test_key"])).await
    );
    let path = format!("/projects/{}", text(&made["project_id"]));
    let change = json!({"brand": "Chai & Co", "identity_delete": true, "sms_providers": ["msg91"], "fallback_seconds": 30});
    let changed = json_of(&owner.ask(Method::PATCH, &path, change).await);
    assert_eq!(changed["brand"], "Chai & Co");
    assert_eq!(changed["sms_providers"], json!(["msg91"]));
    let kept = json_of(&owner.ask(Method::PATCH, &path, json!({"name": "Chai 2"})).await);
    assert_eq!((&kept["name"], &kept["fallback_seconds"]), (&json!("Chai 2"), &json!(30)));
    let reset = json!({"brand": null, "fallback_seconds": null});
    let reset = json_of(&owner.ask(Method::PATCH, &path, reset).await);
    assert_eq!((&reset["brand"], &reset["fallback_seconds"]), (&Value::Null, &Value::Null));
    for (wrong, field) in [
        (json!({"name": "a\nb"}), "name"),
        (json!({"sms_text": "no code"}), "sms_text"),
        (json!({"sms_providers": ["pigeon"]}), "sms_providers"),
        (json!({"whatsapp_price_paise": 5}), "whatsapp_price_paise"),
    ] {
        let reply = owner.ask(Method::PATCH, &path, wrong).await;
        assert_eq!(reply.status, 422, "{}", reply.body);
        assert!(text(&json_of(&reply)["error"]).starts_with(field), "{}", reply.body);
    }
    let prices = json!({"sms_price_paise": 31, "low_balance_paise": 10_000});
    let priced = json_of(&owner.ask(Method::PATCH, &format!("{path}/prices"), prices).await);
    assert_eq!(
        (&priced["sms_price_paise"], &priced["low_balance_paise"]),
        (&json!(31), &json!(10_000))
    );
    assert_eq!(json_of(&owner.get(&path).await), priced);
}

#[actix_web::test]
async fn a_key_is_replaced_once_however_often_it_is_asked_for() {
    let house = House::new().await;
    let owner = Program::new(&house, Access::one(house.project, Role::Owner)).await;
    let keys = json_of(&owner.get(&owner.own("/keys")).await);
    let key = &keys["items"][0];
    assert!(house.live_key.ends_with(text(&key["ending"])));
    assert!(house.live_key.starts_with(text(&key["prefix"])));
    assert!(!keys.to_string().contains(&house.live_key));
    let path = owner.own("/keys/live/regenerate");
    let made = owner.post(&path, json!({"replaces": key["key_id"]})).await;
    assert_eq!((made.status, made.header("cache-control")), (201, "no-store"));
    let fresh = text(&json_of(&made)["key"]).to_owned();
    assert!(house.opens(&fresh).await && !house.opens(&house.live_key).await);
    let again = owner.post(&path, json!({"replaces": key["key_id"]})).await;
    assert_eq!((again.status, code(&again).as_str()), (409, "CONFLICT"));
    assert!(house.opens(&fresh).await);
    let other = owner.own("/keys/staging/regenerate");
    assert_eq!(owner.post(&other, json!({"replaces": key["key_id"]})).await.status, 404);
}

#[actix_web::test]
async fn money_moves_once_per_reference_and_is_proven() {
    let house = House::new().await;
    let owner = Program::owner(&house).await;
    let before =
        json_of(&owner.get(&owner.own("/wallet")).await)["balance_paise"].as_i64().unwrap();
    let credit = json!({"amount_paise": 700, "reference": "UTR 1"});
    for (booked, balance) in [(true, before + 700), (false, before + 700)] {
        let moved = json_of(&owner.post(&owner.own("/wallet/credits"), credit.clone()).await);
        assert_eq!(
            (&moved["booked"], &moved["wallet"]["balance_paise"]),
            (&json!(booked), &json!(balance))
        );
    }
    let adjust = owner.own("/wallet/adjustments");
    let down = json!({"amount_paise": -200, "reference": "typo"});
    let moved = json_of(&owner.post(&adjust, down).await);
    assert_eq!(moved["wallet"]["balance_paise"], before + 500);
    let over =
        owner.post(&adjust, json!({"amount_paise": -99_999_999_999_i64, "reference": "y"})).await;
    assert_eq!(over.status, 409, "{}", over.body);
    for paise in [i64::MAX, i64::MIN, 1_000_000_000_001] {
        let far = json!({"amount_paise": paise, "reference": "far"});
        assert_eq!(owner.post(&adjust, far).await.status, 422, "{paise}");
    }
    let refund = json!({"otp_id": "0199a000-0000-7000-8000-000000000000"});
    assert_eq!(owner.post(&owner.own("/wallet/refunds"), refund).await.status, 409);
    let entries = json_of(&owner.get(&owner.own("/wallet/entries?limit=1")).await);
    assert_eq!(entries["items"].as_array().unwrap().len(), 1);
    assert_eq!(
        (&entries["items"][0]["amount_paise"], &entries["items"][0]["kind"]),
        (&json!(-200), &json!("adjustment"))
    );
    let proof = json_of(&owner.post("/wallets/proof", json!({})).await);
    assert_eq!(proof["difference_paise"], 0);
}

#[actix_web::test]
async fn a_webhook_is_added_rotated_and_removed_by_its_project_alone() {
    let house = House::new().await;
    let member = Program::new(&house, Access::one(house.project, Role::Member)).await;
    let base = member.own("/webhooks");
    let added = member.post(&base, json!({"url": "https://example.com/x"})).await;
    assert_eq!(added.status, 201);
    let added = json_of(&added);
    assert!(text(&added["secret"]).starts_with("whsec_"));
    let one = format!("{base}/{}", text(&added["webhook"]["webhook_id"]));
    let rotated = json_of(&member.post(&format!("{one}/rotate-secret"), json!({})).await);
    assert_ne!(rotated["secret"], added["secret"]);
    assert_eq!(member.post(&format!("{one}/enable"), json!({})).await.status, 200);
    let stranger = Program::new(&house, Access::one(house.other, Role::Owner)).await;
    let through = one.replace(&house.project.to_string(), &house.other.to_string());
    for (method, path) in
        [(Method::DELETE, through.clone()), (Method::POST, through + "/rotate-secret")]
    {
        assert_eq!(stranger.ask(method, &path, json!({})).await.status, 404, "{path}");
    }
    assert_eq!(json_of(&member.get(&base).await)["items"].as_array().unwrap().len(), 1);
    assert_eq!(member.ask(Method::DELETE, &one, json!({})).await.status, 200);
    assert_eq!(member.ask(Method::DELETE, &one, json!({})).await.status, 404);
}

#[actix_web::test]
async fn an_identity_is_found_by_number_in_a_body_masked_by_id_and_erased() {
    let house = House::new().await;
    let member = Program::new(&house, Access::one(house.project, Role::Member)).await;
    let phone: Phone = "9876543210".parse().unwrap();
    let index = house.parts.tools.vault.phone_index(house.project, KeyMode::Live, &phone);
    let line = Line { project: house.project, mode: KeyMode::Live, phone, index };
    let id = house.parts.stores.sessions.start(Fixtures::seeded(3).login(&line)).await.unwrap();
    let found =
        member.post(&member.own("/identities/live/find"), json!({"phone": "9876543210"})).await;
    assert_eq!(json_of(&found)["identity_id"], id.to_string());
    assert_eq!(json_of(&found)["phone"], "+919876543210");
    let one = member.own(&format!("/identities/live/{id}"));
    assert_eq!(json_of(&member.get(&one).await)["phone"], "+9198••••3210");
    let elsewhere = member.own(&format!("/identities/test/{id}"));
    assert_eq!(member.get(&elsewhere).await.status, 404, "another mode is another world");
    let erased = json_of(&member.ask(Method::DELETE, &one, json!({})).await);
    assert_eq!((&erased["erased"], &erased["sessions_revoked"]), (&json!(true), &json!(1)));
    assert_eq!(member.get(&one).await.status, 404);
    let unlocked =
        json_of(&member.post(&member.own("/unlock"), json!({"phone": "9876543210"})).await);
    assert_eq!((&unlocked["was"], &unlocked["phone"]), (&json!("usual"), &json!("+9198••••3210")));
}

#[actix_web::test]
async fn somebody_is_invited_changed_and_removed_and_never_reset() {
    let house = House::new().await;
    let owner = Program::new(&house, Access::one(house.project, Role::Owner)).await;
    let access =
        |project: String, role: &str| json!({"projects": [{"project_id": project, "role": role}]});
    let ours = access(house.project.to_string(), "support");
    let invited = owner.post("/operators", json!({"name": "ravi", "access": ours})).await;
    assert_eq!(invited.status, 201, "{}", invited.body);
    let invited = json_of(&invited);
    assert!(text(&invited["link"]).starts_with("http://127.0.0.1:8081/invite#svc_lnk_"));
    let again = owner.post("/operators", json!({"name": "RAVI", "access": ours})).await;
    assert_eq!((again.status, code(&again).as_str()), (409, "CONFLICT"));
    for (access, status) in [
        (json!({"everything": true}), 403),
        (access(house.other.to_string(), "viewer"), 403),
        (json!({}), 403),
        (access("x".to_owned(), "viewer"), 422),
        (access(house.project.to_string(), "boss"), 422),
    ] {
        let body = json!({"name": "eve", "access": access});
        assert_eq!(owner.post("/operators", body).await.status, status, "{access}");
    }
    let one = format!("/operators/{}", text(&invited["operator"]["operator_id"]));
    let viewer = access(house.project.to_string(), "viewer");
    let changed = owner.ask(Method::PUT, &format!("{one}/access"), viewer.clone()).await;
    assert_eq!(json_of(&changed)["access"]["projects"], viewer["projects"]);
    assert_eq!(owner.post(&format!("{one}/reset"), json!({})).await.status, 404);
    // Whoever is somewhere else too is seen, but not where else.
    let both = Access {
        projects: [(house.project, Role::Viewer), (house.other, Role::Owner)].into(),
        ..Access::default()
    };
    house.joined("meena", both).await;
    let chief = house.joined("chief", Access::everything()).await.operator.id;
    let list = owner.get("/operators").await;
    assert!(list.body.contains("meena") && !list.body.contains(&house.other.to_string()));
    assert!(!list.body.contains("chief"));
    assert_eq!(
        owner.ask(Method::DELETE, &format!("/operators/{chief}"), json!({})).await.status,
        404
    );
    assert_eq!(owner.ask(Method::DELETE, &one, json!({})).await.status, 200);
    assert!(house.manage.operators.named("ravi").await.is_err());
}

#[actix_web::test]
async fn a_token_makes_one_that_lives_no_longer_and_shows_it_once() {
    let house = House::new().await;
    let owner = Program::owner(&house).await;
    let new = |seconds: u32| {
        json!({"name": "ci", "lifetime_seconds": seconds,
            "access": {"projects": [{"project_id": house.project.to_string(), "role": "viewer"}]}})
    };
    let made = owner.post("/tokens", new(3_600)).await;
    assert_eq!(made.status, 201, "{}", made.body);
    let secret = text(&json_of(&made)["secret"]).to_owned();
    let child = Program { house: &house, token: secret.clone() };
    assert_eq!(child.get(&child.own("/wallet")).await.status, 200);
    assert!(!owner.get("/tokens").await.body.contains(&secret));
    let long = owner.post("/tokens", new(86_401)).await;
    assert_eq!((long.status, code(&long).as_str()), (422, "INVALID_FIELD"), "{}", long.body);
    assert_eq!(owner.post("/tokens", new(59)).await.status, 422);
    let project_owner = Program::new(&house, Access::one(house.project, Role::Owner)).await;
    assert_eq!(project_owner.post("/tokens", new(3_600)).await.status, 403);
}

#[actix_web::test]
async fn the_log_names_the_token_and_its_address_and_holds_no_secret_and_no_number() {
    let house = House::new().await;
    let owner = Program::owner(&house).await;
    let mut secrets = vec![owner.token.clone()];
    let keys = json_of(&owner.get(&owner.own("/keys")).await);
    let replaces = json!({"replaces": keys["items"][0]["key_id"]});
    let made = json_of(&owner.post(&owner.own("/keys/live/regenerate"), replaces).await);
    secrets.push(text(&made["key"]).to_owned());
    let hook = json!({"url": "https://example.com/hush"});
    let hook = json_of(&owner.post(&owner.own("/webhooks"), hook).await);
    secrets.push(text(&hook["secret"]).to_owned());
    let peer = std::net::SocketAddr::from(([192, 0, 2, 7], 1));
    let unlock = owner.request(Method::POST, &owner.own("/unlock")).peer_addr(peer);
    assert_eq!(house.send(unlock.set_json(json!({"phone": "9876543210"}))).await.status, 200);
    owner
        .post(
            &owner.own("/wallet/credits"),
            json!({"amount_paise": 5, "reference": "for 9876543210"}),
        )
        .await;
    let rotated = owner.post("/signing-keys/rotate", json!({})).await;
    assert_eq!(rotated.status, 201, "{}", rotated.body);
    assert_eq!(json_of(&owner.get("/signing-keys").await)["items"].as_array().unwrap().len(), 2);

    let log = json_of(&owner.get("/audit").await);
    let mut lines = log["items"].as_array().unwrap().clone();
    lines.retain(|line| line["actor"]["kind"] == "token");
    let mut actions: Vec<&str> = lines.iter().map(|line| text(&line["action"])).collect();
    actions.sort_unstable();
    let wanted = [
        "endpoint.added",
        "key.regenerated",
        "phone.unlocked",
        "signing_key.rotated",
        "wallet.credited",
    ];
    assert_eq!(actions, wanted);
    for line in &lines {
        assert_eq!(line["actor"]["name"], "token deploy");
        let from =
            if line["action"] == "phone.unlocked" { json!("192.0.2.7") } else { Value::Null };
        assert_eq!(line["from"], from);
    }
    let export = owner.get("/audit/export").await;
    for hush in secrets.iter().map(String::as_str).chain(["9876543210", "hush", "whsec_", "svc_"]) {
        assert!(!export.body.contains(hush), "{hush}");
    }
}

#[actix_web::test]
async fn the_log_is_paged_filtered_and_exported_whole() {
    let house = House::new().await;
    let owner = Program::owner(&house).await;
    let by = By::command_line();
    for number in 0..1_100 {
        let reference = Some(format!("r{number}").parse().unwrap());
        let amount = dwar_wallet::Amount::from(1);
        house.manage.wallets.credit(&by, house.project, amount, reference).await.unwrap();
    }
    let (mut cursor, mut seen) = (String::new(), Vec::new());
    loop {
        let path = owner.own(&format!("/audit?limit=400&action=wallet.credited{cursor}"));
        let page = json_of(&owner.get(&path).await);
        seen.extend(page["items"].as_array().unwrap().iter().map(|line| line["id"].clone()));
        match &page["next_cursor"] {
            Value::String(next) => cursor = format!("&cursor={next}"),
            _ => break,
        }
    }
    assert_eq!(seen.len(), 1_100);
    let export = owner.get(&owner.own("/audit/export?action=wallet.credited")).await;
    assert_eq!(export.header("content-type"), "application/x-ndjson");
    let lines: Vec<Value> = export
        .body
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap()["id"].clone())
        .collect();
    assert_eq!(lines, seen);
    let late = owner.get("/audit?since=2099-01-01T00:00:00Z").await;
    assert!(json_of(&late)["items"].as_array().unwrap().is_empty());
    for wrong in ["action=x", "since=yesterday", "cursor=x", "cursor=2027-01-15T08:00:00Z_x"] {
        assert_eq!(owner.get(&format!("/audit?{wrong}")).await.status, 422, "{wrong}");
    }
}

#[actix_web::test]
async fn the_document_is_for_everybody() {
    let house = House::new().await;
    let asked = TestRequest::with_uri("/admin/v1/openapi.json").insert_header(("Host", HOST));
    let reply = house.send(asked).await;
    assert_eq!((reply.status, json_of(&reply)["openapi"].clone()), (200, json!("3.1.0")));
}
