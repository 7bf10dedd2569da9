use super::reply::Reply;
use super::settings_form::{EVENTS_FEED, FORMS, IDENTITIES, RELAY, SettingsForm};
use super::settings_parts::{Part, back_to};
use super::settings_values::InvalidInput;
use super::{
    settings_guard as guard, settings_hooks as hooks, settings_messages as messages,
    settings_money as money, settings_project as own, settings_routing as routing,
    settings_tokens as tokens, settings_webhooks as endpoints,
};
use crate::answer::{PageResult, go};
use crate::form::RefusedForm;
use crate::layout::Frame;
use crate::refusal::Refusal;
use crate::texts::settings as texts;
use crate::visit::{EmptyForm, SignedInForm, Visit};
use actix_web::HttpRequest;
use actix_web::web::Path;
use dwar_console::ManageError;
use dwar_operator::Command;
use dwar_project::Project;
use maud::{Markup, html};

/// `GET /p/{project}/settings`: redirects to the first page.
pub(crate) async fn first(visit: Visit, path: Path<String>, request: HttpRequest) -> PageResult {
    let project = visit.project(&path, Command::ShowProject).await?;
    let query = request.query_string();
    let query = if query.is_empty() { String::new() } else { format!("?{query}") };
    Ok(go(&format!("{}{query}", Part::Messages.address(&project))))
}

/// `GET /p/{project}/settings/…`: one page of the settings.
pub(crate) async fn show(visit: Visit, path: Path<String>) -> PageResult {
    let part = Part::of_address(&visit.path).ok_or(Refusal::NotFound)?;
    let project = visit.project(&path, Command::ShowProject).await?;
    page(&visit, &project, part, Reply::none()).await
}

/// `POST /p/{project}/settings/…`: applies the changes of the form.
pub(crate) async fn save(
    SignedInForm { visit, .. }: SignedInForm<EmptyForm>,
    path: Path<String>,
    request: HttpRequest,
) -> PageResult {
    let name = request.path().rsplit('/').next();
    let form = FORMS.into_iter().find(|form| Some(form.name) == name);
    let form: &SettingsForm = form.ok_or(Refusal::NotFound)?;
    let project = visit.project(&path, form.command()).await?;
    let change = match form.change(&visit.typed) {
        Ok(change) => change,
        Err(InvalidInput::Missing) => return Err(Refusal::Unreadable),
        Err(InvalidInput::Field(field, reason)) => {
            return refused(visit, &project, RefusedForm::new(form.name, field, &reason)).await;
        }
    };
    match visit.console.manage.projects.change(&visit.by, project.id, change).await {
        Ok(_) => Ok(back_to(&project, form.name, form.name)),
        Err(ManageError::Invalid { field, reason }) => {
            refused(visit, &project, RefusedForm::new(form.name, field, &reason)).await
        }
        Err(cause) => Err(cause.into()),
    }
}

/// The page with the form as it was typed, and the reason beside the refused field.
pub(crate) async fn refused(visit: Visit, project: &Project, refused: RefusedForm) -> PageResult {
    let part = Part::with(refused.form);
    let visit = visit.refuse(refused);
    page(&visit, project, part, Reply::refused(&visit)).await
}

pub(crate) async fn page(visit: &Visit, project: &Project, part: Part, reply: Reply) -> PageResult {
    let sections = sections(visit, project, part).await?;
    let content = html! {
        div.stack {
            (part.tabs(project))
            (reply.above)
            (sections)
        }
    };
    Frame::new(visit, part.title(), texts::LEAD).of(project).answer(reply.status, &content)
}

async fn sections(visit: &Visit, project: &Project, part: Part) -> Result<Markup, Refusal> {
    Ok(match part {
        Part::Messages => messages::card(visit, project).await?,
        Part::Delivery => html! {
            (routing::card(visit, project))
            (guard::card(visit, project).await?)
            (RELAY.switches(visit, project))
        },
        Part::Tokens => tokens::card(visit, project),
        Part::Events => {
            let listed = visit.console.manage.endpoints.list(&visit.by, project.id).await?;
            let known = visit.console.manage.hooks.list(&visit.by, project.id).await?;
            html! {
                (endpoints::card(visit, project, &listed))
                (EVENTS_FEED.switches(visit, project))
                (hooks::card(visit, project, &known))
            }
        }
        Part::Project => html! {
            (own::card(visit, project))
            (money::card(visit, project))
            (IDENTITIES.switches(visit, project))
            (own::archive_section(visit, project))
        },
    })
}
