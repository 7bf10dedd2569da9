//! A chart as SVG: counts over time as bars, drawn on the server.

use crate::format::{grouped, india};
use crate::texts::overview as texts;
use dwar_activity::{Counts, Period};
use dwar_kernel::Timestamp;
use maud::{Markup, html};

/// How large it is drawn; letters keep their size, so a narrow screen gets a drawing of its own.
struct Sheet {
    class: &'static str,
    width: f64,
    height: f64,
    every: usize,
}

const TOP: f64 = 10.0;
const BOTTOM: f64 = 24.0;
/// The width of a digit.
const LETTER: f64 = 7.2;
/// Lines across it, at most.
const LINES: u64 = 4;

/// Sends as wide bars, what of these was delivered and verified as narrower ones in front: for wide
/// screens and for narrow ones, of which the style sheet shows one.
///
/// The values of a bar are in its title; with a script they are shown as soon as the pointer or the
/// arrow keys are on it. `told` says whether anything is known of deliveries.
pub(crate) fn chart(period: Period, series: &[(Timestamp, Counts)], told: bool) -> Markup {
    let (wide, narrow) = match period {
        Period::Hour => (1, 3),
        Period::Day => (3, 6),
        Period::Month => (5, 10),
    };
    let sheets = [
        Sheet { class: "wide", width: 900.0, height: 250.0, every: wide },
        Sheet { class: "narrow", width: 330.0, height: 220.0, every: narrow },
    ];
    html! {
        div.chart-box data-chart role="group" aria-label=(texts::CHART_KEYS) {
            @for sheet in sheets { (sheet.draw(period, series, told)) }
            p.chart-value role="status" hidden {}
        }
        ul.legend aria-hidden="true" {
            li.sends { (texts::SENDS) }
            @if told { li.delivered { (texts::DELIVERED) } }
            li.verified { (texts::VERIFIED) }
        }
    }
}

impl Sheet {
    fn draw(&self, period: Period, series: &[(Timestamp, Counts)], told: bool) -> Markup {
        let peak = series.iter().map(|(_, counts)| counts.requests).max().unwrap_or_default();
        let step = step(peak);
        let lines = peak.div_ceil(step).max(1);
        let top = step * lines;
        let left = LETTER * real(grouped(top).len()) + 12.0;
        let base = self.height - BOTTOM;
        let slot = (self.width - left - 4.0) / real(series.len().max(1));
        let x = |index: usize| left + slot * (real(index) + 0.5);
        let y = |count: u64| base - (base - TOP) * real(count) / real(top);
        let id = |part: &str| format!("chart-{}-{part}", self.class);
        let bar = |kind: &str, width: f64, index: usize, count: u64| {
            html! {
                @if count > 0 {
                    rect.(kind) x=(px(x(index) - slot * width / 2.0)) y=(px(y(count)))
                        width=(px(slot * width)) height=(px(base - y(count))) rx="1.5" {}
                }
            }
        };
        html! {
            svg.chart.(self.class) viewBox={ "0 0 " (self.width) " " (self.height) } role="img"
                aria-labelledby={ (id("title")) " " (id("about")) } {
                title id=(id("title")) { (texts::CHART) ", " (texts::period(period)) }
                desc id=(id("about")) { (summary(period, series, told)) }
                @for number in 0..=lines {
                    @let level = px(y(step * number));
                    line.grid x1=(px(left)) x2=(self.width) y1=(level) y2=(level) {}
                    text.scale x=(px(left - 8.0)) y=(px(y(step * number) + 4.0)) { (grouped(step * number)) }
                }
                @for (index, (at, counts)) in series.iter().enumerate() {
                    (bar("sends", 0.76, index, counts.requests))
                    @if told { (bar("delivered", 0.5, index, counts.delivered)) }
                    (bar("verified", 0.22, index, counts.verified))
                    @if index % self.every == (series.len() - 1) % self.every {
                        text.moment x=(px(x(index))) y=(px(self.height - 6.0)) { (label(period, *at)) }
                    }
                }
                @for (index, (at, counts)) in series.iter().enumerate() {
                    rect.hit x=(px(left + slot * real(index))) y=(px(TOP)) width=(px(slot)) height=(px(base - TOP)) {
                        title { (label(period, *at)) ": " (words(counts, told)) }
                    }
                }
            }
        }
    }
}

