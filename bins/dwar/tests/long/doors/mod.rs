//! Every management command × every door × every role × {right, wrong, beyond its bounds, in
//! another project}: the same verdict and the same entry in the audit log, whichever the interface
//! (here «door»). The commands come from `Command::ALL`, the rights from `Command::needs`, and the
//! requests from `rows`.

pub mod asking;
mod audit;
mod coverage;
pub mod rows;
pub mod stage;
mod state;
mod subjects;
mod verdict;

use crate::common::Database;
use asking::{Case, DoorCall, Given};
use audit::Written;
use dwar_operator::{Command, CreatedCredential, RequiredAccess};
use rows::{Door, Row, row};
use stage::{Asker, Stage, Subject, Through};
use state::State;
use std::collections::BTreeMap;
use verdict::Expected;

on_both_databases! {
    every_door_says_the_same;
}

struct Cell<'a> {
    command: Command,
    row: &'a Row,
    asker: &'a Asker,
    /// The index among the ways of its door.
    number: usize,
    call: DoorCall,
    case: Case,
    expected: Expected,
}

/// The audit entry of the first caller for each case; all others must have the same.
type Log = BTreeMap<(Command, Case), (String, Written)>;

async fn every_door_says_the_same(database: Database) {
    let stage = Stage::new(database).await;
    coverage::every_way_in_has_a_row(&stage).await;
    let askers = stage.askers().await;
    let rows: Vec<(Command, Row)> = Command::ALL.iter().map(|one| (*one, row(*one))).collect();
    let (mut log, mut asked, mut wrong) = (Log::new(), 0, Vec::new());
    for without_trace in [true, false] {
        for (command, row) in &rows {
            let database = &stage.service.world.database;
            let before = if without_trace { state::of(database).await } else { State::new() };
            let cells = cells(*command, row, &askers, &stage).into_iter();
            for cell in cells.filter(|cell| cell.expected.is_without_trace() == without_trace) {
                match cell.check(&stage, &mut log).await {
                    Ok(was) => asked += usize::from(was),
                    Err(why) => wrong.push(format!("{}: {why}", cell.name())),
                }
            }
            if !without_trace {
                continue;
            }
            let changed = state::difference(&before, &state::of(database).await);
            if !changed.is_empty() {
                wrong.push(format!("{command}, refused, and yet there is now:\n{changed}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{} of {asked}:\n{}", wrong.len(), wrong.join("\n"));
    assert!(asked > 1_000, "{asked}");
}

fn cells<'a>(command: Command, row: &'a Row, askers: &'a [Asker], stage: &Stage) -> Vec<Cell<'a>> {
    let mut cells = Vec::new();
    for asker in askers {
        // Without the right to delegate, everything else is the same as for others.
        if !asker.by.may_delegate && command.makes() == CreatedCredential::Nothing {
            continue;
        }
        let door = match asker.through {
            Through::Api(_) => &row.api,
            Through::Pages(_) => &row.pages,
            Through::Cli => &row.cli,
        };
        let Door::Calls(ways) = door else { continue };
        for (number, way) in ways.iter().copied().enumerate() {
            cells.extend(Case::ALL.map(|case| {
                let expected = Expected::of(&asker.by, command, row, case, stage);
                Cell { command, row, asker, number, call: way, case, expected }
            }));
        }
    }
    cells
}

impl Cell<'_> {
    fn name(&self) -> String {
        let door = match self.asker.through {
            Through::Api(_) => "the admin API",
            Through::Pages(_) => "the pages",
            Through::Cli => "the command line",
        };
        let Self { command, number, case, asker, .. } = self;
        format!("{command}, {case:?}, way {number} of {door}, asked by {}", asker.by.actor)
    }

    /// Makes the request, if this door can express it, and compares the answer and the audit entry
    /// with the expected ones.
    async fn check(&self, stage: &Stage, log: &mut Log) -> Result<bool, String> {
        let made: Subject;
        let project = if self.case == Case::Elsewhere { &stage.theirs } else { &stage.ours };
        let subject = if self.row.about.lasts() || self.expected.entry.is_none() {
            stage.kept(self.row.about, self.case)
        } else {
            made = stage.make(self.row.about, &project.id).await;
            &made
        };
        if self.command == Command::AddWebhook && self.expected.entry.is_some() {
            stage.make_room("webhook").await;
        }
        if self.command == Command::AddHook && self.expected.entry.is_some() {
            stage.make_room("hook").await;
        }
        let (word, phone) = (stage.word(), stage.service.world.phone());
        let it = Given { case: self.case, stage, subject, word, phone };
        let Some(call) = (self.call)(&it) else { return Ok(false) };
        let last = stage.last_audited().await;
        let said = self.asker.ask(stage, &call).await?;
        let Expected { verdict, entry } = self.expected;
        if said != verdict {
            return Err(format!("{said:?}, and not {verdict:?}"));
        }
        let entries = stage.audited_since(&last).await;
        if entries.len() != usize::from(entry.is_some()) {
            return Err(format!("{entry:?} was to be written down, and was: {entries:?}"));
        }
        let (Some(action), Some(written)) = (entry, entries.first()) else { return Ok(true) };
        let about =
            matches!(self.command.needs(), RequiredAccess::Project(_)).then(|| it.project());
        let written = Written::read(written, &self.asker.by, action, about, &it)?;
        self.compare(written, log)?;
        Ok(true)
    }

    /// Compares the audit entry with that of the first caller of the same command.
    fn compare(&self, written: Written, log: &mut Log) -> Result<(), String> {
        // Ways other than the first may use features that another door lacks.
        if self.number > 0 {
            return Ok(());
        }
        let known = log.entry((self.command, self.case));
        let (first, wanted) = known.or_insert_with(|| (self.name(), written.clone()));
        if *wanted == written {
            Ok(())
        } else {
            Err(format!("{written:?}; but {first}: {wanted:?}"))
        }
    }
}
