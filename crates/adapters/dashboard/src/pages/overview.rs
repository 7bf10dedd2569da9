use super::first_steps;
use super::overview_charts::{RequestLinks, causes, over_time};
use super::parts::{heads, notice, titled_table};
use super::wallet_statement::instant;
use crate::answer::PageResult;
use crate::form::Field;
use crate::format::{grouped, india, minute, percent, rupees, share, span};
use crate::layout::Frame;
use crate::texts::{common, overview as texts};
use crate::visit::Visit;
use actix_web::web::{Path, Query};
use dwar_activity::{
    Causes, Counts, FiguresPeriod, Interval, Overview, Period, Ratio, RouteFigures, Trend,
};
use dwar_console::{Figures, ManageError, explain};
use dwar_kernel::{KeyMode, Paise, Timestamp};
use dwar_operator::Command;
use dwar_otp::RefusedSends;
use dwar_project::Project;
use maud::{Markup, html};
use serde::Deserialize;
use std::time::Duration;

const STALE: Duration = Duration::from_secs(60);

#[derive(Default, Deserialize)]
#[serde(default)]
pub(crate) struct OverviewQuery {
    period: Option<String>,
    /// In place of a period: the first minute of a range, and the first one after it, in Indian
    /// time.
    from: String,
    until: String,
}

impl OverviewQuery {
    /// The period, if no range is given or it is invalid.
    fn wanted(&self, now: Timestamp) -> FiguresPeriod {
        let period = self.period.as_deref().and_then(Period::from_word).unwrap_or(Period::Day);
        let ends = (instant(&self.from, 0), instant(&self.until, 1));
        match ends {
            (Ok(Some(from)), Ok(until)) => FiguresPeriod::Between(from, until.unwrap_or(now)),
            _ => FiguresPeriod::Last(period),
        }
    }
}

struct OverviewPage<'a> {
    visit: &'a Visit,
    project: &'a Project,
    wanted: FiguresPeriod,
}

pub(crate) async fn show(
    visit: Visit,
    path: Path<String>,
    query: Query<OverviewQuery>,
) -> PageResult {
    let project = visit.project(&path, Command::ShowFigures).await?;
    let mut wanted = query.wanted(visit.now());
    let project_mode = project.id.in_mode(visit.mode);
    let figures = &visit.console.manage.figures;
    let mut found = figures.overview(&visit.by, project_mode, wanted).await;
    let is_void = matches!(found, Err(ManageError::Invalid { .. }));
    if is_void {
        wanted = FiguresPeriod::Last(Period::Day);
        found = figures.overview(&visit.by, project_mode, wanted).await;
    }
    let figures = found?;
    let steps = visit.console.manage.first_steps.of(&visit.by, &project).await?;
    let kept = visit.console.manage.activity.requests_kept;
    let kept = (visit.now() - kept, visit.now() - RefusedSends::KEPT);
    let links = RequestLinks { mode: visit.mode, kept };
    let view = OverviewPage { visit: &visit, project: &project, wanted };
    let overview = &figures.overview;
    let content = html! {
        div.stack.overview {
            @if let Some(steps) = &steps { (first_steps::card(&visit, &project, steps)) }
            (view.switches(&figures))
            @if is_void { (notice("warn", texts::NO_SUCH_RANGE)) }
            (late(&figures))
            @if is_empty(overview) { (view.empty(steps.is_none())) }
            @else {
                (tiles(overview, view.compared()))
                (over_time(links, overview))
                (causes(links, overview))
                (routes(overview))
            }
        }
    };
    let frame = Frame::new(&visit, texts::TITLE, texts::LEAD).of(&project);
    frame.show(&content)
}

fn is_empty(overview: &Overview) -> bool {
    let nothing = |counts: &Counts| counts.attempts == 0 && counts.causes == Causes::default();
    nothing(&overview.total) && overview.before.as_ref().is_none_or(nothing)
}

