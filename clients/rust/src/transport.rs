use std::time::Duration;

use reqwest::header::{CONTENT_TYPE, HeaderValue};
use reqwest::{
    Client as Http, ClientBuilder, Method, RequestBuilder, Response, Url, redirect, retry,
};
use serde_json::Value;
use tokio::time::{Instant, sleep, timeout};
use uuid::Uuid;

use crate::answers::Answer;
use crate::error::request_id;
use crate::{Code, Error, Result};

const USER_AGENT: &str = concat!("dwar-client/", env!("CARGO_PKG_VERSION"), " (rust)");

const MAX_TRIES: u32 = 3;
const FIRST_WAIT: Duration = Duration::from_millis(250);
const MAX_TIMEOUT: Duration = Duration::from_secs(600);
/// Shorter than the service keeps an idle connection, so that no call uses one that is being
/// closed.
const MAX_IDLE: Duration = Duration::from_secs(20);
const MAX_ANSWER_BYTES: usize = 1 << 20;

/// Sends operations to one service within a time limit, and repeats those that are safe to repeat.
#[derive(Clone)]
pub(crate) struct Transport {
    pub url: String,
    is_loopback: bool,
    http: Http,
    timeout: Duration,
}

pub(crate) struct Operation {
    method: Method,
    path: String,
    body: Option<Value>,
    api_key: Option<HeaderValue>,
    idempotency_key: Option<HeaderValue>,
    /// Whether it is safe to send again when the outcome of a try is unknown.
    repeatable: bool,
}

impl Operation {
    pub fn get(path: impl Into<String>) -> Self {
        Self { repeatable: true, ..Self::new(Method::GET, path.into(), None) }
    }

    pub fn post(path: &str, body: Value) -> Self {
        Self::new(Method::POST, path.into(), Some(body))
    }

    pub fn delete(path: String) -> Self {
        Self::new(Method::DELETE, path, None)
    }

    pub fn repeatable(self) -> Self {
        Self { repeatable: true, ..self }
    }

    pub fn with_idempotency_key(self, key: HeaderValue) -> Self {
        Self { idempotency_key: Some(key), ..self.repeatable() }
    }

    pub fn with_api_key(self, key: HeaderValue) -> Self {
        Self { api_key: Some(key), ..self }
    }

    fn new(method: Method, path: String, body: Option<Value>) -> Self {
        Self { method, path, body, api_key: None, idempotency_key: None, repeatable: false }
    }
}

impl Transport {
    pub fn new(address: &str, timeout: Duration) -> Result<Self> {
        let url = service_url(address)?;
        let is_loopback = is_loopback(&url);
        let http = build(Http::builder().pool_idle_timeout(MAX_IDLE), is_loopback)?;
        let url = url.as_str().trim_end_matches('/').to_owned();
        Ok(Self { url, is_loopback, http, timeout })
    }

    pub fn with_http(self, builder: ClientBuilder) -> Result<Self> {
        Ok(Self { http: build(builder, self.is_loopback)?, ..self })
    }

    pub fn with_timeout(self, timeout: Duration) -> Result<Self> {
        if timeout.is_zero() || timeout > MAX_TIMEOUT {
            return Err(Error::argument(
                "the time limit must be more than 0 and at most 10 minutes",
            ));
        }
        Ok(Self { timeout, ..self })
    }

    pub async fn send<A: Answer>(&self, operation: &Operation) -> Result<A> {
        timeout(self.timeout, self.send_until(operation, Instant::now() + self.timeout))
            .await
            .unwrap_or_else(|elapsed| Err(Error::time_limit(elapsed)))
    }

    async fn send_until<A: Answer>(&self, operation: &Operation, end: Instant) -> Result<A> {
        let mut tries = 1;
        loop {
            let failure = match self.send_once(operation).await {
                Ok(answer) => return Ok(answer),
                Err(failure) => failure,
            };
            let wait = failure.retry_after().unwrap_or_else(|| random_wait(tries));
            if tries == MAX_TRIES
                || !operation.repeatable
                || !may_pass(&failure)
                || Instant::now() + wait >= end
            {
                return Err(failure);
            }
            sleep(wait).await;
            tries += 1;
        }
    }

