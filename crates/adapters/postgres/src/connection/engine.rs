//! Whether a server is one that the store can rely on.
//!
//! Other engines speak PostgreSQL's protocol. They often accept features that they do not
//! implement, and a lock that does nothing silently disables limits. So the check first compares
//! names and then tries each required feature.

use crate::PostgresStore;
use crate::connection::error::{Failure, no_connection};
use crate::connection::link::speak_english;
use diesel::ConnectionError;
use diesel::connection::SimpleConnection;
use diesel::dsl::sql;
use diesel::prelude::*;
use diesel::result::Error as QueryError;
use diesel::sql_types::{Bool, Integer, Text};
use dwar_kernel::StoreError;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread;
use std::time::Duration;

/// The oldest supported release, as `server_version_num`. Migrations may use what its documentation
/// describes.
const OLDEST: i32 = 150_000;
/// Longest wait for the second connection of a probe.
const PATIENCE: Duration = Duration::from_secs(5);
/// Class of the advisory lock that the probe takes; see [`crate::connection::lock`] for the others.
const CLASS: i32 = 5;

/// Text in `version()` that identifies other engines, and their names. Most begin with "PostgreSQL"
/// to satisfy drivers. Forks that have every required feature are not listed: Aurora PostgreSQL,
/// AlloyDB, EDB, Neon, Supabase, Citus, Percona.
const OTHERS: [(&str, &str); 13] = [
    ("CockroachDB", "CockroachDB"),
    ("-YB-", "YugabyteDB"),
    ("Redshift", "Amazon Redshift"),
    ("Materialize", "Materialize"),
    ("RisingWave", "RisingWave"),
    ("Greenplum", "Greenplum"),
    ("Cloudberry", "Apache Cloudberry"),
    ("CrateDB", "CrateDB"),
    ("QuestDB", "QuestDB"),
    ("CedarDB", "CedarDB"),
    ("Hologres", "Hologres"),
    ("openGauss", "openGauss"),
    ("GaussDB", "GaussDB"),
];

/// Makes a table with a row trigger that adds one. A role without the right to do so is not
/// refused.
const PROBE: &str = "DO $$ BEGIN \
    CREATE TEMP TABLE dwar_probe (n integer NOT NULL); \
    CREATE FUNCTION pg_temp.dwar_probe() RETURNS trigger LANGUAGE plpgsql AS \
        'BEGIN NEW.n := NEW.n + 1; RETURN NEW; END'; \
    CREATE TRIGGER dwar_probe BEFORE INSERT ON pg_temp.dwar_probe \
        FOR EACH ROW EXECUTE FUNCTION pg_temp.dwar_probe(); \
    EXCEPTION WHEN insufficient_privilege THEN NULL; END $$";
const MADE: &str = "to_regclass('pg_temp.dwar_probe') IS NOT NULL";
const WRITE: &str =
    "WITH written AS (INSERT INTO pg_temp.dwar_probe VALUES (1) RETURNING n) SELECT n FROM written";

impl PostgresStore {
    /// Tries each feature that the store relies on, and leaves nothing behind.
    ///
    /// # Errors
    /// [`StoreError::Foreign`] if the server is another engine, too old, or lacks what it takes;
    /// [`StoreError::Unavailable`] if it does not answer.
    pub async fn check_engine(&self) -> Result<(), StoreError> {
        self.apart(|url| {
            let mut conn = connect(url)?;
            probe(&mut conn, url)
        })
        .await
    }
}

/// Opens a connection to a server that is not known to be another engine.
///
/// # Errors
/// [`StoreError::Foreign`] if it is, [`StoreError::Unavailable`] if there is no connection.
pub(crate) fn connect(url: &str) -> Result<PgConnection, StoreError> {
    let mut conn = PgConnection::establish(url).map_err(|cause| {
        tracing::warn!(%cause, "no connection to PostgreSQL");
        let refused = stranger(url, &cause);
        refused.unwrap_or_else(|| no_connection(cause))
    })?;
    recognise(&mut conn)?;
    speak_english(&mut conn);
    Ok(conn)
}

/// Refuses another engine by the version that it reports.
///
/// # Errors
/// [`StoreError::Foreign`] in a sentence.
fn recognise(conn: &mut PgConnection) -> Result<(), StoreError> {
    let version: String = ask(conn, "version()", "does not tell its version")?;
    if let Some(name) = other_engine(&version) {
        return Err(refusal(&format!("is {name}")));
    }
    let asked = "current_setting('server_version_num')::integer";
    let number: i32 = ask_number(conn, asked)?;
    if number < OLDEST {
        return Err(refusal(&format!("is PostgreSQL {}", release(number))));
    }
    Ok(())
}

/// Explains why the server refused a connection over a setting that PostgreSQL has: returns the
/// refusal if it is another engine. Connects without our settings to find out.
fn stranger(url: &str, cause: &ConnectionError) -> Option<StoreError> {
    let told = cause.to_string();
    let about_settings = told.contains("parameter") || told.contains("transaction_read_only");
    if !about_settings {
        return None;
    }
    let mut conn = PgConnection::establish(&bare(url)).ok()?;
    recognise(&mut conn).err().filter(|refused| matches!(refused, StoreError::Foreign(_)))
}

/// The URL without session settings and without a choice between servers.
fn bare(url: &str) -> String {
    let (base, query) = url.split_once('?').unwrap_or((url, ""));
    let ours =
        |pair: &&str| ["options=", "target_session_attrs="].iter().any(|it| pair.starts_with(it));
    let kept: Vec<&str> = query.split('&').filter(|pair| !ours(pair)).collect();
    format!("{base}?{}", kept.join("&"))
}

