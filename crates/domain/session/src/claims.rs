use crate::Session;
use dwar_kernel::{IdentityId, ProjectId, ProjectMode, SessionId, Timestamp, TokenId};

/// Claims of an access token (RFC 9068 section 2.2; docs/contract.md, Access tokens). It holds no phone
/// number.
///
/// `iss` is the issuer of the installation or of the project; `aud` and `client_id` are both the project.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Claims {
    /// `jti`.
    pub token: TokenId,
    /// `sid`.
    pub session: SessionId,
    /// `sub`.
    pub identity: IdentityId,
    /// `aud` and `client_id`, and `mode`.
    pub project_mode: ProjectMode,
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
            project_mode: session.project_mode,
            issued_at: session.access.issued_at,
            expires_at: session.access.expires_at,
        }
    }
}

/// The issuer of a project that has its own: `{installation}/p/{project}`.
pub fn issuer_of(installation: &str, project: ProjectId) -> String {
    format!("{installation}/p/{project}")
}

/// The token was not issued here, or has expired. The error does not say which.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error("invalid access token")]
pub struct InvalidToken;
