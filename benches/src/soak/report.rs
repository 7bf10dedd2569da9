//! The results of a run, as tables.

use super::people::{Answers, Kind};
use super::queues::{DEAD, Queues};
use crate::Outcome;
use crate::contestant::{Contestant, Database};
use crate::database::query;
use std::collections::BTreeMap;
use std::fmt::Write;
use std::time::Duration;

/// Number of tables that are shown, the largest first.
const TABLES: usize = 12;

/// Processor time of one part.
pub struct Part {
    name: String,
    spent: Duration,
    /// In cores.
    share: f64,
}

impl Part {
    pub const fn new(name: String, spent: Duration) -> Self {
        Self { name, spent, share: 0.0 }
    }

    /// The use of each part between two readings, `took` apart.
    pub fn since(before: &[Self], after: &[Self], took: Duration) -> Vec<Self> {
        let spent = |(before, after): (&Self, &Self)| {
            let spent = after.spent.saturating_sub(before.spent);
            let share = spent.as_secs_f64() / took.as_secs_f64();
            Self { name: after.name.clone(), spent, share }
        };
        before.iter().zip(after).map(spent).collect()
    }
}

/// Bytes on disk by table, with indexes.
#[derive(Default)]
pub struct Disk(BTreeMap<String, (u64, u64)>);

impl Disk {
    /// The current sizes.
    pub fn read(side: &Contestant) -> Outcome<Self> {
        let sql = match side.database {
            Database::Postgres { .. } => {
                "SELECT relname, pg_total_relation_size(oid) FROM pg_class \
                 WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace"
            }
            _ => {
                "SELECT sqlite_master.tbl_name, sum(pgsize) FROM dbstat \
                 JOIN sqlite_master USING (name) GROUP BY 1"
            }
        };
        let rows = query(side, sql)?;
        let row = |line: &str| -> Outcome<(String, (u64, u64))> {
            let (table, bytes) = line.split_once('|').ok_or("a short row")?;
            Ok((table.to_owned(), (0, bytes.parse()?)))
        };
        Ok(Self(rows.lines().map(row).collect::<Outcome<_>>()?))
    }

    /// The difference between this reading and a later one.
    pub fn until(&self, after: &Self) -> Self {
        let before = |table: &String| self.0.get(table).map_or(0, |(_, bytes)| *bytes);
        let both =
            |(table, (_, bytes)): (&String, &(u64, u64))| (table.clone(), (before(table), *bytes));
        Self(after.0.iter().map(both).collect())
    }
}

pub struct Report {
    name: String,
    rate: u32,
    alone: Answers,
    pub took: Duration,
    pub answers: Answers,
    pub queues: Queues,
    pub parts: Vec<Part>,
    pub disk: Disk,
    /// By name, how long after its event each call came, in milliseconds.
    pub endpoints: Vec<(&'static str, Vec<u32>)>,
    /// How many reports of the provider were accepted, and how many were not.
    pub reported: (u64, u64),
    /// Durations of the overview page, in microseconds.
    pub pages: Vec<u32>,
    /// Number of bytes that the live list sent, and of its reconnects.
    pub live: (usize, usize),
    /// Number of events that were read from the feed, if there is one.
    pub pulled: Option<usize>,
    pub memory_mib: f64,
    /// Of PostgreSQL, if it counts them.
    pub statements: String,
}

impl Report {
    /// Begins with the results of logins without other load.
    pub fn new(name: String, rate: u32, alone: Answers) -> Self {
        Self {
            name,
            rate,
            alone,
            took: Duration::ZERO,
            answers: Answers::default(),
            queues: Queues::default(),
            parts: Vec::new(),
            disk: Disk::default(),
            endpoints: Vec::new(),
            reported: (0, 0),
            pages: Vec::new(),
            live: (0, 0),
            pulled: None,
            memory_mib: 0.0,
            statements: String::new(),
        }
    }

    /// The faults of the run.
    pub fn faults(&self) -> Vec<String> {
        let mut faults = self.queues.faults(f64::from(self.rate));
        for answers in [&self.alone, &self.answers] {
            if let Some(first) = &answers.first_error {
                faults.push(format!("{} requests failed, the first with {first}", answers.errors));
            }
        }
        let (taken, refused) = self.reported;
        if refused > 0 || taken == 0 {
            faults.push(format!("{refused} receipts were not taken, {taken} were"));
        }
        let unseen =
            self.endpoints.iter().filter(|(name, calls)| calls.is_empty() && *name != DEAD);
        faults.extend(unseen.map(|(name, _)| format!("no call came for «{name}»")));
        if self.pages.is_empty() || self.live.0 == 0 {
            faults.push("the dashboard showed nothing".to_owned());
        }
        if self.pulled == Some(0) {
            faults.push("the feed gave nothing".to_owned());
        }
        faults
    }

