use super::go;
use super::parts::{Field, check, done, notice};
use super::{settings_messages as messages, settings_webhooks as webhooks};
use crate::format::rupees;
use crate::layout::{Frame, Page, csrf};
use crate::texts::settings as texts;
use crate::visit::{Posted, Visit};
use actix_web::HttpRequest;
use actix_web::web::Path;
use dwar_app::ManageError;
use dwar_operator::Command;
use dwar_otp::Channel;
use dwar_project::{Project, ProjectChange};
use dwar_wallet::{Amount, Paise};
use maud::{Markup, html};
use serde::Deserialize;

/// `GET /p/{project}/settings`.
pub(crate) async fn show(visit: Visit, path: Path<String>, request: HttpRequest) -> Page {
    let project = visit.project(&path, Command::ShowProject).await?;
    page(&visit, &project, &done(&request, texts::DONE)).await
}

#[derive(Deserialize)]
pub(crate) struct SwitchesForm {
    #[serde(default)]
    lookup: Option<String>,
    #[serde(default)]
    delete: Option<String>,
}

/// `POST /p/{project}/settings/identities`: look-up and deletion on or off.
pub(crate) async fn switches(posted: Posted<SwitchesForm>, path: Path<String>) -> Page {
    let Posted { visit, form } = posted;
    let project = visit.project(&path, Command::ChangeProject).await?;
    let change = ProjectChange {
        identity_lookup: Some(form.lookup.is_some()),
        identity_delete: Some(form.delete.is_some()),
        ..ProjectChange::default()
    };
    apply(&visit, &project, change).await
}

#[derive(Deserialize)]
pub(crate) struct RoutingForm {
    whatsapp: String,
    sms: String,
    fallback: String,
}

/// `POST /p/{project}/settings/routing`: who carries messages, and when the next channel is tried.
pub(crate) async fn routing(posted: Posted<RoutingForm>, path: Path<String>) -> Page {
    let Posted { visit, form } = posted;
    let project = visit.project(&path, Command::ChangeProject).await?;
    let Ok(seconds) = optional(form.fallback.trim(), str::parse::<u32>) else {
        return refused(&visit, &project, texts::NO_SECONDS).await;
    };
    let change = ProjectChange {
        whatsapp_providers: Some(names(&form.whatsapp)),
        sms_providers: Some(names(&form.sms)),
        fallback_seconds: Some(seconds),
        ..ProjectChange::default()
    };
    apply(&visit, &project, change).await
}

#[derive(Deserialize)]
pub(crate) struct MoneyForm {
    whatsapp_price: String,
    sms_price: String,
    low_balance: String,
}

/// `POST /p/{project}/settings/money`: prices, and the balance that is low.
pub(crate) async fn money(posted: Posted<MoneyForm>, path: Path<String>) -> Page {
    let Posted { visit, form } = posted;
    let project = visit.project(&path, Command::ChangePrices).await?;
    let rupees = |text: &str| Amount::from_rupees(text).map(Amount::paise);
    let amount = |text: &str| optional(text.trim(), rupees);
    let all = (amount(&form.whatsapp_price), amount(&form.sms_price), amount(&form.low_balance));
    let (Ok(whatsapp), Ok(sms), Ok(low)) = all else {
        return refused(&visit, &project, texts::NO_AMOUNT).await;
    };
    let change = ProjectChange {
        whatsapp_price: Some(whatsapp),
        sms_price: Some(sms),
        low_balance: Some(low),
        ..ProjectChange::default()
    };
    apply(&visit, &project, change).await
}

/// Nothing stands for the installation's own setting.
fn optional<T, E>(text: &str, read: impl Fn(&str) -> Result<T, E>) -> Result<Option<T>, E> {
    if text.is_empty() { Ok(None) } else { read(text).map(Some) }
}

/// Names separated by commas; nothing is the installation's own list, `none` an empty one.
fn names(text: &str) -> Option<Vec<String>> {
    let words = text.split(',').map(str::trim).filter(|word| !word.is_empty());
    match text.trim() {
        "" => None,
        "none" => Some(Vec::new()),
        _ => Some(words.map(str::to_owned).collect()),
    }
}

/// Changes what the form asks for, and shows the page anew.
pub(crate) async fn apply(visit: &Visit, project: &Project, change: ProjectChange) -> Page {
    match visit.console.manage.projects.change(&visit.by, project.id, change).await {
        Ok(_) => Ok(go(&format!("/p/{}/settings?done=saved", project.id))),
        Err(ManageError::Invalid { reason, .. }) => refused(visit, project, &reason).await,
        Err(cause) => Err(cause.into()),
    }
}

