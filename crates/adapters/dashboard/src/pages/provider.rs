//! The page of one provider: its calls, a check whether it answers, and a test code.

use super::parts::{notice, table};
use super::reply::Reply;
use super::settings_parts::Part;
use crate::answer::{PageResult, go};
use crate::form::{Field, RefusedForm};
use crate::format::{grouped, moment, rupees, sentence, span};
use crate::layout::{Frame, csrf, post_button};
use crate::refusal::Refusal;
use crate::texts::{provider as texts, settings};
use crate::visit::{EmptyForm, SignedInForm, Visit};
use actix_web::rt::spawn;
use actix_web::web::Path;
use dwar_activity::{FiguresPeriod, Period, RouteFigures};
use dwar_console::{ManageError, explain};
use dwar_kernel::{Channel, KeyMode, Phone};
use dwar_operator::Command;
use dwar_otp::{ProviderHealth, ProviderRefusal};
use dwar_project::Project;
use maud::{Markup, html};
use serde::Deserialize;

const TEST: &str = "test";

type ProviderPath = Path<(String, String)>;

pub(crate) async fn show(visit: Visit, path: ProviderPath) -> PageResult {
    let project = visit.project(&path.0, Command::ShowProject).await?;
    page(&visit, &project, &path.1, Reply::none()).await
}

/// `POST …/probe`: checks whether the provider answers.
pub(crate) async fn probe(
    SignedInForm { visit, .. }: SignedInForm<EmptyForm>,
    path: ProviderPath,
) -> PageResult {
    let project = visit.project(&path.0, Command::ProbeProvider).await?;
    let probe = visit.console.manage.provider_test.probe(&visit.by, project.id, &path.1).await?;
    let reply = Reply::done(match probe {
        None => notice("warn", texts::NO_ADDRESS),
        Some(probe) => {
            let kind = if probe.is_answered() { "good" } else { "bad" };
            notice(kind, &texts::probed(probe.status, &span(probe.took)))
        }
    });
    page(&visit, &project, &path.1, reply).await
}

#[derive(Deserialize)]
pub(crate) struct TestForm {
    channel: String,
    phone: String,
}

/// `POST …/test`: sends a live code by only this provider, and redirects to its records.
pub(crate) async fn test(
    SignedInForm { visit, form }: SignedInForm<TestForm>,
    path: ProviderPath,
) -> PageResult {
    let project = visit.project(&path.0, Command::TestProvider).await?;
    let channel = Channel::from_word(&form.channel).ok_or(Refusal::NotFound)?;
    let Ok(phone) = form.phone.replace([' ', '-'], "").parse::<Phone>() else {
        let visit = visit.refuse(RefusedForm::new(TEST, "phone", texts::NO_PHONE));
        return page(&visit, &project, &path.1, Reply::refused(&visit)).await;
    };
    let (tests, by) = (visit.console.manage.provider_test.clone(), visit.by.clone());
    let (id, provider) = (project.id, path.1.clone());
    // A send runs to its end, even if the browser disconnects.
    let send = async move { tests.send(&by, id, (channel, &provider), &phone).await };
    match spawn(send).await.map_err(|_| Refusal::Failed)? {
        Ok(otp) => Ok(go(&format!("/p/{}/activity/{otp}", project.id))),
        Err(ManageError::Conflict(sentence)) => {
            page(&visit, &project, &path.1, Reply::conflict(sentence)).await
        }
        Err(cause) => Err(cause.into()),
    }
}

pub(crate) fn address(project: &Project, provider: &str) -> String {
    format!("{}/{provider}", Part::Delivery.address(project))
}

async fn page(visit: &Visit, project: &Project, provider: &str, reply: Reply) -> PageResult {
    let providers = &visit.console.providers;
    let carries = |channel: &Channel| providers.names(*channel).iter().any(|it| it == provider);
    let channels: Vec<_> = [Channel::Whatsapp, Channel::Sms].into_iter().filter(carries).collect();
    if channels.is_empty() {
        return Err(Refusal::NotFound);
    }
    let project_mode = project.id.in_mode(KeyMode::Live);
    let figures = &visit.console.manage.figures;
    let figures =
        figures.overview(&visit.by, project_mode, FiguresPeriod::Last(Period::Day)).await?;
    let routes = figures.overview.routes.iter().filter(|route| route.provider == provider);
    let health = providers.health(provider);
    let content = html! {
        div.stack {
            p { a href=(Part::Delivery.address(project)) { "← " (settings::ROUTING.0) } }
            (reply.above)
            (state(visit, project, provider, &health, routes))
            (test_card(visit, project, provider, &channels))
            (refusals(visit, &health.refusals))
        }
    };
    Frame::new(visit, provider, texts::LEAD).of(project).answer(reply.status, &content)
}

