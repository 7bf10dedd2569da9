//! The cost of a request as the database grows: a small and a large database of one kind, measured
//! in turns.
//!
//! `scripts/bench-scale.sh` builds and starts everything that this needs; docs/benchmarks.md
//! explains the results.

mod asking;
mod crowd;
mod endpoint;
mod extent;
pub mod fill;
mod sweep;
mod tables;
mod times;

use crate::Outcome;
use crate::contestant::{Contestant, Database, Kind, environment, postgres};
use crate::floor::Answers;
use crate::outcome::{needed, setting};
use crowd::Crowd;
use endpoint::Endpoint;
use extent::{Extent, KEEP_HOURS, settings};
use times::{Measured, Times};

/// Number of people in the small database, and in the large one before it is filled: each has a
/// session and made two requests.
const PEOPLE: usize = 5_000;
/// Fills two databases, measures, and prints tables.
pub fn run() -> Outcome<()> {
    let extent = Extent {
        requests: setting("SCALE_REQUESTS", 10_000_000)?,
        rounds: setting("SCALE_ROUNDS", 7)?,
        samples: setting("SCALE_SAMPLES", 2_000)?,
        connections: setting("SCALE_CONNECTIONS", 4)?,
        swept: setting("SCALE_SWEPT", 1_000_000)?,
    };
    let environment = environment()?;
    let database = match needed("SCALE_KIND")?.as_str() {
        "postgres" => postgres()?,
        _ => Database::Sqlite,
    };
    let binary = needed("COMPARE_DWAR")?;
    let contestant = || -> Outcome<Contestant> {
        let kind = Kind::Dwar { name: "Dwar", binary: binary.clone(), instances: 1 };
        let mut made = Contestant::new(kind, database.clone(), &environment)?;
        made.settings = settings(KEEP_HOURS);
        let project = fill::project(&made)?;
        let switches = ["--identity-lookup", "on", "--identity-delete", "on"];
        made.run(&[&["project", "set", "--project", &project][..], &switches].concat())?;
        Ok(made)
    };
    let (mut sides, mut crowds) = (Vec::new(), Vec::new());
    for is_large in [false, true] {
        let side = contestant()?;
        let mut crowd = Crowd::new(
            side.users.dialect().clone(),
            environment.provider.clone(),
            extent.connections,
        );
        crowd.sign_up(&side.start(&Answers::new())?, PEOPLE)?;
        if is_large {
            eprintln!("filling {}", side.url);
            fill::fill(&side, extent.requests, None)?;
            crowd.meet_many(&side, extent.samples * (extent.rounds + 1))?;
        }
        fill::settle(&side)?;
        sides.push(side);
        crowds.push(crowd);
    }
    for side in &sides {
        fill::warm(side)?;
    }
    let (times, memory) = measure(&sides, &mut crowds, &extent)?;
    println!("{}", tables::of_endpoints(database.name(), &times, &memory));
    let (Some(large), Some(crowd)) = (sides.last_mut(), crowds.last_mut()) else { return Ok(()) };
    let leaving = sweep::measure(large, crowd, &extent)?;
    println!("{}", tables::of_sweep(database.name(), &leaving));
    Ok(())
}

/// Both services run all the time and are called in turns; the first one changes with the round.
fn measure(
    sides: &[Contestant],
    crowds: &mut [Crowd],
    extent: &Extent,
) -> Outcome<(Measured, Vec<f64>)> {
    let running = sides.iter().map(|side| side.start(&Answers::new()));
    let running = running.collect::<Outcome<Vec<_>>>()?;
    let mut measured = Measured::new();
    for round in 0..=extent.rounds {
        eprintln!("round {round}");
        for (crowd, side) in crowds.iter_mut().zip(sides) {
            crowd.meet_few(side, PEOPLE)?;
        }
        for endpoint in Endpoint::ALL {
            for turn in 0..2 {
                let side = (turn + round) % 2;
                let micros = crowds[side].ask(&running[side], endpoint, extent.samples)?;
                if round > 0 {
                    measured.entry((endpoint, side)).or_default().push(Times::of(micros));
                }
            }
        }
    }
    let memory = running.iter().map(|running| running.meter().resident_mib());
    Ok((measured, memory.collect::<Outcome<Vec<_>>>()?))
}
