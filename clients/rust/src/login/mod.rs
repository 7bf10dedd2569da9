//! The login contract (`clients/login/README.md` of the repository) for axum.

mod addresses;
mod call;
mod cookies;
mod endpoints;
mod refusal;

use std::fmt;
use std::future::Future;
use std::net::{IpAddr, SocketAddr};
use std::pin::Pin;
use std::sync::Arc;

use axum::extract::{ConnectInfo, FromRef, FromRequestParts};
use axum::http::header::AUTHORIZATION;
use axum::http::request::Parts;
use axum::http::{HeaderMap, Method, StatusCode};
use axum::response::{IntoResponse, Response};
use reqwest::Url;
use ring::hmac;
use serde_json::{Map, Value};

use crate::session::refresh_key;
use crate::{Claims, Client, Code, Error, Result, Verifier};
use addresses::AddressLimit;
use call::Asker;
use cookies::{ACCESS, cookie};
pub use refusal::Refusal;

type ClientAddress = dyn Fn(&Parts) -> Option<IpAddr> + Send + Sync;
type Admission = Pin<Box<dyn Future<Output = std::result::Result<(), Refusal>> + Send>>;
type Admit = dyn Fn(&Parts, &Map<String, Value>) -> Admission + Send + Sync;

/// The four endpoints that a login form and an app call, and who is logged in. With `Arc<Login>` as the state of the
/// application, a handler with the argument [`Claims`] is for those who are logged in; others get 401.
pub struct Login {
    client: Client,
    verifier: Verifier,
    key: hmac::Key,
    origins: Vec<String>,
    addresses: AddressLimit,
    client_address: Box<ClientAddress>,
    admit: Box<Admit>,
    last_line: Option<String>,
    on_error: Box<dyn Fn(&Error) + Send + Sync>,
}

impl Login {
    /// The secret is one of your backend, 32 characters or more, the same in all its processes; see
    /// [`Session::new`](crate::Session::new). The origins are those of your own pages, such as `https://shop.example`.
    ///
    /// # Errors
    /// [`Code::Argument`] for a shorter secret, or an origin that is none.
    pub fn new<'a>(
        client: Client,
        verifier: Verifier,
        secret: &str,
        origins: impl IntoIterator<Item = &'a str>,
    ) -> Result<Self> {
        let origins: Vec<_> = origins.into_iter().map(String::from).collect();
        if origins.is_empty() || !origins.iter().all(|origin| is_origin(origin)) {
            return Err(Error::argument("origins must be such as https://shop.example"));
        }
        Ok(Self {
            client,
            verifier,
            key: refresh_key(secret)?,
            origins,
            addresses: AddressLimit::default(),
            client_address: Box::new(peer),
            admit: Box::new(|_, _| Box::pin(async { Ok(()) })),
            last_line: None,
            on_error: Box::new(|_| {}),
        })
    }

    /// Replaces the address of the peer, which is in the request if the application is served by
    /// `into_make_service_with_connect_info::<SocketAddr>()`. A header is worth no more than the proxy that sets it.
    pub fn with_client_address(
        self,
        address: impl Fn(&Parts) -> Option<IpAddr> + Send + Sync + 'static,
    ) -> Self {
        Self { client_address: Box::new(address), ..self }
    }

    /// Asks before each send, with the request and its body; a refusal is answered as it is.
    pub fn with_admit<Asked>(
        self,
        admit: impl Fn(&Parts, &Map<String, Value>) -> Asked + Send + Sync + 'static,
    ) -> Self
    where
        Asked: Future<Output = std::result::Result<(), Refusal>> + Send + 'static,
    {
        Self { admit: Box::new(move |parts, body| Box::pin(admit(parts, body))), ..self }
    }

    /// The last line that each send names; see [`Client::send`].
    pub fn with_last_line(self, line: &str) -> Self {
        Self { last_line: Some(line.into()), ..self }
    }

    /// Is told of every failure that the person sees as `LOGIN_UNAVAILABLE`; by default nobody is.
    pub fn with_on_error(self, on_error: impl Fn(&Error) + Send + Sync + 'static) -> Self {
        Self { on_error: Box::new(on_error), ..self }
    }

    /// The claims of a valid access token, from `Authorization: Bearer` or the cookie. A cookie does not count where the
    /// page of another site changes something.
    ///
    /// # Errors
    /// There are no keys yet to verify it with: see [`Verifier::verify`].
    pub async fn authenticate(
        &self,
        method: &Method,
        headers: &HeaderMap,
    ) -> Result<Option<Claims>> {
        let is_safe = *method == Method::GET || *method == Method::HEAD;
        let counts = is_safe || Asker::of(headers, &self.origins) != Asker::Foreign;
        let token = bearer(headers).or_else(|| cookie(headers, ACCESS).filter(|_| counts));
        let Some(token) = token else { return Ok(None) };
        match self.verifier.verify(token).await {
            Err(error) if error.code() == Code::InvalidAccessToken => Ok(None),
            claims => claims.map(Some),
        }
    }

    /// What the person is told of a failed call of the service.
    fn refusal(&self, error: &Error) -> Refusal {
        Refusal::passed_on(error).unwrap_or_else(|| {
            (self.on_error)(error);
            Refusal::unavailable(error)
        })
    }
}

impl fmt::Debug for Login {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Login({:?})", self.client)
    }
}

impl<S> FromRequestParts<S> for Claims
where
    S: Send + Sync,
    Arc<Login>: FromRef<S>,
{
    type Rejection = Response;

    async fn from_request_parts(
        parts: &mut Parts,
        state: &S,
    ) -> std::result::Result<Self, Response> {
        let login = Arc::<Login>::from_ref(state);
        match login.authenticate(&parts.method, &parts.headers).await {
            Ok(claims) => claims.ok_or_else(|| StatusCode::UNAUTHORIZED.into_response()),
            Err(error) => Err(login.refusal(&error).into_response()),
        }
    }
}

fn peer(parts: &Parts) -> Option<IpAddr> {
    Some(parts.extensions.get::<ConnectInfo<SocketAddr>>()?.0.ip())
}

/// RFC 6750 section 2.1.
fn bearer(headers: &HeaderMap) -> Option<&str> {
    let (scheme, token) = headers.get(AUTHORIZATION)?.to_str().ok()?.split_once(' ')?;
    scheme.eq_ignore_ascii_case("bearer").then(|| token.trim())
}

fn is_origin(text: &str) -> bool {
    Url::parse(text)
        .is_ok_and(|url| url.origin().is_tuple() && url.origin().ascii_serialization() == text)
}