pub(crate) fn pill(health: &ProviderHealth) -> Markup {
    html! {
        @match health.paused_for {
            Some(left) => span.pill.bad { (settings::PAUSED_FOR) " " (span(left)) },
            None => span.pill.good { (texts::CALLED) },
        }
    }
}

fn state<'a>(
    visit: &Visit,
    project: &Project,
    provider: &str,
    health: &ProviderHealth,
    routes: impl Iterator<Item = &'a RouteFigures>,
) -> Markup {
    let base = address(project, provider);
    html! {
        section.card.stack {
            h2 { (texts::STATE) " " (pill(health)) }
            dl.facts {
                dt { (texts::FAULTS) }
                dd { @if health.calls == 0 { (texts::NO_CALLS) } @else { (health.faults) " " (texts::OF) " " (health.calls) } }
                dt { (texts::MEDIAN) }
                dd { @match health.median { Some(took) => { (took.as_millis()) " ms" }, None => "–" } }
                @for route in routes {
                    dt { (texts::RECEIPTS) ", " (explain::channel(route.channel)) }
                    dd { (receipts(route)) }
                }
            }
            p.hint { (texts::THIS_PROCESS) }
            div.row {
                @if visit.may(project, Command::ProbeProvider) {
                    (post_button(visit, &format!("{base}/probe"), "plain", texts::PROBE))
                }
                @if visit.may(project, Command::ListRequests) {
                    a.button href={ "/p/" (project.id) "/activity?mode=live&provider=" (provider) } { (texts::REQUESTS) }
                }
            }
        }
    }
}

/// The results in its receipts for the project's messages of the last day.
fn receipts(route: &RouteFigures) -> String {
    let counts = &route.counts;
    if route.silent {
        return texts::SILENT.to_owned();
    }
    let (arrived, failed) = (grouped(counts.arrived), grouped(counts.failed));
    format!(
        "{arrived} {}, {failed} {}, {} {}",
        texts::ARRIVED,
        texts::FAILED,
        texts::OF,
        grouped(counts.attempts)
    )
}

fn test_card(visit: &Visit, project: &Project, provider: &str, channels: &[Channel]) -> Markup {
    let prices = project.prices.over(visit.console.prices);
    let cost = |channel: &Channel| {
        let name = explain::channel(*channel);
        (channel.to_string(), format!("{name}, {}", rupees(prices.of(*channel))))
    };
    let options: Vec<_> = channels.iter().map(cost).collect();
    let form = visit.form(TEST, true);
    let phone = Field {
        name: "phone",
        label: texts::PHONE,
        kind: "tel",
        placeholder: "98765 43210",
        autocomplete: "tel",
        required: true,
        ..Field::TEXT
    };
    html! {
        @if visit.may(project, Command::TestProvider) {
            form.card.stack method="post" action={ (address(project, provider)) "/test" } {
                (csrf(visit))
                h2 { (texts::TEST) }
                p.muted { (texts::TEST_HINT) }
                div.row {
                    (form.choice(&Field { name: "channel", label: texts::CHANNEL, ..Field::TEXT }, &options))
                    (form.field(&phone))
                    button.primary type="submit" { (texts::SEND) }
                }
            }
        }
    }
}

fn refusals(visit: &Visit, refusals: &[ProviderRefusal]) -> Markup {
    let rows = html! {
        @for refusal in refusals {
            @let (meaning, advice) = texts::meaning(refusal);
            tr {
                td data-label=(texts::HEADS[0]) { (moment(visit.now() - refusal.age)) }
                td.outcome { @match refusal.status { Some(status) => { "HTTP " (status) }, None => (texts::NO_ANSWER) } }
                td data-label=(texts::HEADS[2]) { @match refusal.code { Some(code) => (code), None => "–" } }
                td data-label=(texts::HEADS[3]) { (sentence(meaning)) br; small { (advice) } }
            }
        }
    };
    html! {
        section.card.stack {
            h2 { (texts::ERRORS) }
            @if refusals.is_empty() { p.muted { (texts::NO_ERRORS) } }
            @else { (table(texts::ERRORS, Some("cards"), &texts::HEADS, &rows)) }
        }
    }
}
