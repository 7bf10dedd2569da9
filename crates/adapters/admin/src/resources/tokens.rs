use super::operators::AccessBody;
use crate::endpoint::admin_request::AdminRequest;
use crate::endpoint::answer::Answered;
use crate::endpoint::body::Nothing;
use crate::endpoint::operation::{Operation, delete, get, post};
use crate::endpoint::query::Paging;
use crate::views::{Page, id, instant};
use dwar_app::NewAdminToken;
use dwar_kernel::AdminTokenId;
use dwar_operator::{AdminToken, Command};
use serde::{Deserialize, Serialize};
use std::time::Duration;
use utoipa::ToSchema;

pub(crate) fn operations() -> Vec<Operation> {
    vec![
        get("/tokens", Command::ListTokens, "Every token of this API, oldest first").to(list),
        post(
            "/tokens",
            Command::MakeToken,
            "A new token, which ends no later than the one that makes it; shown in this one answer",
        )
        .makes()
        .to(make),
        delete(
            "/tokens/{token}",
            Command::RevokeToken,
            "Revokes a token, for its very next request",
        )
        .to(revoke),
    ]
}

/// A token of this API.
#[derive(Serialize, ToSchema)]
struct Token {
    #[schema(format = "uuid")]
    token_id: String,
    name: String,
    access: AccessBody,
    /// Whether it may invite operators, change what they may do, and make tokens: what lives on when it
    /// is over.
    may_delegate: bool,
    /// As the audit log names them.
    made_by: String,
    #[schema(format = "date-time")]
    made_at: String,
    #[schema(format = "date-time")]
    expires_at: String,
    /// The last use, to within a minute.
    #[schema(format = "date-time")]
    used_at: Option<String>,
    /// Where that came from.
    used_from: Option<String>,
}

/// A token to be made.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct NewToken {
    /// 1 to 60 letters, digits, single blanks and . - _ @ +
    name: String,
    access: AccessBody,
    /// From now on.
    #[schema(minimum = 60, maximum = 31_622_400)]
    lifetime_seconds: u32,
    /// Whether it may invite operators, change what they may do, and make tokens.
    #[serde(default)]
    may_delegate: bool,
}

/// A token that was just made.
#[derive(Serialize, ToSchema)]
struct MadeToken {
    token: Token,
    /// Shown this once.
    secret: String,
}

/// A token that is no more.
#[derive(Serialize, ToSchema)]
struct RevokedToken {
    #[schema(format = "uuid")]
    token_id: String,
    revoked: bool,
}

async fn list(call: AdminRequest, paging: Paging, _: Nothing) -> Answered<Page<Token>> {
    let tokens = call.api.manage.tokens.list(&call.by).await?;
    Page::of(&tokens, &paging, |token| token.id, |token| view(&call, token))
}

async fn make(call: AdminRequest, _: Nothing, body: NewToken) -> Answered<MadeToken> {
    let new = NewAdminToken {
        name: &body.name,
        access: body.access.read()?,
        lifetime: Duration::from_secs(body.lifetime_seconds.into()),
        may_delegate: body.may_delegate,
    };
    let (token, secret) = call.api.manage.tokens.make(&call.by, new).await?;
    Ok(MadeToken { token: view(&call, &token), secret: secret.expose().to_owned() })
}

async fn revoke(call: AdminRequest, _: Nothing, _: Nothing) -> Answered<RevokedToken> {
    let token: AdminTokenId = call.part("token")?;
    call.api.manage.tokens.revoke(&call.by, token).await?;
    Ok(RevokedToken { token_id: id(token), revoked: true })
}

fn view(call: &AdminRequest, token: &AdminToken) -> Token {
    Token {
        token_id: id(token.id),
        access: AccessBody::seen_by(call, &token.access),
        may_delegate: token.may_delegate,
        name: token.name.clone(),
        made_by: token.made_by.clone(),
        made_at: instant(token.made_at),
        expires_at: instant(token.expires_at),
        used_at: token.used_at.map(instant),
        used_from: token.used_from.map(id),
    }
}
