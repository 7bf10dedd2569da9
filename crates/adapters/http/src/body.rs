use crate::call::Call;
use crate::error::{ApiError, ErrorCode};
use actix_web::dev::Payload;
use actix_web::http::header::{self, HeaderMap, HeaderValue};
use futures_util::StreamExt;
use serde::de::DeserializeOwned;
use tokio::time::timeout;

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
            self.refuse_too_large(self.api.max_body)?;
            return Err(ErrorCode::UnsupportedMediaType.into());
        }
        let bytes = self.raw_body(self.api.max_body).await?;
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
        let declared = self.refuse_too_large(max)?;
        let Some(mut payload) = self.trail.payload.take() else {
            return Ok(Vec::new());
        };
        let body = collect(&mut payload, declared, max);
        let body = timeout(self.api.body_timeout, body).await;
        let body = body.unwrap_or_else(|_| Err(ErrorCode::InvalidRequest.into()));
        if body.is_err() {
            self.trail.payload.replace(Some(payload));
        }
        body
    }

    /// The length that is declared, if it is not too much to be read.
    fn refuse_too_large(&self, max: usize) -> Result<usize, ApiError> {
        let declared = declared_length(self.request.headers());
        match declared {
            Some(length) if length > max => Err(ErrorCode::PayloadTooLarge.into()),
            declared => Ok(declared.unwrap_or_default()),
        }
    }
}

async fn collect(payload: &mut Payload, expected: usize, max: usize) -> Result<Vec<u8>, ApiError> {
    let mut body = Vec::with_capacity(expected);
    while let Some(chunk) = payload.next().await {
        let chunk = chunk.map_err(|_| ErrorCode::InvalidRequest)?;
        if body.len() + chunk.len() > max {
            return Err(ErrorCode::PayloadTooLarge.into());
        }
        body.extend_from_slice(&chunk);
    }
    Ok(body)
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
