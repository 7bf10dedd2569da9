use crate::endpoint::extract::Extract;
use crate::endpoint::refusal::{AdminCode, ApiRefusal};
use actix_web::HttpRequest;
use actix_web::dev::Payload;
use dwar_wire::openapi::Operation;
use dwar_wire::{declared_length, declares_json};
use futures_util::StreamExt;
use serde::Deserialize;
use serde::de::{DeserializeOwned, Deserializer, Error, IgnoredAny};
use std::fmt::Display;
use std::str::FromStr;
use utoipa::ToSchema;

/// The largest accepted body, in bytes. Every legitimate body is shorter.
const LONGEST: usize = 32 * 1_024;

/// The body of a request, which has to be a JSON object.
pub(crate) struct Json<T>(pub(crate) T);

/// Refuses with 413, 415, 400 if the body is not a JSON object, or 422 with the name of the invalid
/// field.
impl<T: DeserializeOwned + ToSchema + 'static> Extract for Json<T> {
    async fn read(request: &HttpRequest, payload: &mut Payload) -> Result<Self, ApiRefusal> {
        let bytes = collect(request, payload).await?;
        if !declares_json(request.headers()) {
            return Err(AdminCode::UnsupportedMediaType.into());
        }
        parse(&bytes).map(Self)
    }

    fn describe(operation: Operation) -> Operation {
        operation.request_body::<T>()
    }
}

async fn collect(request: &HttpRequest, payload: &mut Payload) -> Result<Vec<u8>, ApiRefusal> {
    if declared_length(request.headers()).is_some_and(|length| length > LONGEST) {
        return Err(AdminCode::PayloadTooLarge.into());
    }
    let mut bytes = Vec::new();
    while let Some(chunk) = payload.next().await {
        let chunk = chunk.map_err(|_| AdminCode::InvalidRequest)?;
        if bytes.len() + chunk.len() > LONGEST {
            return Err(AdminCode::PayloadTooLarge.into());
        }
        bytes.extend_from_slice(&chunk);
    }
    Ok(bytes)
}

fn parse<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, ApiRefusal> {
    // Text that is not JSON has no fields to name.
    let object = bytes.trim_ascii_start().starts_with(b"{");
    if !object || serde_json::from_slice::<IgnoredAny>(bytes).is_err() {
        return Err(ApiRefusal::saying(
            AdminCode::InvalidRequest,
            "The body is not a JSON object.",
        ));
    }
    let mut text = serde_json::Deserializer::from_slice(bytes);
    serde_path_to_error::deserialize(&mut text).map_err(|cause| {
        let why = told(&cause.inner().to_string());
        match cause.path().to_string().as_str() {
            "." => ApiRefusal::saying(AdminCode::InvalidField, why),
            path => ApiRefusal::field(path, why),
        }
    })
}

/// The part of a parse error that may be shown: names of fields and the expected type, but never
/// the value, which may be a number or a secret.
pub(crate) fn told(cause: &str) -> String {
    let cause = cause.split(" at line ").next().unwrap_or_default();
    let named = ["missing field", "unknown field", "duplicate field"];
    if named.iter().any(|kind| cause.starts_with(kind)) {
        return cause.to_owned();
    }
    match cause.split_once("expected ") {
        Some((_, expected)) => format!("expected {expected}"),
        None => "has an invalid format".to_owned(),
    }
}

/// A value written as text: an id, a number, a word.
pub(crate) struct Parsed<T>(pub(crate) T);

impl<'de, T: FromStr> Deserialize<'de> for Parsed<T>
where
    T::Err: Display,
{
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        text.parse().map(Self).map_err(|_| D::Error::custom("unreadable"))
    }
}
