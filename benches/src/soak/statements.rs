//! The statements that took most of PostgreSQL's time, if it counts them (pg_stat_statements).

use crate::Outcome;
use crate::contestant::{Contestant, Database};
use crate::database::query;

/// Tells whether this server counts statements, and resets the counts.
pub fn begin(side: &Contestant) -> bool {
    let is_postgres = matches!(side.database, Database::Postgres { .. });
    let begun =
        "CREATE EXTENSION IF NOT EXISTS pg_stat_statements; SELECT pg_stat_statements_reset()";
    is_postgres && query(side, begun).is_ok()
}

/// The twenty most expensive statements: total milliseconds, calls, rows, and the start of their
/// text.
pub fn table(side: &Contestant) -> Outcome<String> {
    let sql = "SELECT round(total_exec_time + total_plan_time), calls, rows, \
               translate(left(regexp_replace(query, '\\s+', ' ', 'g'), 150), '|', '/') \
               FROM pg_stat_statements JOIN pg_database d ON d.oid = dbid \
               WHERE datname = current_database() ORDER BY 1 DESC LIMIT 20";
    let head = "| Statement, ms in all | calls | rows | |\n|---|---|---|---|\n";
    let rows = query(side, sql)?;
    let rows = rows.lines().map(|row| format!("| {} |\n", row.replace('|', " | ")));
    Ok(head.to_owned() + &rows.collect::<String>())
}
