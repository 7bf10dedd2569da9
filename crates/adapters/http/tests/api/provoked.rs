//! Provokes every answer that the document lists, over a store in memory.

use crate::ports::{Ports, Ready};
use crate::support::{Reply, TestApp, settings};
use actix_web::http::Method;
use actix_web::test::TestRequest;
use actix_web::web::Data;
use dwar_app::{Parts, Stores};
use dwar_event::EventFeed;
use dwar_http::{Api, Readiness, document};
use dwar_kernel::{KeyMode, PriceList, ProjectId, StoreError};
use dwar_memory::{Fault, MemoryRequestLimiter, MemoryStore};
use dwar_otp::{Outcome, Reason};
use dwar_project::{ApiKey, KeyRecord, ProjectChange, ProjectStore};
use dwar_testkit::{
    ClearVault, Documented, FixedClock, Fixtures, Post, Postbox, START, any_project, outside, parts,
};
use dwar_wallet::{Paise, WalletStore};
use serde_json::{Value, json};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use tokio::runtime::Handle;

pub const PHONE: &str = "+919876543210";
const NOWHERE: &str = "01920000-0000-7000-8000-000000000000";

/// A service with stores in memory and one project with money.
pub struct Whole {
    pub app: TestApp,
    pub project: ProjectId,
    pub store: Arc<MemoryStore>,
    pub postbox: Arc<Postbox>,
}

impl Whole {
    pub async fn open() -> Self {
        Self::with(true, |_| ()).await
    }

    /// A service whose project has every optional feature switched to `allowed`, with changed
    /// parts.
    async fn with(allowed: bool, change: impl FnOnce(&mut Parts)) -> Self {
        let make = Fixtures::seeded(7);
        let store = Arc::new(MemoryStore::default());
        let [live, test] =
            [KeyMode::Live, KeyMode::Test].map(|mode| ApiKey::generate(mode, &make.entropy));
        let project = make.project();
        let keys = [&live, &test]
            .map(|key| KeyRecord { digest: key.digest(&ClearVault), ..make.key(key.mode()) });
        store.create(project.clone(), keys).await.unwrap();
        let switches = ProjectChange {
            identity_lookup: Some(allowed),
            identity_delete: Some(allowed),
            relay_live: Some(allowed),
            events_feed: Some(allowed),
            own_issuer: Some(allowed),
            ..ProjectChange::default()
        };
        store.change(project.id, switches, any_project()).await.unwrap();
        store.credit(project.id, make.credit(Paise(1_000_000)), START).await.unwrap();
        let clock = Arc::new(FixedClock::at(START));
        let mut parts = parts(Stores::from(&store), &clock);
        parts.policies.issuer = "https://otp.example.com".to_owned();
        change(&mut parts);
        let postbox = Arc::new(Postbox::default());
        let limiter = Arc::new(MemoryRequestLimiter::default());
        let outside = outside(limiter, &postbox, &Arc::new(Post::default()));
        let ready = Arc::new(Ready(AtomicBool::new(true)));
        let use_cases = parts.service(outside).use_cases;
        let api = Api::new(&settings(), use_cases, ready, Handle::current());
        let app = TestApp::over(Data::new(api), live.expose(), test.expose());
        Self { app, project: project.id, store, postbox }
    }

    async fn feed_is_off_for_a_moment(&self) {
        for on in [false, true] {
            let change = ProjectChange { events_feed: Some(on), ..ProjectChange::default() };
            self.store.change(self.project, change, any_project()).await.unwrap();
        }
    }

    pub async fn send(&self) -> Reply {
        self.sends("sendOtp").await
    }

    async fn sends(&self, operation: &str) -> Reply {
        let (_, path, body) = call(operation);
        self.app.post(&path, &body.unwrap().to_string()).await
    }

    pub async fn sends_again(&self, operation: &str, phone: &str) -> Reply {
        let (method, path, body) = call(operation);
        let mut body = body.unwrap();
        body["phone"] = phone.into();
        let request = self.app.request(method, &path).insert_header(("Idempotency-Key", "k"));
        self.app.send(request.set_payload(body.to_string())).await
    }

    async fn verify(&self, code: &str) -> Reply {
        self.judges("verifyOtp", code).await
    }

    /// Calls one of the operations that judge a code.
    async fn judges(&self, operation: &str, code: &str) -> Reply {
        let body = json!({ "phone": PHONE, "code": code });
        self.app.post(&call(operation).1, &body.to_string()).await
    }

    /// The last code that was sent, and a wrong one.
    pub fn codes(&self) -> (String, &'static str) {
        let right = self.postbox.messages().last().unwrap().code.expose().to_owned();
        let wrong = if right == "000000" { "000001" } else { "000000" };
        (right, wrong)
    }
}

struct Starting;

