use crate::{Algorithm, Claims};
use derive_more::Debug;
use dwar_kernel::{Digest, Entropy, ProjectMode, Purpose, SessionId, Vault};
use std::sync::Arc;
use subtle::ConstantTimeEq;
use uuid::Uuid;
use zeroize::Zeroizing;

const PREFIX: &str = "svc_rt_";
const HEX: &[u8; 16] = b"0123456789abcdef";
/// Half of the digest; RFC 2104 section 5 allows the truncation.
const MAC: usize = 16;
const BODY: usize = 2 * (16 + 4 + 32 + MAC);

/// Identifies one refresh token of a session, without its secret part.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RefreshTokenId {
    pub project_mode: ProjectMode,
    pub session: SessionId,
    /// Number of refresh tokens of the session that came before it.
    pub generation: u32,
}

/// A refresh token: `svc_rt_`, then four parts in hexadecimal: session, generation, 256 random bits, and a MAC.
/// The MAC covers the other three parts, the project and the mode. Opaque to callers.
///
/// The MAC tells a token that was used long ago from one that was never issued, without a record of either;
/// it grants no right. Only the digest of the current token is stored, and only that token works.
#[derive(Clone, Debug, PartialEq, Eq)]
#[debug("{PREFIX}…")]
pub struct RefreshToken {
    id: RefreshTokenId,
    text: Zeroizing<String>,
}

impl RefreshToken {
    /// Makes a refresh token with 256 random bits and its MAC.
    pub fn generate(id: RefreshTokenId, vault: &dyn Vault, entropy: &dyn Entropy) -> Self {
        let mut random = Zeroizing::new([0; 32]);
        entropy.fill(random.as_mut_slice());
        Self::of(id, &random, vault)
    }

    /// Reads which session a token names, without a check. The result proves nothing: it only tells which session
    /// to look up.
    pub fn session_of(text: &str) -> Option<SessionId> {
        let session = text.strip_prefix(PREFIX)?.get(..32)?;
        Some(Uuid::from_u128(u128::from_str_radix(session, 16).ok()?).into())
    }

    /// Parses a token of this project and mode and checks its MAC; `None` for everything else, without a
    /// look-up.
    pub fn read(project_mode: ProjectMode, text: &str, vault: &dyn Vault) -> Option<Self> {
        let body = text.strip_prefix(PREFIX).filter(|body| body.len() == BODY)?;
        let number = |from, to| u128::from_str_radix(body.get(from..to)?, 16).ok();
        let session = Uuid::from_u128(number(0, 32)?).into();
        let generation = u32::try_from(number(32, 40)?).ok()?;
        let mut random = Zeroizing::new([0; 32]);
        random[..16].copy_from_slice(&number(40, 72)?.to_be_bytes());
        random[16..].copy_from_slice(&number(72, 104)?.to_be_bytes());
        let token = Self::of(RefreshTokenId { project_mode, session, generation }, &random, vault);
        // A mismatch means a wrong MAC, or another spelling of the same numbers.
        bool::from(token.text.as_bytes().ct_eq(text.as_bytes())).then_some(token)
    }

    fn of(id: RefreshTokenId, random: &[u8; 32], vault: &dyn Vault) -> Self {
        let (project, session) = (id.project_mode.project.uuid(), id.session.uuid());
        let (mode, generation) = (id.project_mode.mode.as_str(), id.generation.to_be_bytes());
        let parts: [&[u8]; 5] =
            [project.as_bytes(), mode.as_bytes(), session.as_bytes(), &generation, random];
        let mac = vault.digest(Purpose::RefreshTokenMac, &parts);
        // Allocated at full length, so that growing leaves no copy of the secret in memory.
        let mut text = Zeroizing::new(String::with_capacity(PREFIX.len() + BODY));
        text.push_str(PREFIX);
        let bytes = parts[2..].iter().copied().flatten().chain(&mac.0[..MAC]);
        let digits = bytes.flat_map(|byte| [byte >> 4, byte & 15]);
        text.extend(digits.map(|digit| char::from(HEX[usize::from(digit)])));
        Self { id, text }
    }

    pub const fn id(&self) -> RefreshTokenId {
        self.id
    }

    /// The token in clear, for the one answer that carries it.
    pub fn expose(&self) -> &str {
        &self.text
    }

    /// Stored form of the token. A presented token is the current one if its digest is stored.
    pub fn digest(&self, vault: &dyn Vault) -> Digest {
        vault.digest(Purpose::RefreshToken, &[self.text.as_bytes()])
    }
}

/// A signed access token (JWT in compact form, RFC 9068).
#[derive(Clone, Debug, PartialEq, Eq)]
#[debug("AccessToken(…)")]
pub struct AccessToken(String);

impl AccessToken {
    /// Wraps a token of a signer or a client, without any check.
    pub fn new(compact: impl Into<String>) -> Self {
        Self(compact.into())
    }

    /// The token in JWT compact form, for answers and verification.
    pub fn expose(&self) -> &str {
        &self.0
    }
}

/// An access token as a client presents it, with what is known about it before any look-up.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PresentedToken {
    pub token: AccessToken,
    /// The session that the token names, for the look-up. It proves nothing before the signature is checked.
    pub session: Option<SessionId>,
    /// What is known of the signature so far.
    pub signature: Signature,
}

impl PresentedToken {
    /// A token whose signature is not checked yet.
    pub const fn unchecked(token: AccessToken, session: Option<SessionId>) -> Self {
        Self { token, session, signature: Signature::Unchecked }
    }
}

/// Result of checking a token's signature. It never changes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Signature {
    Unchecked,
    /// Key `kid` made the signature, over these claims. Whether key and claims are still valid is a separate
    /// check.
    Good {
        kid: Arc<str>,
        claims: Claims,
    },
    /// No key of this installation made the signature.
    Bad,
}

/// The public keys as a JWK Set (RFC 7517 section 5), serialised once.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JwkSet {
    pub json: String,
    /// Strong entity tag that changes with the document (RFC 9110 section 8.8.3), unquoted.
    pub etag: String,
    pub algorithms: Vec<Algorithm>,
}

#[cfg(test)]
#[path = "token_tests.rs"]
mod tests;