    pub fn text(&self) -> String {
        let (rate, seconds) = (self.rate, self.took.as_secs());
        let mut text = format!("## {}, {rate} logins a second for {seconds} s\n\n", self.name);
        for part in [self.requests(), self.waiting(), self.costs(), self.tables()] {
            text.push_str(&part);
            text.push('\n');
        }
        if !self.statements.is_empty() {
            text.push_str(&self.statements);
            text.push('\n');
        }
        text
    }

    fn requests(&self) -> String {
        let mut text = "| | A second | p50 ms | p99 ms | longest ms | p99 of logins alone |\n\
                        |---|---|---|---|---|---|\n"
            .to_owned();
        let took = self.took.as_secs_f64();
        for kind in Kind::ALL {
            let alone = match &self.alone.micros[kind as usize][..] {
                [] => String::new(),
                micros => format!("{:.1}", at(micros, 99) / 1e3),
            };
            let micros = &self.answers.micros[kind as usize];
            line(&mut text, kind.name(), micros, took, 1e3, &alone);
        }
        line(&mut text, "overview of the dashboard", &self.pages, took, 1e3, "");
        for (name, millis) in self.endpoints.iter().filter(|(_, millis)| !millis.is_empty()) {
            let name = format!("{name}: from event to call");
            line(&mut text, &name, millis, took, 1.0, "");
        }
        let receipts = self.reported.0 as f64 / took;
        put(&mut text, &format!("| receipts | {receipts:.0} | | | | |"));
        if let Some(pulled) = self.pulled {
            let a_second = pulled as f64 / took;
            put(&mut text, &format!("| events from the feed | {a_second:.0} | | | | |"));
        }
        text
    }

    fn waiting(&self) -> String {
        let mut text =
            "| Waits | at the start | its age, s | at the end | its age, s | oldest, s |\n\
                        |---|---|---|---|---|---|\n"
                .to_owned();
        for (name, first, last, oldest) in self.queues.rows() {
            let both =
                format!("{} | {:.1} | {} | {:.1}", first.count, first.age, last.count, last.age);
            put(&mut text, &format!("| {name} | {both} | {oldest:.1} |"));
        }
        text
    }

    fn costs(&self) -> String {
        let mut text = "| Processor | cores |\n|---|---|\n".to_owned();
        for Part { name, share, .. } in &self.parts {
            put(&mut text, &format!("| {name} | {share:.2} |"));
        }
        let (kilobytes, ends) = (self.live.0 / 1_000, self.live.1);
        let live =
            format!("\nThe live list sent {kilobytes} kB and was opened again {ends} times.");
        put(&mut text, &live);
        put(&mut text, &format!("Memory of the instances: {:.0} MiB.", self.memory_mib));
        text
    }

    fn tables(&self) -> String {
        let mut tables: Vec<_> = self.disk.0.iter().collect();
        tables.sort_by_key(|(_, (_, after))| std::cmp::Reverse(*after));
        let mut text = "| Table | MB at the start | MB at the end |\n|---|---|---|\n".to_owned();
        let mb = |bytes: u64| bytes as f64 / 1e6;
        for (table, (before, after)) in tables.iter().take(TABLES) {
            put(&mut text, &format!("| `{table}` | {:.1} | {:.1} |", mb(*before), mb(*after)));
        }
        let sum = |part: fn(&(u64, u64)) -> u64| mb(self.disk.0.values().map(part).sum());
        let (before, after) = (sum(|it| it.0), sum(|it| it.1));
        put(&mut text, &format!("| all | {before:.1} | {after:.1} |"));
        text
    }
}

/// A row of a table; `unit` is the number of units per millisecond in `times`.
fn line(text: &mut String, name: &str, times: &[u32], took: f64, unit: f64, alone: &str) {
    let rate = times.len() as f64 / took;
    let [p50, p99, longest] = [50, 99, 100].map(|share| at(times, share) / unit);
    put(text, &format!("| {name} | {rate:.1} | {p50:.1} | {p99:.1} | {longest:.1} | {alone} |"));
}

/// A percentile.
pub fn at(times: &[u32], share: usize) -> f64 {
    let mut times = times.to_vec();
    times.sort_unstable();
    let place = (times.len() * share / 100).min(times.len().saturating_sub(1));
    times.get(place).map_or(f64::NAN, |time| f64::from(*time))
}

fn put(text: &mut String, line: &str) {
    let _never_fails = writeln!(text, "{line}");
}
