//! Charts as SVG, rendered on the server: bars over time, with a line over them.

use crate::format::{grouped, india};
use crate::texts::overview as texts;
use dwar_activity::Range;
use dwar_kernel::Timestamp;
use maud::{Markup, html};

pub(crate) struct Chart<'a> {
    pub(crate) id: &'a str,
    pub(crate) title: &'a str,
    pub(crate) about: String,
    pub(crate) range: Range,
    pub(crate) points: Vec<ChartPoint>,
}

pub(crate) struct ChartPoint {
    pub(crate) at: Timestamp,
    /// In the order of drawing.
    pub(crate) bars: Vec<ChartBar>,
    pub(crate) line: Option<u64>,
    /// The values as text; empty if there is nothing to say.
    pub(crate) words: String,
    /// The requests behind the point, while they are stored.
    pub(crate) href: Option<String>,
}

pub(crate) struct ChartBar {
    pub(crate) class: &'static str,
    pub(crate) width: f64,
    pub(crate) from: u64,
    pub(crate) to: u64,
    /// The requests behind this bar and its text, if they differ from those of the point.
    pub(crate) link: Option<(String, String)>,
}

/// The size of the drawing. Letters keep their size, so a narrow screen gets a drawing of its own.
struct ChartSize {
    class: &'static str,
    width: f64,
    height: f64,
}

const TOP: f64 = 10.0;
const BOTTOM: f64 = 24.0;
const LETTER: f64 = 7.2;
const PERCENTAGES: f64 = 44.0;
/// Most bars with a link each, so that a page stays small. In a chart with more bars only the point
/// has a link.
const LINKED: usize = 72;
/// With more points than this, one is too narrow for a finger, and only the chart for wide screens
/// has links.
pub(crate) const TAPPED: usize = 24;
const LINES: u64 = 4;
const SIZES: [ChartSize; 2] = [
    ChartSize { class: "wide", width: 900.0, height: 250.0 },
    ChartSize { class: "narrow", width: 330.0, height: 220.0 },
];

impl Chart<'_> {
    /// Draws the chart for wide and for narrow screens; the style sheet shows one of them.
    ///
    /// With a script, the values of a point are shown when the pointer or the arrow keys reach it.
    pub(crate) fn draw(&self) -> Markup {
        html! {
            div.chart-box data-chart role="group" aria-label={ (self.title) (texts::CHART_KEYS) } {
                @for size in SIZES { (size.draw(self)) }
                p.chart-value role="status" hidden {}
            }
        }
    }
}

