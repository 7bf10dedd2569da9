use super::parts::{Field, sentence};
use super::settings;
use crate::format::rupees;
use crate::layout::{HTML, Page, csrf};
use crate::refusal::Refusal;
use crate::texts::settings as texts;
use crate::visit::{Posted, Visit};
use actix_web::HttpResponse;
use actix_web::web::Path;
use dwar_app::ManageError;
use dwar_kernel::ProjectId;
use dwar_operator::Command;
use dwar_otp::{Channel, SmsText};
use dwar_project::{Project, ProjectChange};
use maud::{Markup, html};
use serde::Deserialize;

#[derive(Deserialize)]
pub(crate) struct MessagesForm {
    brand: String,
    language: String,
    text: String,
    template_id: String,
    domain: String,
    app_hash: String,
}

impl MessagesForm {
    /// Nothing stands for the default.
    fn change(&self) -> ProjectChange {
        let own = |text: &str| {
            let text = text.trim().replace("\r\n", "\n");
            Some((!text.is_empty()).then_some(text))
        };
        ProjectChange {
            brand: own(&self.brand),
            language: own(&self.language),
            sms_text: own(&self.text),
            sms_template_id: own(&self.template_id),
            webotp_domain: own(&self.domain),
            app_hash: own(&self.app_hash),
            ..ProjectChange::default()
        }
    }
}

/// `POST /p/{project}/settings/messages`.
pub(crate) async fn save(posted: Posted<MessagesForm>, path: Path<String>) -> Page {
    let Posted { visit, form } = posted;
    let project = visit.project(&path, Command::ChangeProject).await?;
    settings::apply(&visit, &project, form.change()).await
}

/// `POST /p/{project}/settings/preview`: what the form as it stands would send; changes nothing.
pub(crate) async fn preview(posted: Posted<MessagesForm>, path: Path<String>) -> Page {
    let Posted { visit, form } = posted;
    let project = visit.project(&path, Command::ShowProject).await?;
    let shown = render_preview(&visit, project.id, form.change()).await?.into_string();
    Ok(HttpResponse::Ok().content_type(HTML).body(shown))
}

/// What a phone would show of this project's SMS, and what it would cost.
async fn render_preview(
    visit: &Visit,
    project: ProjectId,
    change: ProjectChange,
) -> Result<Markup, Refusal> {
    let (project, sms) =
        match visit.console.manage.projects.preview(&visit.by, project, change).await {
            Ok(shown) => shown,
            Err(ManageError::Invalid { reason, .. }) => {
                return Ok(html! { p.notice.bad { (sentence(&reason)) } });
            }
            Err(cause) => return Err(cause.into()),
        };
    let segments = sms.segments;
    let price = visit.console.prices.price(&project, Channel::Sms);
    Ok(html! {
        div.bubble.sms { (sms.text) }
        p.muted {
            (segments) " · " (rupees(price)) " " (texts::PER_CODE)
            @if segments.parts > 1 { " · " strong { (texts::SEVERAL_PARTS) } }
        }
    })
}

/// The texts with their preview.
pub(crate) async fn card(visit: &Visit, project: &Project) -> Result<Markup, Refusal> {
    let preview = render_preview(visit, project.id, ProjectChange::default()).await?;
    let messages = &project.messages;
    let text = |own: &Option<String>| own.clone().unwrap_or_default();
    let (brand, language, template_id) =
        (text(&messages.brand), text(&messages.language), text(&messages.template_id));
    let (domain, app_hash) = (text(&messages.domain), text(&messages.app_hash));
    let default = SmsText::default_template(messages.language.as_deref().unwrap_or("en"));
    let base = format!("/p/{}/settings", project.id);
    let allowed = visit.may(project, Command::ChangeProject);
    Ok(html! {
        form.card.texts method="post" action={ (base) "/messages" } data-preview={ (base) "/preview" }
            data-target="preview" {
            (csrf(visit))
            h2 { (texts::MESSAGES.0) }
            p.muted { (texts::MESSAGES.1) }
            div.split {
                fieldset.stack disabled[!allowed] {
                    legend.hidden { (texts::MESSAGES.0) }
                    div.columns {
                        (Field { name: "brand", label: texts::BRAND, value: &brand, placeholder: &project.name, ..Field::TEXT }.show())
                        (Field { name: "language", label: texts::LANGUAGE, value: &language, placeholder: "en", hint: texts::LANGUAGE_HINT, ..Field::TEXT }.show())
                    }
                    div.field {
                        label for="text" { (texts::TEXT) }
                        textarea #text name="text" rows="4" placeholder=(default) aria-describedby="text-hint" { (text(&messages.text)) }
                        p #text-hint.hint { (texts::TEXT_HINT) }
                    }
                    div.columns {
                        (Field { name: "template_id", label: texts::TEMPLATE, value: &template_id, hint: texts::TEMPLATE_HINT, ..Field::TEXT }.show())
                        (Field { name: "domain", label: texts::DOMAIN, value: &domain, placeholder: "login.example.com", hint: texts::DOMAIN_HINT, ..Field::TEXT }.show())
                        (Field { name: "app_hash", label: texts::APP_HASH, value: &app_hash, hint: texts::APP_HASH_HINT, ..Field::TEXT }.show())
                    }
                }
                div.preview {
                    h3 { (texts::PREVIEW) }
                    div #preview aria-live="polite" { (preview) }
                }
            }
            @if allowed { button.primary type="submit" { (texts::SAVE) } }
        }
    })
}
