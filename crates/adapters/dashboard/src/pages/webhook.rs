use super::parts::{DestructiveForm, fresh_secret, notice, table};
use super::reply::Reply;
use super::settings_parts::{Part, back_to};
use crate::answer::{PageResult, go};
use crate::format::time;
use crate::layout::{Frame, post_button, post_button_of};
use crate::refusal::Refusal;
use crate::texts::{common, settings, webhook as texts};
use crate::visit::{EmptyForm, SignedInForm, Visit};
use actix_web::web::{Path, Query};
use dwar_console::ManageError;
use dwar_event::{CallFilter, Endpoint, LoggedCall, WebhookSecret};
use dwar_kernel::EndpointId;
use dwar_operator::Command;
use dwar_project::Project;
use maud::{Markup, html};
use serde::Deserialize;

const LINES: u32 = 50;

#[derive(Default, Deserialize)]
pub(crate) struct WebhookQuery {
    show: Option<String>,
    before: Option<String>,
}

type WebhookPath = Path<(String, String)>;

/// `GET /p/{project}/settings/events/{id}`: the state of an endpoint and its calls.
pub(crate) async fn show(
    visit: Visit,
    path: WebhookPath,
    query: Query<WebhookQuery>,
) -> PageResult {
    let (project, id) = visit.in_project(&path, Command::ListWebhookCalls).await?;
    page(&visit, &project, id, &query, Reply::of_address(&visit, texts::DONE)).await
}

/// `GET /p/{project}/settings/webhooks/{id}`, its former address: redirects to it.
pub(crate) async fn moved(visit: Visit, path: WebhookPath) -> PageResult {
    let (project, id) = visit.in_project(&path, Command::ListWebhookCalls).await?;
    let endpoint = visit.console.manage.endpoint_log.endpoint(&visit.by, project.id, id).await?;
    Ok(go(&address(&project, endpoint.id)))
}

/// `POST …/test`: calls the endpoint once and shows the result.
pub(crate) async fn test(
    SignedInForm { visit, .. }: SignedInForm<EmptyForm>,
    path: WebhookPath,
) -> PageResult {
    let (project, id) = visit.in_project(&path, Command::TestWebhook).await?;
    let call = visit.console.manage.endpoint_log.test(&visit.by, project.id, id).await;
    let told = call.map(|call| match call.outcome {
        Ok(status) => notice("good", &format!("{} {status}.", texts::TESTED)),
        Err(cause) => notice("bad", &format!("{} {}.", texts::TEST_FAILED, texts::failure(cause))),
    });
    page(&visit, &project, id, &WebhookQuery::default(), Reply::of(told)?).await
}

#[derive(Deserialize)]
pub(crate) struct ResendForm {
    event: String,
}

/// `POST …/resend`: sends an event of the log again.
pub(crate) async fn resend(
    SignedInForm { visit, form }: SignedInForm<ResendForm>,
    path: WebhookPath,
) -> PageResult {
    let (project, id) = visit.in_project(&path, Command::ResendEvent).await?;
    let event = form.event.parse().map_err(|_| Refusal::NotFound)?;
    let log = &visit.console.manage.endpoint_log;
    match log.resend(&visit.by, project.id, id, &event).await {
        Ok(()) => Ok(go(&format!("{}?done=resent", address(&project, id)))),
        Err(ManageError::Conflict(sentence)) => {
            let reply = Reply::conflict(sentence);
            page(&visit, &project, id, &WebhookQuery::default(), reply).await
        }
        Err(cause) => Err(cause.into()),
    }
}

/// `POST …/rotate`: a new secret; the old one still signs too for a day.
pub(crate) async fn rotate(
    SignedInForm { visit, .. }: SignedInForm<EmptyForm>,
    path: WebhookPath,
) -> PageResult {
    let (project, id) = visit.in_project(&path, Command::RotateWebhookSecret).await?;
    let secret = visit.console.manage.endpoints.rotate_secret(&visit.by, project.id, id).await?;
    let reply = Reply::done(fresh(&secret));
    page(&visit, &project, id, &WebhookQuery::default(), reply).await
}

/// `POST …/enable`: switches the endpoint on again.
pub(crate) async fn enable(
    SignedInForm { visit, .. }: SignedInForm<EmptyForm>,
    path: WebhookPath,
) -> PageResult {
    let (project, id) = visit.in_project(&path, Command::EnableWebhook).await?;
    visit.console.manage.endpoints.enable(&visit.by, project.id, id).await?;
    Ok(go(&format!("{}?done=enabled", address(&project, id))))
}

/// `POST …/remove`, with a word to type.
pub(crate) async fn remove(
    SignedInForm { visit, .. }: SignedInForm<EmptyForm>,
    path: WebhookPath,
) -> PageResult {
    let (project, id) = visit.in_project(&path, Command::RemoveWebhook).await?;
    if !visit.confirms(settings::REMOVE_WORD) {
        let reply = Reply::invalid(common::WRONG_WORD);
        return page(&visit, &project, id, &WebhookQuery::default(), reply).await;
    }
    visit.console.manage.endpoints.remove(&visit.by, project.id, id).await?;
    Ok(back_to(&project, "endpoints", "removed"))
}

pub(crate) fn address(project: &Project, endpoint: EndpointId) -> String {
    format!("/p/{}/settings/events/{endpoint}", project.id)
}

pub(crate) fn fresh(fresh: &WebhookSecret) -> Markup {
    let once = html! { p { (settings::SECRET_ONCE) } };
    fresh_secret(settings::SECRET, &once, "fresh-secret", &fresh.expose())
}