impl ChartSize {
    fn draw(&self, chart: &Chart<'_>) -> Markup {
        let points = &chart.points;
        let ends = points.iter().flat_map(|point| &point.bars).map(|bar| bar.to);
        let peak = ends.max().unwrap_or_default();
        let step = step(peak);
        let lines = peak.div_ceil(step).max(1);
        let top = step * lines;
        let left = LETTER * real(grouped(top).len()) + 12.0;
        let base = self.height - BOTTOM;
        let has_line = points.iter().any(|point| point.line.is_some());
        let right = if has_line { PERCENTAGES } else { 4.0 };
        let width = (self.width - left - right) / real(points.len().max(1));
        let x = |index: usize| left + width * (real(index) + 0.5);
        let share = |part: u64, whole: u64| base - (base - TOP) * real(part) / real(whole);
        let place = |bar: &ChartBar, index: usize| {
            let (y, low) = (share(bar.to, top), share(bar.from, top));
            (x(index) - width * bar.width / 2.0, y, width * bar.width, low - y)
        };
        let with_link =
            points.iter().flat_map(|point| &point.bars).filter(|bar| bar.link.is_some());
        let each = self.class == "wide" && with_link.count() <= LINKED;
        let links = |bar: &ChartBar| each && bar.link.is_some();
        let id = |part: &str| format!("{}-{}-{part}", chart.id, self.class);
        let every = self.every(chart, width);
        html! {
            svg.chart.(self.class) viewBox={ "0 0 " (self.width) " " (self.height) } role="group"
                aria-labelledby={ (id("title")) " " (id("about")) } {
                title id=(id("title")) { (chart.title) }
                desc id=(id("about")) { (chart.about) }
                g aria-hidden="true" {
                    @for number in 0..=lines {
                        @let level = share(number, lines);
                        line.grid x1=(px(left)) x2=(px(self.width - right)) y1=(px(level)) y2=(px(level)) {}
                        text.scale x=(px(left - 8.0)) y=(px(level + 4.0)) { (grouped(step * number)) }
                    }
                    @if has_line {
                        @for half in 0..=2 {
                            text.percentage x=(px(self.width)) y=(px(share(half, 2) + 4.0)) { (half * 50) " %" }
                        }
                    }
                    (bars(points, |bar, index| (!links(bar)).then(|| place(bar, index))))
                    @for (index, point) in points.iter().enumerate() {
                        @if index % every == (points.len() - 1) % every {
                            text.moment x=(px(x(index))) y=(px(self.height - 6.0)) { (label(&chart.range, point.at)) }
                        }
                    }
                    (line(points, |index, permille| (x(index), share(permille, 1_000))))
                }
                @for (index, point) in points.iter().enumerate().filter(|(_, point)| !point.words.is_empty()) {
                    @let area = html! { rect.area x=(px(left + width * real(index))) width=(px(width)) {} };
                    g.hit {
                        title { (label(&chart.range, point.at)) ": " (point.words) }
                        @match point.href.as_ref().filter(|_| self.class == "wide" || points.len() <= TAPPED) {
                            Some(href) => a href=(href) tabindex="-1" { (area) },
                            None => (area),
                        }
                        @for bar in point.bars.iter().filter(|bar| links(bar)) {
                            @if let Some((href, words)) = &bar.link {
                                @let (x, y, width, height) = place(bar, index);
                                a href=(href) tabindex="-1" aria-label=(words) {
                                    rect.(bar.class) x=(px(x)) y=(px(y)) width=(px(width)) height=(px(height)) {}
                                }
                            }
                        }
                    }
                }
            }
        }
    }

    /// Distance between two labelled points, in points, so that labels do not touch.
    fn every(&self, chart: &Chart<'_>, width: f64) -> usize {
        let labels = chart.points.iter().map(|point| label(&chart.range, point.at).len());
        let room = LETTER * real(labels.max().unwrap_or_default()) + LETTER;
        (1..).find(|every| width * real(*every) >= room).unwrap_or(1)
    }
}

/// Draws all bars of a class as one path, which needs a third of the space of rectangles.
fn bars(
    points: &[ChartPoint],
    place: impl Fn(&ChartBar, usize) -> Option<(f64, f64, f64, f64)>,
) -> Markup {
    let mut paths: Vec<(&str, String)> = Vec::new();
    for (index, point) in points.iter().enumerate() {
        for bar in point.bars.iter().filter(|bar| bar.to > bar.from) {
            let Some((x, y, width, height)) = place(bar, index) else { continue };
            let [x, y, width, height] = [x, y, width, height].map(px);
            let drawn = format!("M{x} {y}h{width}v{height}h-{width}z");
            match paths.iter_mut().find(|(class, _)| *class == bar.class) {
                Some((_, path)) => path.push_str(&drawn),
                None => paths.push((bar.class, drawn)),
            }
        }
    }
    html! { @for (class, path) in paths { path.(class) d=(path) {} } }
}

/// A line through all points with a value, and a dot for an isolated one.
fn line(points: &[ChartPoint], place: impl Fn(usize, u64) -> (f64, f64)) -> Markup {
    let mut path = String::new();
    let mut dots = Vec::new();
    let at = |index: usize| points.get(index).and_then(|point| point.line);
    for (index, permille) in (0..points.len()).filter_map(|index| Some((index, at(index)?))) {
        let (x, y) = place(index, permille);
        let goes_on = index > 0 && at(index - 1).is_some();
        path.push_str(&format!("{}{} {}", if goes_on { 'L' } else { 'M' }, px(x), px(y)));
        if !goes_on && at(index + 1).is_none() {
            dots.push((x, y));
        }
    }
    html! {
        @if !path.is_empty() { path.rate d=(path) {} }
        @for (x, y) in dots { circle.rate cx=(px(x)) cy=(px(y)) r="2.5" {} }
    }
}

