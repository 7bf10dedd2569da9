use crate::endpoint::{
    AdminCode, AdminResult, Json, Operation, Paging, Parsed, ProjectRequest, Query, get,
    post_created,
};
use crate::views::{Key, NewKey, Page};
use dwar_kernel::{ApiKeyId, KeyMode};
use dwar_operator::Command;
use serde::Deserialize;
use utoipa::ToSchema;

pub(crate) fn operations() -> Vec<Operation> {
    vec![
        get("/projects/{project}/keys", Command::ListKeys, list)
            .summary("List the current API keys, live first"),
        post_created(
            "/projects/{project}/keys/{mode}/regenerate",
            Command::RegenerateKey,
            regenerate,
        )
        .summary("Replace an API key; the old key stops working at once")
        .refuses([AdminCode::Conflict]),
    ]
}

/// The key to replace.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct Replacement {
    /// `key_id` of the current key, so that a repeated request replaces only one key.
    #[schema(value_type = String, format = "uuid")]
    replaces: Parsed<ApiKeyId>,
}

async fn list(at: ProjectRequest, Query(paging): Query<Paging>) -> AdminResult<Page<Key>> {
    let keys = at.api.manage.projects.keys(&at.by, at.project).await?;
    Page::of(&keys, &paging, |key| key.id, |key| key.into())
}

async fn regenerate(at: ProjectRequest, Json(body): Json<Replacement>) -> AdminResult<NewKey> {
    let (mode, Parsed(replaced)): (KeyMode, _) = (at.part("mode")?, body.replaces);
    let projects = &at.api.manage.projects;
    let project_mode = at.project.in_mode(mode);
    let key = projects.regenerate_key(&at.by, project_mode, Some(replaced)).await?;
    Ok(NewKey::new(project_mode, &key))
}
