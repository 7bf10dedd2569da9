//! The actions of the settings pages: archiving, and adding and removing endpoints and hooks.

use super::reply::Reply;
use super::settings::{page, refused};
use super::settings_hooks::{CHANGE, fresh};
use super::settings_parts::{Part, back_to};
use super::webhook;
use crate::answer::{PageResult, go};
use crate::form::RefusedForm;
use crate::refusal::Refusal;
use crate::texts::{common, settings as texts};
use crate::visit::{EmptyForm, SignedInForm, Visit};
use actix_web::web::Path;
use dwar_console::{ChangedLifetimes, ManageError, NewHook};
use dwar_operator::Command;
use dwar_project::Project;
use maud::Markup;
use serde::Deserialize;

/// `POST /p/{project}/settings/archive`: the project's keys are refused from now on.
pub(crate) async fn archive(
    SignedInForm { visit, .. }: SignedInForm<EmptyForm>,
    path: Path<String>,
) -> PageResult {
    let project = visit.project(&path, Command::ArchiveProject).await?;
    if !visit.confirms(&project.name) {
        let reply = Reply::invalid(common::WRONG_PROJECT_NAME);
        return page(&visit, &project, Part::Project, reply).await;
    }
    visit.console.manage.projects.archive(&visit.by, project.id).await?;
    Ok(go(&Part::Project.address(&project)))
}

/// `POST /p/{project}/settings/restore`: the project's keys are accepted again.
pub(crate) async fn restore(
    SignedInForm { visit, .. }: SignedInForm<EmptyForm>,
    path: Path<String>,
) -> PageResult {
    let project = visit.project(&path, Command::RestoreProject).await?;
    visit.console.manage.projects.restore(&visit.by, project.id).await?;
    Ok(back_to(&project, "project", "restored"))
}

#[derive(Deserialize)]
pub(crate) struct WebhookForm {
    url: String,
    full_phone: Option<String>,
}

/// `POST /p/{project}/settings/events`: adds an endpoint and shows its secret once.
pub(crate) async fn add_webhook(
    posted: SignedInForm<WebhookForm>,
    path: Path<String>,
) -> PageResult {
    let SignedInForm { visit, form } = posted;
    let project = visit.project(&path, Command::AddWebhook).await?;
    let (url, full) = (&form.url, form.full_phone.is_some());
    let added = visit.console.manage.endpoints.add(&visit.by, project.id, url, full).await;
    let added = added.map(|(_, secret)| webhook::fresh(&secret));
    answered(visit, &project, added, ("endpoints", Some(texts::BAD_ADDRESS))).await
}

#[derive(Deserialize)]
pub(crate) struct HookForm {
    kind: String,
    mode: String,
    expires_in: String,
    #[serde(default)]
    mfa_expires_in: String,
}

/// Parses seconds; `None` for an empty text. An invalid number becomes one outside the allowed
/// range.
fn seconds(typed: &str) -> Option<u64> {
    let typed = typed.trim();
    (!typed.is_empty()).then(|| typed.parse().unwrap_or(0))
}

#[derive(Deserialize)]
pub(crate) struct HookChangeForm {
    hook: String,
    changed_expires_in: String,
    changed_mfa_expires_in: String,
}

/// `POST /p/{project}/settings/hooks`: adds a hook and shows its secret once.
pub(crate) async fn add_hook(
    SignedInForm { visit, form }: SignedInForm<HookForm>,
    path: Path<String>,
) -> PageResult {
    let project = visit.project(&path, Command::AddHook).await?;
    let (Ok(kind), Ok(mode)) = (form.kind.parse(), form.mode.parse()) else {
        return Err(Refusal::NotFound);
    };
    let expires_in = seconds(&form.expires_in).unwrap_or(0);
    let new = NewHook { kind, mode, expires_in, mfa_expires_in: seconds(&form.mfa_expires_in) };
    let added = visit.console.manage.hooks.add(&visit.by, project.id, new).await;
    let added = added.map(|(hook, secret)| fresh(&visit, &hook, &secret));
    answered(visit, &project, added, ("hooks", None)).await
}

/// `POST /p/{project}/settings/hooks/change`: changes the lifetime of a hook's codes.
pub(crate) async fn change_hook(
    posted: SignedInForm<HookChangeForm>,
    path: Path<String>,
) -> PageResult {
    let SignedInForm { visit, form } = posted;
    let project = visit.project(&path, Command::ChangeHook).await?;
    let hook = form.hook.parse().map_err(|_| Refusal::NotFound)?;
    let changed = ChangedLifetimes {
        expires_in: seconds(&form.changed_expires_in),
        mfa_expires_in: seconds(&form.changed_mfa_expires_in),
    };
    match visit.console.manage.hooks.change(&visit.by, project.id, hook, changed).await {
        Ok(_) => Ok(back_to(&project, "hooks", "hook-changed")),
        Err(ManageError::Invalid { field, reason }) => {
            let field = format!("changed_{field}");
            refused(visit, &project, RefusedForm::new(CHANGE, &field, &reason)).await
        }
        Err(cause) => Err(cause.into()),
    }
}

/// `POST …/rotate`: a new secret; the old one is accepted for another day.
pub(crate) async fn rotate_hook(
    posted: SignedInForm<EmptyForm>,
    path: Path<(String, String)>,
) -> PageResult {
    let visit = posted.visit;
    let (project, id) = visit.in_project(&path, Command::RotateHookSecret).await?;
    let hooks = &visit.console.manage.hooks;
    let (hook, secret) = hooks.rotate_secret(&visit.by, project.id, id).await?;
    let reply = Reply::done(fresh(&visit, &hook, &secret));
    page(&visit, &project, Part::Events, reply).await
}

/// `POST …/remove`, with a word to type.
pub(crate) async fn remove_hook(
    posted: SignedInForm<EmptyForm>,
    path: Path<(String, String)>,
) -> PageResult {
    let visit = posted.visit;
    let (project, id) = visit.in_project(&path, Command::RemoveHook).await?;
    if !visit.confirms(texts::REMOVE_WORD) {
        let reply = Reply::invalid(common::WRONG_WORD);
        return page(&visit, &project, Part::Events, reply).await;
    }
    visit.console.manage.hooks.remove(&visit.by, project.id, id).await?;
    Ok(back_to(&project, "hooks", "hook-removed"))
}

/// The page with a new secret, or with the reason why nothing was added; `invalid` is a sentence of
/// the form's own for it.
async fn answered(
    visit: Visit,
    project: &Project,
    added: Result<Markup, ManageError>,
    (form, invalid): (&'static str, Option<&str>),
) -> PageResult {
    match added {
        Err(ManageError::Invalid { field, reason }) => {
            let reason = invalid.unwrap_or(&reason);
            refused(visit, project, RefusedForm::new(form, field, reason)).await
        }
        added => page(&visit, project, Part::Events, Reply::of(added)?).await,
    }
}
