use super::activity_filter::{FilterForm, RequestView};
use super::activity_list::{further, list, refused_in, row, views};
use super::activity_story::{StoryNotice, show_story};
use super::parts::notice;
use crate::answer::{self, PageResult};
use crate::assets;
use crate::form::Field;
use crate::layout::{Frame, csrf};
use crate::refusal::Refusal;
use crate::texts::{activity as texts, common};
use crate::visit::{SignedInForm, Visit};
use actix_web::HttpRequest;
use actix_web::http::StatusCode;
use actix_web::web::{Path, Query};
use dwar_activity::Cause;
use dwar_console::{FailedFor, REQUESTS_ON_A_PAGE, RequestFilter, explain};
use dwar_kernel::{KeyMode, OtpId, Phone};
use dwar_operator::Command;
use dwar_otp::{Channel, RefusedSends};
use dwar_project::Project;
use dwar_wire::csv_download;
use maud::{Markup, html};
use serde::Deserialize;
use std::collections::BTreeSet;
use std::iter::once;

const LAST_EVENT_ID: &str = "last-event-id";

pub(crate) async fn show(visit: Visit, path: Path<String>, form: Query<FilterForm>) -> PageResult {
    let project = visit.project(&path, Command::ListRequests).await?;
    let filter = form.filter(visit.mode);
    let activity = &visit.console.manage.activity;
    let before = form.before.parse::<OtpId>().ok();
    let is_refused = form.view() == Some(RequestView::Refused);
    let refused = refused(&visit, &project, &form, &filter).await?;
    let page = match is_refused {
        true => None,
        false => {
            let found =
                activity.requests(&visit.by, project.id, &filter, before, REQUESTS_ON_A_PAGE);
            Some(found.await?)
        }
    };
    let is_live = page.is_some() && before.is_none() && filter.until.is_none();
    let content = html! {
        div.stack {
            (search(&visit, &project, visit.mode, None))
            (views(&visit, &project, &form))
            (filters(&visit, &project, &form))
            @match &page {
                None => (refused_in(&refused)),
                Some(page) => {
                    (refused_lately(&visit, &form, &refused))
                    (list(&visit, &project, (&form, &filter), page, is_live))
                    (further(&visit, &project, (&form, &filter), page))
                }
            }
        }
    };
    let frame = Frame::new(&visit, texts::TITLE, texts::LEAD)
        .of(&project)
        .with(is_live.then(|| assets::ACTIVITY.path()));
    frame.show(&content)
}

/// The refused sends of the chosen mode, time and reason. Without a time, those of the last hour,
/// or in their own view all that are stored.
async fn refused(
    visit: &Visit,
    project: &Project,
    form: &FilterForm,
    filter: &RequestFilter,
) -> Result<Vec<RefusedSends>, Refusal> {
    let activity = &visit.console.manage.activity;
    let by_time = filter.since.is_some() || filter.until.is_some();
    let found = if by_time || form.view() == Some(RequestView::Refused) {
        activity.refused(&visit.by, project.id, filter.since, filter.until).await
    } else {
        activity.refused_lately(&visit.by, project.id).await
    };
    let mut refused = found?;
    refused.retain(|it| filter.mode.is_none_or(|mode| mode == it.project_mode.mode));
    if let Some(FailedFor::Cause(Cause::Refused(reason))) = filter.failed {
        refused.retain(|it| it.reason == reason);
    }
    Ok(refused)
}

/// `GET /p/{project}/activity.csv`: the requests that match the page's filter.
pub(crate) async fn download(
    visit: Visit,
    path: Path<String>,
    form: Query<FilterForm>,
) -> PageResult {
    let project = visit.project(&path, Command::DownloadRequests).await?;
    let activity = visit.console.manage.activity.clone();
    let lines = activity.csv(visit.by.clone(), project.id, form.filter(visit.mode)).await?;
    Ok(csv_download(&format!("requests-{}.csv", project.id), lines))
}

/// `GET /p/{project}/activity/live`: rows as they arrive.
pub(crate) async fn live(
    visit: Visit,
    path: Path<String>,
    request: HttpRequest,
    form: Query<FilterForm>,
) -> PageResult {
    let project = visit.project(&path, Command::ListRequests).await?;
    let last = request.headers().get(LAST_EVENT_ID).and_then(|id| id.to_str().ok());
    let last = last.unwrap_or(&form.after).parse::<OtpId>().ok();
    let watcher = (visit.present.operator.id, visit.token().to_owned());
    let project_mode = project.id.in_mode(visit.mode);
    let wanted = form.filter(visit.mode);
    let events = visit.console.live.requests(watcher, (project_mode, wanted), last, row)?;
    Ok(answer::events(events))
}