/// The start of a point; an hour with its day if the range is longer than a day.
pub(crate) fn label(range: &Range, at: Timestamp) -> String {
    let day = chrono::TimeDelta::days(1);
    let is_long = range.window.until - range.window.from > day;
    let pattern = match range.point.as_secs() {
        86_400.. => "%-d %b",
        3_600.. if is_long => "%-d %b, %-I %P",
        3_600.. => "%-I %P",
        _ => "%-I:%M %P",
    };
    india(at, pattern)
}

/// The distance between two grid lines: 1, 2, 2.5 or 5 times a power of ten, and whole.
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

/// Counts are far below the largest integer that a float represents exactly.
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
    use dwar_activity::{FiguresPeriod, Period};

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
        let at: Timestamp = "2027-01-14T18:30:00Z".parse().unwrap();
        let of = |wanted: FiguresPeriod| label(&wanted.range(at).unwrap(), at);
        assert_eq!(of(FiguresPeriod::Last(Period::Month)), "15 Jan");
        assert_eq!(of(FiguresPeriod::Last(Period::Day)), "12 am");
        assert_eq!(of(FiguresPeriod::Last(Period::Hour)), "12:00 am");
        let two_days = FiguresPeriod::Between(at - chrono::TimeDelta::days(2), at);
        assert_eq!(of(two_days), "15 Jan, 12 am");
    }

    /// Two charts with a table have to fit into a page of 100 kB.
    #[test]
    fn a_full_chart_is_light() {
        let at: Timestamp = "2027-01-14T18:30:00Z".parse().unwrap();
        for (hours, most) in [(24, 36_000), (48, 33_000), (62 * 24, 33_000)] {
            let range =
                FiguresPeriod::Between(at - chrono::TimeDelta::hours(hours), at).range(at).unwrap();
            let bar = |class, from, to| {
                let link = (hours < 49).then(|| ("activity?".repeat(10), "x".repeat(40)));
                ChartBar { class, width: 0.76, from, to, link }
            };
            let point = |it: dwar_activity::Interval| ChartPoint {
                at: it.from,
                bars: vec![bar("a", 0, 1_234), bar("b", 1_234, 2_345), bar("c", 2_345, 3_456)],
                line: Some(700),
                words: "x".repeat(50),
                href: (hours < 49).then(|| "activity?".repeat(10)),
            };
            let points = range.points().map(point).collect();
            let chart = Chart { id: "c", title: "C", about: String::new(), range, points };
            let drawn = chart.draw().into_string();
            assert!(drawn.len() < most, "{hours}: {}", drawn.len());
        }
    }

    #[test]
    fn a_chart_of_nothing_can_be_drawn_and_a_line_has_gaps() {
        let at = "2027-01-14T18:30:00Z".parse().unwrap();
        let range = Range::last(Period::Hour, at);
        let point =
            |line| ChartPoint { at, bars: Vec::new(), line, words: String::new(), href: None };
        let chart =
            |points| Chart { id: "c", title: "C", about: "None.".to_owned(), range, points };
        let drawn = chart(vec![point(None)]).draw().into_string();
        assert!(drawn.contains("None.") && !drawn.contains("rate"), "{drawn}");
        let points = [Some(0), Some(1_000), None, Some(500)].map(point).into();
        let drawn = chart(points).draw().into_string();
        assert_eq!(drawn.matches('M').count(), 2 * 2, "{drawn}");
        assert_eq!(drawn.matches("<circle").count(), 2, "{drawn}");
        assert!(!drawn.contains("NaN") && !drawn.contains("inf"), "{drawn}");
    }
}
