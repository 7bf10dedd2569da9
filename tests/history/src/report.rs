//! The report for people.

use crate::checks::Violation;
use crate::history::{History, Op, SECOND};
use std::collections::BTreeMap;

/// The summary of a history with or without violations.
pub fn summary(history: &History) -> String {
    let mut lines = Vec::new();
    for (action, outcomes) in history.tally() {
        let total: usize = outcomes.values().sum();
        let parts: Vec<_> =
            outcomes.iter().map(|(outcome, count)| format!("{outcome} {count}")).collect();
        lines.push(format!("  {action:<26} {total:>7}  {}", parts.join(", ")));
    }
    lines.push(format!("  {} messages, {} calls", history.messages.len(), history.ops.len()));
    let mut faults: BTreeMap<&str, usize> = BTreeMap::new();
    for fault in &history.faults {
        *faults.entry(fault.kind).or_default() += 1;
    }
    lines.extend(faults.iter().map(|(kind, count)| format!("  {kind:<34} {count:>5}")));
    let [all, down, stopped] = ["", "kill", "SIGSTOP"].map(|kind| commands(history, kind));
    lines.push(format!(
        "  {all} commands, {down} while an instance was down, {stopped} while one was stopped"
    ));
    for ledger in &history.ledgers {
        let (project, entries) = (ledger.project, ledger.entries.len());
        lines.push(format!(
            "  project {project}: {entries} movements, {} paise left",
            ledger.balance
        ));
    }
    lines.push(format!("  longest stall of the checker: {} ms", history.stall / 1_000));
    lines.join("\n")
}

/// The number of commands; for a kind of fault, of those that it affected.
fn commands(history: &History, kind: &str) -> usize {
    let faults: Vec<_> = history.faults.iter().filter(|it| it.kind.starts_with(kind)).collect();
    let meets = |op: &&Op| faults.iter().any(|it| it.began < op.ended && op.began < it.ended);
    let commands = history.ops.iter().filter(|op| op.instance.is_none());
    commands.filter(|op| kind.is_empty() || meets(op)).count()
}

/// A violation with the operations concerned, in order.
pub fn describe(history: &History, violation: &Violation) -> String {
    let mut lines = vec![format!("VIOLATION of {}: {}", violation.check, violation.what)];
    for number in &violation.ops {
        let Some(op) = history.ops.get(*number) else { continue };
        let seconds = |micros: u64| format!("{}.{:06}", micros / SECOND, micros % SECOND);
        let place =
            op.instance.map_or("command line".to_owned(), |number| format!("instance {number}"));
        lines.push(format!(
            "  #{number} {} to {}: client {}, {place}, project {}, key {}: {:?} -> {:?}",
            seconds(op.began),
            seconds(op.ended),
            op.client,
            op.project,
            op.key,
            op.action,
            op.outcome
        ));
    }
    lines.join("\n")
}
