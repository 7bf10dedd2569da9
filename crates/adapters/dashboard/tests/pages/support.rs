use crate::operations::Ailing;
use actix_web::body::{self, BoxBody, MessageBody};
use actix_web::cookie::Cookie;
use actix_web::dev::{Service, ServiceResponse};
use actix_web::http::Method;
use actix_web::http::header::{HeaderMap, HeaderName};
use actix_web::test::{TestRequest, init_service};
use actix_web::web::Data;
use async_trait::async_trait;
use dwar_admin::{AdminApi, document};
use dwar_console::{Administration, ConsoleStores, Management, SignedIn};
use dwar_dashboard::{
    ApiAnswer, ApiRequest, ApiRoutes, Console, HostNames, Live, Manual, NoAnswer, Reference,
    Settings, app,
};
use dwar_kernel::{Clock, OtpId, PriceList, ProjectId, Timestamp};
use dwar_memory::{MemoryRequestLimiter, MemoryStore};
use dwar_operator::{
    Access, Client, NoPasskey, PasskeyAlgorithm, PasskeyKey, PasskeyMade, PasskeySigned,
    PasskeySite, PasskeyVerifier, PasswordHasher, Requester, Role,
};
use dwar_project::{ApiKey, KeyRecord};
use dwar_testkit::{
    Carriers, Documented, FixedClock, PlainHasher, Post, Postbox, START, SeenAnswer, management,
    outside,
};
use dwar_wallet::{Amount, Paise};
use std::collections::BTreeSet;
use std::future::{pending, poll_fn};
use std::pin::Pin;
use std::sync::{Arc, Mutex};
use tokio::sync::SetOnce;

pub const HOST: &str = "127.0.0.1:8081";
pub const ORIGIN: &str = "http://127.0.0.1:8081";
pub const PASSWORD: &str = "nine yellow kites at noon";

pub fn api_document() -> String {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../docs/openapi.json");
    std::fs::read_to_string(path).unwrap()
}

pub struct House {
    pub clock: Arc<FixedClock>,
    pub parts: dwar_app::Parts,
    pub kept: ConsoleStores,
    pub admin: Administration,
    pub manage: Management,
    pub project: ProjectId,
    pub other: ProjectId,
    pub live_key: String,
    pub asked: Arc<Asked>,
    pub post: Arc<Post>,
    pub postbox: Arc<Postbox>,
    pub store: Arc<MemoryStore>,
    console: Data<Console>,
    admin_api: Data<AdminApi>,
    documented: Documented,
}

#[derive(Default)]
pub struct Asked(pub Mutex<Vec<(ProjectId, ApiRequest)>>);

#[async_trait]
impl ApiRoutes for Asked {
    async fn call(&self, project: ProjectId, request: ApiRequest) -> Result<ApiAnswer, NoAnswer> {
        self.0.lock().unwrap().push((project, request));
        let headers = vec![("ratelimit-limit".to_owned(), "20".to_owned())];
        Ok(ApiAnswer { status: 200, headers, body: br#"{"ok":true}"#.to_vec() })
    }
}

/// Accepts an answer that contains `right`, and the counter in its place.
struct Fitting;

#[allow(clippy::needless_lifetimes, reason = "as the trait names them")]
impl PasskeyVerifier for Fitting {
    fn made<'a>(
        &self,
        _: PasskeySite<'a>,
        answer: PasskeyMade<'a>,
    ) -> Result<(PasskeyKey, u32), NoPasskey> {
        let key =
            PasskeyKey { algorithm: PasskeyAlgorithm::Es256, spki: answer.attestation.to_vec() };
        if answer.client_data == b"right" { Ok((key, 1)) } else { Err(NoPasskey("wrong")) }
    }

    fn signed<'a>(
        &self,
        site: PasskeySite<'a>,
        _: &PasskeyKey,
        answer: PasskeySigned<'a>,
    ) -> Result<u32, NoPasskey> {
        let fits = answer.client_data == b"right" && site.origin == "http://localhost:8081";
        let counter = answer.authenticator_data.first().filter(|_| fits);
        counter.copied().map(u32::from).ok_or(NoPasskey("wrong"))
    }
}

