use crate::endpoint::{
    AdminCode, AdminResult, Json, Operation, Paging, Parsed, ProjectRequest, Query, delete, get,
    patch, post, post_created,
};
use crate::views::{AddedHook, Hook, HookSecret, Page, RemovedHook};
use dwar_console::{ChangedLifetimes, NewHook};
use dwar_kernel::{HookId, KeyMode};
use dwar_operator::Command;
use dwar_project::HookKind;
use serde::Deserialize;
use utoipa::ToSchema;

pub(crate) fn operations() -> Vec<Operation> {
    vec![
        get("/projects/{project}/hooks", Command::ListHooks, list).summary(
            "List hooks, oldest first: each takes the codes of another login system \
             for delivery",
        ),
        post_created("/projects/{project}/hooks", Command::AddHook, add)
            .summary(
                "Add a hook for the codes of another login system; only this answer holds its \
                 secret",
            )
            .refuses([AdminCode::Conflict]),
        patch("/projects/{project}/hooks/{hook}", Command::ChangeHook, change)
            .summary("Change how long the codes of the other system are valid"),
        post("/projects/{project}/hooks/{hook}/rotate-secret", Command::RotateHookSecret, rotate)
            .summary("Rotate the secret of a hook; the old secret is also accepted for a day"),
        delete("/projects/{project}/hooks/{hook}", Command::RemoveHook, remove)
            .summary("Remove a hook; its next call is refused"),
    ]
}

/// A hook to add.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct AddHook {
    /// The system that calls the hook.
    #[schema(value_type = String, pattern = "^(supabase|logto)$")]
    kind: Parsed<HookKind>,
    #[schema(value_type = String, pattern = "^(live|test)$")]
    mode: Parsed<KeyMode>,
    /// For how many seconds codes of the other system are valid.
    #[schema(minimum = 60, maximum = 3600)]
    expires_in: u64,
    /// For how many seconds codes of its second factor are valid. Only for systems that have one:
    /// `supabase`, default
    /// 300.
    #[schema(minimum = 60, maximum = 3600)]
    mfa_expires_in: Option<u64>,
}

/// Changes to a hook; absent members stay unchanged.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct ChangeHook {
    /// For how many seconds codes of the other system are valid.
    #[schema(minimum = 60, maximum = 3600)]
    expires_in: Option<u64>,
    /// For how many seconds codes of its second factor are valid.
    #[schema(minimum = 60, maximum = 3600)]
    mfa_expires_in: Option<u64>,
}

async fn list(at: ProjectRequest, Query(paging): Query<Paging>) -> AdminResult<Page<Hook>> {
    let hooks = at.api.manage.hooks.list(&at.by, at.project).await?;
    let view = at.api.hook_view();
    Page::of(&hooks, &paging, |hook| hook.id, |hook| view.of(hook))
}

async fn add(at: ProjectRequest, Json(body): Json<AddHook>) -> AdminResult<AddedHook> {
    let AddHook { kind: Parsed(kind), mode: Parsed(mode), expires_in, mfa_expires_in } = body;
    let new = NewHook { kind, mode, expires_in, mfa_expires_in };
    let (hook, secret) = at.api.manage.hooks.add(&at.by, at.project, new).await?;
    Ok(at.api.hook_view().added(&hook, &secret))
}

async fn change(at: ProjectRequest, Json(body): Json<ChangeHook>) -> AdminResult<Hook> {
    let ChangeHook { expires_in, mfa_expires_in } = body;
    let (hook, changed) = (at.part("hook")?, ChangedLifetimes { expires_in, mfa_expires_in });
    let changed = at.api.manage.hooks.change(&at.by, at.project, hook, changed).await?;
    Ok(at.api.hook_view().of(&changed))
}

async fn rotate(at: ProjectRequest) -> AdminResult<HookSecret> {
    let hook = at.part("hook")?;
    let (hook, secret) = at.api.manage.hooks.rotate_secret(&at.by, at.project, hook).await?;
    Ok(HookSecret::new(&hook, &secret))
}

async fn remove(at: ProjectRequest) -> AdminResult<RemovedHook> {
    let hook: HookId = at.part("hook")?;
    at.api.manage.hooks.remove(&at.by, at.project, hook).await?;
    Ok(hook.into())
}
