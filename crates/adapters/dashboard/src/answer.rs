use crate::refusal::Refusal;
use actix_web::HttpResponse;
use actix_web::cookie::Cookie;
use actix_web::http::{StatusCode, header};
use actix_web::web::Bytes;
use futures_util::Stream;
use maud::Markup;
use std::convert::Infallible;

pub(crate) const HTML: &str = "text/html; charset=utf-8";

pub(crate) type PageResult = Result<HttpResponse, Refusal>;

pub(crate) fn html_answer(status: StatusCode, content: Markup) -> HttpResponse {
    HttpResponse::build(status).content_type(HTML).body(content.into_string())
}

/// Redirects to another page after a form was processed.
pub(crate) fn go(to: &str) -> HttpResponse {
    go_with(to, [])
}

/// Like [`go`], and sets cookies.
pub(crate) fn go_with(
    to: &str,
    cookies: impl IntoIterator<Item = Cookie<'static>>,
) -> HttpResponse {
    let mut answer = HttpResponse::SeeOther();
    answer.insert_header((header::LOCATION, to));
    for cookie in cookies {
        answer.cookie(cookie);
    }
    answer.finish()
}

/// A stream of server-sent events, for as long as there are events.
pub(crate) fn events(
    events: impl Stream<Item = Result<Bytes, Infallible>> + 'static,
) -> HttpResponse {
    HttpResponse::Ok()
        .insert_header((header::CONTENT_TYPE, "text/event-stream"))
        // nginx would hold events back until its buffer is full.
        .insert_header(("X-Accel-Buffering", "no"))
        .streaming(events)
}