#[async_trait::async_trait]
impl Readiness for Starting {
    fn prepared(&self) -> bool {
        false
    }

    async fn ready(&self) -> bool {
        false
    }
}

/// A call of an operation: method, path with query, body.
fn call(operation: &str) -> (Method, String, Option<Value>) {
    let post = |path: &str, body| (Method::POST, path.to_owned(), Some(body));
    let get = |path: String| (Method::GET, path, None);
    match operation {
        "sendOtp" => post("/v1/otp/send", json!({ "phone": PHONE })),
        "relayOtp" => {
            post("/v1/otp/relay", json!({ "phone": PHONE, "code": "48291", "expires_in": 600 }))
        }
        "verifyOtp" => post("/v1/otp/verify", json!({ "phone": PHONE, "code": "123456" })),
        "checkOtp" => post("/v1/otp/check", json!({ "phone": PHONE, "code": "123456" })),
        "getOtpStatus" => get(format!("/v1/otp/status/{NOWHERE}")),
        "validateSession" => post("/v1/session/validate", json!({ "access_token": "a.b.c" })),
        "refreshSession" => post("/v1/session/refresh", json!({ "refresh_token": "nonsense" })),
        "logoutSession" => post("/v1/session/logout", json!({ "access_token": "a.b.c" })),
        "forwardAuth" => get("/v1/session/forward-auth".to_owned()),
        "introspectToken" => post("/oauth2/introspect", "token=a.b.c".into()),
        "getIdentity" => get(format!("/v1/identity/{NOWHERE}")),
        "deleteIdentity" => (Method::DELETE, format!("/v1/identity/{NOWHERE}"), None),
        "findIdentity" => get("/v1/identity?phone=9876543210".to_owned()),
        "listSandboxMessages" => get("/v1/sandbox/messages?phone=9876543210".to_owned()),
        "listEvents" => get("/v1/events?other=9876543210".to_owned()),
        "getPublicKeys" => get("/.well-known/jwks.json".to_owned()),
        "getOpenIdConfiguration" => get(format!("/p/{NOWHERE}/.well-known/openid-configuration")),
        "getIssuerMetadata" => get(format!("/p/{NOWHERE}/.well-known/oauth-authorization-server")),
        "getIssuerMetadataByPath" => {
            get(format!("/.well-known/oauth-authorization-server/p/{NOWHERE}"))
        }
        "getIssuerKeys" => get(format!("/p/{NOWHERE}/.well-known/jwks.json")),
        "getReadiness" => get("/readyz".to_owned()),
        other => panic!("no call of {other} is known"),
    }
}

/// Tells whether a fault of the store affects the answer.
fn asks_a_store(path: &str) -> bool {
    path.starts_with("/v1/") || path.starts_with("/oauth2/") || path.contains(NOWHERE)
}

async fn provoke(operation: &str, code: &str) -> Reply {
    let (method, path, body) = call(operation);
    let form = || body.as_ref().and_then(Value::as_str).map(str::to_owned);
    let payload = form().or(body.as_ref().map(ToString::to_string)).unwrap_or_default();
    let request = |whole: &Whole, path: &str| whole.app.request(method.clone(), path);
    let plain = |whole: &Whole| request(whole, &path).set_payload(payload.clone());
    let with_body = |text: String| async {
        let whole = Whole::open().await;
        let request = request(&whole, &path).set_payload(text);
        whole.app.send(request).await
    };
    match code {
        "MISSING_API_KEY" => {
            let bare = TestRequest::with_uri(&path).method(method.clone());
            Whole::open().await.app.send(bare).await
        }
        "INVALID_API_KEY" => {
            let bare = TestRequest::with_uri(&path).method(method.clone());
            let bare = bare.insert_header(("X-Api-Key", "svc_live_nobody"));
            Whole::open().await.app.send(bare).await
        }
        "RATE_LIMITED" => {
            let whole = Whole::with(true, |parts| {
                let live = &mut parts.policies.limits.live;
                (live.general.limit, live.validate.limit) = (0, 0);
                live.sends.iter_mut().chain(&mut live.verifies).for_each(|all| all.limit = 0);
            });
            let whole = whole.await;
            whole.app.send(plain(&whole)).await
        }
        "INVALID_REQUEST" if body.is_some() => with_body("[]".to_owned()).await,
        "INVALID_REQUEST" => {
            let unreadable = path.replace(NOWHERE, "%zz").replace("9876543210", "%zz");
            let whole = Whole::open().await;
            let request = request(&whole, &unreadable);
            let key = whole.app.test.clone();
            whole.app.send(request.insert_header(("X-Api-Key", key))).await
        }
        "PAYLOAD_TOO_LARGE" => with_body(" ".repeat(17 * 1_024)).await,
        "UNSUPPORTED_MEDIA_TYPE" => {
            let whole = Whole::open().await;
            let text = plain(&whole).insert_header(("Content-Type", "text/plain"));
            whole.app.send(text).await
        }
        "SERVICE_UNAVAILABLE" if asks_a_store(&path) => {
            let whole = Whole::open().await;
            whole.store.faults().every(Some(Fault::Fails));
            whole.app.send(plain(&whole)).await
        }
        "INTERNAL_ERROR" if asks_a_store(&path) => {
            let whole = Whole::open().await;
            whole.store.faults().every(Some(Fault::Panics));
            whole.app.send(plain(&whole)).await
        }
        "SERVICE_UNAVAILABLE" => {
            let starting = TestApp::with(|ports| ports.ready = Arc::new(Starting));
            starting.get(&path).await
        }
        "INTERNAL_ERROR" => {
            let broken = |_| Err(StoreError::Failed("broken".into()));
            let app = TestApp::with(|ports: &mut Ports| {
                ports.signer.expect_public_keys().returning(broken);
            });
            app.get(&path).await
        }
        _ => provoke_the_rule(operation, code).await,
    }
}

