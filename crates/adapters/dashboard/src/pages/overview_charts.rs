//! The charts of the overview, with tables of the same numbers.

use super::parts::{heads, linked_count, named_table};
use crate::chart::{Chart, ChartBar, ChartPoint, TAPPED, label};
use crate::format::{capital, grouped, minute, rupees, share};
use crate::texts::{common, overview as texts};
use dwar_activity::{Cause, Causes, Counts, Interval, Overview};
use dwar_console::explain;
use dwar_kernel::{KeyMode, Timestamp};
use maud::{Markup, html};
use std::time::Duration;

#[derive(Clone, Copy)]
pub(super) struct RequestLinks {
    pub(super) mode: KeyMode,
    /// Since when requests, and refused sends, are stored.
    pub(super) kept: (Timestamp, Timestamp),
}

impl RequestLinks {
    /// The address of the requests of a time range, if any of them is still stored.
    fn requests(&self, within: Interval, more: &str) -> Option<String> {
        (within.until > self.kept.0).then(|| self.activity(within, more))
    }

    fn refused(&self, within: Interval, more: &str) -> Option<String> {
        (within.until > self.kept.1).then(|| self.activity(within, more))
    }

    /// Relative to this page, because there are many of these links.
    fn activity(&self, within: Interval, more: &str) -> String {
        let last = within.until + (Duration::from_secs(60) - Duration::from_millis(1));
        let (from, until) = (minute(within.from), minute(last));
        format!("activity?mode={}&from={from}&until={until}{more}", self.mode)
    }
}

/// Causes with a colour of their own; the others share one.
const COLOURS: [&str; 5] = ["cause-1", "cause-2", "cause-3", "cause-4", "cause-5"];
const REST: &str = "cause-6";

/// Sends and their results as bars, and the verified ones as a line.
pub(super) fn over_time(links: RequestLinks, overview: &Overview) -> Markup {
    let told = overview.routes.iter().any(|route| !route.silent);
    let point = |(within, counts): &(Interval, Counts)| {
        let bar = |class, width, to| ChartBar { class, width, from: 0, to, link: None };
        let delivered = told.then(|| bar("delivered", 0.5, counts.delivered));
        let bars = [Some(bar("sends", 0.76, counts.requests)), delivered];
        let verified = Some(bar("verified", 0.22, counts.verified));
        ChartPoint {
            at: within.from,
            bars: bars.into_iter().chain([verified]).flatten().collect(),
            line: counts.conversion().permille_of_any(),
            words: words(counts, told),
            href: links.requests(*within, "").filter(|_| counts.requests > 0),
        }
    };
    let chart = Chart {
        id: "sends",
        title: texts::CHART,
        about: summary(overview, told),
        range: overview.range,
        points: overview.series.iter().map(point).collect(),
    };
    html! {
        section.card {
            div.card-head {
                h2 { (texts::CHART) }
                small.muted { (texts::point(overview.range.coarsest())) " · " (texts::CHART_ZONE) }
            }
            (chart.draw())
            ul.legend aria-hidden="true" {
                li.sends { (texts::SENDS) }
                @if told { li.delivered { (texts::DELIVERED) } }
                li.verified { (texts::VERIFIED) }
                li.rate { (texts::CONVERSION) }
            }
            details.numbers-of-chart {
                summary { (texts::CHART_NUMBERS) }
                (numbers(links, overview, told))
            }
        }
    }
}

fn numbers(links: RequestLinks, overview: &Overview, told: bool) -> Markup {
    // More rows with links would be too large; the bars of the chart have the same links.
    let few = |href: Option<String>| href.filter(|_| overview.series.len() <= TAPPED);
    let (first, delivered) = (heads(&[common::FROM], &[texts::SENDS]), [texts::DELIVERED]);
    let results = [texts::VERIFIED, texts::CONVERSION, texts::FAILED, texts::REFUSED, texts::SPENT];
    let heads = html! {
        (first) @if told { (heads(&[], &delivered)) } (heads(&[], &results))
    };
    let rows = html! {
        @for (within, counts) in &overview.series { tr {
            @let (all, refused) = (counts.causes.sum(), counts.causes.refused());
            th scope="row" { (label(&overview.range, within.from)) }
            td { (linked_count(counts.requests, few(links.requests(*within, "")))) }
            @if told { td { (grouped(counts.delivered)) } }
            td { (grouped(counts.verified)) }
            td { (share(counts.conversion())) }
            td { (linked_count(all - refused, few(links.requests(*within, "&reason=any")))) }
            td { (linked_count(refused, few(links.refused(*within, "&view=refused")))) }
            td { (rupees(counts.spent)) }
        } }
    };
    named_table(texts::CHART_NUMBERS, "numbers", &heads, &rows)
}

fn words(counts: &Counts, told: bool) -> String {
    let sends = if counts.requests == 1 { "send" } else { "sends" };
    let delivered = told.then(|| format!(", {} delivered", grouped(counts.delivered)));
    let (requests, verified) = (grouped(counts.requests), grouped(counts.verified));
    format!("{requests} {sends}{}, {verified} verified", delivered.unwrap_or_default())
}

