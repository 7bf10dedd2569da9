use super::settings_form::{self, SettingsForm};
use crate::answer::{Page, html_answer};
use crate::form::{Field, Form, Refused};
use crate::format::{rupees, sentence};
use crate::refusal::Refusal;
use crate::texts::settings as texts;
use crate::visit::{Posted, Visit};
use actix_web::http::StatusCode;
use actix_web::web::Path;
use dwar_app::ManageError;
use dwar_kernel::ProjectId;
use dwar_operator::Command;
use dwar_otp::SmsText;
use dwar_project::{Project, ProjectChange};
use maud::{Markup, html};
use serde::Deserialize;
use std::collections::BTreeSet;
use std::iter;

#[derive(Deserialize)]
pub(crate) struct MessagesForm {
    brand: String,
    language: String,
    sms_text: String,
    sms_template_id: String,
    webotp_domain: String,
    app_hash: String,
    last_lines: Option<String>,
}

impl MessagesForm {
    fn wanted(&self) -> ProjectChange {
        let own = |text: &str| Some(Some(text.to_owned()));
        ProjectChange {
            brand: own(&self.brand),
            language: own(&self.language),
            sms_text: own(&self.sms_text),
            sms_template_id: own(&self.sms_template_id),
            webotp_domain: own(&self.webotp_domain),
            app_hash: own(&self.app_hash),
            last_lines: self.last_lines.as_deref().map(words),
            ..ProjectChange::default()
        }
    }
}

impl SettingsForm for MessagesForm {
    const NAME: &'static str = "messages";

    fn change(self) -> Result<ProjectChange, (&'static str, String)> {
        Ok(self.wanted())
    }
}

/// What stands between blanks, commas and line breaks.
fn words(text: &str) -> Vec<String> {
    let words = text.split(|it: char| it.is_whitespace() || it == ',');
    words.filter(|word| !word.is_empty()).map(str::to_owned).collect()
}

/// `POST /p/{project}/settings/preview`: what the form as it stands would send; changes nothing.
pub(crate) async fn preview(posted: Posted<MessagesForm>, path: Path<String>) -> Page {
    let Posted { visit, form } = posted;
    let project = visit.project(&path, Command::ShowProject).await?;
    let shown = render_preview(&visit, project.id, form.wanted()).await?;
    Ok(html_answer(StatusCode::OK, shown))
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
    let price = project.prices.over(visit.console.prices).sms;
    Ok(html! {
        div.bubble.sms { (sms.text) }
        p.muted {
            (segments) " · " (rupees(price)) " " (texts::PER_CODE)
            @if segments.parts > 1 { " · " strong { (texts::SEVERAL_PARTS) } }
        }
    })
}

/// The texts, with a preview of those on record.
pub(crate) async fn card(
    visit: &Visit,
    project: &Project,
    refused: Option<&Refused<'_>>,
) -> Result<Markup, Refusal> {
    let preview = render_preview(visit, project.id, ProjectChange::default()).await?;
    let messages = &project.messages;
    let own = |text: &'_ Option<String>| text.clone().unwrap_or_default();
    let language = own(&messages.language);
    let default = SmsText::default_template(messages.language.as_deref().unwrap_or("en"));
    let field = |form: Form<'_>, name, label, value: &Option<String>, placeholder: &str, hint| {
        let value = own(value);
        form.field(&Field { name, label, value: &value, placeholder, hint, ..Field::TEXT })
    };
    let last_lines = Some(messages.last_lines.join(", "));
    let fields = |form: Form<'_>| {
        let text = own(&messages.text);
        let choice = Field {
            name: "language",
            label: texts::LANGUAGE,
            value: &language,
            hint: texts::LANGUAGE_HINT,
            ..Field::TEXT
        };
        let area = Field {
            name: "sms_text",
            label: texts::TEXT,
            value: &text,
            placeholder: default,
            hint: texts::TEXT_HINT,
            ..Field::TEXT
        };
        html! {
            div.split data-preview={ "/p/" (project.id) "/settings/preview" } data-target="preview" {
                div.stack {
                    div.columns {
                        (field(form, "brand", texts::BRAND, &messages.brand, &project.name, ""))
                        (form.choice(&choice, &languages(visit, &language)))
                    }
                    (form.text(&area))
                    div.columns {
                        (field(form, "sms_template_id", texts::TEMPLATE, &messages.template_id, "", texts::TEMPLATE_HINT))
                        (field(form, "webotp_domain", texts::DOMAIN, &messages.domain, "login.example.com", texts::DOMAIN_HINT))
                        (field(form, "app_hash", texts::APP_HASH, &messages.app_hash, "", texts::APP_HASH_HINT))
                        (field(form, "last_lines", texts::LAST_LINES, &last_lines, "", texts::LAST_LINES_HINT))
                    }
                }
                div.preview {
                    h3 { (texts::PREVIEW) }
                    div #preview aria-live="polite" { (preview) }
                }
            }
        }
    };
    Ok(settings_form::card::<MessagesForm>(visit, project, texts::MESSAGES, refused, fields))
}

/// The default first, then those with a text or a WhatsApp template of their own, then the others, and the
/// present one, whatever it is. Their labels say what is sent in them.
fn languages(visit: &Visit, present: &str) -> Vec<(String, String)> {
    let templates = visit.console.providers.template_languages();
    let has_text = |tag: &str| {
        tag == "en" || SmsText::default_template(tag) != SmsText::default_template("en")
    };
    let others = templates.iter().map(String::as_str).chain([present]).filter(|it| !it.is_empty());
    let mut tags: Vec<&str> = texts::LANGUAGES.iter().map(|(tag, _)| *tag).chain(others).collect();
    let mut seen = BTreeSet::new();
    tags.retain(|tag| seen.insert(*tag));
    let has_template = |tag: &str| templates.iter().any(|known| known == tag);
    tags.sort_by_key(|tag| !has_text(tag) && !has_template(tag));
    let label = |tag: &str| {
        let name = texts::LANGUAGES.iter().find(|(known, _)| *known == tag);
        let name = name.map_or(tag, |(_, name)| *name);
        match (has_text(tag), has_template(tag)) {
            (true, _) => name.to_owned(),
            (false, true) => format!("{name}: {}", texts::SMS_IN_ENGLISH),
            (false, false) => format!("{name}: {}", texts::IN_ENGLISH),
        }
    };
    let default = (String::new(), texts::DEFAULT_LANGUAGE.to_owned());
    iter::once(default).chain(tags.into_iter().map(|tag| (tag.to_owned(), label(tag)))).collect()
}
