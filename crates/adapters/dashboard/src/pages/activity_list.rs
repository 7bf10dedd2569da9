//! The lists of activity: requests, one row each, and refused sends.

use super::activity_filter::{FilterForm, RequestView};
use super::parts::{heads, pill, titled_table};
use crate::format::{capital, grouped, moment, rupees, time};
use crate::texts::{activity as texts, common, nav};
use crate::visit::Visit;
use dwar_console::{RequestFilter, RequestLine, RequestPage, explain};
use dwar_kernel::{KeyMode, Paise, ProjectId};
use dwar_operator::Command;
use dwar_otp::RefusedSends;
use dwar_project::Project;
use maud::{Markup, html};

/// The named filters, each with the current time range.
pub(super) fn views(visit: &Visit, project: &Project, form: &FilterForm) -> Markup {
    let address = |mode: KeyMode, view: Option<RequestView>| {
        let there = form.viewed(view);
        format!("/p/{}/activity?{}", project.id, there.query(mode, ("", "")))
    };
    let modes = KeyMode::ALL.map(|mode| (mode, None, texts::mode(mode)));
    let named = RequestView::ALL.into_iter().zip(texts::VIEW_NAMES);
    let named: Vec<_> = named.map(|(view, words)| (visit.mode, Some(view), words)).collect();
    let is_here = |mode, view| form.view() == view && mode == visit.mode;
    html! {
        nav.segments.views aria-label=(texts::VIEWS) {
            @for (mode, view, words) in named[..1].iter().chain(&modes).chain(&named[1..]) {
                a href=(address(*mode, *view)) aria-current=[is_here(*mode, *view).then_some("true")] { (words) }
            }
        }
    }
}

pub(super) fn list(
    visit: &Visit,
    project: &Project,
    (form, filter): (&FilterForm, &RequestFilter),
    page: &RequestPage,
    is_live: bool,
) -> Markup {
    let newest = page.newest.map(|otp| otp.to_string()).unwrap_or_default();
    let stream =
        |mode| format!("/p/{}/activity/live?{}", project.id, form.query(mode, ("after", &newest)));
    let modes = filter.mode.map_or_else(|| KeyMode::ALL.to_vec(), |mode| vec![mode]);
    let streams = modes.into_iter().map(stream).collect::<Vec<_>>().join(" ");
    let wants_all = !is_narrow(filter);
    html! {
        @if page.lines.is_empty() {
            section.empty #nothing-yet {
                @if is_live && wants_all && page.next.is_none() {
                    p { (texts::empty(visit.mode)) }
                    @if visit.may(project, Command::Play) {
                        a.button href={ "/p/" (project.id) "/playground" } { (common::TO_PLAYGROUND) }
                    }
                } @else if wants_all { p { (texts::NOTHING_OLDER) } }
                @else { p { (texts::NONE_WANTED) } }
            }
        }
        section.live hidden[page.lines.is_empty()] #requests data-live=[is_live.then_some(&streams)]
            data-paused=(texts::PAUSED) data-going=(common::LIVE_UPDATES) data-offline=(common::OFFLINE)
            data-gap=(texts::GAP) data-over=(nav::OVER) data-replaced=(nav::REPLACED) data-above=(texts::ABOVE) {
            div.live-bar #live-bar hidden {
                span.live-dot aria-hidden="true" {}
                span #live-status role="status" { (common::LIVE_UPDATES) }
                button.quiet #live-above type="button" hidden {}
                button.quiet #live-pause type="button" aria-pressed="false" { (texts::PAUSE) }
            }
            div.table tabindex="0" role="region" aria-label=(texts::LATEST) {
                table.requests.cards.brief {
                    caption { (texts::LATEST) }
                    thead { tr {
                        (heads(&[common::TIME, common::MODE, texts::STATE, common::REASON, texts::WAY], &[]))
                        (heads(&[common::PHONE, "otp_id"], &[texts::COST]))
                    } }
                    tbody #rows { @for line in &page.lines { (row(project.id, line)) } }
                }
            }
        }
    }
}

