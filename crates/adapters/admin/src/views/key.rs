use super::text::{id, instant};
use dwar_kernel::ProjectMode;
use dwar_project::{ApiKey, KeyRecord};
use serde::Serialize;
use utoipa::ToSchema;

/// An API key, by what may be shown of it.
#[derive(Serialize, ToSchema)]
pub struct Key {
    #[schema(format = "uuid")]
    key_id: String,
    /// `live` or `test`.
    mode: String,
    /// What it begins with.
    prefix: String,
    /// What it ends with.
    ending: String,
    #[schema(format = "date-time")]
    created_at: String,
    /// Its last use, to the minute.
    #[schema(format = "date-time")]
    used_at: Option<String>,
    /// Where that came from.
    used_from: Option<String>,
}

/// A key that was just made.
#[derive(Serialize, ToSchema)]
pub struct NewKey {
    #[schema(format = "uuid")]
    project_id: String,
    /// `live` or `test`.
    mode: String,
    /// Shown this once.
    key: String,
}

impl From<&KeyRecord> for Key {
    fn from(key: &KeyRecord) -> Self {
        Self {
            key_id: id(key.id),
            mode: id(key.mode),
            prefix: format!("svc_{}_", key.mode),
            ending: key.ending.clone(),
            created_at: instant(key.created_at),
            used_at: key.used.map(|used| instant(used.at)),
            used_from: key.used.and_then(|used| used.from).map(id),
        }
    }
}

impl NewKey {
    /// Makes the view of a new API key of the project in this mode.
    pub fn new(world: ProjectMode, key: &ApiKey) -> Self {
        Self { project_id: id(world.project), mode: id(world.mode), key: key.expose().to_owned() }
    }
}