    async fn send_once<A: Answer>(&self, operation: &Operation) -> Result<A> {
        let mut response = self.request(operation).send().await.map_err(Error::network)?;
        let body = read(&mut response).await?;
        let status = response.status().as_u16();
        match serde_json::from_slice::<A>(&body) {
            Ok(mut answer) if status == 200 => {
                answer.set_request_id(request_id(response.headers()));
                Ok(answer)
            }
            _ => Err(Error::refusal(status, response.headers(), &body)),
        }
    }

    fn request(&self, operation: &Operation) -> RequestBuilder {
        let url = format!("{}{}", self.url, operation.path);
        let mut request = self.http.request(operation.method.clone(), url);
        if let Some(body) = &operation.body {
            request = request.header(CONTENT_TYPE, "application/json").body(body.to_string());
        }
        if let Some(key) = &operation.api_key {
            request = request.header("x-api-key", key);
        }
        if let Some(key) = &operation.idempotency_key {
            request = request.header("idempotency-key", key);
        }
        request
    }
}

fn build(builder: ClientBuilder, is_loopback: bool) -> Result<Http> {
    let builder = builder
        .user_agent(USER_AGENT)
        // A redirect would take the API key to another address.
        .redirect(redirect::Policy::none())
        // This transport decides itself what to repeat.
        .retry(retry::never());
    // With plain http a proxy would see the API key.
    let builder = if is_loopback { builder.no_proxy() } else { builder };
    builder.build().map_err(Error::network)
}

async fn read(response: &mut Response) -> Result<Vec<u8>> {
    let mut body = Vec::new();
    while let Some(chunk) = response.chunk().await.map_err(Error::network)? {
        body.extend_from_slice(&chunk);
        if body.len() > MAX_ANSWER_BYTES {
            body.truncate(MAX_ANSWER_BYTES);
            break;
        }
    }
    Ok(body)
}

/// A 429 or 409 with another code is an answer for the person, or final.
fn may_pass(failure: &Error) -> bool {
    match failure.code() {
        Code::NetworkError => true,
        Code::RateLimited
        | Code::IdempotencyConflict
        | Code::InternalError
        | Code::ServiceUnavailable
        | Code::UnknownError => {
            matches!(failure.status(), Some(409 | 429 | 500 | 502 | 503 | 504))
        }
        _ => false,
    }
}

/// Doubles with each try; the random half keeps many clients from retrying at the same moment.
fn random_wait(tries: u32) -> Duration {
    let half = FIRST_WAIT * (1 << (tries - 1)) / 2;
    let [random, ..] = random_uuid().into_bytes();
    half + half * random.into() / 256
}

pub(crate) fn random_uuid() -> Uuid {
    #[expect(clippy::disallowed_methods, reason = "the port of Dwar is not this crate's")]
    Uuid::new_v4()
}

/// The messages do not contain the address, which may hold a password.
fn service_url(address: &str) -> Result<Url> {
    let url = Url::parse(address)
        .ok()
        .filter(Url::has_host)
        .ok_or_else(|| Error::argument("the address of the service is not an absolute URL"))?;
    if url.scheme() != "https" && (url.scheme() != "http" || !is_loopback(&url)) {
        return Err(Error::argument(
            "the address of the service must be https, or http on loopback",
        ));
    }
    let has_user = !url.username().is_empty() || url.password().is_some();
    if has_user || url.query().is_some() || url.fragment().is_some() {
        return Err(Error::argument(
            "the address of the service must not have a user, a query or a fragment",
        ));
    }
    Ok(url)
}

fn is_loopback(url: &Url) -> bool {
    let host = url.host_str().unwrap_or_default();
    let address = host.trim_matches(['[', ']']).parse::<std::net::IpAddr>();
    host == "localhost" || address.is_ok_and(|address| address.is_loopback())
}