impl OverviewPage<'_> {
    /// Names the mode, so that everybody who follows the link sees the same.
    fn link(&self, period: Period) -> String {
        format!("/p/{}/overview?mode={}&period={period}", self.project.id, self.visit.mode)
    }

    /// The range that this one is compared with, in words.
    const fn compared(&self) -> &'static str {
        match self.wanted {
            FiguresPeriod::Last(period) => texts::compared(period),
            FiguresPeriod::Between(..) => texts::COMPARED,
        }
    }

    fn switches(&self, figures: &Figures) -> Markup {
        let Interval { from, until } = figures.overview.range.window;
        let chosen = |period| self.wanted == FiguresPeriod::Last(period);
        let field = |name, label, at: Timestamp| {
            let (value, kind) = (&minute(at), "datetime-local");
            Field { name, label, value, kind, required: true, ..Field::TEXT }.show()
        };
        let is_range = matches!(self.wanted, FiguresPeriod::Between(..));
        html! {
            div.switches {
                nav.segments aria-label=(texts::WHICH_PERIOD) {
                    @for period in Period::ALL {
                        a href=(self.link(period)) aria-current=[chosen(period).then_some("true")] {
                            (texts::period(period))
                        }
                    }
                }
                p.freshness.muted {
                    @match figures.age {
                        Some(age) => { (texts::FRESH) " " (span(age)) " " (texts::AGO) },
                        None => (texts::NOT_YET),
                    }
                }
            }
            details.range open[is_range] {
                summary {
                    @if is_range { (india(from, texts::MOMENT)) " – " (india(until, texts::MOMENT)) }
                    @else { (texts::RANGE) }
                }
                form.filters method="get" action={ "/p/" (self.project.id) "/overview" } aria-label=(texts::RANGE) {
                    input type="hidden" name="mode" value=(self.visit.mode);
                    (field("from", common::FROM, from)) (field("until", common::UNTIL, until))
                    button.plain type="submit" { (texts::SHOW) }
                }
                p.hint { (texts::RANGE_HINT) }
            }
        }
    }

    /// With a hint at what to do next, unless the first steps give it.
    fn empty(&self, leads_on: bool) -> Markup {
        let page = |page: &str| format!("/p/{}/{page}", self.project.id);
        let may = |command| self.visit.may(self.project, command);
        html! {
            section.empty {
                @if self.visit.mode == KeyMode::Live { p { (texts::EMPTY_LIVE) } } @else { p { (texts::EMPTY_TEST) } }
                @if leads_on { div.actions {
                    @if may(Command::Play) {
                        a.button.primary href=(page("playground")) { (texts::TO_PLAYGROUND) }
                    }
                    @if self.visit.mode == KeyMode::Live {
                        @if may(Command::ListKeys) { a.button.plain href=(page("keys")) { (texts::TO_KEYS) } }
                    }
                }
            } }
        }
    }
}

fn late(figures: &Figures) -> Markup {
    html! {
        @if figures.age.is_some_and(|age| age > STALE) { (notice("warn", texts::STALE)) }
        @if figures.age.is_some() && figures.catching_up { (notice("", texts::CATCHING_UP)) }
    }
}

/// Which change of a figure is an improvement.
#[derive(Clone, Copy)]
enum GoodDirection {
    Up,
    Down,
    Neither,
}

struct FigureTile {
    label: &'static str,
    figure: String,
    beside: Option<String>,
    delta: Markup,
}

fn tiles(overview: &Overview, compared: &str) -> Markup {
    let Overview { total, before, .. } = overview;
    let counted = |label, of: fn(&Counts) -> u64, good| FigureTile {
        label,
        figure: grouped(of(total)),
        beside: None,
        delta: changed(before.as_ref().map(of), of(total), good),
    };
    let spent = |counts: &Counts| counts.spent.max(Paise::ZERO).0.unsigned_abs();
    let median = |label, of: fn(&Counts) -> Option<Duration>| FigureTile {
        label,
        figure: of(total).map_or_else(dash, span),
        beside: None,
        delta: slower(before.as_ref().map(of), of(total)),
    };
    let tiles = [
        FigureTile {
            beside: relayed(total),
            ..counted(texts::SENDS, |counts| counts.requests, GoodDirection::Neither)
        },
        deliveries(overview),
        counted(texts::VERIFIED, |counts| counts.verified, GoodDirection::Up),
        conversion(before.as_ref().map(Counts::conversion), total.conversion()),
        median(texts::MEDIAN_DELIVERY, |counts| counts.delivery_times.median()),
        median(texts::MEDIAN, |counts| counts.times.median()),
        counted(texts::REFUSED, |counts| counts.causes.refused(), GoodDirection::Down),
        FigureTile {
            label: texts::SPENT,
            figure: rupees(total.spent),
            beside: total.cost_per_login().map(|cost| format!("{} {}", rupees(cost), texts::EACH)),
            delta: changed(before.as_ref().map(spent), spent(total), GoodDirection::Neither),
        },
    ];
    html! {
        section {
            dl.figures.tiles-of-figures {
                @for FigureTile { label, figure, beside, delta } in &tiles {
                    div.card {
                        dt { (label) }
                        dd { (figure) }
                        dd.beside {
                            (delta)
                            @if let Some(beside) = beside {
                                span.muted { @if !delta.0.is_empty() { " · " } (beside) }
                            }
                        }
                    }
                }
            }
            p.muted.compared { @if before.is_some() { (compared) } @else { (texts::NOT_COMPARED) } }
        }
    }
}

fn dash() -> String {
    "–".to_owned()
}

/// The number of relayed codes among the sends, if any.
fn relayed(counts: &Counts) -> Option<String> {
    (counts.relays > 0).then(|| format!("{} {}", grouped(counts.relays), texts::RELAYED))
}

/// Only sends by providers with receipts count; the delivery of others is unknown.
fn deliveries(overview: &Overview) -> FigureTile {
    let told = overview.with_receipts();
    let (label, all) = (texts::DELIVERED, told.requests == overview.total.requests);
    if told.requests == 0 && !all {
        let beside = Some(texts::NO_RECEIPTS.to_owned());
        return FigureTile { label, figure: dash(), beside, delta: html! {} };
    }
    let of = if all { texts::OF_SENDS } else { texts::OF_TOLD };
    let share = Ratio { part: told.delivered, whole: told.requests }.permille();
    FigureTile {
        label,
        figure: grouped(told.delivered),
        beside: match share {
            Some(permille) => Some(format!("{} {}", percent(permille), of[0])),
            None => Some(format!("of {} {}", grouped(told.requests), of[1])),
        },
        delta: changed(
            overview.before.as_ref().map(|before| before.delivered),
            overview.total.delivered,
            GoodDirection::Up,
        ),
    }
}

