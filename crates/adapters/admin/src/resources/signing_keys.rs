use crate::endpoint::{AdminRequest, AdminResult, Operation, Paging, Query, get, post_created};
use crate::views::{Page, SigningKey};
use dwar_operator::Command;
use dwar_session::KeyState;

pub(crate) fn operations() -> Vec<Operation> {
    vec![
        get("/signing-keys", Command::ListSigningKeys, list).summary(
            "List the signing keys: next, active, and retired while their tokens are valid; \
             oldest first",
        ),
        post_created("/signing-keys/rotate", Command::RotateSigningKey, rotate).summary(
            "Publish a new signing key; it signs once verifiers have had time to fetch it",
        ),
    ]
}

async fn list(call: AdminRequest, Query(paging): Query<Paging>) -> AdminResult<Page<SigningKey>> {
    let keys = call.api.manage.signing_keys.list(&call.by).await?;
    Page::of(&keys, &paging, |(key, _)| key.kid.clone(), |key| key.into())
}

async fn rotate(call: AdminRequest) -> AdminResult<SigningKey> {
    let key = call.api.manage.signing_keys.rotate(&call.by).await?;
    Ok((&(key, KeyState::Next)).into())
}