async fn page(
    visit: &Visit,
    project: &Project,
    id: EndpointId,
    query: &WebhookQuery,
    reply: Reply,
) -> PageResult {
    let log = &visit.console.manage.endpoint_log;
    let endpoint = log.endpoint(&visit.by, project.id, id).await?;
    let before = query.before.as_deref().and_then(|id| id.parse().ok());
    let failed = query.show.as_deref() == Some("failed");
    let calls = log.calls(&visit.by, project.id, id, CallFilter { failed, before }, LINES).await?;
    let content = html! {
        div.stack {
            p { a href=(Part::Events.address(project)) { "← " (texts::ALL_SETTINGS) } }
            (reply.above)
            (state(visit, project, &endpoint))
            (told(visit, project, id, &calls, failed))
        }
    };
    Frame::new(visit, texts::TITLE, texts::LEAD).of(project).answer(reply.status, &content)
}

pub(crate) fn pill(endpoint: &Endpoint) -> Markup {
    html! {
        @match (&endpoint.disabled_at, &endpoint.failing) {
            (Some(since), _) => { span.pill.bad { (settings::OFF) } " " small { (time(*since)) } }
            (None, Some(failing)) => { span.pill.warn { (settings::FAILING) " × " (failing.failures) } }
            (None, None) => { span.pill.good { (settings::ON) } }
        }
    }
}

fn state(visit: &Visit, project: &Project, endpoint: &Endpoint) -> Markup {
    let base = address(project, endpoint.id);
    let button = |what, class, label| post_button(visit, &format!("{base}/{what}"), class, label);
    let action = &format!("{base}/remove");
    let (word, words) = (settings::REMOVE_WORD, &settings::REMOVE);
    let danger = DestructiveForm { id: "remove", action, word, words };
    html! {
        section.card.stack {
            h2.wrap-anywhere { (endpoint.url) }
            p { (pill(endpoint)) " " (why(endpoint)) }
            dl.facts {
                dt { (texts::FULL) } dd { (if endpoint.full_phone { texts::YES } else { texts::NO }) }
                dt { (texts::ADDED) } dd { (time(endpoint.created_at)) }
                @if let Some(until) = endpoint.secret.previous_until(visit.now()) {
                    dt { (texts::OLD_SECRET) } dd { (time(until)) }
                }
            }
            div.row {
                @if visit.may(project, Command::TestWebhook) {
                    (button("test", "primary", texts::TEST))
                }
                @if endpoint.disabled_at.is_some() && visit.may(project, Command::EnableWebhook) {
                    (button("enable", "plain", settings::ENABLE))
                }
                @if visit.may(project, Command::RotateWebhookSecret) {
                    (button("rotate", "plain", settings::ROTATE))
                }
            }
            @if visit.may(project, Command::RemoveWebhook) { (danger.show(visit, &[])) }
        }
    }
}

fn why(endpoint: &Endpoint) -> Markup {
    html! {
        @match (&endpoint.disabled_at, &endpoint.failing) {
            (Some(_), failing) => {
                (texts::OFF)
                @if let Some(failing) = failing { " " (texts::IN_A_ROW) " " (failing.failures) "." }
            }
            (None, Some(failing)) => { (texts::FAILING) " " (time(failing.since)) "." }
            (None, None) => {}
        }
    }
}

fn told(
    visit: &Visit,
    project: &Project,
    id: EndpointId,
    calls: &[LoggedCall],
    failed: bool,
) -> Markup {
    let base = address(project, id);
    let may = visit.may(project, Command::TestWebhook);
    let more = calls.last().filter(|_| calls.len() == LINES as usize);
    let rows = html! { @for logged in calls { (row(visit, &base, logged, may)) } };
    let here = |on: bool| on.then_some("true");
    html! {
        section.card.stack {
            h2 { (texts::LOG) }
            p.muted { (texts::LOG_HINT) }
            nav.row.filters aria-label=(texts::LOG) {
                a.button href=(base) aria-current=[here(!failed)] { (common::ALL) }
                a.button href={ (base) "?show=failed" } aria-current=[here(failed)] { (texts::FAILED_ONLY) }
            }
            @if calls.is_empty() {
                p.muted { (if failed { texts::NONE_FAILED } else { texts::EMPTY }) }
            } @else {
                (table(texts::LOG, Some("cards brief calls"), &texts::HEADS, &rows))
            }
            @if let Some(last) = more {
                @let show = if failed { "show=failed&" } else { "" };
                p.more { a.button href={ (base) "?" (show) "before=" (last.call.id) } { (common::OLDER) } }
            }
        }
    }
}

fn row(
    visit: &Visit,
    base: &str,
    LoggedCall { call, on_record }: &LoggedCall,
    may: bool,
) -> Markup {
    let (event, resend) = (call.event.as_str(), format!("{base}/resend"));
    let again = ("quiet", texts::RESEND, Some(event));
    html! {
        tr {
            td data-label=(texts::HEADS[0]) { (time(call.at)) }
            td.wrap-anywhere data-label=(texts::HEADS[1]) { (call.kind) br; small { (call.event) } }
            td.outcome {
                @match call.outcome {
                    Ok(status) => { span.pill.good { (status) } }
                    Err(cause) => { span.pill.bad { (texts::failure(cause)) } }
                }
                @if call.number > 1 { " " small { (texts::TRY) " " (call.number) } }
            }
            td.amount data-label=(texts::HEADS[3]) { (call.took.as_millis()) " " (texts::MS) }
            td.named data-label=(texts::HEADS[4]) { @if let Some(again) = call.again { (time(again)) } @else { span.muted { "–" } } }
            td {
                @if !on_record { small { (texts::GONE) } }
                @else if may { (post_button_of(visit, &resend, again, Some(("event", event)))) }
            }
        }
    }
}
