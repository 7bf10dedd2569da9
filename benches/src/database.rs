//! Queries on the database of a contestant, without the service.

use crate::Outcome;
use crate::contestant::{Contestant, Database};
use std::process::Command;

/// The SQL expression for an id in its public form.
pub const fn readable_id(side: &Contestant) -> &'static str {
    match side.database {
        Database::Postgres { .. } => "id",
        _ => {
            "lower(hex(substr(id, 1, 4)) || '-' || hex(substr(id, 5, 2)) || '-' || \
             hex(substr(id, 7, 2)) || '-' || hex(substr(id, 9, 2)) || '-' || hex(substr(id, 11)))"
        }
    }
}

/// Runs a statement and returns its rows: one line each, columns separated by `|`.
pub fn query(side: &Contestant, sql: &str) -> Outcome<String> {
    let mut command = match side.database {
        Database::Postgres { .. } => Command::new("psql"),
        _ => Command::new("sqlite3"),
    };
    match side.database {
        Database::Postgres { .. } => command.args([&side.url, "-qAtc", sql]),
        _ => {
            command.args(["-cmd", ".timeout 60000", side.url.trim_start_matches("sqlite://"), sql])
        }
    };
    let output = command.current_dir(&side.folder).output()?;
    if !output.status.success() {
        return Err(String::from_utf8_lossy(&output.stderr).into_owned().into());
    }
    Ok(String::from_utf8(output.stdout)?)
}
