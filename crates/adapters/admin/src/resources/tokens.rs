use crate::endpoint::{
    AdminRequest, AdminResult, Json, Operation, Paging, Query, delete, get, post_created,
};
use crate::views::{Access, MadeToken, Page, RevokedToken, Token};
use dwar_console::NewAdminToken;
use dwar_kernel::AdminTokenId;
use dwar_operator::Command;
use serde::Deserialize;
use std::time::Duration;
use utoipa::ToSchema;

pub(crate) fn operations() -> Vec<Operation> {
    vec![
        get("/tokens", Command::ListTokens, list)
            .summary("List the tokens of this API, oldest first"),
        post_created("/tokens", Command::MakeToken, make).summary(
            "Create a token, which expires no later than the token that creates it; only this \
             answer holds it",
        ),
        delete("/tokens/{token}", Command::RevokeToken, revoke)
            .summary("Revoke a token immediately"),
    ]
}

/// A token to create.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct NewToken {
    /// 1 to 60 letters, digits, single spaces and . - _ @ +
    #[schema(min_length = 1, max_length = 60)]
    name: String,
    access: Access,
    /// Lifetime in seconds from now.
    #[schema(minimum = 60, maximum = 31_622_400)]
    lifetime_seconds: u32,
    /// Whether it may create what keeps working after the token expires: keys, hooks, webhooks,
    /// operators, tokens.
    #[serde(default)]
    may_delegate: bool,
}

async fn list(call: AdminRequest, Query(paging): Query<Paging>) -> AdminResult<Page<Token>> {
    let tokens = call.api.manage.tokens.list(&call.by).await?;
    Page::of(&tokens, &paging, |token| token.id, |token| Token::seen_by(&call.by, token))
}

async fn make(call: AdminRequest, Json(body): Json<NewToken>) -> AdminResult<MadeToken> {
    let new = NewAdminToken {
        name: &body.name,
        access: body.access.read()?,
        lifetime: Duration::from_secs(body.lifetime_seconds.into()),
        may_delegate: body.may_delegate,
    };
    let (token, secret) = call.api.manage.tokens.make(&call.by, new).await?;
    Ok(MadeToken::new(&call.by, &token, &secret))
}

async fn revoke(call: AdminRequest) -> AdminResult<RevokedToken> {
    let token: AdminTokenId = call.part("token")?;
    call.api.manage.tokens.revoke(&call.by, token).await?;
    Ok(token.into())
}
