//! Reads the header `Authorization`.

use crate::call::ApiCall;
use crate::error::{ApiError, ErrorCode};
use crate::json::Token;
use crate::uri::decode;
use actix_web::http::header;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use dwar_app::Claim;
use dwar_project::ApiKey;
use zeroize::Zeroizing;

impl ApiCall {
    /// The bearer token (RFC 6750 section 2.1). Any other header counts as no token.
    pub(crate) fn bearer_token(&self) -> Result<Token, ApiError> {
        let shown = self.credentials("Bearer", ErrorCode::InvalidAccessToken)?;
        shown.and_then(|token| token.parse().ok()).ok_or_else(ApiError::no_bearer_token)
    }

    /// The API key of an OAuth client: in `X-Api-Key`, or as the password of HTTP Basic with any
    /// user name (RFC 6749 section 2.3.1). Two keys are refused.
    pub(crate) fn claim_of_client(&self) -> Result<Claim, ApiError> {
        let invalid = || ApiError::from(ErrorCode::InvalidApiKey);
        let basic = self.credentials("Basic", ErrorCode::InvalidApiKey)?;
        match (self.claim(), basic) {
            (Err(error), Some(shown)) if error.code == ErrorCode::MissingApiKey => {
                password_of(shown).map(Claim::Key).ok_or_else(invalid)
            }
            (_, Some(_)) => Err(invalid()),
            (Err(error), None) if error.code == ErrorCode::MissingApiKey => Err(error.saying(
                "There is no API key: neither in X-Api-Key nor as the password of HTTP Basic.",
            )),
            (claim, None) => claim,
        }
    }

    /// The text after the scheme, whose name is case-insensitive (RFC 9110 section 11.1); `None`
    /// for another scheme. A repeated header is refused with `twice`.
    fn credentials(&self, scheme: &str, twice: ErrorCode) -> Result<Option<&str>, ApiError> {
        let Some(value) = self.single(header::AUTHORIZATION, twice)? else { return Ok(None) };
        let shown = value.to_str().ok().and_then(|text| text.split_once(' '));
        let shown = shown.filter(|(named, _)| named.eq_ignore_ascii_case(scheme));
        Ok(shown.map(|(_, shown)| shown.trim_matches(' ')))
    }
}

/// The password of Basic credentials (RFC 7617 section 2), form-encoded as RFC 6749 requires or
/// plain: a key has no character that differs.
fn password_of(credentials: &str) -> Option<ApiKey> {
    let decoded = Zeroizing::new(STANDARD.decode(credentials).ok()?);
    let (_, password) = std::str::from_utf8(&decoded).ok()?.split_once(':')?;
    decode(password, true).ok()?.parse().ok()
}
