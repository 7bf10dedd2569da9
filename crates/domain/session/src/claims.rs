use crate::Session;
use dwar_kernel::{IdentityId, ProjectId, ProjectMode, SessionId, Timestamp, TokenId};

/// What an access token says (RFC 9068 section 2.2; docs/contract.md, Access tokens). No phone number.
///
/// `iss` is the installation's or the project's, `aud` and `client_id` are both the project.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Claims {
    /// `jti`.
    pub token: TokenId,
    /// `sid`.
    pub session: SessionId,
    /// `sub`.
    pub identity: IdentityId,
    /// `aud` and `client_id`, and `mode`.
    pub world: ProjectMode,
    /// `iat`, whole seconds.
    pub issued_at: Timestamp,
    /// `exp`, whole seconds: the first instant at which the token is no longer valid.
    pub expires_at: Timestamp,
}

impl Claims {
    /// The claims of a session's current access token.
    pub const fn of(session: &Session) -> Self {
        Self {
            token: session.access.token,
            session: session.id,
            identity: session.identity,
            world: session.world,
            issued_at: session.access.issued_at,
            expires_at: session.access.expires_at,
        }
    }
}

/// The issuer that the tokens of a project name which has one of its own.
pub fn issuer_of(installation: &str, project: ProjectId) -> String {
    format!("{installation}/p/{project}")
}

/// The token is not one of ours, or has expired. It is not said which.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error("invalid access token")]
pub struct InvalidToken;
