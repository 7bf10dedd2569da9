use super::activity_story::{Above, show_story};
use super::parts::{notice, pill};
use crate::answer::{self, Page};
use crate::assets;
use crate::format::{grouped, moment, rupees};
use crate::layout::{Frame, csrf};
use crate::refusal::Refusal;
use crate::texts::{activity as texts, nav};
use crate::visit::{Posted, Visit};
use actix_web::HttpRequest;
use actix_web::http::StatusCode;
use actix_web::web::{Path, Query};
use dwar_console::explain;
use dwar_console::{RequestFilter, RequestLine, RequestPage};
use dwar_kernel::{KeyMode, OtpId, Paise, Phone, ProjectId};
use dwar_operator::Command;
use dwar_otp::{Channel, DeliveryStatus, RefusedSends};
use dwar_project::Project;
use maud::{Markup, html};
use serde::Deserialize;

const LAST_EVENT_ID: &str = "last-event-id";

/// The fields of the filter; one that says nothing, or nothing known, wants all.
#[derive(Deserialize)]
pub(crate) struct FilterForm {
    #[serde(default)]
    status: String,
    #[serde(default)]
    channel: String,
    #[serde(default)]
    provider: String,
    #[serde(default)]
    before: String,
}

impl FilterForm {
    fn filter(&self, mode: KeyMode) -> RequestFilter {
        let provider = self.provider.trim();
        RequestFilter {
            mode: Some(mode),
            status: DeliveryStatus::from_word(&self.status),
            channel: Channel::from_word(&self.channel),
            provider: (!provider.is_empty()).then(|| provider.to_owned()),
        }
    }
}

/// `GET /p/{project}/activity`.
pub(crate) async fn show(visit: Visit, path: Path<String>, form: Query<FilterForm>) -> Page {
    let project = visit.project(&path, Command::ListRequests).await?;
    let filter = form.filter(visit.mode);
    let before = form.before.parse::<OtpId>().ok();
    let page =
        visit.console.manage.activity.requests(&visit.by, project.id, &filter, before).await?;
    let mut refused = visit.console.manage.activity.refused_lately(&visit.by, project.id).await?;
    refused.retain(|it| it.world.mode == visit.mode);
    let is_live = before.is_none() && filter == all_of(visit.mode);
    let content = html! {
        div.stack {
            (search(&visit, &project, visit.mode, None))
            (refused_lately(&refused))
            (filters(&visit, &project, &filter))
            (list(&visit, &project, &filter, &page, is_live))
            (further(&project, &filter, &page))
        }
    };
    let frame = Frame::new(&visit, texts::TITLE, texts::LEAD)
        .of(&project)
        .with(is_live.then(|| assets::ACTIVITY.path()));
    frame.show(&content)
}

/// `GET /p/{project}/activity/live`: rows as they come.
pub(crate) async fn live(
    visit: Visit,
    path: Path<String>,
    request: HttpRequest,
    after: Query<After>,
) -> Page {
    let project = visit.project(&path, Command::ListRequests).await?;
    let last = request.headers().get(LAST_EVENT_ID).and_then(|id| id.to_str().ok());
    let last = last.unwrap_or(&after.after).parse::<OtpId>().ok();
    let watcher = (visit.present.operator.id, visit.token().to_owned());
    let world = project.id.in_mode(visit.mode);
    let events = visit.console.live.requests(watcher, world, last, row)?;
    Ok(answer::events(events))
}

/// Where the page that asks ends.
#[derive(Deserialize)]
pub(crate) struct After {
    #[serde(default)]
    after: String,
}

/// The number goes in a body, not in an address: addresses end up in histories and logs.
#[derive(Deserialize)]
pub(crate) struct PhoneForm {
    mode: String,
    phone: String,
}

/// `POST /p/{project}/activity/phone`: all about one number.
pub(crate) async fn of_phone(posted: Posted<PhoneForm>, path: Path<String>) -> Page {
    let Posted { visit, form } = posted;
    let project = visit.project(&path, Command::SearchRequests).await?;
    let mode: KeyMode = form.mode.parse().map_err(|_| Refusal::Unreadable)?;
    let phone = form.phone.replace([' ', '-'], "").parse::<Phone>();
    match phone {
        Ok(phone) => show_number(&visit, &project, mode, &phone).await,
        Err(_) => {
            let content = html! { (search(&visit, &project, mode, Some(texts::INVALID_PHONE))) };
            let frame = Frame::new(&visit, texts::TITLE, texts::LEAD).of(&project);
            let frame = frame.in_mode(mode, "activity");
            frame.answer(StatusCode::UNPROCESSABLE_ENTITY, &content)
        }
    }
}

