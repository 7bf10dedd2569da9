use super::reply::Reply;
use super::settings_form::{EVENTS_FEED, FORMS, IDENTITIES, RELAY};
use super::settings_values::Mistyped;
use super::{
    settings_hooks as hooks, settings_messages as messages, settings_money as money,
    settings_project as own, settings_routing as routing, settings_tokens as tokens,
    settings_webhooks as webhooks,
};
use crate::answer::{Page, go};
use crate::form::Refused;
use crate::layout::Frame;
use crate::refusal::Refusal;
use crate::texts::{
    settings as texts, settings_hooks as texts_of_hooks, settings_project as texts_of_project,
    settings_tokens as texts_of_tokens,
};
use crate::visit::{NoFields, Posted, Visit};
use actix_web::HttpRequest;
use actix_web::web::Path;
use dwar_console::ManageError;
use dwar_operator::Command;
use dwar_project::Project;
use maud::{Markup, html};

/// `GET /p/{project}/settings`.
pub(crate) async fn show(visit: Visit, path: Path<String>, request: HttpRequest) -> Page {
    let project = visit.project(&path, Command::ShowProject).await?;
    page(&visit, &project, Reply::of_address(&request, texts::DONE), None).await
}

/// `POST /p/{project}/settings/…`: changes what the form asks for.
pub(crate) async fn save(
    posted: Posted<NoFields>,
    path: Path<String>,
    request: HttpRequest,
) -> Page {
    let visit = posted.visit;
    let name = request.path().rsplit('/').next();
    let form = FORMS.into_iter().find(|form| Some(form.name) == name);
    let form = form.ok_or(Refusal::NotFound)?;
    let project = visit.project(&path, form.command()).await?;
    let change = match form.change(&visit.typed) {
        Ok(change) => change,
        Err(Mistyped::Missing) => return Err(Refusal::Unreadable),
        Err(Mistyped::Field(field, reason)) => {
            return refused(&visit, &project, form.name, (field, &reason)).await;
        }
    };
    match visit.console.manage.projects.change(&visit.by, project.id, change).await {
        Ok(_) => Ok(go(&format!("/p/{}/settings?done=saved", project.id))),
        Err(ManageError::Invalid { field, reason }) => {
            refused(&visit, &project, form.name, (field, &reason)).await
        }
        Err(cause) => Err(cause.into()),
    }
}

/// The page with one of its forms as it was typed, and why its field was refused.
pub(crate) async fn refused(
    visit: &Visit,
    project: &Project,
    form: &'static str,
    (field, reason): (&str, &str),
) -> Page {
    let refused = Refused::new(form, &visit.typed, field, reason);
    page(visit, project, Reply::refused(&refused), Some(&refused)).await
}

/// The whole page.
pub(crate) async fn page(
    visit: &Visit,
    project: &Project,
    reply: Reply,
    refused: Option<&Refused<'_>>,
) -> Page {
    let endpoints = visit.console.manage.endpoints.list(&visit.by, project.id).await?;
    let listed = visit.console.manage.hooks.list(&visit.by, project.id).await?;
    let messages = messages::card(visit, project, refused).await?;
    let content = html! {
        div.stack {
            (reply.above)
            (jump(project, visit))
            (own::card(visit, project, refused))
            (messages)
            (routing::card(visit, project, refused))
            (IDENTITIES.switches(visit, project, refused))
            (RELAY.switches(visit, project, refused))
            (tokens::card(visit, project, refused))
            (hooks::card(visit, project, &listed, refused))
            (money::card(visit, project, refused))
            (webhooks::card(visit, project, &endpoints, refused))
            (EVENTS_FEED.switches(visit, project, refused))
            (own::archive_section(visit, project))
        }
    };
    Frame::new(visit, texts::TITLE, texts::LEAD).of(project).answer(reply.status, &content)
}

/// Leads to the parts of the page, which is long.
fn jump(project: &Project, visit: &Visit) -> Markup {
    let parts = [
        ("project", texts_of_project::PROJECT.0),
        ("messages", texts::MESSAGES.0),
        ("routing", texts::ROUTING.0),
        ("identities", texts::IDENTITIES.0),
        ("relay", texts::RELAY.0),
        ("tokens", texts_of_tokens::TOKENS.0),
        ("hooks", texts_of_hooks::HOOKS.0),
        ("money", texts::MONEY.0),
        ("webhooks", texts::WEBHOOKS.0),
        ("events_feed", texts::EVENTS_FEED.0),
    ];
    let archive =
        own::may_archive(visit, project).then_some(("archive", texts_of_project::TO_ARCHIVE));
    html! {
        nav.jump aria-label=(texts::PARTS) {
            @for (id, title) in parts.into_iter().chain(archive) { a href={ "#" (id) } { (title) } }
        }
    }
}
