//! Plays thirty days of one project against seven attackers: with the guard of the real service, and with models of two
//! other defences. `scripts/simulate-guard.sh` runs it; docs/guard.md quotes what it prints.

#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a measurement, not a program"
)]

mod attackers;
mod calendar;
mod crowd;
mod defence;
mod dice;
mod guarded;
mod models;
mod numbers;
mod report;
mod tally;

use attackers::{Attacker, Move};
use calendar::{DAY, DAYS, Happening, happening};
use crowd::Crowd;
use defence::{Answer, Defence};
use guarded::Guarded;
use models::{FixedLimits, PrefixBlock};
use report::Report;
use std::process::ExitCode;
use tally::Tally;

const A_DAY: u32 = 10_000;
const SEED: u64 = 39;

#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    // Cargo adds an option of its own.
    let given: Vec<String> = std::env::args().skip(1).filter(|it| !it.starts_with("--")).collect();
    let a_day = given.first().map_or(A_DAY, |text| text.parse().unwrap());
    let seed = given.get(1).map_or(SEED, |text| text.parse().unwrap());
    let report = Report {
        a_day,
        seed,
        guard: play(&mut Guarded::open().await, a_day, seed).await,
        limits: play(&mut FixedLimits::default(), a_day, seed).await,
        blocks: play(&mut PrefixBlock::default(), a_day, seed).await,
    };
    println!("{report}");
    let broken = report.broken();
    broken.iter().for_each(|promise| eprintln!("simulate-guard.sh: {promise}"));
    ExitCode::from(u8::from(!broken.is_empty()))
}

/// The thirty days with one defence. Honest people and attackers are the same with each; what they do depends on the
/// answers that they get.
async fn play<D: Defence>(defence: &mut D, a_day: u32, seed: u64) -> Tally {
    let mut crowd = Crowd::new(seed, a_day.into());
    let mut attackers = attackers::all(seed, crowd.victims());
    let mut tally = Tally::new();
    for second in 0..DAYS * DAY {
        let happens = happening(second);
        defence.begin_second(second, happens);
        crowd.act(second, defence, &mut tally).await;
        if let Happening::Attack(index) = happens {
            attack(attackers[index].as_mut(), second, defence, &mut tally).await;
        }
        defence.end_second().await;
        if second.is_multiple_of(DAY) {
            eprint!(".");
        }
    }
    eprintln!();
    tally
}

async fn attack<D: Defence>(
    attacker: &mut dyn Attacker,
    second: u64,
    defence: &mut D,
    tally: &mut Tally,
) {
    for step in attacker.moves(second) {
        match step {
            Move::Send(request) => {
                let answer = defence.send(&request).await;
                tally.at(second).messages += u64::from(answer == Answer::Sent);
                attacker.learn(&request, answer, second);
            }
            Move::Enter(number) => drop(defence.enter(number, false).await),
            Move::GuessWrong(number) => defence.guess_wrong(number).await,
            Move::Delete(number) => defence.delete(number).await,
        }
    }
}