fn summary(overview: &Overview, told: bool) -> String {
    let most = overview.series.iter().max_by_key(|(_, counts)| counts.requests);
    let most = most.filter(|(_, counts)| counts.requests > 0).map(|(within, counts)| {
        format!("Peak: {} at {}.", words(counts, told), label(&overview.range, within.from))
    });
    let most = most.unwrap_or_else(|| "No sends.".to_owned());
    format!("Sends by outcome, {}. {most}", texts::point(overview.range.coarsest()))
}

/// Causes of failed messages and refused sends, the most frequent first: stacked over time, and as
/// a table with advice.
pub(super) fn causes(links: RequestLinks, overview: &Overview) -> Markup {
    let mut ranked: Vec<(Cause, u64)> = overview.total.causes.each().collect();
    ranked.sort_by_key(|(cause, count)| (std::cmp::Reverse(*count), *cause));
    let point = |(within, counts): &(Interval, Counts)| ChartPoint {
        at: within.from,
        bars: stacked(links, *within, &counts.causes, &ranked),
        line: None,
        words: match counts.causes.sum() {
            0 => String::new(),
            _ => in_words(&counts.causes, &ranked),
        },
        href: of_slot(links, *within, &counts.causes),
    };
    let chart = Chart {
        id: "causes",
        title: texts::CAUSES,
        about: in_words(&overview.total.causes, &ranked),
        range: overview.range,
        points: overview.series.iter().map(point).collect(),
    };
    html! {
        section.card.stack-small {
            div.card-head {
                h2 { (texts::CAUSES) }
                small.muted { (texts::point(overview.range.coarsest())) " · " (texts::CHART_ZONE) }
            }
            @if ranked.is_empty() { p.muted { (texts::NO_CAUSES) } }
            @else {
                (chart.draw())
                (by_cause(links, overview.range.window, &ranked))
                p.muted { small { (texts::CAUSES_HINT) } }
            }
        }
    }
}

fn colour(place: usize) -> &'static str {
    COLOURS.get(place).copied().unwrap_or(REST)
}

fn stacked(
    links: RequestLinks,
    within: Interval,
    causes: &Causes,
    ranked: &[(Cause, u64)],
) -> Vec<ChartBar> {
    let mut from = 0;
    let bar = |(place, (cause, _)): (usize, &(Cause, u64))| {
        let count = causes.of(*cause);
        let (low, to) = (from, from + count);
        from = to;
        let words = format!("{}: {}", explain::cause(*cause).0, grouped(count));
        let link = of_cause(links, within, *cause).map(|href| (href, words));
        ChartBar { class: colour(place), width: 0.76, from: low, to, link }
    };
    ranked.iter().enumerate().map(bar).filter(|bar| bar.to > bar.from).collect()
}

/// The address of the requests with a message that failed for a reason, or of the sends refused for
/// it.
fn of_cause(links: RequestLinks, within: Interval, cause: Cause) -> Option<String> {
    let reason = format!("&reason={}", cause.as_str());
    match cause {
        Cause::Refused(_) => links.refused(within, &format!("&view=refused{reason}")),
        Cause::Failed(_) | Cause::NoProvider => links.requests(within, &reason),
    }
}

/// The address of all failed requests of a point, or of the refused sends if none failed.
fn of_slot(links: RequestLinks, within: Interval, causes: &Causes) -> Option<String> {
    match (causes.sum(), causes.refused()) {
        (0, _) => None,
        (all, refused) if all == refused => links.refused(within, "&view=refused"),
        _ => links.requests(within, "&reason=any"),
    }
}

fn in_words(causes: &Causes, ranked: &[(Cause, u64)]) -> String {
    let met = ranked.iter().map(|(cause, _)| (*cause, causes.of(*cause)));
    let each = met.filter(|(_, count)| *count > 0);
    let each =
        each.map(|(cause, count)| format!("{}: {}", explain::cause(cause).0, grouped(count)));
    let all = each.collect::<Vec<_>>().join("; ");
    if all.is_empty() { texts::NO_CAUSES.to_owned() } else { capital(&all) }
}

fn by_cause(links: RequestLinks, within: Interval, ranked: &[(Cause, u64)]) -> Markup {
    let heads = html! {
        (heads(&[common::REASON], &[common::COUNT])) (heads(&[common::ADVICE], &[]))
    };
    let rows = html! {
        @for (place, (cause, count)) in ranked.iter().enumerate() { tr {
            @let (words, advice) = explain::cause(*cause);
            th scope="row" { span.swatch.(colour(place)) aria-hidden="true" {} (capital(&words)) }
            td.amount data-label=(common::COUNT) { (linked_count(*count, of_cause(links, within, *cause))) }
            td data-label=(common::ADVICE) { (advice) }
        } }
    };
    named_table(texts::BY_CAUSE, "cards causes", &heads, &rows)
}
