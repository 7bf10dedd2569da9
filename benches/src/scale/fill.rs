//! Reads and writes the databases without the service.

use crate::Outcome;
use crate::contestant::{Contestant, Database};
use crate::database::{query, readable_id};
use crate::outcome::needed;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

/// Writes this many requests, and half as many identities with a session each, of the last 59 days
/// or between two ages, the younger one first.
pub fn fill(side: &Contestant, requests: u64, ages: Option<(Duration, Duration)>) -> Outcome<()> {
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/scale/fill.mjs");
    let ages = ages.map(|(newest, oldest)| [newest, oldest].map(|age| age.as_millis().to_string()));
    let filled = Command::new("node")
        .args([script, &side.url, &requests.to_string()])
        .args(ages.iter().flatten())
        .current_dir(&side.folder)
        .env("BENCH_FOLDER", &side.folder)
        .status()?;
    if filled.success() { Ok(()) } else { Err("the database could not be filled".into()) }
}

/// Lets the database settle after many writes.
pub fn settle(side: &Contestant) -> Outcome<()> {
    match side.database {
        Database::Postgres { .. } => {
            query(side, "VACUUM ANALYZE")?;
            query(side, "CHECKPOINT")?;
        }
        _ => drop(query(side, "PRAGMA wal_checkpoint(TRUNCATE)")?),
    }
    Ok(())
}

/// Reads all of it once, so that the system caches as much as possible: a service that runs for
/// long does not begin with a cold disk.
pub fn warm(side: &Contestant) -> Outcome<()> {
    let folder = match side.database {
        Database::Postgres { .. } => PathBuf::from(needed("COMPARE_POSTGRES_DATA")?).join("base"),
        _ => side.folder.clone(),
    };
    read_all(&folder)
}

fn read_all(folder: &Path) -> Outcome<()> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            read_all(&path)?;
        } else if let Ok(mut file) = File::open(&path) {
            io::copy(&mut file, &mut io::sink())?;
        }
    }
    Ok(())
}

/// Ids of about this many requests of the first project, from all parts of the table.
pub fn requests(side: &Contestant, count: usize) -> Outcome<Vec<String>> {
    some(side, "otps", count)
}

/// Ids of identities likewise.
pub fn identities(side: &Contestant, count: usize) -> Outcome<Vec<String>> {
    some(side, "identities", count)
}

fn some(side: &Contestant, table: &str, count: usize) -> Outcome<Vec<String>> {
    let all: usize = query(side, &format!("SELECT count(*) FROM {table}"))?.trim().parse()?;
    let (from, and) = match side.database {
        Database::Postgres { .. } => {
            let share = (count as f64 * 110.0 / all as f64).min(100.0);
            (format!("{table} TABLESAMPLE BERNOULLI ({share})"), String::new())
        }
        _ => (table.to_owned(), format!(" AND random() % {} = 0", (all / count * 10 / 11).max(1))),
    };
    // The requests of the fill have no keys.
    let sql = format!(
        "SELECT {} FROM {from} WHERE mode = 'live' \
         AND project_id IN (SELECT project_id FROM api_keys){and}",
        readable_id(side)
    );
    Ok(query(side, &sql)?.lines().map(str::to_owned).collect())
}

/// Tells whether a request was made, or a session ended, before this time, in milliseconds.
pub fn has_older(side: &Contestant, before: u64) -> Outcome<bool> {
    let moment = match side.database {
        Database::Postgres { .. } => format!("to_timestamp({before} / 1000.0)"),
        _ => before.to_string(),
    };
    // Ids begin with the time; an index by age may not exist.
    let id = format!("'{before:012x}00000000000000000000'");
    let id = match side.database {
        Database::Postgres { .. } => id,
        _ => format!("x{id}"),
    };
    let sql = format!(
        "SELECT CAST(EXISTS (SELECT 1 FROM otps WHERE id < {id}) \
         OR EXISTS (SELECT 1 FROM sessions WHERE expires_at < {moment}) AS integer)"
    );
    Ok(query(side, &sql)?.trim() == "1")
}

/// The id of the only project.
pub fn project(side: &Contestant) -> Outcome<String> {
    let sql = format!("SELECT {} FROM projects", readable_id(side));
    Ok(query(side, &sql)?.trim().to_owned())
}

/// The number of stored requests.
pub fn count(side: &Contestant) -> Outcome<u64> {
    Ok(query(side, "SELECT count(*) FROM otps")?.trim().parse()?)
}
