use super::settings_parts::done;
use super::webhook;
use crate::form::Field;
use crate::layout::csrf;
use crate::texts::settings as texts;
use crate::visit::Visit;
use dwar_event::Endpoint;
use dwar_operator::Command;
use dwar_project::Project;
use maud::{Markup, html};

/// The endpoints, and a form for another one.
pub(crate) fn card(visit: &Visit, project: &Project, endpoints: &[Endpoint]) -> Markup {
    let form = visit.form("endpoints", visit.may(project, Command::AddWebhook));
    let url = Field {
        name: "url",
        label: texts::ADDRESS,
        placeholder: "https://example.com/dwar-events",
        kind: "url",
        required: true,
        ..Field::TEXT
    };
    html! {
        section.card #endpoints {
            // Where older links lead.
            span #webhooks {}
            h2 { (texts::EVENTS.0) }
            p.muted { (texts::EVENTS.1) }
            (done(visit, "endpoints"))
            @if endpoints.is_empty() { p.muted { (texts::NO_ENDPOINTS) } }
            ul.stack { @for endpoint in endpoints { (row(project, endpoint)) } }
            @if form.is_editable() {
                form.stack data-keep method="post" action={ "/p/" (project.id) "/settings/events" } {
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