/// As above, for a code that only some operations have.
async fn provoke_the_rule(operation: &str, code: &str) -> Reply {
    let whole = Whole::with(!code.ends_with("_DISABLED"), |_| ()).await;
    let (method, path, _) = call(operation);
    let app = &whole.app;
    let get = |path: String| {
        let request = TestRequest::with_uri(&path).method(method.clone());
        request.insert_header(("X-Api-Key", app.test.clone()))
    };
    match code {
        "INVALID_PHONE" if method == Method::GET => {
            app.send(get(path.replace("9876543210", "12"))).await
        }
        "INVALID_PHONE" | "MISSING_ACCESS_TOKEN" | "MISSING_REFRESH_TOKEN" => {
            app.post(&path, "{}").await
        }
        "INVALID_OTP_CODE" => whole.judges(operation, "12").await,
        "INVALID_FIELD" if method == Method::GET => app.send(get(format!("{path}&limit=0"))).await,
        "CURSOR_INVALIDATED" | "CURSOR_EXPIRED" => {
            let page: Value = app.send(get(path.clone())).await.json();
            let cursor = page["cursor"].as_str().unwrap();
            match code {
                "CURSOR_INVALIDATED" => whole.store.begin_life("another".to_owned()).await.unwrap(),
                _ => whole.feed_is_off_for_a_moment().await,
            }
            app.send(get(format!("{path}&after={cursor}"))).await
        }
        "INVALID_FIELD" => {
            let asked = json!({ "phone": PHONE, "code": "123456", "device": 42, "expires_in": 0 });
            app.post(&path, &asked.to_string()).await
        }
        "RELAY_DISABLED" => whole.sends(operation).await,
        "PROOF_REQUIRED" => app.post_in_test_mode(&path, r#"{"phone":"9000000006"}"#).await,
        "OTP_RATE_LIMITED" => {
            for _ in 0..3 {
                assert_eq!(whole.sends(operation).await.status, 200);
            }
            whole.sends(operation).await
        }
        "INSUFFICIENT_BALANCE" => {
            let price = Paise(10_000_000);
            let dear = Whole::with(true, |parts| {
                parts.policies.prices = PriceList { whatsapp: price, sms: price };
            });
            dear.await.sends(operation).await
        }
        "SPEND_LIMIT_REACHED" => {
            let change =
                ProjectChange { daily_spend: Some(Some(Paise(1))), ..ProjectChange::default() };
            whole.store.change(whole.project, change, any_project()).await.unwrap();
            whole.sends(operation).await
        }
        "SMS_FAILED" => {
            for _ in 0..2 {
                whole.postbox.answer(Outcome::Refused(Reason::Blocked));
            }
            whole.sends(operation).await
        }
        "IDEMPOTENCY_KEY_REUSED" => {
            assert_eq!(whole.sends_again(operation, PHONE).await.status, 200);
            whole.sends_again(operation, "+919876543211").await
        }
        "IDEMPOTENCY_CONFLICT" => {
            whole.store.faults().next("LoginStore::prepare", Fault::Panics);
            assert_eq!(whole.sends_again(operation, PHONE).await.status, 500);
            whole.sends_again(operation, PHONE).await
        }
        "OTP_NOT_FOUND" => whole.judges(operation, "123456").await,
        "INVALID_OTP" | "VERIFY_RATE_LIMITED" => {
            assert_eq!(whole.send().await.status, 200);
            let mut last = whole.judges(operation, whole.codes().1).await;
            while last.code() != code {
                last = whole.judges(operation, whole.codes().1).await;
            }
            last
        }
        "OTP_REQUEST_NOT_FOUND"
        | "IDENTITY_NOT_FOUND"
        | "IDENTITY_LOOKUP_DISABLED"
        | "IDENTITY_DELETE_DISABLED"
        | "EVENTS_FEED_DISABLED"
        | "NOT_FOUND" => app.send(app.request(method.clone(), &path)).await,
        "INVALID_ACCESS_TOKEN" if method == Method::GET => {
            app.send(app.request(method.clone(), &path)).await
        }
        "INVALID_ACCESS_TOKEN" | "SESSION_EXPIRED" => {
            let body = call(operation).2.unwrap_or_default();
            app.post(&path, &body.to_string()).await
        }
        other => panic!("{operation}: nobody knows how {other} comes about"),
    }
}

#[actix_web::test]
async fn every_code_of_every_operation_comes_about() {
    let documented = Documented::new(&document());
    let promised = documented.refusals();
    assert!(promised.len() > 80, "{}", promised.len());
    for (operation, code) in promised {
        let reply = provoke(&operation, &code).await;
        assert_eq!(reply.code(), code, "{operation}: {}", reply.body);
    }
}

#[actix_web::test]
async fn every_operation_does_what_it_is_for() {
    let whole = Whole::open().await;
    let app = &whole.app;
    let of = |reply: &Reply, name: &str| {
        let body: Value = serde_json::from_str(&reply.body).unwrap();
        body[name].as_str().unwrap_or_else(|| panic!("{}", reply.body)).to_owned()
    };
    let sent = whole.send().await;
    let id = of(&sent, "otp_id");
    assert_eq!(app.get(&format!("/v1/otp/status/{id}")).await.status, 200);
    let pair = whole.verify(&whole.codes().0).await;
    assert_eq!(whole.sends("relayOtp").await.status, 200);
    assert_eq!(whole.send().await.status, 200);
    let right = whole.codes().0;
    let checked = whole.judges("checkOtp", &right).await;
    assert_eq!((checked.status, checked.body.as_str()), (200, r#"{"verified":true}"#));
    assert_eq!(whole.judges("checkOtp", &right).await.code(), "OTP_NOT_FOUND");
    let access = json!({ "access_token": of(&pair, "access_token") }).to_string();
    assert_eq!(app.post("/v1/session/validate", &access).await.status, 200);
    let bearer = ("Authorization", format!("Bearer {}", of(&pair, "access_token")));
    let passed = app.request(Method::GET, "/v1/session/forward-auth").insert_header(bearer);
    assert_eq!(app.send(passed).await.status, 200);
    let form = format!("token={}", of(&pair, "access_token"));
    let told = app.post("/oauth2/introspect", &form).await;
    assert_eq!((told.status, of(&told, "sub")), (200, of(&pair, "identity_id")));
    let refresh = json!({ "refresh_token": of(&pair, "refresh_token") }).to_string();
    let next = app.post("/v1/session/refresh", &refresh).await;
    let access = json!({ "access_token": of(&next, "access_token") }).to_string();
    let identity = format!("/v1/identity/{}", of(&pair, "identity_id"));
    assert_eq!(app.get(&identity).await.status, 200);
    assert_eq!(app.get("/v1/identity?phone=9876543210").await.status, 200);
    assert_eq!(app.post("/v1/session/logout", &access).await.status, 200);
    assert_eq!(app.send(app.request(Method::DELETE, &identity)).await.status, 200);
    assert_eq!(app.get_in_test_mode("/v1/sandbox/messages?phone=9876543210").await.status, 200);
    let page: Value = app.get("/v1/events?limit=2").await.json();
    assert_eq!((page["events"].as_array().unwrap().len(), &page["has_more"]), (2, &json!(true)));
    let issuer = format!("/p/{}/.well-known", whole.project);
    for document in ["openid-configuration", "oauth-authorization-server"] {
        assert_eq!(app.get(&format!("{issuer}/{document}")).await.status, 200);
    }
    let by_path = format!("/.well-known/oauth-authorization-server/p/{}", whole.project);
    assert_eq!(app.get(&by_path).await.status, 200);
    let own = format!("{issuer}/jwks.json");
    let etag = app.get(&own).await.header("etag").unwrap().to_owned();
    let known = app.request(Method::GET, &own).insert_header(("If-None-Match", etag));
    assert_eq!(app.send(known).await.status, 304);
    let keys = app.get("/.well-known/jwks.json").await;
    let etag = keys.header("etag").unwrap().to_owned();
    let known = app.request(Method::GET, "/.well-known/jwks.json");
    assert_eq!(app.send(known.insert_header(("If-None-Match", etag))).await.status, 304);
    for path in ["/healthz", "/readyz", "/openapi.json"] {
        assert_eq!(app.get(path).await.status, 200, "{path}");
    }
}
