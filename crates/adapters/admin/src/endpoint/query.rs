use crate::endpoint::body::told;
use crate::endpoint::extract::Extract;
use crate::endpoint::refusal::{AdminCode, ApiRefusal};
use actix_web::dev::Payload;
use actix_web::{HttpRequest, web};
use dwar_console::MOST_LISTED;
use dwar_kernel::{KeyMode, Timestamp, read_instant};
use dwar_wire::openapi::Operation;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use std::str::FromStr;
use utoipa::IntoParams;
use utoipa::openapi::Object;
use utoipa::openapi::path::ParameterIn;
use utoipa::openapi::schema::{ObjectBuilder, Type};

const USUAL: u32 = 50;

pub(crate) struct Query<T>(pub(crate) T);

/// Refuses with 400 and the name of the invalid parameter.
impl<T: DeserializeOwned + IntoParams + 'static> Extract for Query<T> {
    async fn read(request: &HttpRequest, _: &mut Payload) -> Result<Self, ApiRefusal> {
        let read = web::Query::from_query(request.query_string());
        read.map(|web::Query(query)| Self(query)).map_err(|cause| {
            let cause = cause.to_string();
            let inner = cause.split_once("failed: ").map_or(cause.as_str(), |(_, inner)| inner);
            let why = format!("The query cannot be read: {}.", told(inner));
            ApiRefusal::saying(AdminCode::InvalidRequest, why)
        })
    }

    fn describe(operation: Operation) -> Operation {
        let all = T::into_params(|| Some(ParameterIn::Query)).into_iter();
        operation.parameters(all.filter_map(|one| serde_json::to_value(one).ok()))
    }
}

/// Page of a list.
#[derive(Default, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
pub(crate) struct Paging {
    /// Entries per page, 1 to 500. Default: 50.
    #[param(minimum = 1, maximum = 500)]
    pub(crate) limit: Option<u32>,
    /// `next_cursor` of the previous page.
    #[param(min_length = 1, max_length = 200)]
    pub(crate) cursor: Option<String>,
}

pub(crate) fn limit(asked: Option<u32>) -> Result<u32, ApiRefusal> {
    match asked.unwrap_or(USUAL) {
        0 => Err(ApiRefusal::field("limit", "must be from 1 to 500")),
        more if more > MOST_LISTED => Err(ApiRefusal::field("limit", "must be from 1 to 500")),
        fits => Ok(fits),
    }
}

pub(crate) fn no_cursor() -> ApiRefusal {
    ApiRefusal::field("cursor", "must be the next_cursor of an earlier page")
}

pub(crate) fn instant_of(field: &str, text: Option<&str>) -> Result<Option<Timestamp>, ApiRefusal> {
    let Some(text) = text else { return Ok(None) };
    let wrong = || ApiRefusal::field(field, "must be a date and time in the format of RFC 3339");
    read_instant(text).map(Some).ok_or_else(wrong)
}

pub(crate) fn word<T>(
    field: &str,
    text: Option<&str>,
    known: impl Fn(&str) -> Option<T>,
) -> Result<Option<T>, ApiRefusal> {
    let Some(text) = text else { return Ok(None) };
    let wrong = || ApiRefusal::field(field, "must be one of the documented values");
    known(text).map(Some).ok_or_else(wrong)
}

/// The schema of a parameter that [`word`] reads.
pub(crate) fn one_of<const N: usize>(words: [&'static str; N]) -> Object {
    ObjectBuilder::new().schema_type(Type::String).enum_values(Some(words)).build()
}

pub(crate) fn modes() -> Object {
    one_of(KeyMode::ALL.map(KeyMode::as_str))
}

/// Parses a cursor made of an instant and a tie-breaker: `2027-01-15T08:00:00Z_7`.
pub(crate) fn place<T: FromStr>(
    cursor: Option<&str>,
) -> Result<Option<(Timestamp, T)>, ApiRefusal> {
    let Some(text) = cursor else { return Ok(None) };
    let (at, rest) = text.split_once('_').ok_or_else(no_cursor)?;
    let at = read_instant(at).ok_or_else(no_cursor)?;
    Ok(Some((at, rest.parse().map_err(|_| no_cursor())?)))
}
