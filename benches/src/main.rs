//! Measures Dwar beside better-auth, on SQLite and PostgreSQL, in one run.
//!
//! `scripts/compare.sh` builds and starts what this needs; docs/benchmarks.md says how to read it.

#![allow(clippy::print_stdout, reason = "a measurement, not a program")]

mod client;
mod contestant;
mod load;
mod provider;

use contestant::{Contestant, Database, Kind};
use load::{Figures, Phase};
use provider::Provider;
use std::collections::BTreeMap;
use std::error::Error;

/// What may go wrong; the run ends with it.
pub type Outcome<T> = Result<T, Box<dyn Error + Send + Sync>>;

/// All figures of one contestant and phase, one per round.
type Rounds = BTreeMap<(usize, Phase), Vec<Figures>>;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Outcome<()> {
    let settings = Settings::read()?;
    let provider = Provider::start().await?;
    let contestants = settings.contestants(&provider)?;
    let mut rounds = Rounds::new();
    // Everybody's turn comes once per round, so that what else the machine does meets all alike.
    for round in 1..=settings.rounds {
        for (place, contestant) in contestants.iter().enumerate() {
            eprint_progress(round, contestant);
            let running = contestant.start().await?;
            for (phase, figures) in load::measure(&running, &provider, settings.seconds).await? {
                rounds.entry((place, phase)).or_default().push(figures);
            }
        }
    }
    for phase in Phase::ALL {
        print_table(phase, &contestants, &rounds);
    }
    Ok(())
}

/// What the script says by environment variables.
struct Settings {
    dwar: String,
    /// An older binary to measure beside the present one.
    baseline: Option<String>,
    postgres: String,
    server_cpu: String,
    rounds: usize,
    seconds: u64,
}

impl Settings {
    fn read() -> Outcome<Self> {
        let optional = |name: &str| std::env::var(name).ok().filter(|value| !value.is_empty());
        let needed = |name: &str| optional(name).ok_or_else(|| format!("{name} is not set"));
        Ok(Self {
            dwar: needed("COMPARE_DWAR")?,
            baseline: optional("COMPARE_BASELINE"),
            postgres: needed("COMPARE_POSTGRES")?,
            server_cpu: needed("COMPARE_SERVER_CPU")?,
            rounds: optional("COMPARE_ROUNDS").map_or(Ok(5), |count| count.parse())?,
            seconds: optional("COMPARE_SECONDS").map_or(Ok(5), |count| count.parse())?,
        })
    }

    fn contestants(&self, provider: &Provider) -> Outcome<Vec<Contestant>> {
        let mut contestants = Vec::new();
        for database in [Database::Sqlite, Database::Postgres(self.postgres.clone())] {
            let mut add = |name: &'static str, kind| -> Outcome<()> {
                let cpu = self.server_cpu.clone();
                let made = Contestant::new(name, kind, database.clone(), cpu, provider.url())?;
                contestants.push(made);
                Ok(())
            };
            add("Dwar", Kind::Dwar(self.dwar.clone()))?;
            if let Some(baseline) = &self.baseline {
                add("Dwar, baseline", Kind::Dwar(baseline.clone()))?;
            }
            add("better-auth", Kind::Peer)?;
        }
        Ok(contestants)
    }
}

#[allow(clippy::print_stderr, reason = "what takes minutes shows that it goes on")]
fn eprint_progress(round: usize, contestant: &Contestant) {
    eprintln!("round {round}: {} on {}", contestant.name, contestant.database.name());
}

/// Medians over the rounds; the factor is to the peer on the same database, round by round.
fn print_table(phase: Phase, contestants: &[Contestant], rounds: &Rounds) {
    println!(
        "\n| {} | a second | p50 ms | p99 ms | × better-auth |\n|---|---|---|---|---|",
        phase.name()
    );
    for (place, contestant) in contestants.iter().enumerate() {
        let Some(all) = rounds.get(&(place, phase)) else { continue };
        let median_of = |figure: fn(&Figures) -> f64| median(all.iter().map(figure).collect());
        let peer = contestants.iter().position(|other| {
            matches!(other.kind, Kind::Peer) && other.database.name() == contestant.database.name()
        });
        let peers = peer.and_then(|peer| rounds.get(&(peer, phase)));
        let factor = peers.map_or_else(String::new, |peers| {
            let factors = all.iter().zip(peers).map(|(ours, theirs)| ours.rate / theirs.rate);
            format!("{:.1}", median(factors.collect()))
        });
        println!(
            "| {} on {} | {:.0} | {:.2} | {:.2} | {factor} |",
            contestant.name,
            contestant.database.name(),
            median_of(|figures| figures.rate),
            median_of(|figures| figures.p50),
            median_of(|figures| figures.p99),
        );
    }
}

fn median(mut figures: Vec<f64>) -> f64 {
    figures.sort_by(f64::total_cmp);
    figures.get(figures.len() / 2).copied().unwrap_or_default()
}
