use crate::endpoint::admin_request::AdminRequest;
use crate::endpoint::answer::Answered;
use crate::endpoint::body::Nothing;
use crate::endpoint::operation::{Operation, get, post};
use crate::endpoint::query::Paging;
use crate::views::{Page, id, instant};
use dwar_operator::Command;
use dwar_session::{KeyState, SigningKey};
use serde::Serialize;
use utoipa::ToSchema;

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

/// A key that signs access tokens, by its public part.
#[derive(Serialize, ToSchema)]
#[schema(as = SigningKey)]
struct SigningKeyBody {
    kid: String,
    algorithm: String,
    /// `next`, `active` or `retired`.
    state: String,
    #[schema(format = "date-time")]
    created_at: String,
    #[schema(format = "date-time")]
    signs_from: String,
    #[schema(format = "date-time")]
    signs_until: Option<String>,
    #[schema(format = "date-time")]
    published_until: Option<String>,
}

async fn list(call: AdminRequest, paging: Paging, _: Nothing) -> Answered<Page<SigningKeyBody>> {
    let keys = call.api.manage.signing_keys.list(&call.by).await?;
    Page::of(&keys, &paging, |(key, _)| key.kid.clone(), |(key, state)| view(key, *state))
}

async fn rotate(call: AdminRequest, _: Nothing, _: Nothing) -> Answered<SigningKeyBody> {
    let key = call.api.manage.signing_keys.rotate(&call.by).await?;
    Ok(view(&key, KeyState::Next))
}

fn view(key: &SigningKey, state: KeyState) -> SigningKeyBody {
    SigningKeyBody {
        kid: key.kid.clone(),
        algorithm: id(key.algorithm),
        state: id(state),
        created_at: instant(key.created_at),
        signs_from: instant(key.signs_from),
        signs_until: key.signs_until.map(instant),
        published_until: key.published_until.map(instant),
    }
}
