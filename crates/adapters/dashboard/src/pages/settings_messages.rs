use super::parts::Field;
use super::settings::{self, CHANGE, SEE};
use crate::format::rupees;
use crate::layout::{HTML, Page, csrf};
use crate::texts::settings as texts;
use crate::visit::{Posted, Visit};
use actix_web::HttpResponse;
use actix_web::web::Path;
use dwar_app::sms_text_of;
use dwar_otp::{Channel, SmsText};
use dwar_project::{Messages, Project, ProjectChange};
use maud::{Markup, html};
use serde::Deserialize;

/// The code in previews.
const EXAMPLE: &str = "482915";
/// How long codes live in previews.
const MINUTES: u32 = 10;

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
    fn messages(&self) -> Messages {
        let own = |text: &str| {
            let text = text.trim().replace("\r\n", "\n");
            (!text.is_empty()).then_some(text)
        };
        Messages {
            brand: own(&self.brand),
            language: own(&self.language),
            text: own(&self.text),
            template_id: own(&self.template_id),
            domain: own(&self.domain),
            app_hash: own(&self.app_hash),
        }
    }
}

/// `POST /p/{project}/settings/messages`.
pub(crate) async fn save(posted: Posted<MessagesForm>, path: Path<String>) -> Page {
    let Posted { visit, form } = posted;
    let project = visit.project(&path, CHANGE).await?;
    let messages = form.messages();
    if let Err(cause) = sms_text_of(&Project { messages: messages.clone(), ..project.clone() }) {
        return settings::refused(&visit, &project, &cause.to_string()).await;
    }
    let change = ProjectChange { messages: Some(messages), ..ProjectChange::default() };
    settings::apply(&visit, &project, change).await
}

/// `POST /p/{project}/settings/preview`: what the form as it stands would send; changes nothing.
pub(crate) async fn preview(posted: Posted<MessagesForm>, path: Path<String>) -> Page {
    let Posted { visit, form } = posted;
    let project = visit.project(&path, SEE).await?;
    let project = Project { messages: form.messages(), ..project };
    let shown = look(&visit, &project).into_string();
    Ok(HttpResponse::Ok().content_type(HTML).body(shown))
}

/// What a phone shows of this project's SMS, and what it costs.
fn look(visit: &Visit, project: &Project) -> Markup {
    let text = match sms_text_of(project) {
        Ok(text) => text,
        Err(cause) => return html! { p.notice.bad { (cause.to_string()) } },
    };
    let segments = text.segments(MINUTES);
    let price = visit.console.prices.price(project, Channel::Sms);
    let sample = EXAMPLE.parse().map(|code| text.compose(&code, MINUTES)).unwrap_or_default();
    html! {
        div.bubble.sms { (sample) }
        p.muted {
            (segments) " · " (rupees(price)) " " (texts::PER_CODE)
            @if segments.parts > 1 { " · " strong { (texts::SEVERAL_PARTS) } }
        }
    }
}

/// The texts with their preview.
pub(crate) fn card(visit: &Visit, project: &Project) -> Markup {
    let messages = &project.messages;
    let text = |own: &Option<String>| own.clone().unwrap_or_default();
    let (brand, language, template_id) =
        (text(&messages.brand), text(&messages.language), text(&messages.template_id));
    let (domain, app_hash) = (text(&messages.domain), text(&messages.app_hash));
    let default = SmsText::default_template(messages.language.as_deref().unwrap_or("en"));
    let base = format!("/p/{}/settings", project.id);
    let allowed = visit.may(project, CHANGE);
    html! {
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
                    div #preview aria-live="polite" { (look(visit, project)) }
                }
            }
            @if allowed { button.primary type="submit" { (texts::SAVE) } }
        }
    }
}
