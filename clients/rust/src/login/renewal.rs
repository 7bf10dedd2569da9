use std::sync::{Arc, OnceLock};

use axum::extract::{FromRef, FromRequestParts, Request};
use axum::http::header::{AUTHORIZATION, CACHE_CONTROL, WWW_AUTHENTICATE};
use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};

use super::Login;
use super::call::Asker;
use super::cookies::{ACCESS, REFRESH, SetCookie, cookie, no_token_cookies, token_cookies};
use crate::{Claims, Code, Result};

/// The cookies that the answer to a request needs.
type Renewed = Arc<OnceLock<Vec<SetCookie>>>;

/// A layer, `.layer(axum::middleware::from_fn(renew_sessions))`: within it the extractor [`Claims`]
/// renews a session whose access token has expired, and every answer carries the new cookies.
pub async fn renew_sessions(mut request: Request, next: Next) -> Response {
    let renewed = Renewed::default();
    request.extensions_mut().insert(renewed.clone());
    let mut response = next.run(request).await;
    for (name, cookie) in renewed.get().into_iter().flatten() {
        let Ok(cookie) = HeaderValue::try_from(cookie) else { continue };
        response.headers_mut().append(name, cookie);
        response.headers_mut().insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    }
    response
}

impl Login {
    /// The claims of a valid access token, from `Authorization: Bearer` or the cookie. The cookie
    /// is ignored if a page of another site may change something with the request. It renews
    /// nothing, because the answer with the new cookies has to reach the browser.
    ///
    /// # Errors There are no keys yet: see [`Verifier::verify`](crate::Verifier::verify).
    pub async fn authenticate(
        &self,
        method: &Method,
        headers: &HeaderMap,
    ) -> Result<Option<Claims>> {
        match bearer(headers).or_else(|| self.counting_cookie(method, headers, ACCESS)) {
            Some(token) => self.verified(token).await,
            None => Ok(None),
        }
    }

    /// Whether a renewal may help after [`authenticate`](Self::authenticate) returned nothing.
    pub fn can_renew(&self, method: &Method, headers: &HeaderMap) -> bool {
        bearer(headers).is_none() && self.counting_cookie(method, headers, REFRESH).is_some()
    }

    async fn renew(&self, parts: &Parts, renewed: &Renewed) -> Result<Option<Claims>> {
        let Some(token) = cookie(&parts.headers, REFRESH) else { return Ok(None) };
        let tokens = match self.renewed(token).await {
            Err(error) if error.code() == Code::SessionExpired => {
                renewed.get_or_init(no_token_cookies);
                return Ok(None);
            }
            tokens => tokens?,
        };
        renewed.get_or_init(|| token_cookies(&tokens));
        self.verified(tokens.access_token.reveal()).await
    }

    async fn verified(&self, token: &str) -> Result<Option<Claims>> {
        match self.verifier.verify(token).await {
            Err(error) if error.code() == Code::InvalidAccessToken => Ok(None),
            claims => claims.map(Some),
        }
    }

    fn counting_cookie<'a>(
        &self,
        method: &Method,
        headers: &'a HeaderMap,
        name: &str,
    ) -> Option<&'a str> {
        let is_safe = *method == Method::GET || *method == Method::HEAD;
        let counts = is_safe || Asker::of(headers, &self.origins) != Asker::Foreign;
        cookie(headers, name).filter(|_| counts)
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
        let renewed = parts.extensions.get::<Renewed>();
        let can_renew = login.can_renew(&parts.method, &parts.headers);
        let claims = match (login.authenticate(&parts.method, &parts.headers).await, renewed) {
            (Ok(None), Some(renewed)) if can_renew => login.renew(parts, renewed).await,
            (claims, _) => claims,
        };
        match claims {
            Ok(claims) => claims.ok_or_else(|| nobody(can_renew && renewed.is_none())),
            Err(error) => Err(login.refusal(&error).into_response()),
        }
    }
}

/// RFC 6750 section 3.1: another access token may help.
fn nobody(can_renew: bool) -> Response {
    let challenge = if can_renew { "Bearer error=\"invalid_token\"" } else { "Bearer" };
    (StatusCode::UNAUTHORIZED, [(WWW_AUTHENTICATE, challenge)]).into_response()
}

/// The token of the scheme Bearer (RFC 6750 section 2.1); empty if it is missing or unreadable.
fn bearer(headers: &HeaderMap) -> Option<&str> {
    let authorization = headers.get(AUTHORIZATION)?.as_bytes().trim_ascii();
    let end = authorization.iter().position(u8::is_ascii_whitespace);
    let (scheme, token) = authorization.split_at(end.unwrap_or(authorization.len()));
    let token = str::from_utf8(token.trim_ascii()).unwrap_or_default();
    scheme.eq_ignore_ascii_case(b"bearer").then_some(token)
}