/// Refuses a server whose locks do not lock, whose row triggers do not fire, or which cannot
/// combine reads and writes in a statement.
///
/// # Errors
/// Like [`PostgresStore::check_engine`].
pub(crate) fn probe(conn: &mut PgConnection, url: &str) -> Result<(), StoreError> {
    in_transaction(conn, |conn| locks_lock(conn, url))?;
    in_transaction(conn, triggers_fire)
}

/// The name of the engine with this version; `None` for PostgreSQL and its accepted forks.
fn other_engine(version: &str) -> Option<String> {
    if let Some((_, name)) = OTHERS.iter().find(|(mark, _)| version.contains(mark)) {
        return Some((*name).to_owned());
    }
    let is_ours = version.starts_with("PostgreSQL ");
    (!is_ours).then(|| version.chars().filter(|it| !it.is_control()).take(40).collect())
}

/// Formats a version number: 90624 is 9.6.24, 140011 is 14.11.
fn release(number: i32) -> String {
    let (major, rest) = (number / 10_000, number % 10_000);
    if major < 10 {
        format!("{major}.{}.{}", rest / 100, rest % 100)
    } else {
        format!("{major}.{rest}")
    }
}

fn refusal(what: &str) -> StoreError {
    StoreError::Foreign(format!(
        "the server of database.url {what}; the service needs PostgreSQL 15 or newer, or a server that is built from it \
         with advisory locks and row triggers (docs/operations/postgresql.md)"
    ))
}

fn ask(conn: &mut PgConnection, what: &str, lacks: &str) -> Result<String, StoreError> {
    let told = diesel::select(sql::<Text>(what)).get_result(conn);
    told.map_err(|cause| unable(cause, lacks))
}

fn ask_number(conn: &mut PgConnection, what: &str) -> Result<i32, StoreError> {
    let told = diesel::select(sql::<Integer>(what)).get_result(conn);
    told.map_err(|cause| unable(cause, "does not tell its version"))
}

/// Maps the error of a failed probe. A server that is down or busy does not lack a feature.
fn unable(cause: QueryError, lacks: &str) -> StoreError {
    match StoreError::from(Failure::from(cause)) {
        // The server's message was logged already.
        StoreError::Failed(_) => refusal(lacks),
        other => other,
    }
}

/// Runs a probe in a transaction and rolls it back.
fn in_transaction(
    conn: &mut PgConnection,
    probe: impl FnOnce(&mut PgConnection) -> Result<(), StoreError>,
) -> Result<(), StoreError> {
    let mut outcome = Ok(());
    let ended = conn.transaction::<(), QueryError, _>(|conn| {
        outcome = probe(conn);
        Err(QueryError::RollbackTransaction)
    });
    match (outcome, ended) {
        (Ok(()), Err(QueryError::RollbackTransaction) | Ok(())) => Ok(()),
        (Ok(()), Err(cause)) => Err(unable(cause, "has no transactions that can be taken back")),
        (refused, _) => refused,
    }
}

/// Holds a lock and asks for it on a second connection. The lock belongs to the transaction, so a
/// pooler in transaction mode keeps both on separate connections.
fn locks_lock(conn: &mut PgConnection, url: &str) -> Result<(), StoreError> {
    const LACKS: &str = "has no advisory locks";
    let key = ask_number(conn, "pg_backend_pid()")?;
    let lock = diesel::sql_query("SELECT pg_advisory_xact_lock($1, $2)");
    let lock = lock.bind::<Integer, _>(CLASS).bind::<Integer, _>(key).execute(conn);
    lock.map_err(|cause| unable(cause, LACKS))?;
    match try_elsewhere(url, key) {
        Ok(Ok(false)) => Ok(()),
        Ok(Ok(true)) => Err(refusal("has advisory locks that exclude no other connection")),
        // If the server or pooler has no second connection to give, assume that its locks work.
        Ok(Err(cause)) => {
            tracing::warn!(%cause, "advisory locks were not tried: there was no second connection");
            Ok(())
        }
        Err(_) => {
            tracing::warn!("advisory locks were not tried: there was no second connection in time");
            Ok(())
        }
    }
}

/// Tells whether a second connection gets the lock. Runs on a thread of its own, because a pooler
/// may keep it waiting without limit.
fn try_elsewhere(url: &str, key: i32) -> Result<Result<bool, String>, RecvTimeoutError> {
    let (told, answer) = channel();
    let url = url.to_owned();
    thread::spawn(move || {
        let got = || -> Result<bool, String> {
            let mut conn = PgConnection::establish(&url).map_err(|cause| cause.to_string())?;
            let ask = sql::<Bool>(&format!("pg_try_advisory_xact_lock({CLASS}, {key})"));
            diesel::select(ask).get_result(&mut conn).map_err(|cause| cause.to_string())
        };
        let _nobody_waits = told.send(got());
    });
    answer.recv_timeout(PATIENCE)
}

fn triggers_fire(conn: &mut PgConnection) -> Result<(), StoreError> {
    conn.batch_execute(PROBE).map_err(|cause| unable(cause, "has no row triggers in PL/pgSQL"))?;
    let made = diesel::select(sql::<Bool>(MADE)).get_result(conn);
    if !made.map_err(|cause| unable(cause, "does not tell what tables it has"))? {
        tracing::warn!(
            "row triggers were not tried: the database user may not make temporary tables"
        );
        return Ok(());
    }
    let written = diesel::sql_query(WRITE).get_result::<Written>(conn);
    match written.map_err(|cause| unable(cause, "has no WITH that writes"))? {
        Written { n: 2 } => Ok(()),
        Written { .. } => Err(refusal("has row triggers that do not fire")),
    }
}

#[derive(QueryableByName)]
struct Written {
    #[diesel(sql_type = Integer)]
    n: i32,
}

#[cfg(test)]
#[path = "engine_tests.rs"]
mod tests;
