use super::reply::Reply;
use super::settings_form::{EVENTS_FEED, FORMS, IDENTITIES, RELAY, SettingsForm};
use super::settings_parts::{Part, back_to};
use super::settings_values::Mistyped;
use super::{
    settings_hooks as hooks, settings_messages as messages, settings_money as money,
    settings_project as own, settings_routing as routing, settings_tokens as tokens,
    settings_webhooks as endpoints,
};
use crate::answer::{Page, go};
use crate::form::Refused;
use crate::layout::Frame;
use crate::refusal::Refusal;
use crate::texts::settings as texts;
use crate::visit::{NoFields, Posted, Visit};
use actix_web::HttpRequest;
use actix_web::web::Path;
use dwar_console::ManageError;
use dwar_operator::Command;
use dwar_project::Project;
use maud::{Markup, html};

/// `GET /p/{project}/settings`: redirects to the first page.
pub(crate) async fn first(visit: Visit, path: Path<String>, request: HttpRequest) -> Page {
    let project = visit.project(&path, Command::ShowProject).await?;
    let query = request.query_string();
    let query = if query.is_empty() { String::new() } else { format!("?{query}") };
    Ok(go(&format!("{}{query}", Part::Messages.address(&project))))
}

/// `GET /p/{project}/settings/…`: one page of the settings.
pub(crate) async fn show(visit: Visit, path: Path<String>) -> Page {
    let part = Part::of_address(&visit.path).ok_or(Refusal::NotFound)?;
    let project = visit.project(&path, Command::ShowProject).await?;
    page(&visit, &project, part, Reply::done(html! {}), None).await
}

/// `POST /p/{project}/settings/…`: applies the changes of the form.
pub(crate) async fn save(
    posted: Posted<NoFields>,
    path: Path<String>,
    request: HttpRequest,
) -> Page {
    let visit = posted.visit;
    let name = request.path().rsplit('/').next();
    let form = FORMS.into_iter().find(|form| Some(form.name) == name);
    let form: &SettingsForm = form.ok_or(Refusal::NotFound)?;
    let project = visit.project(&path, form.command()).await?;
    let change = match form.change(&visit.typed) {
        Ok(change) => change,
        Err(Mistyped::Missing) => return Err(Refusal::Unreadable),
        Err(Mistyped::Field(field, reason)) => {
            return refused(&visit, &project, form.name, (field, &reason)).await;
        }
    };
    match visit.console.manage.projects.change(&visit.by, project.id, change).await {
        Ok(_) => Ok(back_to(&project, form.name, form.name)),
        Err(ManageError::Invalid { field, reason }) => {
            refused(&visit, &project, form.name, (field, &reason)).await
        }
        Err(cause) => Err(cause.into()),
    }
}

/// The page with the form as it was typed, and the reason beside the refused field.
pub(crate) async fn refused(
    visit: &Visit,
    project: &Project,
    form: &'static str,
    (field, reason): (&str, &str),
) -> Page {
    let refused = Refused::new(form, &visit.typed, field, reason);
    page(visit, project, Part::with(form), Reply::refused(&refused), Some(&refused)).await
}

pub(crate) async fn page(
    visit: &Visit,
    project: &Project,
    part: Part,
    reply: Reply,
    refused: Option<&Refused<'_>>,
) -> Page {
    let sections = sections(visit, project, part, refused).await?;
    let content = html! {
        div.stack {
            (part.tabs(project))
            (reply.above)
            (sections)
        }
    };
    Frame::new(visit, part.title(), texts::LEAD).of(project).answer(reply.status, &content)
}

async fn sections(
    visit: &Visit,
    project: &Project,
    part: Part,
    refused: Option<&Refused<'_>>,
) -> Result<Markup, Refusal> {
    Ok(match part {
        Part::Messages => messages::card(visit, project, refused).await?,
        Part::Delivery => html! {
            (routing::card(visit, project, refused))
            (RELAY.switches(visit, project, refused))
        },
        Part::Tokens => tokens::card(visit, project, refused),
        Part::Events => {
            let listed = visit.console.manage.endpoints.list(&visit.by, project.id).await?;
            let known = visit.console.manage.hooks.list(&visit.by, project.id).await?;
            html! {
                (endpoints::card(visit, project, &listed, refused))
                (EVENTS_FEED.switches(visit, project, refused))
                (hooks::card(visit, project, &known, refused))
            }
        }
        Part::Project => html! {
            (own::card(visit, project, refused))
            (money::card(visit, project, refused))
            (IDENTITIES.switches(visit, project, refused))
            (own::archive_section(visit, project))
        },
    })
}
