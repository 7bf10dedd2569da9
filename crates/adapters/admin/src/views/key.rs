use super::text::{id, instant};
use dwar_kernel::ProjectMode;
use dwar_project::{ApiKey, KeyRecord};
use serde::Serialize;
use utoipa::ToSchema;

/// An API key without its secret.
#[derive(Serialize, ToSchema)]
pub struct Key {
    #[schema(format = "uuid")]
    key_id: String,
    /// `live` or `test`.
    mode: String,
    /// First characters of the key.
    prefix: String,
    /// Last characters of the key.
    ending: String,
    #[schema(format = "date-time")]
    created_at: String,
    /// Time of the last use, to the minute.
    #[schema(format = "date-time")]
    used_at: Option<String>,
    /// Client address of the last use.
    used_from: Option<String>,
}

/// A new key.
#[derive(Serialize, ToSchema)]
pub struct NewKey {
    #[schema(format = "uuid")]
    project_id: String,
    /// `live` or `test`.
    mode: String,
    /// Shown only once.
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
    pub fn new(project_mode: ProjectMode, key: &ApiKey) -> Self {
        Self {
            project_id: id(project_mode.project),
            mode: id(project_mode.mode),
            key: key.expose().to_owned(),
        }
    }
}
