use super::parts::secret;
use super::settings_form::{MESSAGES, field};
use crate::answer::{PageResult, html_answer};
use crate::form::FormView;
use crate::format::{rupees, sentence};
use crate::manual;
use crate::refusal::Refusal;
use crate::texts::settings as texts;
use crate::visit::{EmptyForm, SignedInForm, Visit};
use actix_web::http::StatusCode;
use actix_web::web::Path;
use dwar_console::ManageError;
use dwar_kernel::ProjectId;
use dwar_operator::Command;
use dwar_otp::SmsText;
use dwar_project::{Project, ProjectChange, Setting};
use maud::{Markup, html};
use std::collections::BTreeSet;
use std::iter;

/// `POST /p/{project}/settings/preview`: the message that the typed form would send; changes
/// nothing.
pub(crate) async fn preview(
    SignedInForm { visit, .. }: SignedInForm<EmptyForm>,
    path: Path<String>,
) -> PageResult {
    let change = MESSAGES.change(&visit.typed).map_err(|_| Refusal::Unreadable)?;
    let project = visit.project(&path, Command::ShowProject).await?;
    let shown = render_preview(&visit, project.id, change).await?;
    Ok(html_answer(StatusCode::OK, shown))
}

/// This project's SMS as a phone shows it, and its price.
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
        p.hint { (texts::ENCODINGS) }
        h3 { (texts::REGISTER) }
        @for warning in &sms.dlt_warnings { p.notice.warn { (texts::dlt_warning(*warning)) } }
        @for (form, text) in &sms.registered {
            p.muted { (texts::portals(*form)) }
            (secret(&format!("dlt-{form}"), text))
        }
        p.muted {
            (texts::REGISTER_HINT)
            @if let Some(page) = manual::address(texts::DLT_MANUAL) { " " a href=(page) { (texts::DLT_HELP) } }
        }
    })
}

/// The texts, with a preview of the stored or typed ones.
pub(crate) async fn card(visit: &Visit, project: &Project) -> Result<Markup, Refusal> {
    // A refused form shows the typed text: beside an invalid text its message would look like the
    // default.
    let is_refused = visit.form(MESSAGES.name, true).is_refused();
    let typed = is_refused.then(|| MESSAGES.change(&visit.typed).ok());
    let change = typed.flatten().unwrap_or_default();
    let preview = render_preview(visit, project.id, change).await?;
    let language = project.messages.language.as_deref();
    let default = SmsText::default_template(language.unwrap_or("en"));
    let languages = languages(visit, language.unwrap_or_default());
    let fields = |form: FormView<'_>| {
        let line =
            |setting, placeholder: &str| field(project, setting, placeholder, |it| form.field(it));
        html! {
            div.split data-preview={ "/p/" (project.id) "/settings/preview" } data-target="preview" {
                div.stack {
                    div.columns {
                        (line(Setting::Brand, &project.name))
                        (field(project, Setting::Language, "", |it| form.choice(it, &languages)))
                    }
                    (field(project, Setting::SmsText, default, |it| form.text(it)))
                    div.columns {
                        (line(Setting::SmsTemplateId, ""))
                        (line(Setting::WebotpDomain, "login.example.com"))
                        (line(Setting::AppHash, ""))
                        (line(Setting::LastLines, ""))
                    }
                }
                div.preview {
                    h3 { (texts::PREVIEW) }
                    div #preview aria-live="polite" { (preview) }
                }
            }
        }
    };
    Ok(MESSAGES.card(visit, project, fields))
}

/// The languages: the default first, then those with a text or a WhatsApp template of their own,
/// then the others, and the current one in any case. Their labels say what is sent in them.
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