fn words(counts: &Counts, told: bool) -> String {
    let sends = if counts.requests == 1 { "send" } else { "sends" };
    let delivered = told.then(|| format!(", {} delivered", grouped(counts.delivered)));
    let (requests, verified) = (grouped(counts.requests), grouped(counts.verified));
    format!("{requests} {sends}{}, {verified} verified", delivered.unwrap_or_default())
}

/// The chart in a sentence.
fn summary(period: Period, series: &[(Timestamp, Counts)], told: bool) -> String {
    let most = series.iter().max_by_key(|(_, counts)| counts.requests);
    let most = most.filter(|(_, counts)| counts.requests > 0);
    let most = most
        .map(|(at, counts)| format!("Peak: {} at {}.", words(counts, told), label(period, *at)));
    format!(
        "Sends and what became of them, {}. {}",
        texts::point(period),
        most.unwrap_or_else(|| "No sends.".to_owned())
    )
}

fn label(period: Period, at: Timestamp) -> String {
    let pattern = match period {
        Period::Hour => "%-I:%M %P",
        Period::Day => "%-I %P",
        Period::Month => "%-d %b",
    };
    india(at, pattern)
}

/// The distance between two lines: 1, 2, 2.5 or 5 times a power of ten, and whole.
fn step(peak: u64) -> u64 {
    let least = peak.div_ceil(LINES).max(1);
    let mut ten = 1_u64;
    loop {
        let steps = [ten, ten * 2, ten * 5 / 2, ten * 5];
        let whole = steps.into_iter().filter(|step| *step != 2 || ten == 1);
        if let Some(step) = whole.into_iter().find(|step| *step >= least) {
            return step;
        }
        let Some(next) = ten.checked_mul(10).filter(|next| *next < u64::MAX / 20) else {
            return least;
        };
        ten = next;
    }
}

/// Counts are far below what a float holds exactly.
#[expect(clippy::cast_precision_loss, reason = "a drawing is exact to a tenth of a pixel")]
fn real(count: impl TryInto<u64>) -> f64 {
    count.try_into().unwrap_or(u64::MAX) as f64
}

fn px(length: f64) -> String {
    format!("{length:.1}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_at_round_numbers_and_hold_the_peak() {
        for (peak, expected) in [
            (0, 1),
            (1, 1),
            (4, 1),
            (5, 2),
            (9, 5),
            (20, 5),
            (21, 10),
            (81, 25),
            (101, 50),
            (1_234, 500),
        ] {
            assert_eq!(step(peak), expected, "{peak}");
            assert!(step(peak) * LINES >= peak);
        }
        assert!(step(u64::MAX / 30) >= u64::MAX / 120);
    }

    #[test]
    fn hours_and_days_are_labelled_as_in_india() {
        let at = "2027-01-14T18:30:00Z".parse().unwrap();
        assert_eq!(label(Period::Month, at), "15 Jan");
        assert_eq!(label(Period::Day, at), "12 am");
        assert_eq!(label(Period::Hour, at), "12:00 am");
    }

    #[test]
    fn an_empty_chart_says_so() {
        let at = "2027-01-14T18:30:00Z".parse().unwrap();
        let drawn = chart(Period::Hour, &[(at, Counts::default())], true).into_string();
        assert!(drawn.contains("No sends."), "{drawn}");
        assert!(!drawn.contains("NaN") && !drawn.contains("inf"), "{drawn}");
    }
}
