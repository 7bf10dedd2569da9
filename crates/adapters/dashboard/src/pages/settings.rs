use super::go;
use super::parts::{Field, done, notice};
use super::{
    settings_hooks as hooks, settings_messages as messages, settings_project as own,
    settings_routing as routing, settings_tokens as tokens, settings_webhooks as webhooks,
};
use crate::form::{Form, Refused};
use crate::format::rupees;
use crate::layout::{Frame, Page, csrf};
use crate::texts::{
    settings as texts, settings_hooks as texts_of_hooks, settings_project as texts_of_project,
    settings_tokens as texts_of_tokens,
};
use crate::visit::{Posted, Visit};
use actix_web::HttpRequest;
use actix_web::http::StatusCode;
use actix_web::web::Path;
use dwar_app::ManageError;
use dwar_operator::Command;
use dwar_project::{Project, ProjectChange};
use dwar_wallet::{Amount, Paise};
use maud::{Markup, html};
use serde::Deserialize;

/// `GET /p/{project}/settings`.
pub(crate) async fn show(visit: Visit, path: Path<String>, request: HttpRequest) -> Page {
    let project = visit.project(&path, Command::ShowProject).await?;
    page(&visit, &project, StatusCode::OK, &done(&request, texts::DONE), None).await
}

#[derive(Deserialize)]
pub(crate) struct RelayForm {
    relay_live: Option<String>,
    relay_test: Option<String>,
}

/// `POST /p/{project}/settings/relay`: whether codes of somebody else are delivered, by mode.
pub(crate) async fn relay(posted: Posted<RelayForm>, path: Path<String>) -> Page {
    let Posted { visit, form } = posted;
    let project = visit.project(&path, Command::ChangeProject).await?;
    let change = ProjectChange {
        relay_live: Some(form.relay_live.is_some()),
        relay_test: Some(form.relay_test.is_some()),
        ..ProjectChange::default()
    };
    apply(&visit, &project, "relay", change).await
}

#[derive(Deserialize)]
pub(crate) struct SwitchesForm {
    identity_lookup: Option<String>,
    identity_delete: Option<String>,
}

/// `POST /p/{project}/settings/identities`: look-up and deletion on or off.
pub(crate) async fn switches(posted: Posted<SwitchesForm>, path: Path<String>) -> Page {
    let Posted { visit, form } = posted;
    let project = visit.project(&path, Command::ChangeProject).await?;
    let change = ProjectChange {
        identity_lookup: Some(form.identity_lookup.is_some()),
        identity_delete: Some(form.identity_delete.is_some()),
        ..ProjectChange::default()
    };
    apply(&visit, &project, "identities", change).await
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
    let amount = |field, text: &str| {
        let rupees = |text: &str| Amount::from_rupees(text).map(Amount::paise);
        optional(text.trim(), rupees).map_err(|_| field)
    };
    let read = || {
        Ok(ProjectChange {
            whatsapp_price: Some(amount("whatsapp_price", &form.whatsapp_price)?),
            sms_price: Some(amount("sms_price", &form.sms_price)?),
            low_balance: Some(amount("low_balance", &form.low_balance)?),
            ..ProjectChange::default()
        })
    };
    match read() {
        Ok(change) => apply(&visit, &project, "money", change).await,
        Err(field) => refused(&visit, &project, "money", (field, texts::NO_AMOUNT)).await,
    }
}

/// Nothing stands for the installation's own setting.
pub(crate) fn optional<T, E>(
    text: &str,
    read: impl Fn(&str) -> Result<T, E>,
) -> Result<Option<T>, E> {
    if text.is_empty() { Ok(None) } else { read(text).map(Some) }
}

