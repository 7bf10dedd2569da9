use crate::endpoint::{
    AdminCode, Answered, Json, Operation, Paging, Parsed, ProjectRequest, Query, get, post_created,
};
use crate::views::{Key, NewKey, Page};
use dwar_kernel::{ApiKeyId, KeyMode};
use dwar_operator::Command;
use serde::Deserialize;
use utoipa::ToSchema;

pub(crate) fn operations() -> Vec<Operation> {
    vec![
        get("/projects/{project}/keys", Command::ListKeys, list)
            .summary("The present keys, live first"),
        post_created(
            "/projects/{project}/keys/{mode}/regenerate",
            Command::RegenerateKey,
            regenerate,
        )
        .summary("A new key in the place of the present one, which ends at once")
        .refuses([AdminCode::Conflict]),
    ]
}

/// Which key is to be replaced.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct Replacement {
    /// The `key_id` of the present key, so that a request sent twice replaces one key.
    #[schema(value_type = String, format = "uuid")]
    replaces: Parsed<ApiKeyId>,
}

async fn list(at: ProjectRequest, Query(paging): Query<Paging>) -> Answered<Page<Key>> {
    let keys = at.api.manage.projects.keys(&at.by, at.project).await?;
    Page::of(&keys, &paging, |key| key.id, |key| key.into())
}

async fn regenerate(at: ProjectRequest, Json(body): Json<Replacement>) -> Answered<NewKey> {
    let (mode, Parsed(replaced)): (KeyMode, _) = (at.part("mode")?, body.replaces);
    let projects = &at.api.manage.projects;
    let world = at.project.in_mode(mode);
    let key = projects.regenerate_key(&at.by, world, Some(replaced)).await?;
    Ok(NewKey::new(world, &key))
}
