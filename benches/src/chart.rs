//! The figures as a picture for the README: bars with the share of the floor and the ratio to the
//! peer.

use crate::phase::Phase;
use crate::report::{Report, Row};
use std::fmt::Write;

const WIDTH: f64 = 760.0;
const LABEL: f64 = 250.0;
const VALUE: f64 = 130.0;
const BAR: f64 = 18.0;
const STEP: f64 = 26.0;

/// Draws the picture, which is legible on light and dark pages.
pub fn draw(report: &Report) -> String {
    let (mut bars, mut y) = (String::new(), 0.0);
    for phase in [Phase::ValidateMany, Phase::Login, Phase::Refresh] {
        y += 30.0;
        let title = phase.name();
        put(
            &mut bars,
            &format!("<text class=\"title\" x=\"0\" y=\"{y}\">{title}, a second</text>"),
        );
        y += 10.0;
        let rows = report.rows(phase);
        let most = rows.iter().map(|row| row.figures.rate).fold(1.0, f64::max);
        for row in &rows {
            bar(&mut bars, row, most, y);
            y += STEP;
        }
    }
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {y}\" role=\"img\" \
         aria-label=\"Requests a second\">\n<style>text {{ font: 13px system-ui, sans-serif; \
         fill: #64748b }} .title {{ font-weight: 600; font-size: 15px }} .ours {{ fill: #0f766e }} \
         .other {{ fill: #94a3b8 }}</style>\n{bars}</svg>\n"
    )
}

fn bar(bars: &mut String, row: &Row<'_>, most: f64, y: f64) {
    let width = (WIDTH - LABEL - VALUE) * row.figures.rate / most;
    let class = if row.name.starts_with("Dwar") { "ours" } else { "other" };
    let (text, end, name) = (y + 14.0, LABEL + width + 6.0, row.name);
    let value = match row.of_peer.filter(|_| class == "ours") {
        Some(factor) => format!("{:.0} ({factor:.1} ×)", row.figures.rate),
        None => format!("{:.0}", row.figures.rate),
    };
    put(bars, &format!("<text x=\"0\" y=\"{text}\">{name}</text>"));
    put(
        bars,
        &format!(
            "<rect class=\"{class}\" x=\"{LABEL}\" y=\"{y}\" width=\"{width:.1}\" height=\"{BAR}\" rx=\"3\"/>"
        ),
    );
    put(bars, &format!("<text x=\"{end:.1}\" y=\"{text}\">{value}</text>"));
}

fn put(bars: &mut String, line: &str) {
    let _never_fails = writeln!(bars, "{line}");
}