/// A percentage with the number of cases; for few cases only their number.
fn conversion(before: Option<Ratio>, now: Ratio) -> FigureTile {
    let percentage = now.permille().map(percent);
    let cases = format!("{} of {}", grouped(now.part), grouped(now.whole));
    FigureTile {
        label: texts::CONVERSION,
        beside: percentage.as_ref().map(|_| cases),
        figure: percentage.unwrap_or_else(|| share(now)),
        delta: match now.permille() {
            None => html! {},
            now => before.map_or_else(|| html! {}, |before| points(before.permille(), now)),
        },
    }
}

/// Empty if there is nothing to compare with.
fn changed(before: Option<u64>, now: u64, good: GoodDirection) -> Markup {
    let Some(before) = before else { return html! {} };
    match Trend::between(before, now) {
        Trend::Same | Trend::Percent(0) => delta(0, texts::SAME, good),
        Trend::New => delta(0, texts::NEW, GoodDirection::Neither),
        Trend::Percent(by) => delta(by, &format!("{} %", grouped(by.unsigned_abs())), good),
    }
}

fn points(before: Option<u64>, now: Option<u64>) -> Markup {
    let Some((before, now)) = before.zip(now) else {
        return delta(0, texts::NEW, GoodDirection::Neither);
    };
    let by = signed(now) - signed(before);
    let tenths = by.unsigned_abs();
    let amount = format!("{}.{} {}", tenths / 10, tenths % 10, texts::POINTS);
    delta(by, if by == 0 { texts::SAME } else { &amount }, GoodDirection::Up)
}

fn slower(before: Option<Option<Duration>>, now: Option<Duration>) -> Markup {
    let Some(before) = before else { return html! {} };
    let Some((before, now)) = before.zip(now) else {
        return delta(0, texts::NEW, GoodDirection::Neither);
    };
    let by = signed(now.as_millis()) - signed(before.as_millis());
    let amount = span(now.abs_diff(before));
    delta(by, if by == 0 { texts::SAME } else { &amount }, GoodDirection::Down)
}

fn signed(number: impl TryInto<i64>) -> i64 {
    number.try_into().unwrap_or(i64::MAX)
}

/// A change with its sign as a shape and in words, so that it does not depend only on colour.
fn delta(by: i64, amount: &str, good: GoodDirection) -> Markup {
    let mood = match (good, by.signum()) {
        (GoodDirection::Up, 1) | (GoodDirection::Down, -1) => "good",
        (GoodDirection::Up, -1) | (GoodDirection::Down, 1) => "bad",
        _ => "flat",
    };
    html! {
        span.delta.(mood) {
            @if by > 0 { span aria-hidden="true" { "▲ " } (amount) span.hidden { " " (texts::MORE) } }
            @else if by < 0 { span aria-hidden="true" { "▼ " } (amount) span.hidden { " " (texts::LESS) } }
            @else { (amount) }
        }
    }
}

fn routes(overview: &Overview) -> Markup {
    let amounts = [
        texts::MESSAGES,
        texts::DELIVERED,
        texts::CONVERSION,
        texts::MEDIAN_DELIVERY,
        texts::MEDIAN,
        texts::COST_PER_LOGIN,
        texts::SPENT,
    ];
    let heads = heads(&[common::PROVIDER, common::CHANNEL], &amounts);
    let rows = html! { @for route in &overview.routes { (of_route(route)) } };
    html! {
        section.stack-small {
            (titled_table(texts::ROUTES, "cards", &heads, &rows))
            p.muted { small { (texts::ROUTES_HINT) } }
        }
    }
}

fn of_route(RouteFigures { channel, provider, counts, silent }: &RouteFigures) -> Markup {
    html! {
        tr {
            th scope="row" { (provider) }
            td data-label=(common::CHANNEL) { (explain::channel(*channel)) }
            td.amount data-label=(texts::MESSAGES) { (grouped(counts.attempts)) }
            td.amount data-label=(texts::DELIVERED) {
                @if *silent { span.muted { (texts::NO_RECEIPTS) } } @else { (share(counts.arrival())) }
            }
            td.amount data-label=(texts::CONVERSION) { (share(counts.verification())) }
            td.amount data-label=(texts::MEDIAN_DELIVERY) {
                (counts.delivery_times.median().map_or_else(dash, span))
            }
            td.amount data-label=(texts::MEDIAN) { (counts.times.median().map_or_else(dash, span)) }
            td.amount data-label=(texts::COST_PER_LOGIN) {
                (counts.cost_per_login().map_or_else(dash, rupees))
            }
            td.amount data-label=(texts::SPENT) { (rupees(counts.spent)) }
        }
    }
}