/// The number is in a body and not in an address, because addresses end up in histories and logs.
#[derive(Deserialize)]
pub(crate) struct PhoneForm {
    mode: String,
    phone: String,
}

/// `POST /p/{project}/activity/phone`: every record of one number.
pub(crate) async fn of_phone(posted: SignedInForm<PhoneForm>, path: Path<String>) -> PageResult {
    let SignedInForm { visit, form } = posted;
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

/// Searches for a number, within the limit for operators who see numbers masked, and shows every
/// record of it.
pub(super) async fn show_number(
    visit: &Visit,
    project: &Project,
    mode: KeyMode,
    phone: &Phone,
) -> PageResult {
    let activity = &visit.console.manage.activity;
    let (told, left) = activity.search(&visit.by, project.id.in_mode(mode), phone).await?;
    show_story(visit, project, (mode, phone), told, left.map(StoryNotice::Left)).await
}

fn search(visit: &Visit, project: &Project, mode: KeyMode, wrong: Option<&str>) -> Markup {
    html! {
        form.card method="post" action={ "/p/" (project.id) "/activity/phone" } {
            (csrf(visit))
            h2 { (texts::SEARCH) }
            @if let Some(sentence) = wrong { (notice("bad", sentence)) }
            div.row {
                div.field {
                    label for="phone" { (common::PHONE) }
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

type SelectOptions = Vec<(String, String)>;

fn filters(visit: &Visit, project: &Project, form: &FilterForm) -> Markup {
    let statuses = texts::STATUSES.map(|it| (it.to_string(), texts::status(it).1.to_owned()));
    let channels = Channel::ALL.map(|it| (it.to_string(), explain::channel(it).to_owned()));
    let known = Channel::ALL.into_iter().flat_map(|it| visit.console.providers.names(it));
    let providers = BTreeSet::from_iter(known.chain(["sandbox".to_owned()]));
    let providers: SelectOptions = providers.into_iter().map(|name| (name.clone(), name)).collect();
    let is_refused = form.view() == Some(RequestView::Refused);
    let of_view = Cause::all().filter(|it| matches!(it, Cause::Refused(_)) == is_refused);
    let reasons = of_view.map(|it| (it.as_str().to_owned(), explain::cause(it).0));
    let any = (!is_refused).then(|| (FailedFor::ANY.to_owned(), texts::ANY_REASON.to_owned()));
    let reasons: SelectOptions = any.into_iter().chain(reasons).collect();
    let field = |name, label, value| Field { name, label, value, ..Field::TEXT };
    let select = |name, label, value, options: SelectOptions| {
        let all = once((String::new(), common::ALL.to_owned())).chain(options);
        field(name, label, value).select(all)
    };
    let time =
        |name, label, value| Field { kind: "datetime-local", ..field(name, label, value) }.show();
    html! {
        form.filters method="get" action={ "/p/" (project.id) "/activity" } aria-label=(common::FILTERS) {
            @if !is_refused { (select("status", texts::STATUS, &form.status, statuses.into())) }
            (select("reason", common::REASON, &form.reason, reasons))
            @if !is_refused {
                (select("channel", common::CHANNEL, &form.channel, channels.into()))
                (select("provider", common::PROVIDER, &form.provider, providers))
            }
            (time("from", common::FROM, &form.from)) (time("until", common::UNTIL, &form.until))
            input type="hidden" name="mode" value=(visit.mode);
            input type="hidden" name="view" value=(form.view().map_or("", RequestView::as_str));
            button.plain type="submit" { (common::APPLY) }
            @let clear = FilterForm { view: form.view.clone(), ..FilterForm::default() };
            @if form.filter(visit.mode) != clear.filter(visit.mode) {
                a.button href={ "/p/" (project.id) "/activity?" (clear.query(visit.mode, ("", ""))) } { (texts::CLEAR) }
            }
        }
    }
}

/// The refused sends beside the listed requests, summed by reason.
fn refused_lately(visit: &Visit, form: &FilterForm, refused: &[RefusedSends]) -> Markup {
    let sums = RefusedSends::whenever(refused.to_vec());
    let shown = form.viewed(Some(RequestView::Refused));
    let ranged = !form.from.is_empty() || !form.until.is_empty();
    html! {
        @if !sums.is_empty() {
            section.notice.warn {
                strong { @if ranged { (texts::REFUSED_THEN) } @else { (texts::REFUSED_LATELY) } }
                ul {
                    @for it in &sums {
                        @let (why, advice) = explain::refusal(it.reason, None);
                        li { (explain::refused(it.count)) ": " (why) ". " span.muted { (advice) } }
                    }
                }
                a href={ "?" (shown.query(visit.mode, ("", ""))) } { (texts::WHEN_REFUSED) }
            }
        }
    }
}
