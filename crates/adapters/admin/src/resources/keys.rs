use crate::endpoint::admin_request::ProjectRequest;
use crate::endpoint::answer::{Answered, Page, id, instant};
use crate::endpoint::body::{Nothing, Parsed};
use crate::endpoint::operation::{Operation, get, post};
use crate::endpoint::query::Paging;
use dwar_kernel::{ApiKeyId, KeyMode};
use dwar_operator::Command;
use dwar_project::KeyRecord;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

pub(crate) fn operations() -> Vec<Operation> {
    vec![
        get("/projects/{project}/keys", Command::ListKeys, "The present keys, live first").to(list),
        post(
            "/projects/{project}/keys/{mode}/regenerate",
            Command::RegenerateKey,
            "A new key in the place of the present one, which ends at once",
        )
        .makes()
        .to(regenerate),
    ]
}

/// An API key, by what may be shown of it.
#[derive(Serialize, ToSchema)]
struct Key {
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

/// Which key is to be replaced.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct Replacement {
    /// The `key_id` of the present key, so that a request sent twice replaces one key.
    #[schema(value_type = String, format = "uuid")]
    replaces: Parsed<ApiKeyId>,
}

/// A key that was just made.
#[derive(Serialize, ToSchema)]
struct NewKey {
    /// `live` or `test`.
    mode: String,
    /// Shown this once.
    key: String,
}

async fn list(at: ProjectRequest, paging: Paging, _: Nothing) -> Answered<Page<Key>> {
    let keys = at.api.manage.projects.keys(&at.by, at.project).await?;
    Page::of(keys, &paging, |key| key.id, view)
}

async fn regenerate(at: ProjectRequest, _: Nothing, body: Replacement) -> Answered<NewKey> {
    let (mode, Parsed(replaced)): (KeyMode, _) = (at.part("mode")?, body.replaces);
    let projects = &at.api.manage.projects;
    let key = projects.regenerate_key(&at.by, at.project, mode, Some(replaced)).await?;
    Ok(NewKey { mode: id(mode), key: key.expose().to_owned() })
}

fn view(key: KeyRecord) -> Key {
    Key {
        key_id: id(key.id),
        mode: id(key.mode),
        prefix: format!("svc_{}_", key.mode),
        ending: key.ending,
        created_at: instant(key.created_at),
        used_at: key.used.map(|used| instant(used.at)),
        used_from: key.used.and_then(|used| used.from).map(|from| from.to_string()),
    }
}