/// Searches for a number, under the limit of those who see it masked, and shows all about it.
pub(super) async fn show_number(
    visit: &Visit,
    project: &Project,
    mode: KeyMode,
    phone: &Phone,
) -> Page {
    let activity = &visit.console.manage.activity;
    let (told, left) = activity.search(&visit.by, project.id.in_mode(mode), phone).await?;
    show_story(visit, project, (mode, phone), told, left.map(Above::Left)).await
}

fn search(visit: &Visit, project: &Project, mode: KeyMode, wrong: Option<&str>) -> Markup {
    html! {
        form.card method="post" action={ "/p/" (project.id) "/activity/phone" } {
            (csrf(visit))
            h2 { (texts::SEARCH) }
            @if let Some(sentence) = wrong { (notice("bad", sentence)) }
            div.row {
                div.field {
                    label for="phone" { (texts::PHONE) }
                    input #phone name="phone" type="tel" inputmode="tel" autocomplete="off" required
                        value=[visit.typed.get("phone")] aria-invalid=[wrong.map(|_| "true")]
                        autofocus[wrong.is_some()] placeholder="98765 43210" aria-describedby="phone-hint";
                }
                input type="hidden" name="mode" value=(mode);
                button.primary type="submit" { (texts::FIND_OUT) }
            }
            p.hint #phone-hint { (texts::SEARCH_HINT) }
        }
    }
}

/// Every request of a mode.
fn all_of(mode: KeyMode) -> RequestFilter {
    RequestFilter { mode: Some(mode), ..RequestFilter::default() }
}

type Options = Vec<(String, String)>;

fn select(id: &str, name: &str, label: &str, chosen: &str, options: &Options) -> Markup {
    html! {
        label for=(id) { (label) }
        select id=(id) name=(name) {
            @for (value, words) in options {
                option value=(value) selected[value == chosen] { (words) }
            }
        }
    }
}

fn filters(visit: &Visit, project: &Project, filter: &RequestFilter) -> Markup {
    let all = |options: Options| -> Options {
        [vec![(String::new(), texts::ALL.to_owned())], options].concat()
    };
    let statuses = texts::STATUSES.map(|it| (it.to_string(), texts::status(it).1.to_owned()));
    let channels = [Channel::Whatsapp, Channel::Sms];
    let names = channels.map(|it| (it.to_string(), explain::channel(it).to_owned()));
    let known = channels.into_iter().flat_map(|it| visit.console.providers.names(it));
    let mut providers: Vec<String> = known.chain(["sandbox".to_owned()]).collect();
    providers.sort_unstable();
    providers.dedup();
    let providers: Options = providers.into_iter().map(|name| (name.clone(), name)).collect();
    let provider = filter.provider.as_deref().unwrap_or_default();
    let fields = [
        (
            "status",
            texts::STATUS,
            filter.status.map_or("", DeliveryStatus::as_str),
            statuses.into(),
        ),
        ("channel", texts::CHANNEL, filter.channel.map_or("", Channel::as_str), names.into()),
        ("provider", texts::PROVIDER, provider, providers),
    ];
    html! {
        form.filters method="get" action={ "/p/" (project.id) "/activity" } aria-label=(texts::FILTERS) {
            @for (name, label, chosen, options) in fields {
                div.field { (select(name, name, label, chosen, &all(options))) }
            }
            input type="hidden" name="mode" value=(visit.mode);
            button.plain type="submit" { (texts::APPLY) }
            @if *filter != all_of(visit.mode) {
                a.button href={ "/p/" (project.id) "/activity" } { (texts::CLEAR) }
            }
        }
    }
}

fn refused_lately(refused: &[RefusedSends]) -> Markup {
    html! {
        @if !refused.is_empty() {
            section.notice.warn {
                strong { (texts::REFUSED_LATELY) }
                ul {
                    @for it in refused {
                        @let (why, advice) = explain::refusal(it.reason, None);
                        li {
                            (explain::refused(it.count)) ": " (why) ". "
                            span.muted { (advice) }
                        }
                    }
                }
            }
        }
    }
}

