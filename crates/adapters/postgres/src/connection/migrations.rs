use crate::PostgresStore;
use crate::connection::engine::{connect, probe};
use crate::connection::error::Failure;
use crate::ports::key_checks;
use diesel::connection::SimpleConnection;
use diesel::dsl::sql;
use diesel::migration::{Migration, MigrationSource, MigrationVersion};
use diesel::pg::Pg;
use diesel::prelude::*;
use diesel::result::Error as QueryError;
use diesel::sql_types::{BigInt, Bool};
use diesel_migrations::{EmbeddedMigrations, MigrationHarness};
use dwar_activity::installation::{Found, KeyHolder, NewKeys};
use dwar_kernel::StoreError;
use dwar_sql::schema::__diesel_schema_migrations;
use dwar_sql::{names, pending_migrations};
use std::sync::Arc;

const MIGRATIONS: EmbeddedMigrations =
    diesel_migrations::embed_migrations!("../../../migrations/postgres");
/// Whether any migration ever ran.
const ANY: &str = "to_regclass('__diesel_schema_migrations') IS NOT NULL";

/// Any number, as long as every instance of every release uses the same.
const LOCK: i64 = 0x6477_6172;

impl PostgresStore {
    /// Brings the schema up to date and names the migrations that it lacked; whose keys may be used with
    /// it is not noted.
    ///
    /// # Errors
    /// As [`PostgresStore::migrate_for`].
    pub async fn migrate(&self) -> Result<Vec<String>, StoreError> {
        self.apart(|url| migrate(url, None)).await
    }

    /// Brings the schema up to date and names the migrations that it lacked; notes the keys of this
    /// holder.
    ///
    /// Any number of instances may do so at once: one migrates, the others wait for it.
    ///
    /// # Errors
    /// [`StoreError::Unavailable`] if there is no connection, [`StoreError::Foreign`] if the server is not
    /// PostgreSQL or the database has other migrations than this version's or belongs to other keys, else
    /// [`StoreError::Failed`].
    pub async fn migrate_for(&self, holder: Arc<dyn KeyHolder>) -> Result<Vec<String>, StoreError> {
        self.apart(move |url| migrate(url, Some(holder.as_ref()))).await
    }

    /// Names the migrations that the schema lacks; waits for one that is under way.
    ///
    /// # Errors
    /// [`StoreError::Unavailable`] if there is no connection, else [`StoreError::Failed`].
    pub async fn pending_migrations(&self) -> Result<Vec<String>, StoreError> {
        self.apart(pending).await
    }

    /// What tells which keys the database belongs to, at whatever level its schema is.
    ///
    /// # Errors
    /// As [`PostgresStore::pending_migrations`].
    pub async fn look_for_keys(&self) -> Result<Found, StoreError> {
        self.apart(look_for_keys).await
    }

    pub(crate) async fn apart<T, W>(&self, work: W) -> Result<T, StoreError>
    where
        T: Send + 'static,
        W: FnOnce(&str) -> Result<T, StoreError> + Send + 'static,
    {
        let shared = Arc::clone(&self.shared);
        let job = tokio::task::spawn_blocking(move || work(&shared.direct_url));
        job.await.map_err(|cause| StoreError::Failed(Box::new(cause)))?
    }
}

/// Brings the schema up to date; names the migrations that it lacked. Asks `holder` first, if there is one,
/// and notes its keys at last.
fn migrate(url: &str, holder: Option<&dyn KeyHolder>) -> Result<Vec<String>, StoreError> {
    let mut conn = alone(url)?;
    let pending = lacking(&mut conn)?;
    let lacked = names(&pending);
    let new = match holder {
        Some(holder) => holder.claim(&key_checks::look(&mut conn, &lacked)?)?,
        None => NewKeys::default(),
    };
    if !pending.is_empty() {
        probe(&mut conn, url)?;
        // Makes diesel's own table, if there is none yet.
        conn.applied_migrations().map_err(StoreError::Failed)?;
        conn.run_migrations(&pending).map_err(StoreError::Failed)?;
    }
    conn.transaction(|conn| key_checks::note(conn, new)).map_err(Failure::from)?;
    Ok(lacked)
}

/// Names the migrations that the schema lacks, oldest first.
fn pending(url: &str) -> Result<Vec<String>, StoreError> {
    Ok(names(&lacking(&mut alone(url)?)?))
}

/// What tells which keys the database belongs to.
fn look_for_keys(url: &str) -> Result<Found, StoreError> {
    let mut conn = alone(url)?;
    let lacking = names(&lacking(&mut conn)?);
    Ok(key_checks::look(&mut conn, &lacking)?)
}

/// Reads the table of migrations, if there is one, which takes no right to write. Where there is none, tries to
/// make it and takes that back: whoever lacks the right to set the database up is told so by every command.
fn lacking(conn: &mut PgConnection) -> Result<Vec<Box<dyn Migration<Pg>>>, StoreError> {
    let any = diesel::select(sql::<Bool>(ANY)).get_result(conn).map_err(Failure::from)?;
    let mut applied = Vec::new();
    if any {
        let versions = __diesel_schema_migrations::table
            .select(__diesel_schema_migrations::version)
            .load::<String>(conn);
        applied = versions.map_err(Failure::from)?;
    } else {
        let made_and_taken_back = conn.transaction::<(), Failure, _>(|conn| {
            conn.applied_migrations().map_err(StoreError::Failed)?;
            Err(QueryError::RollbackTransaction.into())
        });
        match made_and_taken_back {
            Ok(()) | Err(Failure::Query(QueryError::RollbackTransaction)) => {}
            Err(cause) => return Err(cause.into()),
        }
    }
    let applied = applied.into_iter().map(MigrationVersion::from).collect();
    pending_migrations(MIGRATIONS.migrations(), Ok(applied))
}

/// A connection of its own that is the only one at this, until it is dropped.
///
/// The lock is the session's, since a migration may opt out of transactions. No time-outs: a
/// migration takes as long as it takes, and whoever comes second waits for it.
fn alone(url: &str) -> Result<PgConnection, StoreError> {
    let mut conn = connect(url)?;
    conn.batch_execute("SET statement_timeout = 0; SET lock_timeout = 0")
        .and_then(|()| {
            diesel::sql_query("SELECT pg_advisory_lock($1)")
                .bind::<BigInt, _>(LOCK)
                .execute(&mut conn)
        })
        .map_err(Failure::from)?;
    Ok(conn)
}