impl House {
    pub async fn new() -> Self {
        Self::with(false).await
    }

    /// Behind a proxy that terminates TLS, or not.
    pub async fn with(tls: bool) -> Self {
        Self::hashing(tls, Arc::<PlainHasher>::default()).await
    }

    pub async fn hashing(tls: bool, hasher: Arc<dyn PasswordHasher>) -> Self {
        Self::made(tls, hasher, false).await
    }

    /// With a service that sends to the postbox.
    pub async fn sending() -> Self {
        Self::made(false, Arc::<PlainHasher>::default(), true).await
    }

    async fn made(tls: bool, hasher: Arc<dyn PasswordHasher>, sends: bool) -> Self {
        let (clock, store) = (Arc::new(FixedClock::at(START)), Arc::<MemoryStore>::default());
        let kept = dwar_testkit::console((&store).into(), &clock);
        let (admin, parts) = (kept.administration(hasher), kept.login.clone());
        let (asked, post) = (Arc::<Asked>::default(), Arc::<Post>::default());
        let (by, mut manage) = (Requester::command_line(), management(&kept, &post));
        let postbox = Arc::default();
        if sends {
            let limiter = Arc::<MemoryRequestLimiter>::default();
            let service = parts.service(outside(limiter, &postbox, &post));
            manage.provider_test = manage.provider_test.sending(service.use_cases.send_otp);
        }
        let ledger = manage.ledger.clone();
        actix_web::rt::spawn(async move { ledger.keep_proving(pending()).await });
        let named = |name: &str| name.parse().unwrap();
        let made =
            manage.projects.create(&by, &named("Acme"), Amount::from(12_345_650)).await.unwrap();
        let other = manage.projects.create(&by, &named("Other"), Amount::ZERO).await.unwrap();
        let settings = Settings {
            address: HOST.to_owned(),
            public_url: String::new(),
            behind_tls_proxy: tls,
            hosts: vec!["ops.example.com".to_owned()],
        };
        let admin_api = AdminApi::new(
            parts.tools.clone(),
            manage.clone(),
            Arc::new(Ailing),
            ORIGIN.to_owned(),
            None,
            tls,
        );
        let console = Console {
            prepared: Arc::new(SetOnce::new_with(Some(()))),
            tools: parts.tools.clone(),
            admin: admin.clone(),
            passkeys: kept.passkeys(admin.sign_in.clone(), Arc::new(Fitting)),
            manage: manage.clone(),
            live: Live::new(&manage, admin.sign_in.clone()),
            providers: Arc::new(Carriers),
            operations: Arc::new(Ailing),
            api: asked.clone(),
            reference: Reference::of(&api_document()),
            manual: Manual::default(),
            api_url: "http://127.0.0.1:8080".to_owned(),
            base_url: ORIGIN.to_owned(),
            prices: PriceList { whatsapp: Paise(20), sms: Paise(25) },
            names: HostNames::of(&settings, &[HOST.parse().unwrap()]),
        };
        let live_key = made.live_key.expose().to_owned();
        let (project, other) = (made.id, other.id);
        let (console, admin_api) = (Data::new(console), Data::new(admin_api));
        Self {
            clock,
            parts,
            kept: kept.stores,
            admin,
            manage,
            project,
            other,
            live_key,
            asked,
            post,
            postbox,
            console,
            admin_api,
            documented: Documented::new(&document()),
            store,
        }
    }

    pub async fn joined(&self, name: &str, access: Access) -> SignedIn {
        let invited =
            self.manage.operators.invite(&Requester::command_line(), name, access).await.unwrap();
        let secret = invited.secret.expose();
        self.admin.sign_in.follow_link(secret, Some(PASSWORD), Client::default()).await.unwrap()
    }

