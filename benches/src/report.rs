//! The results of all rounds.

use crate::Outcome;
use crate::phase::{Figures, Load, Phase};
use crate::warm::Warmth;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::fmt::Write;

/// Every measured figure.
pub struct Report {
    names: Vec<String>,
    load: Load,
    /// By phase and contestant, one per round.
    rounds: BTreeMap<(Phase, usize), Vec<Figures>>,
}

/// One contestant in one phase.
pub struct Row<'a> {
    pub name: &'a str,
    /// Medians over the rounds.
    pub figures: Figures,
    /// Ratios to the floor, and to the peer on the same database: medians of the ratios of each
    /// round.
    pub of_floor: Option<f64>,
    pub of_peer: Option<f64>,
}

impl Report {
    pub fn new(names: Vec<String>, load: Load) -> Self {
        Self { names, load, rounds: BTreeMap::new() }
    }

    /// Adds the result of one round.
    pub fn add(&mut self, contestant: usize, phase: Phase, figures: Figures) {
        self.rounds.entry((phase, contestant)).or_default().push(figures);
    }

    /// Every contestant that has this phase.
    pub fn rows(&self, phase: Phase) -> Vec<Row<'_>> {
        let all = self.names.iter().enumerate();
        all.filter_map(|(place, name)| {
            let rounds = self.rounds.get(&(phase, place))?;
            let of = |other: Option<usize>| {
                let others = self.rounds.get(&(phase, other?))?;
                let factors = rounds.iter().zip(others).map(|(one, other)| one.rate / other.rate);
                Some(median(factors.collect()))
            };
            let database = name.rsplit(' ').next().unwrap_or_default();
            let floor = self.find(|other| other.ends_with("floor"));
            let peer =
                self.find(|other| other.starts_with("better-auth") && other.ends_with(database));
            let (of_floor, of_peer) = (of(floor), of(peer));
            Some(Row { name, figures: medians(rounds), of_floor, of_peer })
        })
        .collect()
    }

    fn find(&self, wanted: impl Fn(&str) -> bool) -> Option<usize> {
        self.names.iter().position(|name| wanted(name))
    }

    /// A table for each phase.
    pub fn tables(&self) -> String {
        let mut text = String::new();
        for phase in Phase::ALL {
            let _never_fails = write!(
                text,
                "\n| {} | a second | p50 ms | p99 ms | CPU ms per 1,000 | of it the database | \
                 MiB | of the floor | × better-auth | warmed for |\n\
                 |---|---|---|---|---|---|---|---|---|---|\n",
                phase.name()
            );
            for row in self.rows(phase) {
                let Figures { rate, p50_ms, p99_ms, resident_mib, warmth, .. } = row.figures;
                let database = row.figures.database_cpu_ms;
                let cpu = row.figures.service_cpu_ms + database;
                let factor = |factor: Option<f64>, digits| {
                    factor.map_or_else(String::new, |factor| format!("{factor:.digits$}"))
                };
                let (floor, peer) = (factor(row.of_floor, 2), factor(row.of_peer, 1));
                let steady = if warmth.steady { "" } else { ", and not steady then" };
                let _never_fails = writeln!(
                    text,
                    "| {} | {rate:.0} | {p50_ms:.2} | {p99_ms:.2} | {cpu:.1} | {database:.1} | \
                     {resident_mib:.0} | {floor} | {peer} | {} s{steady} |",
                    row.name, warmth.seconds
                );
            }
        }
        text
    }

    /// Every round of every contestant.
    pub fn json(&self) -> Outcome<String> {
        let measured = self.rounds.iter().map(|((phase, place), rounds)| {
            json!({ "phase": phase.name(), "service": self.names[*place], "rounds": rounds })
        });
        let report = json!({
            "seconds": self.load.time.as_secs(),
            "sessions": self.load.sessions,
            "measured": measured.collect::<Vec<Value>>(),
        });
        Ok(serde_json::to_string_pretty(&report)? + "\n")
    }
}

/// The longest warm-up of these rounds; steady if all were.
fn longest(rounds: &[Figures]) -> Warmth {
    let warmed = rounds.iter().map(|figures| figures.warmth);
    let seconds = warmed.clone().map(|warmth| warmth.seconds).max().unwrap_or_default();
    Warmth { seconds, steady: warmed.into_iter().all(|warmth| warmth.steady) }
}

fn medians(rounds: &[Figures]) -> Figures {
    let of = |figure: fn(&Figures) -> f64| median(rounds.iter().map(figure).collect());
    Figures {
        rate: of(|figures| figures.rate),
        p50_ms: of(|figures| figures.p50_ms),
        p99_ms: of(|figures| figures.p99_ms),
        service_cpu_ms: of(|figures| figures.service_cpu_ms),
        database_cpu_ms: of(|figures| figures.database_cpu_ms),
        resident_mib: of(|figures| figures.resident_mib),
        warmth: longest(rounds),
    }
}

fn median(mut figures: Vec<f64>) -> f64 {
    figures.sort_by(f64::total_cmp);
    figures.get(figures.len() / 2).copied().unwrap_or_default()
}
