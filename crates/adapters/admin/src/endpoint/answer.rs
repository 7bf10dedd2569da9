use crate::endpoint::body::reference;
use crate::endpoint::operation::Schemas;
use crate::endpoint::query::{Paging, limit, no_cursor};
use crate::endpoint::refusal::ApiRefusal;
use actix_web::HttpResponse;
use actix_web::http::StatusCode;
use actix_web::http::header::HeaderName;
use actix_web::web::Bytes;
use chrono::SecondsFormat;
use dwar_kernel::{StoreError, Timestamp};
use dwar_operator::SearchAllowance;
use dwar_wire::{seconds_until, streamed};
use futures_util::Stream;
use serde::Serialize;
use serde_json::Value;
use std::borrow::Cow;
use std::fmt::Display;
use std::pin::Pin;
use std::str::FromStr;
use utoipa::openapi::RefOr;
use utoipa::openapi::schema::{Array, Object, Ref, Schema, SchemaType, Type};
use utoipa::{PartialSchema, ToSchema};

const RATE_LIMIT: HeaderName = HeaderName::from_static("ratelimit-limit");
const RATE_LIMIT_REMAINING: HeaderName = HeaderName::from_static("ratelimit-remaining");
const RATE_LIMIT_RESET: HeaderName = HeaderName::from_static("ratelimit-reset");

/// What a handler gives.
pub(crate) type Answered<T> = Result<T, ApiRefusal>;

/// What an endpoint answers.
pub(crate) trait Answer: Sized + 'static {
    /// The answer.
    fn respond(self, status: StatusCode) -> HttpResponse;

    /// Its media type and schema.
    fn describe(schemas: &mut Schemas) -> (&'static str, Value);
}

impl<T: Serialize + ToSchema + 'static> Answer for T {
    fn respond(self, status: StatusCode) -> HttpResponse {
        HttpResponse::build(status).json(self)
    }

    fn describe(schemas: &mut Schemas) -> (&'static str, Value) {
        ("application/json", reference::<Self>(schemas))
    }
}

/// Objects of JSON, one a line, for as long as there are any.
pub(crate) struct Lines<T> {
    lines: Pin<Box<dyn Stream<Item = Result<Bytes, StoreError>>>>,
    of: std::marker::PhantomData<T>,
}

impl<T> Lines<T> {
    /// Lines as they come.
    pub(crate) fn new(lines: impl Stream<Item = Result<Bytes, StoreError>> + 'static) -> Self {
        Self { lines: Box::pin(lines), of: std::marker::PhantomData }
    }
}

impl<T: ToSchema + 'static> Answer for Lines<T> {
    fn respond(self, status: StatusCode) -> HttpResponse {
        HttpResponse::build(status)
            .content_type("application/x-ndjson")
            .streaming(streamed(self.lines))
    }

    fn describe(schemas: &mut Schemas) -> (&'static str, Value) {
        ("application/x-ndjson", reference::<T>(schemas))
    }
}

/// A statement as CSV.
pub(crate) struct Csv(pub(crate) HttpResponse);

impl Answer for Csv {
    fn respond(self, _: StatusCode) -> HttpResponse {
        self.0
    }

    fn describe(_: &mut Schemas) -> (&'static str, Value) {
        ("text/csv", serde_json::json!({ "type": "string" }))
    }
}

/// An answer that tells what is left of a limit, by the headers that the public API has for it; of
/// none where nothing counts.
pub(crate) struct Limited<T> {
    pub(crate) body: T,
    pub(crate) left: Option<SearchAllowance>,
    pub(crate) now: Timestamp,
}

impl<T: Serialize + ToSchema + 'static> Answer for Limited<T> {
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

    fn describe(schemas: &mut Schemas) -> (&'static str, Value) {
        T::describe(schemas)
    }
}

/// Part of a list.
#[derive(Serialize)]
pub(crate) struct Page<T: ToSchema> {
    pub(crate) items: Vec<T>,
    /// For the query of the next request; null where the list ends.
    pub(crate) next_cursor: Option<String>,
}

/// By hand, since the derived one calls the pages of all things by one name.
impl<T: ToSchema> ToSchema for Page<T> {
    fn name() -> Cow<'static, str> {
        format!("{}Page", T::name()).into()
    }

    fn schemas(schemas: &mut Vec<(String, RefOr<Schema>)>) {
        schemas.push((T::name().into_owned(), T::schema()));
        T::schemas(schemas);
    }
}

impl<T: ToSchema> PartialSchema for Page<T> {
    fn schema() -> RefOr<Schema> {
        let items = Array::new(Ref::from_schema_name(T::name()));
        let cursor = Object::builder()
            .schema_type(SchemaType::from_iter([Type::String, Type::Null]))
            .description(Some("For the query of the next request; null where the list ends."));
        let page = Object::builder().property("items", items).property("next_cursor", cursor);
        page.required("items").required("next_cursor").into()
    }
}

impl<T: ToSchema> Page<T> {
    /// The part that is asked for of a list that is short enough to be at hand; the cursor is the
    /// id of the last entry.
    pub(crate) fn of<O, I: FromStr + PartialEq + Display>(
        all: Vec<O>,
        paging: &Paging,
        id: impl Fn(&O) -> I,
        view: impl Fn(O) -> T,
    ) -> Answered<Self> {
        let limit = limit(paging.limit)?;
        let mut rest = all;
        if let Some(cursor) = &paging.cursor {
            let last: I = cursor.parse().map_err(|_| no_cursor())?;
            let at = rest.iter().position(|one| id(one) == last).ok_or_else(no_cursor)?;
            rest.drain(..=at);
        }
        Ok(Self::cut(rest, limit, |one| id(one).to_string(), view))
    }

    /// The first `limit` of what was read, which is one more where there are more.
    pub(crate) fn cut<O>(
        mut read: Vec<O>,
        limit: u32,
        cursor: impl Fn(&O) -> String,
        view: impl Fn(O) -> T,
    ) -> Self {
        let more = read.len() > limit as usize;
        read.truncate(limit as usize);
        let next_cursor = read.last().filter(|_| more).map(cursor);
        Self { items: read.into_iter().map(view).collect(), next_cursor }
    }
}

/// An id as text.
pub(crate) fn id(id: impl Display) -> String {
    id.to_string()
}

/// An instant as the public API writes it: RFC 3339, UTC.
pub(crate) fn instant(at: Timestamp) -> String {
    at.to_rfc3339_opts(SecondsFormat::AutoSi, true)
}
