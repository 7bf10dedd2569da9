use crate::{FixedClaims, words};
use std::str::FromStr;

words! {
    /// The `typ` in the header of an access token.
    TokenType {
        /// RFC 9068 section 2.1.
        AccessToken = "at+jwt",
        /// RFC 7519 section 5.1, for verifiers that accept nothing else.
        Jwt = "JWT",
    }
}

/// The type of RFC 9068, which tells access tokens apart from other JWTs.
impl Default for TokenType {
    fn default() -> Self {
        Self::AccessToken
    }
}

/// Parse error: the text is neither `at+jwt` nor `JWT`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("at+jwt or JWT")]
pub struct UnknownTokenType;

impl FromStr for TokenType {
    type Err = UnknownTokenType;

    fn from_str(text: &str) -> Result<Self, UnknownTokenType> {
        Self::from_word(text).ok_or(UnknownTokenType)
    }
}

/// How access tokens of a project with its own issuer differ from those of the installation.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TokenProfile {
    pub token_type: TokenType,
    /// Claims in addition to those of every token.
    pub claims: FixedClaims,
}
