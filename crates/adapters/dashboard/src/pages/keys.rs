use super::parts::{DestructiveForm, example, fresh_secret};
use super::reply::Reply;
use crate::answer::PageResult;
use crate::format::time;
use crate::layout::Frame;
use crate::refusal::Refusal;
use crate::texts::{common, keys as texts};
use crate::visit::{SignedInForm, Visit};
use actix_web::web::Path;
use dwar_console::ManageError;
use dwar_kernel::KeyMode;
use dwar_operator::Command;
use dwar_project::{ApiKey, KeyRecord, Project};
use maud::{Markup, html};
use serde::Deserialize;

pub(crate) async fn show(visit: Visit, path: Path<String>) -> PageResult {
    let project = visit.project(&path, Command::ListKeys).await?;
    page(&visit, &project, Reply::none()).await
}

#[derive(Deserialize)]
pub(crate) struct RegenerateForm {
    mode: String,
    /// The key shown on the page, so that a form sent twice replaces only one key.
    key: String,
}

/// `POST /p/{project}/keys/regenerate`: a new key, shown once; the old one stops working.
pub(crate) async fn regenerate(
    posted: SignedInForm<RegenerateForm>,
    path: Path<String>,
) -> PageResult {
    let SignedInForm { visit, form } = posted;
    let project = visit.project(&path, Command::RegenerateKey).await?;
    let mode: KeyMode = form.mode.parse().map_err(|_| Refusal::Unreadable)?;
    let replaces = form.key.parse().map_err(|_| Refusal::Unreadable)?;
    if !visit.confirms(&project.name) {
        return page(&visit, &project, Reply::invalid(common::WRONG_PROJECT_NAME)).await;
    }
    let projects = &visit.console.manage.projects;
    let project_mode = project.id.in_mode(mode);
    let reply = match projects.regenerate_key(&visit.by, project_mode, Some(replaces)).await {
        Ok(key) => Reply::done(fresh(&visit, &key)),
        Err(ManageError::Conflict(_)) => Reply::conflict(texts::REPLACED_BEFORE),
        Err(cause) => return Err(cause.into()),
    };
    page(&visit, &project, reply).await
}

fn fresh(visit: &Visit, key: &ApiKey) -> Markup {
    let once = html! { p { (texts::FRESH_ONCE) } };
    html! {
        (fresh_secret(texts::FRESH, &once, "fresh-key", key.expose()))
        @if key.mode().is_test() { (call(visit, key.expose())) }
    }
}

/// A request that sends a code with a key, or with the variable that contains it.
pub(super) fn call(visit: &Visit, key: &str) -> Markup {
    let curl = visit.console.reference.curl("sendOtp", (&visit.console.api_url, key));
    html! { @if let Some(curl) = curl { p { (texts::TRY) } (example(&curl)) } }
}

async fn page(visit: &Visit, project: &Project, reply: Reply) -> PageResult {
    let keys = visit.console.manage.projects.keys(&visit.by, project.id).await?;
    let content = html! {
        div.columns { @for key in &keys { (card(visit, project, key)) } }
    };
    reply.show(&Frame::new(visit, texts::TITLE, texts::LEAD).of(project), &content)
}

fn card(visit: &Visit, project: &Project, key: &KeyRecord) -> Markup {
    let live = key.mode == KeyMode::Live;
    let (title, about) = if live { texts::LIVE } else { texts::TEST };
    let id = &format!("regenerate-{}", key.mode.as_str());
    let action = &format!("/p/{}/keys/regenerate", project.id);
    let words = if live { &texts::LIVE_STOPS } else { &texts::TEST_STOPS };
    let danger = DestructiveForm { id, action, word: &project.name, words };
    html! {
        section.card {
            h2 { (title) }
            p.muted { (about) }
            dl.facts {
                dt { (texts::KEY) }
                dd { code { "svc_" (key.mode.as_str()) "_…" (key.ending) } }
                dt { (common::CREATED) }
                dd { (time(key.created_at)) }
                dt { (common::LAST_USED) }
                dd {
                    @match key.used {
                        Some(used) => {
                            (time(used.at))
                            @if let Some(from) = used.from { " " (common::FROM_ADDRESS) " " code { (from) } }
                        }
                        None => span.muted { (common::NEVER) },
                    }
                }
            }
            @let variable = if live { "$DWAR_LIVE_KEY" } else { "$DWAR_TEST_KEY" };
            details {
                summary { (texts::CURL) }
                p.muted { (texts::VARIABLE) " " code { (variable) } @if live { ". " (texts::CHARGED) } }
                (call(visit, variable))
            }
            @if visit.may(project, Command::RegenerateKey) {
                (danger.show(visit, &[("mode", key.mode.as_str()), ("key", &key.id.to_string())]))
            }
        }
    }
}
