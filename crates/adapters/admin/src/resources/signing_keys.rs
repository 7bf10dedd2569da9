use crate::endpoint::admin_request::AdminRequest;
use crate::endpoint::answer::Answered;
use crate::endpoint::body::Nothing;
use crate::endpoint::operation::{Operation, get, post};
use crate::endpoint::query::Paging;
use crate::views::{Page, SigningKey};
use dwar_operator::Command;
use dwar_session::KeyState;

pub(crate) fn operations() -> Vec<Operation> {
    vec![
        get(
            "/signing-keys",
            Command::ListSigningKeys,
            "The keys that sign, will sign or did sign tokens that still count, oldest first",
        )
        .to(list),
        post(
            "/signing-keys/rotate",
            Command::RotateSigningKey,
            "Publishes a new key now; it takes over when verifiers have had time to see it",
        )
        .makes()
        .to(rotate),
    ]
}

async fn list(call: AdminRequest, paging: Paging, _: Nothing) -> Answered<Page<SigningKey>> {
    let keys = call.api.manage.signing_keys.list(&call.by).await?;
    Page::of(&keys, &paging, |(key, _)| key.kid.clone(), |key| key.into())
}

async fn rotate(call: AdminRequest, _: Nothing, _: Nothing) -> Answered<SigningKey> {
    let key = call.api.manage.signing_keys.rotate(&call.by).await?;
    Ok((&(key, KeyState::Next)).into())
}