    pub async fn owner(&self) -> Browser<'_> {
        self.browser_of("asha", Access::everything()).await
    }

    pub async fn with_role(&self, role: Role) -> Browser<'_> {
        self.browser_of(role.as_str(), Access::one(self.project, role)).await
    }

    async fn browser_of(&self, name: &str, access: Access) -> Browser<'_> {
        self.browser(&self.joined(name, access).await)
    }

    /// The browser of an operator who has just signed in.
    pub fn browser(&self, signed_in: &SignedIn) -> Browser<'_> {
        Browser { house: self, cookie: Some(signed_in.token.expose().to_owned()) }
    }

    pub fn now(&self) -> Timestamp {
        self.clock.now()
    }

    pub const fn stranger(&self) -> Browser<'_> {
        Browser { house: self, cookie: None }
    }

    pub fn page(&self, page: &str) -> String {
        format!("/p/{}/{page}", self.project)
    }

    pub async fn keys(&self) -> Vec<KeyRecord> {
        self.parts.stores.projects.keys(self.project).await.unwrap()
    }

    pub async fn opens(&self, key: &str) -> bool {
        let digest = key.parse::<ApiKey>().unwrap().digest(self.parts.tools.vault.as_ref());
        self.parts.stores.projects.caller(digest).await.unwrap().is_some()
    }

    /// Sends requests one after another to one service.
    pub async fn send_all(&self, requests: Vec<TestRequest>) -> Vec<Reply> {
        let service = init_service(app(self.console.clone(), self.admin_api.clone())).await;
        let mut replies = Vec::new();
        for request in requests {
            let request = request.to_request();
            let (method, path) = (request.method().to_string(), request.path().to_owned());
            let reply = match service.call(request).await {
                Ok(response) => Reply::of(response).await,
                Err(error) => Reply::from_parts(error.error_response()).await,
            };
            self.hold(&method, &path, &reply);
            replies.push(reply);
        }
        replies
    }

    /// Checks that the document lists this answer of the admin API.
    fn hold(&self, method: &str, path: &str, reply: &Reply) {
        let pairs = reply.headers.iter();
        let headers: Vec<(String, String)> = pairs
            .map(|(name, value)| (name.to_string(), value.to_str().unwrap().to_owned()))
            .collect();
        let (status, body) = (reply.status, reply.body.as_bytes());
        self.documented.hold(SeenAnswer { method, path, status, headers: &headers, body });
    }

    /// The refusals of the admin API so far, as (operation id, code).
    pub fn refusals_seen(&self) -> BTreeSet<(String, String)> {
        self.documented.seen()
    }

    /// Sends a request, and reads its answer piece by piece.
    pub async fn stream(&self, request: TestRequest) -> Events {
        let service = init_service(app(self.console.clone(), self.admin_api.clone())).await;
        let response = match service.call(request.to_request()).await {
            Ok(response) => response.into_parts().1,
            Err(error) => error.error_response(),
        };
        let (head, body) = response.into_parts();
        Events { status: head.status().as_u16(), headers: head.headers().clone(), body }
    }

    pub async fn send(&self, request: TestRequest) -> Reply {
        self.send_all(vec![request]).await.remove(0)
    }
}

/// An operator with a browser, which sends the usual headers.
#[derive(Clone)]
pub struct Browser<'a> {
    house: &'a House,
    pub cookie: Option<String>,
}

impl<'a> Browser<'a> {
    pub const fn with_token(house: &'a House, token: String) -> Self {
        Self { house, cookie: Some(token) }
    }

    pub const fn house(&self) -> &House {
        self.house
    }

    pub fn request(&self, method: Method, path: &str) -> TestRequest {
        let request = TestRequest::with_uri(path).method(method).insert_header(("Host", HOST));
        match &self.cookie {
            Some(token) => request.cookie(Cookie::new("dwar_dashboard", token.clone())),
            None => request,
        }
    }

