use crate::endpoint::{AdminRequest, Answered, Operation, Paging, Query, get, post_created};
use crate::views::{Page, SigningKey};
use dwar_operator::Command;
use dwar_session::KeyState;

pub(crate) fn operations() -> Vec<Operation> {
    vec![
        get("/signing-keys", Command::ListSigningKeys, list).summary(
            "The keys that sign, will sign or did sign tokens that still count, oldest first",
        ),
        post_created("/signing-keys/rotate", Command::RotateSigningKey, rotate).summary(
            "Publishes a new key now; it takes over when verifiers have had time to see it",
        ),
    ]
}

async fn list(call: AdminRequest, Query(paging): Query<Paging>) -> Answered<Page<SigningKey>> {
    let keys = call.api.manage.signing_keys.list(&call.by).await?;
    Page::of(&keys, &paging, |(key, _)| key.kid.clone(), |key| key.into())
}

async fn rotate(call: AdminRequest) -> Answered<SigningKey> {
    let key = call.api.manage.signing_keys.rotate(&call.by).await?;
    Ok((&(key, KeyState::Next)).into())
}
