//! The admin API for the outermost middleware: ids, the check of browsers, and the bodies of
//! refusals.

use crate::BASE;
use crate::endpoint::{AdminCode, ApiRefusal};
use actix_web::body::BoxBody;
use actix_web::dev::ServiceRequest;
use actix_web::http::header::{self, HeaderMap, HeaderName, HeaderValue};
use actix_web::{Error, HttpResponse};
use dwar_app::CommonPorts;
use dwar_wire::{REQUEST_ID, request_id};

const FETCH_SITE: HeaderName = HeaderName::from_static("sec-fetch-site");

/// The id of a request to the admin API.
pub struct AdminRequestId {
    id: HeaderValue,
}

impl AdminRequestId {
    /// Takes the id from the headers, or makes a new one.
    pub fn new(headers: &HeaderMap, tools: &CommonPorts) -> Self {
        Self { id: request_id(headers, tools.entropy.as_ref(), tools.now()) }
    }

    /// The id as text, as in the header `X-Request-Id` and in the log.
    pub fn as_str(&self) -> &str {
        self.id.to_str().unwrap_or_default()
    }
}

/// Tells whether the routes will send a request to the admin API.
pub fn is_at(request: &ServiceRequest) -> bool {
    let rest = request.match_info().unprocessed().strip_prefix(BASE);
    rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

/// Refuses requests that a page in a browser sends, from any origin. Programs send neither header.
/// Preflights get no permission, so the header with the token cannot come from a page.
pub fn admit(headers: &HeaderMap) -> Result<(), Error> {
    let typed = |value: &HeaderValue| value == "none";
    let page = headers.contains_key(header::ORIGIN) || !headers.get_all(FETCH_SITE).all(typed);
    if page { Err(ApiRefusal::from(AdminCode::ForeignOrigin).into()) } else { Ok(()) }
}

/// Adds the request's id to an answer, and the body to a refusal.
pub fn complete(response: HttpResponse, id: &AdminRequestId) -> HttpResponse {
    let body = ApiRefusal::body_of(&response, id.as_str());
    let mut response = response;
    if let Some(body) = body {
        response = response.set_body(BoxBody::new(body));
        let json = HeaderValue::from_static("application/json");
        response.headers_mut().insert(header::CONTENT_TYPE, json);
    }
    response.headers_mut().insert(REQUEST_ID, id.id.clone());
    response
}