/// The page as it was, with why nothing changed.
pub(crate) async fn refused(visit: &Visit, project: &Project, sentence: &str) -> Page {
    let mut shown = page(visit, project, &notice("bad", sentence)).await?;
    *shown.status_mut() = actix_web::http::StatusCode::UNPROCESSABLE_ENTITY;
    Ok(shown)
}

/// The whole page.
pub(crate) async fn page(visit: &Visit, project: &Project, above: &Markup) -> Page {
    let endpoints = visit.console.manage.endpoints.list(&visit.by, project.id).await?;
    let messages = messages::card(visit, project).await?;
    let content = html! {
        div.stack {
            (above)
            (messages)
            (switches_card(visit, project))
            (routing_card(visit, project))
            (money_card(visit, project))
            (webhooks::card(visit, project, &endpoints))
        }
    };
    let frame = Frame::new(visit, texts::TITLE, texts::LEAD).of(project);
    frame.show(&content)
}

/// A form of this page; what nobody may change is shown all the same, and cannot be sent.
pub(crate) fn form(
    visit: &Visit,
    project: &Project,
    (part, command): (&str, Command),
    (title, about): (&str, &str),
    fields: &Markup,
) -> Markup {
    let allowed = visit.may(project, command);
    html! {
        form.card method="post" action={ "/p/" (project.id) "/settings/" (part) } {
            (csrf(visit))
            h2 { (title) }
            p.muted { (about) }
            fieldset.stack disabled[!allowed] { legend.hidden { (title) } (fields) }
            @if allowed { button.primary type="submit" { (texts::SAVE) } }
        }
    }
}

fn switches_card(visit: &Visit, project: &Project) -> Markup {
    let fields = html! {
        div.checks {
            (check("lookup", texts::LOOKUP, texts::LOOKUP_HINT, project.identity_lookup))
            (check("delete", texts::DELETE, texts::DELETE_HINT, project.identity_delete))
        }
    };
    form(visit, project, ("identities", Command::ChangeProject), texts::IDENTITIES, &fields)
}

fn routing_card(visit: &Visit, project: &Project) -> Markup {
    let list = |names: &Option<Vec<String>>| match names {
        None => String::new(),
        Some(names) if names.is_empty() => "none".to_owned(),
        Some(names) => names.join(", "),
    };
    let (whatsapp, sms) = (list(&project.routing.whatsapp), list(&project.routing.sms));
    let seconds = project.routing.fallback_seconds.map(|own| own.to_string()).unwrap_or_default();
    let known = |channel| visit.console.providers.names(channel).join(", ");
    let hint = |channel| format!("{} {}", texts::PROVIDERS_HINT, known(channel));
    let (whatsapp_hint, sms_hint) = (hint(Channel::Whatsapp), hint(Channel::Sms));
    let own = Field { placeholder: texts::AS_INSTALLED, ..Field::TEXT };
    let fields = html! {
        div.columns {
            (Field { name: "whatsapp", label: texts::WHATSAPP, value: &whatsapp, hint: &whatsapp_hint, ..own }.show())
            (Field { name: "sms", label: texts::SMS, value: &sms, hint: &sms_hint, ..own }.show())
            (Field { name: "fallback", label: texts::FALLBACK, value: &seconds, hint: texts::FALLBACK_HINT, ..own }.show())
        }
    };
    form(visit, project, ("routing", Command::ChangeProject), texts::ROUTING, &fields)
}

fn money_card(visit: &Visit, project: &Project) -> Markup {
    let plain = |amount: Option<Paise>| {
        amount.map(|paise| rupees(paise).replace(['₹', ','], "")).unwrap_or_default()
    };
    let whatsapp = plain(project.prices.whatsapp);
    let sms = plain(project.prices.sms);
    let low = plain(project.low_balance);
    let prices = visit.console.prices;
    let (default_whatsapp, default_sms) = (rupees(prices.whatsapp), rupees(prices.sms));
    let fields = html! {
        div.columns {
            (Field { name: "whatsapp_price", label: texts::WHATSAPP_PRICE, value: &whatsapp, placeholder: &default_whatsapp, ..Field::TEXT }.show())
            (Field { name: "sms_price", label: texts::SMS_PRICE, value: &sms, placeholder: &default_sms, ..Field::TEXT }.show())
            (Field { name: "low_balance", label: texts::LOW, value: &low, hint: texts::LOW_HINT, placeholder: texts::TELLS_NOTHING, ..Field::TEXT }.show())
        }
    };
    form(visit, project, ("money", Command::ChangePrices), texts::MONEY, &fields)
}
