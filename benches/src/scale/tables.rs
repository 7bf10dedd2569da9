//! Tables of the results.

use super::endpoint::Endpoint;
use super::sweep::Leaving;
use super::times::{Measured, Times};
use std::fmt::Write;

/// Every endpoint on the small and on the large database: medians over the rounds, and the medians
/// of the ratios of each round.
pub fn of_endpoints(database: &str, measured: &Measured, memory: &[f64]) -> String {
    let mut text = format!(
        "\n| {database} | p50 ms, small | large | ratio | p99 ms, small | large | ratio | lowest | \
         highest |\n|---|---|---|---|---|---|---|---|---|\n"
    );
    for endpoint in Endpoint::ALL {
        let empty = Vec::new();
        let side = |side| measured.get(&(endpoint, side)).unwrap_or(&empty);
        let (small, large) = (side(0), side(1));
        let mut line = format!("| {} |", endpoint.name());
        for of in [|times: &Times| times.p50, |times: &Times| times.p99] {
            let (one, other) = (medians(small, of), medians(large, of));
            let _never_fails =
                write!(line, " {one:.2} | {other:.2} | {:.2} |", median(ratios(small, large, of)));
        }
        let mut all = ratios(small, large, |times| times.p99);
        all.sort_by(f64::total_cmp);
        let edge = |found: Option<&f64>| found.copied().unwrap_or(f64::NAN);
        let (lowest, highest) = (edge(all.first()), edge(all.last()));
        let _never_fails = writeln!(text, "{line} {lowest:.2} | {highest:.2} |");
    }
    let held: Vec<_> = memory.iter().map(|mib| format!("{mib:.0}")).collect();
    let _never_fails = writeln!(text, "\nMiB of the service: {}", held.join(", "));
    text
}

/// Send and validate while nothing is deleted, and while old rows are.
pub fn of_sweep(database: &str, leaving: &Leaving) -> String {
    let mut text = format!(
        "\n| {database} | p50 ms, calm | while rows leave | ratio | p99 ms, calm | while rows leave | \
         ratio | longest ms, calm | while rows leave |\n|---|---|---|---|---|---|---|---|---|\n"
    );
    for (name, calm, busy) in [
        ("send", &leaving.calm.sends, &leaving.busy.sends),
        ("validate", &leaving.calm.validates, &leaving.busy.validates),
    ] {
        let mut line = format!("| {name} |");
        for of in [|times: &Times| times.p50, |times: &Times| times.p99] {
            let (one, other) = (medians(calm, of), medians(busy, of));
            let ratio = median(ratios(calm, busy, of));
            let _never_fails = write!(line, " {one:.2} | {other:.2} | {ratio:.2} |");
        }
        let longest = |of: &[Times]| medians(of, |times| times.longest);
        let _never_fails = writeln!(text, "{line} {:.1} | {:.1} |", longest(calm), longest(busy));
    }
    let Leaving { gone, seconds, .. } = leaving;
    let _never_fails = writeln!(text, "\n{gone} requests left within {seconds:.0} s.");
    text
}

fn medians(rounds: &[Times], of: impl Fn(&Times) -> f64) -> f64 {
    median(rounds.iter().map(of).collect())
}

fn ratios(ones: &[Times], others: &[Times], of: impl Fn(&Times) -> f64) -> Vec<f64> {
    ones.iter().zip(others).map(|(one, other)| of(other) / of(one)).collect()
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or(f64::NAN)
}