/// The row of a request; the whole row is a link.
pub(crate) fn row(project: ProjectId, line: &RequestLine) -> Markup {
    let (state_tone, state) = texts::state(line.state);
    html! {
        tr id={ "r-" (line.otp) } {
            td data-label=(common::TIME) {
                a.of-row href={ "/p/" (project) "/activity/" (line.otp) } { (moment(line.at)) }
            }
            td.beside data-label=(common::MODE) { (texts::mode(line.mode)) }
            td.outcome data-label=(texts::STATE) {
                (pill(texts::status(line.status))) " "
                span.{ "tone-" (state_tone.as_str()) } { (state) }
            }
            td.reason data-label=(common::REASON) {
                @if let Some(cause) = line.cause() { (capital(&explain::cause(cause).0)) }
            }
            td data-label=(texts::WAY) {
                @match &line.carrier {
                    Some((channel, provider)) => {
                        (explain::channel(*channel)) " " span.muted { (texts::THROUGH) " " (provider) }
                    }
                    None => span.muted { (texts::NO_WAY) },
                }
            }
            td.masked data-label=(common::PHONE) {
                @match &line.phone {
                    Some(phone) => (phone),
                    None => span.muted { (common::UNREADABLE) },
                }
            }
            td.beside.id data-label="otp_id" { code { (line.otp) } }
            td.amount.beside data-label=(texts::COST) {
                @if line.charged > Paise::ZERO { (rupees(line.charged)) }
                @else { span.muted { (texts::FREE) } }
            }
        }
    }
}

/// Tells whether the filter excludes any request of its modes and its time.
fn is_narrow(filter: &RequestFilter) -> bool {
    let RequestFilter { mode, since, until, .. } = *filter;
    *filter != RequestFilter { mode, since, until, ..RequestFilter::default() }
}

pub(super) fn further(
    visit: &Visit,
    project: &Project,
    (form, filter): (&FilterForm, &RequestFilter),
    page: &RequestPage,
) -> Markup {
    let narrow = is_narrow(filter);
    let query = |more: (&str, &str)| form.query(visit.mode, more);
    html! {
        div.row.further {
            @if narrow {
                p.muted {
                    (texts::LOOKED) " " (grouped(page.looked_through.into())) " " (texts::REQUESTS)
                    @if let Some(at) = page.looked_back_to { ", " (texts::BACK_TO) " " (moment(at)) }
                    "."
                }
            }
            @if let Some(next) = page.next {
                a.button href={ "/p/" (project.id) "/activity?" (query(("before", &next.to_string()))) } {
                    @if narrow { (texts::GO_ON) } @else { (texts::OLDER) }
                }
            }
            @if !page.lines.is_empty() {
                a.button href={ "/p/" (project.id) "/activity.csv?" (query(("", ""))) } download { (common::DOWNLOAD) }
            }
        }
    }
}

pub(super) fn refused_in(refused: &[RefusedSends]) -> Markup {
    if refused.is_empty() {
        return html! { section.empty { p { (texts::NONE_REFUSED) } } };
    }
    let heads = html! {
        (heads(&[common::TIME, common::MODE], &[common::COUNT]))
        (heads(&[common::REASON, common::ADVICE], &[]))
    };
    let rows = html! {
        @for it in refused { tr {
            @let (why, advice) = explain::refusal(it.reason, None);
            td data-label=(common::TIME) { (time(it.minute)) }
            td data-label=(common::MODE) { (texts::mode(it.project_mode.mode)) }
            td.amount data-label=(common::COUNT) { (grouped(it.count.into())) }
            td data-label=(common::REASON) { (capital(&why)) }
            td data-label=(common::ADVICE) { (advice) }
        } }
    };
    titled_table(texts::REFUSED_SENDS, "cards", &heads, &rows)
}