/// Changes what the form asks for, and shows the page anew.
pub(crate) async fn apply(
    visit: &Visit,
    project: &Project,
    form: &'static str,
    change: ProjectChange,
) -> Page {
    match visit.console.manage.projects.change(&visit.by, project.id, change).await {
        Ok(_) => Ok(go(&format!("/p/{}/settings?done=saved", project.id))),
        Err(ManageError::Invalid { field, reason }) => {
            refused(visit, project, form, (field, &reason)).await
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
    let status = StatusCode::UNPROCESSABLE_ENTITY;
    page(visit, project, status, &refused.summary(), Some(&refused)).await
}

/// The page, above it why nothing was added.
pub(crate) async fn conflict(visit: &Visit, project: &Project, sentence: &str) -> Page {
    page(visit, project, StatusCode::CONFLICT, &notice("bad", sentence), None).await
}

/// The whole page.
pub(crate) async fn page(
    visit: &Visit,
    project: &Project,
    status: StatusCode,
    above: &Markup,
    refused: Option<&Refused<'_>>,
) -> Page {
    let endpoints = visit.console.manage.endpoints.list(&visit.by, project.id).await?;
    let listed = visit.console.manage.hooks.list(&visit.by, project.id).await?;
    let messages = messages::card(visit, project, refused).await?;
    let content = html! {
        div.stack {
            (above)
            (jump(project, visit))
            (own::card(visit, project, refused))
            (messages)
            (routing::card(visit, project, refused))
            (switches_card(visit, project, refused))
            (relay_card(visit, project, refused))
            (tokens::card(visit, project, refused))
            (hooks::card(visit, project, &listed, refused))
            (money_card(visit, project, refused))
            (webhooks::card(visit, project, &endpoints, refused))
            (own::archive_section(visit, project))
        }
    };
    Frame::new(visit, texts::TITLE, texts::LEAD).of(project).answer(status, &content)
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
    ];
    let archive =
        own::may_archive(visit, project).then_some(("archive", texts_of_project::TO_ARCHIVE));
    html! {
        nav.jump aria-label=(texts::PARTS) {
            @for (id, title) in parts.into_iter().chain(archive) { a href={ "#" (id) } { (title) } }
        }
    }
}

/// One form of this page, named by the last part of its address; text for who may not give the command.
pub(crate) fn card(
    visit: &Visit,
    project: &Project,
    (name, command): (&str, Command),
    (title, about): (&str, &str),
    refused: Option<&Refused<'_>>,
    fields: impl FnOnce(Form<'_>) -> Markup,
) -> Markup {
    let form = Form::new(name, refused, visit.may(project, command));
    let head = html! { h2 { (title) } p.muted { (about) } };
    if !form.is_editable() {
        return html! { section.card.stack id=(name) { (head) (fields(form)) } };
    }
    html! {
        form.card.stack id=(name) method="post" action={ "/p/" (project.id) "/settings/" (name) } data-keep {
            (csrf(visit))
            (head)
            (fields(form))
            div { button.primary type="submit" { (texts::SAVE) } }
        }
    }
}

fn switches_card(visit: &Visit, project: &Project, refused: Option<&Refused<'_>>) -> Markup {
    let (lookup, delete) = (project.identity_lookup, project.identity_delete);
    let form = ("identities", Command::ChangeProject);
    card(visit, project, form, texts::IDENTITIES, refused, |form| {
        html! {
            div.checks {
                (form.check("identity_lookup", texts::LOOKUP, texts::LOOKUP_HINT, lookup))
                (form.check("identity_delete", texts::DELETE, texts::DELETE_HINT, delete))
            }
        }
    })
}

fn relay_card(visit: &Visit, project: &Project, refused: Option<&Refused<'_>>) -> Markup {
    let form = ("relay", Command::ChangeProject);
    card(visit, project, form, texts::RELAY, refused, |form| {
        html! {
            div.checks {
                (form.check("relay_live", texts::RELAY_LIVE, texts::RELAY_LIVE_HINT, project.relay.live))
                (form.check("relay_test", texts::RELAY_TEST, texts::RELAY_TEST_HINT, project.relay.test))
            }
        }
    })
}

fn money_card(visit: &Visit, project: &Project, refused: Option<&Refused<'_>>) -> Markup {
    let plain = |amount: Option<Paise>| {
        amount.map(|paise| rupees(paise).replace(['₹', ','], "")).unwrap_or_default()
    };
    let prices = visit.console.prices;
    let field = |form: Form<'_>, name, label, own: Option<Paise>, default: &str, hint| {
        let value = plain(own);
        form.field(&Field { name, label, hint, value: &value, placeholder: default, ..Field::TEXT })
    };
    let own = &project.prices;
    let (whatsapp, sms) = (rupees(prices.whatsapp), rupees(prices.sms));
    card(visit, project, ("money", Command::ChangePrices), texts::MONEY, refused, |form| {
        html! {
            div.columns {
                (field(form, "whatsapp_price", texts::WHATSAPP_PRICE, own.whatsapp, &whatsapp, ""))
                (field(form, "sms_price", texts::SMS_PRICE, own.sms, &sms, ""))
                (field(form, "low_balance", texts::LOW, project.low_balance, texts::TELLS_NOTHING, texts::LOW_HINT))
            }
        }
    })
}
