use super::parts::{Danger, example, fresh_secret};
use super::reply::Reply;
use crate::answer::Page;
use crate::format::time;
use crate::layout::Frame;
use crate::refusal::Refusal;
use crate::texts::keys as texts;
use crate::visit::{Posted, Visit};
use actix_web::web::Path;
use dwar_console::ManageError;
use dwar_kernel::KeyMode;
use dwar_operator::Command;
use dwar_project::{ApiKey, KeyRecord, Project};
use maud::{Markup, html};
use serde::Deserialize;

pub(crate) async fn show(visit: Visit, path: Path<String>) -> Page {
    let project = visit.project(&path, Command::ListKeys).await?;
    page(&visit, &project, Reply::done(html! {})).await
}

#[derive(Deserialize)]
pub(crate) struct RegenerateForm {
    mode: String,
    /// The key shown on the page, so that a form sent twice replaces only one key.
    key: String,
    word: String,
}

/// `POST /p/{project}/keys/regenerate`: a new key, shown once; the old one stops working.
pub(crate) async fn regenerate(posted: Posted<RegenerateForm>, path: Path<String>) -> Page {
    let Posted { visit, form } = posted;
    let project = visit.project(&path, Command::RegenerateKey).await?;
    let mode: KeyMode = form.mode.parse().map_err(|_| Refusal::Unreadable)?;
    let replaces = form.key.parse().map_err(|_| Refusal::Unreadable)?;
    if form.word.trim() != project.name.trim() {
        return page(&visit, &project, Reply::invalid(texts::WRONG_WORD)).await;
    }
    let projects = &visit.console.manage.projects;
    let world = project.id.in_mode(mode);
    let reply = match projects.regenerate_key(&visit.by, world, Some(replaces)).await {
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

async fn page(visit: &Visit, project: &Project, reply: Reply) -> Page {
    let keys = visit.console.manage.projects.keys(&visit.by, project.id).await?;
    let content = html! {
        div.stack {
            (reply.above)
            div.columns { @for key in &keys { (card(visit, project, key)) } }
        }
    };
    Frame::new(visit, texts::TITLE, texts::LEAD).of(project).answer(reply.status, &content)
}

fn card(visit: &Visit, project: &Project, key: &KeyRecord) -> Markup {
    let live = key.mode == KeyMode::Live;
    let (title, about) = if live { texts::LIVE } else { texts::TEST };
    let danger = Danger {
        id: &format!("regenerate-{}", key.mode.as_str()),
        action: &format!("/p/{}/keys/regenerate", project.id),
        summary: texts::REGENERATE,
        consequences: if live { &texts::LIVE_STOPS } else { &texts::TEST_STOPS },
        word: &project.name,
        button: texts::REGENERATE_NOW,
    };
    html! {
        section.card {
            h2 { (title) }
            p.muted { (about) }
            dl.facts {
                dt { (texts::KEY) }
                dd { code { "svc_" (key.mode.as_str()) "_…" (key.ending) } }
                dt { (texts::MADE) }
                dd { (time(key.created_at)) }
                dt { (texts::USED) }
                dd {
                    @match key.used {
                        Some(used) => {
                            (time(used.at))
                            @if let Some(from) = used.from { " " (texts::FROM) " " code { (from) } }
                        }
                        None => span.muted { (texts::NEVER_USED) },
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
