use dwar_kernel::{Digest, Entropy, Purpose, SecretText, Vault};
use std::fmt;
use std::str::FromStr;

const PREFIX: &str = "svc_rt_";
/// 43 characters of base62 carry the 256 random bits that the decisions ask for.
const BODY: usize = 43;

/// An opaque refresh token: `svc_rt_`, 256 random bits, a checksum. Only its digest is stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RefreshToken(SecretText);

/// The text cannot be such a token.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error("not a refresh token")]
pub struct MalformedToken;

impl RefreshToken {
    /// A fresh token.
    pub fn generate(entropy: &dyn Entropy) -> Self {
        Self(SecretText::generate(PREFIX, BODY, entropy))
    }

    /// The plaintext, for the one answer that hands it over.
    pub fn expose(&self) -> &str {
        self.0.expose()
    }

    /// The form under which stores know it.
    pub fn digest(&self, vault: &dyn Vault) -> Digest {
        vault.digest(Purpose::RefreshToken, &[self.expose().as_bytes()])
    }
}

impl FromStr for RefreshToken {
    type Err = MalformedToken;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        SecretText::parse(text, PREFIX, BODY).map(Self).ok_or(MalformedToken)
    }
}

/// A signed access token (JWT in compact form, RFC 9068).
#[derive(Clone, PartialEq, Eq)]
pub struct AccessToken(String);

impl AccessToken {
    /// Wraps what a signer made or a client sent; says nothing about its validity.
    pub fn new(compact: impl Into<String>) -> Self {
        Self(compact.into())
    }

    /// The compact form.
    pub fn expose(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for AccessToken {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("AccessToken(…)")
    }
}

/// The public keys as a JWK Set (RFC 7517 section 5), serialised once.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JwkSet {
    /// The JSON document.
    pub json: String,
    /// A strong validator that changes with the document (RFC 9110 section 8.8.3), unquoted.
    pub etag: String,
}
