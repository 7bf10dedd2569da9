use super::text::{id, instant};
use dwar_session::KeyState;
use serde::Serialize;
use utoipa::ToSchema;

/// Public part of a key that signs access tokens.
#[derive(Serialize, ToSchema)]
pub struct SigningKey {
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

impl From<&(dwar_session::SigningKey, KeyState)> for SigningKey {
    fn from((key, state): &(dwar_session::SigningKey, KeyState)) -> Self {
        Self {
            kid: key.kid.clone(),
            algorithm: id(key.algorithm),
            state: id(state),
            created_at: instant(key.created_at),
            signs_from: instant(key.signs_from),
            signs_until: key.signs_until.map(instant),
            published_until: key.published_until.map(instant),
        }
    }
}
