use crate::connection::error::{Failure, unreachable};
use crate::connection::link::speak_english;
use diesel::connection::SimpleConnection;
use diesel::migration::{Migration, MigrationSource};
use diesel::pg::Pg;
use diesel::prelude::*;
use diesel::sql_types::BigInt;
use diesel_migrations::{EmbeddedMigrations, MigrationHarness};
use dwar_kernel::StoreError;
use dwar_sql::{names, pending_migrations};

const MIGRATIONS: EmbeddedMigrations =
    diesel_migrations::embed_migrations!("../../../migrations/postgres");

/// Any number, as long as every instance of every release uses the same.
const LOCK: i64 = 0x6477_6172;

/// Brings the schema up to date; names the migrations that it lacked.
pub(crate) fn migrate(url: &str) -> Result<Vec<String>, StoreError> {
    let mut conn = alone(url)?;
    let pending = lacking(&mut conn)?;
    conn.run_migrations(&pending).map_err(StoreError::Failed)?;
    Ok(names(&pending))
}

/// Names the migrations that the schema lacks, oldest first.
pub(crate) fn pending(url: &str) -> Result<Vec<String>, StoreError> {
    Ok(names(&lacking(&mut alone(url)?)?))
}

fn lacking(conn: &mut PgConnection) -> Result<Vec<Box<dyn Migration<Pg>>>, StoreError> {
    pending_migrations(MIGRATIONS.migrations(), conn.applied_migrations())
}

/// A connection of its own that is the only one at this, until it is dropped.
///
/// The lock is the session's, since a migration may opt out of transactions. No time-outs: a
/// migration takes as long as it takes, and whoever comes second waits for it.
fn alone(url: &str) -> Result<PgConnection, StoreError> {
    let mut conn = PgConnection::establish(url).map_err(|cause| {
        tracing::warn!(%cause, "no connection to PostgreSQL");
        unreachable("PostgreSQL cannot be reached", cause)
    })?;
    speak_english(&mut conn);
    conn.batch_execute("SET statement_timeout = 0; SET lock_timeout = 0")
        .and_then(|()| {
            diesel::sql_query("SELECT pg_advisory_lock($1)")
                .bind::<BigInt, _>(LOCK)
                .execute(&mut conn)
        })
        .map_err(Failure::from)?;
    Ok(conn)
}
