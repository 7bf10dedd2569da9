use super::parts::Field;
use super::settings;
use super::webhook;
use crate::form::{Form, Refused};
use crate::layout::{Page, csrf};
use crate::texts::settings as texts;
use crate::visit::{Posted, Visit};
use actix_web::http::StatusCode;
use actix_web::web::Path;
use dwar_app::ManageError;
use dwar_event::Endpoint;
use dwar_operator::Command;
use dwar_project::Project;
use maud::{Markup, html};
use serde::Deserialize;

#[derive(Deserialize)]
pub(crate) struct AddForm {
    url: String,
    #[serde(default)]
    full_phone: Option<String>,
}

/// `POST /p/{project}/settings/webhooks`: a new address, and its secret this once.
pub(crate) async fn add(posted: Posted<AddForm>, path: Path<String>) -> Page {
    let Posted { visit, form } = posted;
    let project = visit.project(&path, Command::AddWebhook).await?;
    let (url, full) = (&form.url, form.full_phone.is_some());
    match visit.console.manage.endpoints.add(&visit.by, project.id, url, full).await {
        Ok((_, secret)) => {
            settings::page(&visit, &project, StatusCode::OK, &webhook::fresh(&secret), None).await
        }
        Err(ManageError::Invalid { field, .. }) => {
            settings::refused(&visit, &project, "webhooks", (field, texts::BAD_ADDRESS)).await
        }
        Err(ManageError::Conflict(sentence)) => {
            settings::conflict(&visit, &project, sentence).await
        }
        Err(cause) => Err(cause.into()),
    }
}

/// The addresses, and a form for one more.
pub(crate) fn card(
    visit: &Visit,
    project: &Project,
    endpoints: &[Endpoint],
    refused: Option<&Refused<'_>>,
) -> Markup {
    let form = Form::new("webhooks", refused, visit.may(project, Command::AddWebhook));
    let url = Field {
        name: "url",
        label: texts::ADDRESS,
        placeholder: "https://example.com/dwar-events",
        kind: "url",
        required: true,
        ..Field::TEXT
    };
    html! {
        section.card #webhooks {
            h2 { (texts::WEBHOOKS.0) }
            p.muted { (texts::WEBHOOKS.1) }
            @if endpoints.is_empty() { p.muted { (texts::NO_WEBHOOKS) } }
            ul.stack { @for endpoint in endpoints { (row(project, endpoint)) } }
            @if form.is_editable() {
                form.stack data-keep method="post" action={ "/p/" (project.id) "/settings/webhooks" } {
                    (csrf(visit))
                    (form.field(&url))
                    (form.check("full_phone", texts::FULL_PHONE, texts::FULL_PHONE_HINT, false))
                    div { button.plain type="submit" { (texts::ADD) } }
                }
            } @else { p.muted { (texts::OWNERS) } }
        }
    }
}

fn row(project: &Project, endpoint: &Endpoint) -> Markup {
    html! {
        li.endpoint-row {
            div { code.wrap-anywhere { (endpoint.url) } " " (webhook::pill(endpoint)) }
            div { a.button href=(webhook::address(project, endpoint.id)) { (texts::OPEN) } }
        }
    }
}
