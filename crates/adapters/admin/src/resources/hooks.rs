use crate::endpoint::{
    AdminCode, Answered, Json, Operation, Paging, Parsed, ProjectRequest, Query, delete, get,
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
        get("/projects/{project}/hooks", Command::ListHooks, list)
            .summary("Where other login systems ask for their codes to be delivered, oldest first"),
        post_created("/projects/{project}/hooks", Command::AddHook, add)
            .summary(
                "A new address for the codes of another login system; its secret is in this \
                 one answer",
            )
            .refuses([AdminCode::Conflict]),
        patch("/projects/{project}/hooks/{hook}", Command::ChangeHook, change)
            .summary("Says anew how long the codes of the other system work; what is absent stays"),
        post("/projects/{project}/hooks/{hook}/rotate-secret", Command::RotateHookSecret, rotate)
            .summary("A new secret; the old one is accepted too for a day"),
        delete("/projects/{project}/hooks/{hook}", Command::RemoveHook, remove)
            .summary("Removes a hook; the very next call to it is refused"),
    ]
}

/// A hook to be made.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct AddHook {
    /// Which system calls it.
    #[schema(value_type = String, pattern = "^(supabase|logto)$")]
    kind: Parsed<HookKind>,
    #[schema(value_type = String, pattern = "^(live|test)$")]
    mode: Parsed<KeyMode>,
    /// For how many seconds the codes of the other system work.
    #[schema(minimum = 60, maximum = 3600)]
    expires_in: u64,
    /// For how many seconds those of its second factor work, where it has one: with `supabase`, 300 by default.
    #[schema(minimum = 60, maximum = 3600)]
    mfa_expires_in: Option<u64>,
}

/// What is to change of a hook; what is absent stays.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct ChangeHook {
    /// For how many seconds the codes of the other system work.
    #[schema(minimum = 60, maximum = 3600)]
    expires_in: Option<u64>,
    /// For how many seconds those of its second factor work.
    #[schema(minimum = 60, maximum = 3600)]
    mfa_expires_in: Option<u64>,
}

async fn list(at: ProjectRequest, Query(paging): Query<Paging>) -> Answered<Page<Hook>> {
    let hooks = at.api.manage.hooks.list(&at.by, at.project).await?;
    let view = at.api.hook_view();
    Page::of(&hooks, &paging, |hook| hook.id, |hook| view.of(hook))
}

async fn add(at: ProjectRequest, Json(body): Json<AddHook>) -> Answered<AddedHook> {
    let AddHook { kind: Parsed(kind), mode: Parsed(mode), expires_in, mfa_expires_in } = body;
    let new = NewHook { kind, mode, expires_in, mfa_expires_in };
    let (hook, secret) = at.api.manage.hooks.add(&at.by, at.project, new).await?;
    Ok(at.api.hook_view().added(&hook, &secret))
}

async fn change(at: ProjectRequest, Json(body): Json<ChangeHook>) -> Answered<Hook> {
    let ChangeHook { expires_in, mfa_expires_in } = body;
    let (hook, changed) = (at.part("hook")?, ChangedLifetimes { expires_in, mfa_expires_in });
    let changed = at.api.manage.hooks.change(&at.by, at.project, hook, changed).await?;
    Ok(at.api.hook_view().of(&changed))
}

async fn rotate(at: ProjectRequest) -> Answered<HookSecret> {
    let hook = at.part("hook")?;
    let (hook, secret) = at.api.manage.hooks.rotate_secret(&at.by, at.project, hook).await?;
    Ok(HookSecret::new(&hook, &secret))
}

async fn remove(at: ProjectRequest) -> Answered<RemovedHook> {
    let hook: HookId = at.part("hook")?;
    at.api.manage.hooks.remove(&at.by, at.project, hook).await?;
    Ok(hook.into())
}
