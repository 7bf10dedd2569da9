use super::go;
use super::parts::{Danger, Field, notice, secret};
use super::settings;
use crate::form::{Form, Refused};
use crate::layout::{Page, csrf};
use crate::refusal::Refusal;
use crate::texts::settings as common;
use crate::texts::settings_hooks as texts;
use crate::visit::{NoFields, Posted, Visit};
use actix_web::http::StatusCode;
use actix_web::web::Path;
use dwar_app::{ManageError, NewHook};
use dwar_kernel::{HookId, KeyMode, WebhookSecret};
use dwar_operator::Command;
use dwar_project::{Hook, HookKind, Project};
use maud::{Markup, html};
use serde::Deserialize;

#[derive(Deserialize)]
pub(crate) struct AddForm {
    kind: String,
    mode: String,
    expires_in: String,
}

/// `POST /p/{project}/settings/hooks`: a new hook, and its secret this once.
pub(crate) async fn add(posted: Posted<AddForm>, path: Path<String>) -> Page {
    let Posted { visit, form } = posted;
    let project = visit.project(&path, Command::AddHook).await?;
    let (Ok(kind), Ok(mode)) = (form.kind.parse(), form.mode.parse()) else {
        return Err(Refusal::NotFound);
    };
    // What is no number is none of the numbers that a lifetime may be.
    let expires_in = form.expires_in.trim().parse().unwrap_or(0);
    let new = NewHook { kind, mode, expires_in };
    match visit.console.manage.hooks.add(&visit.by, project.id, new).await {
        Ok((hook, secret)) => {
            settings::page(&visit, &project, StatusCode::OK, &fresh(&visit, &hook, &secret), None)
                .await
        }
        Err(ManageError::Invalid { field, .. }) => {
            settings::refused(&visit, &project, "hooks", (field, texts::BAD_LIFETIME)).await
        }
        Err(ManageError::Conflict(sentence)) => {
            settings::conflict(&visit, &project, sentence).await
        }
        Err(cause) => Err(cause.into()),
    }
}

/// `POST …/rotate`: a new secret; the old one is accepted too for a day.
pub(crate) async fn rotate(posted: Posted<NoFields>, path: Path<(String, String)>) -> Page {
    let (visit, project, id) = changing(posted.visit, &path, Command::RotateHookSecret).await?;
    let (hook, secret) =
        visit.console.manage.hooks.rotate_secret(&visit.by, project.id, id).await?;
    settings::page(&visit, &project, StatusCode::OK, &fresh(&visit, &hook, &secret), None).await
}

#[derive(Deserialize)]
pub(crate) struct RemoveForm {
    word: String,
}

/// `POST …/remove`, with a word to type.
pub(crate) async fn remove(posted: Posted<RemoveForm>, path: Path<(String, String)>) -> Page {
    let (visit, project, id) = changing(posted.visit, &path, Command::RemoveHook).await?;
    if posted.form.word.trim() != common::REMOVE_WORD {
        let (status, above) = (StatusCode::UNPROCESSABLE_ENTITY, notice("bad", common::WRONG_WORD));
        return settings::page(&visit, &project, status, &above, None).await;
    }
    visit.console.manage.hooks.remove(&visit.by, project.id, id).await?;
    Ok(go(&format!("/p/{}/settings?done=hook-removed", project.id)))
}

async fn changing(
    visit: Visit,
    path: &Path<(String, String)>,
    command: Command,
) -> Result<(Visit, Project, HookId), Refusal> {
    let project = visit.project(&path.0, command).await?;
    let id = path.1.parse().map_err(|_| Refusal::NotFound)?;
    Ok((visit, project, id))
}

/// What the other system has to be given: the address, and the secret, which is shown this once.
fn fresh(visit: &Visit, hook: &Hook, fresh: &WebhookSecret) -> Markup {
    html! {
        section.card.notice.good role="status" {
            h2 { (texts::SECRET) }
            p { (texts::ENTER) " " code.wrap-anywhere { (address(visit, hook)) } }
            p { (texts::SECRET_ONCE) }
            (secret("fresh-secret", &hook.kind.shown(fresh)))
        }
    }
}

fn address(visit: &Visit, hook: &Hook) -> String {
    format!("{}/hooks/{}", visit.console.api_url, hook.id)
}

/// The hooks, and a form for one more.
pub(crate) fn card(
    visit: &Visit,
    project: &Project,
    hooks: &[Hook],
    refused: Option<&Refused<'_>>,
) -> Markup {
    let form = Form::new("hooks", refused, visit.may(project, Command::AddHook));
    let field = |name, label| Field { name, label, ..Field::TEXT };
    let kinds = HookKind::ALL.map(|kind| (kind.to_string(), texts::system(kind).to_owned()));
    let modes = [(KeyMode::Live, texts::LIVE), (KeyMode::Test, texts::TEST)];
    let modes = modes.map(|(mode, label)| (mode.to_string(), label.to_owned()));
    let lifetime = Field {
        value: "300",
        hint: texts::LIFETIME_HINT,
        required: true,
        ..field("expires_in", texts::LIFETIME)
    };
    html! {
        section.card.stack #hooks {
            h2 { (texts::HOOKS.0) }
            p.muted { (texts::HOOKS.1) }
            @if hooks.is_empty() { p.muted { (texts::NONE) } }
            ul.stack { @for hook in hooks { (row(visit, project, hook)) } }
            @if form.is_editable() {
                form.stack data-keep method="post" action={ "/p/" (project.id) "/settings/hooks" } {
                    (csrf(visit))
                    div.columns {
                        (form.choice(&field("kind", texts::SYSTEM), &kinds))
                        (form.choice(&field("mode", texts::MODE), &modes))
                        (form.field(&lifetime))
                    }
                    div { button.plain type="submit" { (texts::ADD) } }
                }
            } @else { p.muted { (common::OWNERS) } }
        }
    }
}

fn row(visit: &Visit, project: &Project, hook: &Hook) -> Markup {
    let base = format!("/p/{}/settings/hooks/{}", project.id, hook.id);
    let (id, remove) = (format!("remove-{}", hook.id), format!("{base}/remove"));
    let danger = Danger {
        id: &id,
        action: &remove,
        summary: texts::REMOVE,
        consequences: &texts::REMOVE_STOPS,
        word: common::REMOVE_WORD,
        button: texts::REMOVE,
    };
    html! {
        li.stack {
            div {
                strong { (texts::system(hook.kind)) } ", " (hook.world.mode) ", "
                (texts::CODES_WORK) " " (hook.lifetime.as_secs()) " " (texts::SECONDS)
            }
            div { code.wrap-anywhere { (address(visit, hook)) } }
            @if visit.may(project, Command::RotateHookSecret) {
                form method="post" action={ (base) "/rotate" } {
                    (csrf(visit)) button.plain type="submit" { (common::ROTATE) }
                }
            }
            @if visit.may(project, Command::RemoveHook) { (danger.show(visit, &[])) }
        }
    }
}
