//! Queues of waiting work: their length and age, and whether they grow.

use crate::Outcome;
use crate::contestant::{Contestant, Database};
use crate::database::query;
use crate::outcome::now_millis;
use std::collections::BTreeMap;

/// One reading of one queue.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Reading {
    pub count: u64,
    /// Of the oldest, in seconds.
    pub age: f64,
}

/// Every reading of every queue, in order of time.
#[derive(Default)]
pub struct Queues(BTreeMap<String, Vec<Reading>>);

/// Longest allowed age of waiting work at the end, in seconds. Work done once a minute waits for a
/// minute, and events that an endpoint refuses wait until it accepts them.
fn longest(queue: &str) -> Option<f64> {
    match queue {
        DEAD => None,
        FIGURES => Some(60.0),
        OLD_ROWS => Some(150.0),
        _ => Some(5.0),
    }
}

/// Events for an endpoint that accepts no connections.
pub const DEAD: &str = "events, dead endpoint";
/// Requests that were not sent yet.
pub const REQUESTS: &str = "requests";
const FIGURES: &str = "figures";
const OLD_ROWS: &str = "rows to be swept";

impl Queues {
    /// Records one reading of one queue.
    pub fn note(&mut self, queue: &str, reading: Reading) {
        self.0.entry(queue.to_owned()).or_default().push(reading);
    }

    /// Reads all queues of the database; `endpoints` are the names of their queues and their ids.
    pub fn read(&mut self, side: &Contestant, endpoints: &[(&str, String)]) -> Outcome<()> {
        let answer = query(side, &sql(side, endpoints)?)?;
        for line in answer.lines() {
            let mut columns = line.split('|');
            let mut next = || columns.next().ok_or("a short row");
            let (queue, count, age) = (next()?, next()?.parse()?, next()?);
            // Nothing waits, or only work that is due later.
            let age = age.parse::<f64>().unwrap_or_default().max(0.0);
            self.note(queue, Reading { count, age });
        }
        Ok(())
    }

    /// Every queue with its first and its last reading, and its longest age.
    pub fn rows(&self) -> impl Iterator<Item = (&str, Reading, Reading, f64)> {
        self.0.iter().filter_map(|(name, readings)| {
            let longest = readings.iter().map(|reading| reading.age).fold(0.0, f64::max);
            Some((name.as_str(), *readings.first()?, *readings.last()?, longest))
        })
    }

    /// The faults: growing queues, and work that is too old at the end. `rate` is the number of
    /// logins a second.
    pub fn faults(&self, rate: f64) -> Vec<String> {
        let judged =
            self.0.iter().filter_map(|(name, readings)| Some((name, readings, longest(name)?)));
        judged
            .filter_map(|(name, readings, longest)| fault(name, readings, longest, rate))
            .collect()
    }
}

fn fault(name: &str, readings: &[Reading], longest: f64, rate: f64) -> Option<String> {
    readings.last()?;
    // A single reading may fall into a moment at which a batch is due.
    let last = readings.iter().rev().take(3).map(|reading| reading.age);
    let age = last.fold(f64::INFINITY, f64::min);
    if age > longest {
        return Some(format!("«{name}» is {age:.1} s old at the end: more than {longest} s"));
    }
    let part = readings.len() / 4;
    let mean =
        |part: &[Reading]| part.iter().map(|it| it.count as f64).sum::<f64>() / part.len() as f64;
    let (early, late) = (readings.get(part..2 * part)?, readings.get(readings.len() - part..)?);
    let grows = !early.is_empty() && mean(late) > 2.0 * mean(early) + longest * rate;
    let (early, late) = (mean(early), mean(late));
    grows.then(|| format!("«{name}» grows: {early:.0} wait at first, {late:.0} at the end"))
}

/// Selects name, count and age in seconds of each queue. Requests are kept for a day, and their ids
/// begin with the time at which they were made.
fn sql(side: &Contestant, endpoints: &[(&str, String)]) -> Outcome<String> {
    let is_postgres = matches!(side.database, Database::Postgres { .. });
    let (now, seconds, since) = if is_postgres {
        ("now()", "extract(epoch FROM", "extract(epoch FROM now()) - 86400 -")
    } else {
        let now = "CAST((julianday('now') - 2440587.5) * 86400000 AS integer)";
        (now, "1e-3 * (", "(julianday('now') - 2440587.5) * 86400 - 86400 -")
    };
    let id = |hex: String| if is_postgres { format!("'{hex}'") } else { format!("x'{hex}'") };
    let due = |name: &str, table: &str, which: &str| {
        format!(
            "SELECT '{name}', count(*), {seconds} {now} - min(due_at)) FROM {table} \
             WHERE {which} AND due_at <= {now}"
        )
    };
    let mut parts = vec![
        due("receipts", "receipts", "known"),
        due("overdue sends", "otps", "due_at IS NOT NULL"),
        format!("SELECT '{FIGURES}', 1, {seconds} {now} - fresh_at) FROM figures_lease"),
    ];
    for (name, endpoint) in endpoints {
        let which = format!("endpoint_id = {}", id(endpoint.replace('-', "")));
        parts.push(due(name, "event_deliveries", &which));
    }
    let day_ago = now_millis()?.saturating_sub(86_400_000);
    let first = id(format!("{day_ago:012x}00000000000000000000"));
    let made =
        if is_postgres { "extract(epoch FROM min(created_at))" } else { "min(created_at) / 1e3" };
    parts.push(format!(
        "SELECT '{OLD_ROWS}', count(*), {since} {made} FROM otps WHERE id < {first}"
    ));
    Ok(parts.join(" UNION ALL "))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(counts: &[u64], age: f64) -> Vec<Reading> {
        counts.iter().map(|&count| Reading { count, age }).collect()
    }

    #[test]
    fn a_queue_that_grows_or_is_old_at_the_end_is_named() {
        let old = fault("receipts", &of(&[1; 8], 5.1), 5.0, 100.0).unwrap();
        assert!(old.contains("receipts") && old.contains("5.1"), "{old}");
        assert_eq!(fault("receipts", &of(&[1; 8], 5.0), 5.0, 100.0), None);
        let grown = fault("receipts", &of(&[0, 0, 0, 0, 400, 500, 600, 900], 0.1), 5.0, 100.0);
        assert!(grown.unwrap().contains("grows"));
        assert_eq!(
            fault("receipts", &of(&[0, 0, 0, 0, 400, 500, 600, 400], 0.1), 5.0, 100.0),
            None
        );
        assert_eq!(fault("receipts", &[], 5.0, 100.0), None);
    }

    #[test]
    fn one_old_reading_among_the_last_is_no_fault() {
        let mut readings = of(&[1; 8], 0.1);
        readings.push(Reading { count: 1, age: 9.0 });
        assert_eq!(fault("receipts", &readings, 5.0, 100.0), None);
    }
}
