use crate::body_places::BodyOwner;
use crate::call::ApiCall;
use crate::error::{ApiError, ErrorCode};
use crate::uri::pairs;
use actix_web::dev::Payload;
use dwar_wire::{declared_length, declares_form, declares_json};
use futures_util::StreamExt;
use serde::de::DeserializeOwned;
use std::time::Duration;
use tokio::sync::OwnedSemaphorePermit;
use tokio::time::timeout;

/// Longest body, in bytes, that needs no reserved place: as long as the API allows clients.
pub(crate) const SMALL: usize = 16 * 1_024;
const WAIT_FOR_ROOM: Duration = Duration::from_millis(250);

#[derive(Clone, Copy)]
pub(crate) struct Allowed<'a> {
    pub(crate) longest: usize,
    /// Longest time, if less than `http.client_timeout_seconds`.
    pub(crate) within: Duration,
    /// The owner of the places that a long body takes; `None` for an endpoint without a body.
    pub(crate) whose: Option<&'a BodyOwner>,
}

/// A body as received, with its place if it is long.
#[derive(Default)]
pub(crate) struct Body {
    pub(crate) bytes: Vec<u8>,
    pub(crate) room: Option<OwnedSemaphorePermit>,
}

impl ApiCall {
    /// Reads the body as the JSON object `T`; an absent body reads as an object without members.
    ///
    /// Unknown members are ignored at any depth. A known member must not occur twice, because two
    /// readers could then see two different requests.
    ///
    /// # Errors
    /// `PAYLOAD_TOO_LARGE`, `UNSUPPORTED_MEDIA_TYPE`, or `INVALID_REQUEST`: not JSON, not an
    /// object, not UTF-8, or too late. If part of the body is not read, the connection is closed.
    pub(crate) async fn body<T: DeserializeOwned + Default>(&self) -> Result<T, ApiError> {
        if !declares_json(self.request.headers()) {
            self.refuse_too_large(SMALL)?;
            return Err(ErrorCode::UnsupportedMediaType.into());
        }
        let allowed = Allowed { longest: SMALL, within: Duration::MAX, whose: None };
        let Body { bytes, .. } = self.raw_body(allowed).await?;
        if bytes.is_empty() {
            return Ok(T::default());
        }
        let text = std::str::from_utf8(&bytes).map_err(|_| ErrorCode::InvalidRequest)?;
        if !text.trim_ascii_start().starts_with('{') {
            return Err(ErrorCode::InvalidRequest.into());
        }
        serde_json::from_str(text).map_err(|_| ErrorCode::InvalidRequest.into())
    }

    /// Reads the body as a form, and gives this parameter of it; one without a value counts as missing (RFC 6749
    /// section 3.2).
    ///
    /// # Errors
    /// As of [`ApiCall::body`]; `INVALID_REQUEST` also if the parameter is missing or any parameter
    /// occurs twice.
    pub(crate) async fn form_parameter(&self, name: &str) -> Result<String, ApiError> {
        if !declares_form(self.request.headers()) {
            self.refuse_too_large(SMALL)?;
            let refusal = ApiError::from(ErrorCode::UnsupportedMediaType);
            return Err(refusal.saying("The body must be application/x-www-form-urlencoded."));
        }
        let allowed = Allowed { longest: SMALL, within: Duration::MAX, whose: None };
        let Body { bytes, .. } = self.raw_body(allowed).await?;
        let text = std::str::from_utf8(&bytes).map_err(|_| ErrorCode::InvalidRequest)?;
        let mut pairs = pairs(text)?;
        pairs.sort();
        let refused = |sentence: &str| ApiError::from(ErrorCode::InvalidRequest).saying(sentence);
        if pairs.windows(2).any(|two| two[0].0 == two[1].0) {
            return Err(refused("A parameter of the form is given twice."));
        }
        let given = pairs.into_iter().find(|(named, value)| named == name && !value.is_empty());
        given.map(|(_, value)| value).ok_or_else(|| refused(&format!("The form lacks {name}.")))
    }

    /// Reads the body unchanged, whatever its declared type. Beyond [`SMALL`] it takes a place of
    /// its owner.
    ///
    /// # Errors
    /// `PAYLOAD_TOO_LARGE`, `INVALID_REQUEST` if the body is too late, or `SERVICE_UNAVAILABLE` if
    /// no place becomes free soon. If part of the body is not read, the connection is closed.
    pub(crate) async fn raw_body(&self, allowed: Allowed<'_>) -> Result<Body, ApiError> {
        self.refuse_too_large(allowed.longest)?;
        let Some(mut payload) = self.context.payload.take() else {
            return Ok(Body::default());
        };
        let within = allowed.within.min(self.api.client_timeout);
        let body = timeout(within, self.collect(&mut payload, allowed)).await;
        body.unwrap_or_else(|_| Err(ErrorCode::InvalidRequest.into()))
    }

    /// Refuses a declared length above the limit. The length is only a claim, so no memory is
    /// reserved for it.
    pub(crate) fn refuse_too_large(&self, max: usize) -> Result<(), ApiError> {
        match declared_length(self.request.headers()) {
            Some(length) if length > max => Err(ErrorCode::PayloadTooLarge.into()),
            _ => Ok(()),
        }
    }

    async fn collect(&self, payload: &mut Payload, allowed: Allowed<'_>) -> Result<Body, ApiError> {
        let mut body = Body::default();
        while let Some(chunk) = payload.next().await {
            let chunk = chunk.map_err(|_| ErrorCode::InvalidRequest)?;
            let length = body.bytes.len() + chunk.len();
            if length > allowed.longest {
                return Err(ErrorCode::PayloadTooLarge.into());
            }
            if let (Some(whose), None, true) = (allowed.whose, &body.room, length > SMALL) {
                let room = self.api.rooms.of(whose);
                let entered = timeout(WAIT_FOR_ROOM, room.acquire_owned()).await;
                let entered = entered.ok().and_then(Result::ok);
                body.room = Some(entered.ok_or(ErrorCode::ServiceUnavailable)?);
            }
            body.bytes.extend_from_slice(&chunk);
        }
        Ok(body)
    }
}
