use crate::endpoint::query::{Paging, limit, no_cursor};
use crate::endpoint::refusal::{AdminCode, ApiRefusal};
use crate::views::Page;
use actix_web::HttpResponse;
use actix_web::http::StatusCode;
use actix_web::http::header::HeaderName;
use actix_web::web::Bytes;
use dwar_kernel::{StoreError, Timestamp};
use dwar_operator::SearchAllowance;
use dwar_wire::openapi::Operation;
use dwar_wire::{seconds_until, streamed};
use futures_util::Stream;
use serde::Serialize;
use serde_json::json;
use std::fmt::Display;
use std::pin::Pin;
use std::str::FromStr;
use utoipa::ToSchema;

const DONE: &str = "Done";
const RATE_LIMIT: HeaderName = HeaderName::from_static("ratelimit-limit");
const RATE_LIMIT_REMAINING: HeaderName = HeaderName::from_static("ratelimit-remaining");
const RATE_LIMIT_RESET: HeaderName = HeaderName::from_static("ratelimit-reset");

pub(crate) type AdminResult<T> = Result<T, ApiRefusal>;

pub(crate) trait Answer: Sized + 'static {
    fn respond(self, status: StatusCode) -> HttpResponse;

    /// Adds this answer to the operation in the document.
    fn describe(operation: Operation, status: StatusCode) -> Operation;
}

impl<T: Serialize + ToSchema + 'static> Answer for T {
    fn respond(self, status: StatusCode) -> HttpResponse {
        HttpResponse::build(status).json(self)
    }

    fn describe(mut operation: Operation, status: StatusCode) -> Operation {
        let schema = operation.schema::<Self>();
        operation.response_of(status, DONE, "application/json", schema)
    }
}

/// A stream of JSON objects of any length, one object per line.
pub(crate) struct JsonLines<T> {
    lines: Pin<Box<dyn Stream<Item = Result<Bytes, StoreError>>>>,
    of: std::marker::PhantomData<T>,
}

impl<T> JsonLines<T> {
    /// Makes a stream from lines as they are read.
    pub(crate) fn new(lines: impl Stream<Item = Result<Bytes, StoreError>> + 'static) -> Self {
        Self { lines: Box::pin(lines), of: std::marker::PhantomData }
    }
}

impl<T: ToSchema + 'static> Answer for JsonLines<T> {
    fn respond(self, status: StatusCode) -> HttpResponse {
        HttpResponse::build(status)
            .content_type("application/x-ndjson")
            .streaming(streamed(self.lines))
    }

    fn describe(mut operation: Operation, status: StatusCode) -> Operation {
        let items = operation.schema::<T>();
        let lines = json!({ "type": "array", "items": items, "description": "One object a line." });
        operation.response_of(status, DONE, "application/x-ndjson", lines)
    }
}

pub(crate) struct Csv(pub(crate) HttpResponse);

impl Answer for Csv {
    fn respond(self, _: StatusCode) -> HttpResponse {
        self.0
    }

    fn describe(operation: Operation, status: StatusCode) -> Operation {
        operation.response_of(status, DONE, "text/csv", json!({ "type": "string" }))
    }
}

/// An answer with the rate limit headers of the public API; without them if no limit applies.
pub(crate) struct RateLimited<T> {
    pub(crate) body: T,
    pub(crate) left: Option<SearchAllowance>,
    pub(crate) now: Timestamp,
}

impl<T: Serialize + ToSchema + 'static> Answer for RateLimited<T> {
    fn respond(self, status: StatusCode) -> HttpResponse {
        let mut response = self.body.respond(status);
        if let Some(SearchAllowance { quota, remaining, resets_at }) = self.left {
            let headers = response.headers_mut();
            let reset = seconds_until(resets_at, self.now);
            headers.insert(RATE_LIMIT, quota.numbers.into());
            headers.insert(RATE_LIMIT_REMAINING, remaining.into());
            headers.insert(RATE_LIMIT_RESET, reset.into());
        }
        response
    }

    fn describe(operation: Operation, status: StatusCode) -> Operation {
        T::describe(operation, status)
            .rate_limited(&[status])
            .refuses([AdminCode::SearchRateLimited])
    }
}

impl<T: ToSchema> Page<T> {
    /// Cuts the requested part from a complete list. The cursor is the id of the last entry.
    pub(crate) fn of<O, I: FromStr + PartialEq + Display>(
        all: &[O],
        paging: &Paging,
        id: impl Fn(&O) -> I,
        view: impl Fn(&O) -> T,
    ) -> AdminResult<Self> {
        let limit = limit(paging.limit)?;
        let mut rest = all;
        if let Some(cursor) = &paging.cursor {
            let last: I = cursor.parse().map_err(|_| no_cursor())?;
            let at = rest.iter().position(|one| id(one) == last).ok_or_else(no_cursor)?;
            rest = &rest[at + 1..];
        }
        Ok(Self::cut(rest, limit, |one| id(one).to_string(), view))
    }
}