fn list(
    visit: &Visit,
    project: &Project,
    filter: &RequestFilter,
    page: &RequestPage,
    is_live: bool,
) -> Markup {
    let newest = page.newest.map(|otp| otp.to_string()).unwrap_or_default();
    let address = format!("/p/{}/activity/live?mode={}&after={newest}", project.id, visit.mode);
    let playground = Command::Play;
    html! {
        @if page.lines.is_empty() {
            section.empty #nothing-yet {
                @if is_live && page.next.is_none() {
                    p { (texts::empty(visit.mode)) }
                    @if visit.may(project, playground) {
                        a.button href={ "/p/" (project.id) "/playground" } { (texts::TO_PLAYGROUND) }
                    }
                } @else if *filter == all_of(visit.mode) {
                    p { (texts::NOTHING_OLDER) }
                } @else {
                    p { (texts::NONE_WANTED) }
                }
            }
        }
        section.live hidden[page.lines.is_empty()] #requests data-live=[is_live.then_some(&address)]
            data-paused=(texts::PAUSED) data-going=(texts::GOES_ON) data-offline=(texts::OFFLINE)
            data-gap=(texts::GAP) data-over=(nav::OVER) data-replaced=(nav::REPLACED) {
            div.live-bar #live-bar hidden {
                span.live-dot aria-hidden="true" {}
                span #live-status role="status" { (texts::GOES_ON) }
                button.quiet #live-pause type="button" aria-pressed="false" { (texts::PAUSE) }
            }
            div.table tabindex="0" role="region" aria-label=(texts::LATEST) {
                table.requests.cards.brief {
                    caption { (texts::LATEST) }
                    thead { tr {
                        th scope="col" { (texts::WHEN) }
                        th scope="col" { (texts::PHONE) }
                        th scope="col" { (texts::STATUS) }
                        th scope="col" { (texts::WAY) }
                        th scope="col" { (texts::CODE) }
                        th.amount scope="col" { (texts::COST) }
                    } }
                    tbody #rows { @for line in &page.lines { (row(project.id, line)) } }
                }
            }
        }
    }
}

/// A request in the list.
pub(crate) fn row(project: ProjectId, line: &RequestLine) -> Markup {
    let (state_tone, state) = texts::state(line.state);
    html! {
        tr id={ "r-" (line.otp) } {
            td data-label=(texts::WHEN) { a href={ "/p/" (project) "/activity/" (line.otp) } { (moment(line.at)) } }
            td.masked data-label=(texts::PHONE) {
                @match &line.phone {
                    Some(phone) => (phone),
                    None => span.muted { (texts::UNREADABLE) },
                }
            }
            td.outcome { (pill(texts::status(line.status))) }
            td data-label=(texts::WAY) {
                @match &line.carrier {
                    Some((channel, provider)) => {
                        (explain::channel(*channel)) " " span.muted { (texts::THROUGH) " " (provider) }
                    }
                    None => span.muted { (texts::NO_WAY) },
                }
            }
            td.beside.{ "tone-" (state_tone.as_str()) } data-label=(texts::CODE) { (state) }
            td.amount.beside data-label=(texts::COST) {
                @if line.charged > Paise::ZERO { (rupees(line.charged)) }
                @else { span.muted { (texts::FREE) } }
            }
        }
    }
}

fn further(project: &Project, filter: &RequestFilter, page: &RequestPage) -> Markup {
    let filtered = filter.mode.is_none_or(|mode| *filter != all_of(mode));
    html! {
        div.row.further {
            @if filtered {
                p.muted {
                    (texts::LOOKED) " " (grouped(page.looked_through.into())) " " (texts::REQUESTS)
                    @if let Some(at) = page.looked_back_to { ", " (texts::BACK_TO) " " (moment(at)) }
                    "."
                }
            }
            @if let Some(next) = page.next {
                a.button href={ "/p/" (project.id) "/activity?" (query(filter, next)) } {
                    @if filtered { (texts::GO_ON) } @else { (texts::OLDER) }
                }
            }
        }
    }
}

fn query(filter: &RequestFilter, before: OtpId) -> String {
    let mut query = form_urlencoded::Serializer::new(String::new());
    let fields = [
        ("mode", filter.mode.map(KeyMode::as_str)),
        ("status", filter.status.map(DeliveryStatus::as_str)),
        ("channel", filter.channel.map(Channel::as_str)),
        ("provider", filter.provider.as_deref()),
    ];
    for (name, value) in fields {
        if let Some(value) = value {
            query.append_pair(name, value);
        }
    }
    query.append_pair("before", &before.to_string()).finish()
}
