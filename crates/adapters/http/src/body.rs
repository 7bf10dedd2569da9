use crate::call::Call;
use crate::error::{ApiError, ErrorCode};
use actix_web::dev::Payload;
use actix_web::http::header::{self, HeaderMap, HeaderValue};
use futures_util::StreamExt;
use serde::de::DeserializeOwned;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::timeout;

/// Up to here a body needs no room: as much as every client of the API may send.
const SMALL: usize = 16 * 1_024;
/// Longer bodies that may be in memory at once, per kind of caller.
const LONG_AT_ONCE: usize = 4;
const WAIT_FOR_ROOM: Duration = Duration::from_millis(250);

/// Room for the long bodies of all connections together: callers who have not proven anything
/// cannot take it from those who have.
pub(crate) struct Rooms {
    pub(crate) strangers: Arc<Semaphore>,
    pub(crate) proven: Arc<Semaphore>,
}

impl Default for Rooms {
    fn default() -> Self {
        let [strangers, proven] = [(); 2].map(|()| Arc::new(Semaphore::new(LONG_AT_ONCE)));
        Self { strangers, proven }
    }
}

/// A body as it came, with its share of the room if it is long.
#[derive(Default)]
pub(crate) struct Body {
    pub(crate) bytes: Vec<u8>,
    pub(crate) room: Option<OwnedSemaphorePermit>,
}

impl Call {
    /// Reads the body as the JSON object `T`; an absent body reads as an object without members.
    ///
    /// Unknown members are ignored however deep they are; a member that `T` knows must not come
    /// twice, since two readers could then see two different requests.
    ///
    /// # Errors
    /// `PAYLOAD_TOO_LARGE`, `UNSUPPORTED_MEDIA_TYPE`, or `INVALID_REQUEST`: not JSON, not an
    /// object, not UTF-8, or not here in time. Whatever is left unread costs the client its
    /// connection.
    pub(crate) async fn body<T: DeserializeOwned + Default>(&self) -> Result<T, ApiError> {
        if !declares_json(self.request.headers()) {
            self.refuse_too_large(SMALL)?;
            return Err(ErrorCode::UnsupportedMediaType.into());
        }
        let bytes = self.raw_body(SMALL).await?;
        if bytes.is_empty() {
            return Ok(T::default());
        }
        let text = std::str::from_utf8(&bytes).map_err(|_| ErrorCode::InvalidRequest)?;
        if !text.trim_ascii_start().starts_with('{') {
            return Err(ErrorCode::InvalidRequest.into());
        }
        serde_json::from_str(text).map_err(|_| ErrorCode::InvalidRequest.into())
    }

    /// Reads the body as it came, whatever it claims to be.
    ///
    /// # Errors
    /// `PAYLOAD_TOO_LARGE`, or `INVALID_REQUEST` if it is not here in time. Whatever is left
    /// unread costs the client its connection.
    pub(crate) async fn raw_body(&self, max: usize) -> Result<Vec<u8>, ApiError> {
        Ok(self.roomy_body(max, None).await?.bytes)
    }

    /// As [`Call::raw_body`]; beyond [`SMALL`] the body takes its share of `room`, if one is given.
    ///
    /// # Errors
    /// `SERVICE_UNAVAILABLE` too, if there is no room soon.
    pub(crate) async fn roomy_body(
        &self,
        max: usize,
        room: Option<&Arc<Semaphore>>,
    ) -> Result<Body, ApiError> {
        self.refuse_too_large(max)?;
        let Some(mut payload) = self.trail.payload.take() else {
            return Ok(Body::default());
        };
        let body = timeout(self.api.body_timeout, collect(&mut payload, max, room)).await;
        let body = body.unwrap_or_else(|_| Err(ErrorCode::InvalidRequest.into()));
        if body.is_err() {
            self.trail.payload.replace(Some(payload));
        }
        body
    }

    /// Refuses a declared length that is too much to be read. It is a claim: nothing is set aside
    /// for it.
    fn refuse_too_large(&self, max: usize) -> Result<(), ApiError> {
        match declared_length(self.request.headers()) {
            Some(length) if length > max => Err(ErrorCode::PayloadTooLarge.into()),
            _ => Ok(()),
        }
    }
}

async fn collect(
    payload: &mut Payload,
    max: usize,
    room: Option<&Arc<Semaphore>>,
) -> Result<Body, ApiError> {
    let mut body = Body::default();
    while let Some(chunk) = payload.next().await {
        let chunk = chunk.map_err(|_| ErrorCode::InvalidRequest)?;
        let length = body.bytes.len() + chunk.len();
        if length > max {
            return Err(ErrorCode::PayloadTooLarge.into());
        }
        if let (Some(room), None, true) = (room, &body.room, length > SMALL) {
            body.room = Some(enter(room).await?);
        }
        body.bytes.extend_from_slice(&chunk);
    }
    Ok(body)
}

async fn enter(room: &Arc<Semaphore>) -> Result<OwnedSemaphorePermit, ApiError> {
    let entered = timeout(WAIT_FOR_ROOM, room.clone().acquire_owned()).await;
    let entered = entered.ok().and_then(Result::ok);
    entered.ok_or_else(|| ErrorCode::ServiceUnavailable.into())
}

/// What `Content-Length` says; a length beyond counting is as long as can be.
fn declared_length(headers: &HeaderMap) -> Option<usize> {
    let text = headers.get(header::CONTENT_LENGTH)?.to_str().ok()?;
    Some(text.parse().unwrap_or(usize::MAX))
}

/// Whether the body claims to be JSON, or claims nothing; compressed is not JSON (RFC 9110
/// section 15.5.16).
fn declares_json(headers: &HeaderMap) -> bool {
    let plain = |coding: &HeaderValue| coding.as_bytes().eq_ignore_ascii_case(b"identity");
    headers.get_all(header::CONTENT_TYPE).all(is_json)
        && headers.get_all(header::CONTENT_ENCODING).all(plain)
}

/// `application/json` or `application/…+json`; a charset, if named, must be UTF-8 (RFC 8259
/// section 8.1). Other parameters mean nothing and are ignored.
fn is_json(value: &HeaderValue) -> bool {
    let Ok(text) = value.to_str() else { return false };
    let text = text.to_ascii_lowercase();
    let mut parts = text.split(';').map(str::trim);
    let essence = parts.next().unwrap_or_default();
    let suffixed = essence
        .strip_prefix("application/")
        .and_then(|subtype| subtype.strip_suffix("+json"))
        .is_some_and(|name| !name.is_empty());
    let charset = |parameter: &str| match parameter.strip_prefix("charset=") {
        Some(charset) => charset.trim_matches('"') == "utf-8",
        None => true,
    };
    (essence == "application/json" || suffixed) && parts.all(charset)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn knows_json_by_its_media_type() {
        let json = [
            "application/json",
            "Application/JSON",
            "application/json; charset=utf-8",
            "application/json;charset=\"UTF-8\"",
            "application/json; q=1",
            "application/merge-patch+json",
        ];
        let other = [
            "",
            "text/plain",
            "text/json",
            "application/jsonp",
            "application/+json",
            "application/json; charset=utf-16",
            "application/x-www-form-urlencoded",
            "application/json, text/plain",
        ];
        assert!(json.iter().all(|text| is_json(&HeaderValue::from_static(text))));
        for text in other {
            assert!(!is_json(&HeaderValue::from_static(text)), "{text}");
        }
    }
}
