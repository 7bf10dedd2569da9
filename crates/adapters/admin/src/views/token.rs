use super::operator::Access;
use super::text::{id, instant};
use dwar_kernel::AdminTokenId;
use dwar_operator::{AdminSecret, AdminToken, Requester};
use serde::Serialize;
use utoipa::ToSchema;

/// A token of this API.
#[derive(Serialize, ToSchema)]
pub struct Token {
    #[schema(format = "uuid")]
    token_id: String,
    name: String,
    access: Access,
    /// Whether it may create what keeps working after the token expires: keys, hooks, webhooks,
    /// operators, tokens.
    may_delegate: bool,
    /// Who created it, as in the audit log.
    made_by: String,
    #[schema(format = "date-time")]
    made_at: String,
    #[schema(format = "date-time")]
    expires_at: String,
    /// Time of the last use, to the minute.
    #[schema(format = "date-time")]
    used_at: Option<String>,
    /// Client address of the last use.
    used_from: Option<String>,
}

/// A new token with its secret.
#[derive(Serialize, ToSchema)]
pub struct MadeToken {
    token: Token,
    /// Shown only once.
    secret: String,
}

/// A token that was revoked.
#[derive(Serialize, ToSchema)]
pub struct RevokedToken {
    #[schema(format = "uuid")]
    token_id: String,
    revoked: bool,
}

impl Token {
    /// Makes the view of a token; its access is limited to the projects that the caller may see.
    pub fn seen_by(by: &Requester, token: &AdminToken) -> Self {
        Self {
            token_id: id(token.id),
            name: token.name.clone(),
            access: Access::seen_by(by, &token.access),
            may_delegate: token.may_delegate,
            made_by: token.made_by.clone(),
            made_at: instant(token.made_at),
            expires_at: instant(token.expires_at),
            used_at: token.used_at.map(instant),
            used_from: token.used_from.map(id),
        }
    }
}

impl MadeToken {
    /// Makes the view of a new token with its secret.
    pub fn new(by: &Requester, token: &AdminToken, secret: &AdminSecret) -> Self {
        Self { token: Token::seen_by(by, token), secret: secret.expose().to_owned() }
    }
}

impl From<AdminTokenId> for RevokedToken {
    fn from(token: AdminTokenId) -> Self {
        Self { token_id: id(token), revoked: true }
    }
}