    pub async fn get(&self, path: &str) -> Reply {
        self.house.send(self.request(Method::GET, path)).await
    }

    /// Opens a stream of events, from after `last` on.
    pub async fn events(&self, path: &str, last: Option<OtpId>) -> Events {
        let mut request = self.request(Method::GET, path);
        if let Some(last) = last {
            request = request.insert_header(("Last-Event-ID", last.to_string()));
        }
        self.house.stream(request).await
    }

    /// Sends a form as this session's own pages do.
    pub async fn post(&self, path: &str, fields: &[(&str, &str)]) -> Reply {
        let csrf = self.csrf().await;
        let fields = [fields, &[("csrf", csrf.as_str())]].concat();
        self.house.send(self.form(path, &fields)).await
    }

    pub async fn post_json(&self, path: &str, body: &str) -> Reply {
        let request = self.request(Method::POST, path).insert_header(("Origin", ORIGIN));
        let request = request.insert_header(("Sec-Fetch-Site", "same-origin"));
        self.house.send(request.set_payload(body.to_owned())).await
    }

    /// A form with only these fields.
    pub fn form(&self, path: &str, fields: &[(&str, &str)]) -> TestRequest {
        let mut body = form_urlencoded::Serializer::new(String::new());
        body.extend_pairs(fields);
        self.request(Method::POST, path)
            .insert_header(("Origin", ORIGIN))
            .insert_header(("Sec-Fetch-Site", "same-origin"))
            .insert_header(("Content-Type", "application/x-www-form-urlencoded"))
            .set_payload(body.finish())
    }

    pub async fn csrf(&self) -> String {
        let page = self.get("/account").await.body;
        let after = page.split(r#"name="csrf-token" content=""#).nth(1).unwrap_or_default();
        after.split('"').next().unwrap().to_owned()
    }
}

pub struct Events {
    pub status: u16,
    headers: HeaderMap,
    body: BoxBody,
}

impl Events {
    pub async fn next(&mut self) -> String {
        let bytes = poll_fn(|context| Pin::new(&mut self.body).poll_next(context)).await;
        String::from_utf8(bytes.unwrap().unwrap().to_vec()).unwrap()
    }

    pub async fn is_over(&mut self) -> bool {
        poll_fn(|context| Pin::new(&mut self.body).poll_next(context)).await.is_none()
    }

    pub fn header(&self, name: HeaderName) -> &str {
        self.headers.get(name).map(|value| value.to_str().unwrap()).unwrap_or_default()
    }
}

#[derive(Debug)]
pub struct Reply {
    pub status: u16,
    pub headers: HeaderMap,
    pub body: String,
}

impl Reply {
    async fn of(response: ServiceResponse<BoxBody>) -> Self {
        Self::from_parts(response.into_parts().1).await
    }

    async fn from_parts(response: actix_web::HttpResponse) -> Self {
        let (response, bytes) = response.into_parts();
        let bytes = body::to_bytes(bytes).await.unwrap();
        Self {
            status: response.status().as_u16(),
            headers: response.headers().clone(),
            body: String::from_utf8(bytes.to_vec()).unwrap(),
        }
    }

    pub fn header(&self, name: &str) -> &str {
        self.headers.get(name).map(|value| value.to_str().unwrap()).unwrap_or_default()
    }

    /// The whole header of a cookie that is set; empty if there is none.
    pub fn cookie(&self, name: &str) -> &str {
        let mut set = self.headers.get_all("set-cookie").map(|value| value.to_str().unwrap());
        set.find(|cookie| cookie.starts_with(&format!("{name}="))).unwrap_or_default()
    }

    pub fn token(&self) -> String {
        let cookie = self.header("set-cookie").split(';').next().unwrap();
        cookie.split_once('=').unwrap().1.to_owned()
    }
}
