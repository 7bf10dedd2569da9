//! Measures Dwar on SQLite and PostgreSQL, compared with a floor and better-auth, in one run.
//!
//! `scripts/compare.sh` builds and starts everything that this needs; docs/benchmarks.md explains
//! the results.

#![allow(clippy::print_stdout, clippy::print_stderr, reason = "a measurement, not a program")]

mod chart;
mod clients;
mod contestant;
mod database;
mod dialect;
mod floor;
mod http;
mod load;
mod meter;
mod outcome;
mod phase;
mod provider;
mod report;
mod scale;
mod soak;
mod warm;

use contestant::{BASELINE, Contestant, Database, Kind, Running, environment, postgres};
use floor::Answers;
pub use outcome::Outcome;
use outcome::{needed, setting};
use phase::{Load, Phase};
use report::Report;
use std::env::{args, var};
use std::path::PathBuf;
use std::time::Duration;
use warm::HALF_A_MINUTE;

fn main() -> Outcome<()> {
    let arguments: Vec<String> = args().collect();
    match arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        [_, "floor", address, answers] => floor::serve(address, answers),
        [_, "scale"] => scale::run(),
        [_, "soak"] => soak::run(),
        [_, "events"] => soak::events(),
        _ => compare(),
    }
}

/// Each contestant has one turn per round, so that other work of the machine affects all alike.
/// Each service is started at its first turn and runs until the end, so that its compiled code is
/// not lost.
fn compare() -> Outcome<()> {
    let rounds = setting("COMPARE_ROUNDS", 5)?;
    let mut load = Load {
        clients: setting("COMPARE_CLIENTS", 32)?,
        time: Duration::from_secs(setting("COMPARE_SECONDS", 5)?),
        warm_up: HALF_A_MINUTE,
        sessions: setting("COMPARE_SESSIONS", 10_000)?,
    };
    let contestants = contestants()?;
    let mut report = Report::new(contestants.iter().map(Contestant::name).collect(), load);
    let mut services: Vec<Running<'_>> = Vec::new();
    for round in 1..=rounds {
        for (environment, contestant) in contestants.iter().enumerate() {
            eprintln!("round {round}: {}", contestant.name());
            if round == 1 {
                let answers = services.first().map_or(Ok(Answers::new()), Running::answers)?;
                services.push(contestant.start(&answers)?);
            }
            for phase in
                Phase::ALL.into_iter().filter(|phase| chosen("COMPARE_PHASES", phase.name()))
            {
                if let Some(figures) = phase.measure(&services[environment], load)? {
                    report.add(environment, phase, figures);
                }
            }
        }
        load.warm_up = Duration::ZERO;
    }
    println!("{}", report.tables());
    if let Ok(folder) = needed("COMPARE_RESULTS") {
        let folder = PathBuf::from(folder);
        std::fs::create_dir_all(&folder)?;
        std::fs::write(folder.join("benchmark.json"), report.json()?)?;
        std::fs::write(folder.join("benchmark.svg"), chart::draw(&report))?;
    }
    Ok(())
}

/// The floor repeats the first of them.
fn contestants() -> Outcome<Vec<Contestant>> {
    let (environment, postgres) = (environment()?, postgres()?);
    let binary = needed("COMPARE_DWAR")?;
    let dwar = |instances| Kind::Dwar { name: "Dwar", binary: binary.clone(), instances };
    let several = setting("COMPARE_INSTANCES", 2)?;
    let mut kinds = vec![
        (dwar(1), Database::Sqlite),
        (dwar(1), postgres.clone()),
        (dwar(several), postgres.clone()),
        (Kind::Peer, Database::Sqlite),
        (Kind::Peer, postgres.clone()),
    ];
    if let Ok(binary) = needed("COMPARE_BASELINE") {
        let old = |instances| Kind::Dwar { name: BASELINE, binary: binary.clone(), instances };
        let (one, many) = (old(1), old(several));
        kinds.extend([(one.clone(), Database::Sqlite), (one, postgres.clone()), (many, postgres)]);
    }
    let other = changed();
    let made = kinds.into_iter().map(|(kind, database)| {
        let is_baseline = matches!(kind, Kind::Dwar { name: BASELINE, .. });
        let mut made = Contestant::new(kind, database, &environment)?;
        if is_baseline {
            made.settings.clone_from(&other);
        }
        Ok(made)
    });
    let mut made = made.collect::<Outcome<Vec<_>>>()?;
    made.insert(1, Contestant::floor_of(&made[0])?);
    let is_chosen = |contestant: &Contestant| chosen("COMPARE_ONLY", &contestant.name());
    if is_chosen(&made[1]) && !is_chosen(&made[0]) {
        let (floor, first) = (made[1].name(), made[0].name());
        return Err(format!("{floor}, repeats the answers of {first}: choose both").into());
    }
    made.retain(is_chosen);
    if made.is_empty() {
        return Err("COMPARE_ONLY chooses nobody".into());
    }
    Ok(made)
}

/// The settings in which the baseline differs.
fn changed() -> Vec<(String, String)> {
    let named = var("COMPARE_BASELINE_SETTINGS").unwrap_or_default();
    let pairs = named.split_whitespace().filter_map(|pair| pair.split_once('='));
    pairs.map(|(name, value)| (name.to_owned(), value.to_owned())).collect()
}

/// Tells whether a name contains one of the words in this variable, or the variable is not set.
fn chosen(variable: &str, name: &str) -> bool {
    needed(variable).map_or(true, |words| words.split(',').any(|word| name.contains(word)))
}
