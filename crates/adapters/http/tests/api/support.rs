use crate::ports::Ports;
use actix_web::body::{self, BoxBody};
use actix_web::dev::ServiceResponse;
use actix_web::http::Method;
use actix_web::http::header::HeaderMap;
use actix_web::test::{TestRequest, init_service, try_call_service};
use actix_web::web::Data;
use dwar_http::{Api, Settings, app, document};
use dwar_testkit::{Documented, SeenAnswer};
use std::sync::Arc;
use tokio::runtime::Handle;

/// The API over mocks, with a live and a test key.
pub struct TestApp {
    pub api: Data<Api>,
    pub live: String,
    pub test: String,
    documented: Documented,
}

pub struct Reply {
    pub status: u16,
    pub headers: HeaderMap,
    pub body: String,
}

pub fn settings() -> Settings {
    let defaults = include_str!("../../../../../config.default.toml");
    let defaults: toml::Table = defaults.parse().unwrap();
    defaults["http"].clone().try_into().unwrap()
}

impl TestApp {
    pub fn new() -> Self {
        Self::with(|_| ())
    }

    pub fn with(set_up: impl FnOnce(&mut Ports)) -> Self {
        let mut ports = Ports::new();
        set_up(&mut ports);
        ports.know_the_keys();
        let (live, test) = (ports.live.expose().to_owned(), ports.test.expose().to_owned());
        let api = ports.api(&settings(), Handle::current());
        Self::over(Data::from(Arc::new(api)), &live, &test)
    }

    pub fn over(api: Data<Api>, live: &str, test: &str) -> Self {
        let documented = Documented::new(&document());
        Self { api, live: live.to_owned(), test: test.to_owned(), documented }
    }

    /// Sends a request. A panic gets the same answer as over a socket. Each answer has to be one
    /// that the document lists.
    pub async fn send(&self, request: TestRequest) -> Reply {
        let service = init_service(app(self.api.clone())).await;
        let request = request.to_request();
        let (method, path) = (request.method().to_string(), request.path().to_owned());
        let reply = match try_call_service(&service, request).await {
            Ok(response) => Reply::of(response).await,
            Err(error) => Reply::from_parts(error.error_response()).await,
        };
        let headers: Vec<(String, String)> = reply
            .headers
            .iter()
            .map(|(name, value)| (name.to_string(), value.to_str().unwrap().to_owned()))
            .collect();
        self.documented.hold(SeenAnswer {
            method: &method,
            path: &path,
            status: reply.status,
            headers: &headers,
            body: reply.body.as_bytes(),
        });
        reply
    }

    pub async fn post(&self, path: &str, body: &str) -> Reply {
        self.send(self.request(Method::POST, path).set_payload(body.to_owned())).await
    }

    pub async fn post_in_test_mode(&self, path: &str, body: &str) -> Reply {
        let request = TestRequest::with_uri(path).method(Method::POST);
        let request = request.insert_header(("X-Api-Key", self.test.as_str()));
        self.send(request.insert_header(REQUEST_ID).set_payload(body.to_owned())).await
    }

    pub async fn get(&self, path: &str) -> Reply {
        self.send(self.request(Method::GET, path)).await
    }

    pub async fn get_in_test_mode(&self, path: &str) -> Reply {
        let request = TestRequest::with_uri(path).insert_header(("X-Api-Key", self.test.as_str()));
        self.send(request.insert_header(REQUEST_ID)).await
    }

    /// A request with the live key and a request id.
    pub fn request(&self, method: Method, path: &str) -> TestRequest {
        let request = TestRequest::with_uri(path).method(method);
        request.insert_header(("X-Api-Key", self.live.as_str())).insert_header(REQUEST_ID)
    }
}

pub const REQUEST_ID: (&str, &str) = ("X-Request-Id", "request-1");

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

    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name).map(|value| value.to_str().unwrap())
    }

    pub fn json(&self) -> serde_json::Value {
        serde_json::from_str(&self.body).unwrap()
    }

    /// The stable code of a refusal, or an empty text.
    pub fn code(&self) -> String {
        let body: serde_json::Value = serde_json::from_str(&self.body).unwrap_or_default();
        body["code"].as_str().unwrap_or_default().to_owned()
    }

    pub fn text(&self) -> String {
        let mut headers: Vec<String> = self
            .headers
            .iter()
            .map(|(name, value)| format!("{name}: {}", value.to_str().unwrap()))
            .collect();
        headers.sort();
        format!("{}\n{}\n\n{}", self.status, headers.join("\n"), self.body)
    }
}
