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
use dwar_activity::installation::{KeyHolder, NewKeys, StoredKeys};
use dwar_kernel::StoreError;
use dwar_sql::schema::__diesel_schema_migrations;
use dwar_sql::{NewerSchema, names, pending_migrations};
use std::sync::Arc;

const MIGRATIONS: EmbeddedMigrations =
    diesel_migrations::embed_migrations!("../../../migrations/postgres");
/// Whether the table of migrations exists.
const ANY: &str = "to_regclass('__diesel_schema_migrations') IS NOT NULL";

/// Key of the migration lock. The number is arbitrary, but every instance of every release has to
/// use the same.
const LOCK: i64 = 0x6477_6172;

impl PostgresStore {
    /// Brings the schema up to date and returns the names of the migrations that were missing. Does
    /// not record a key holder.
    ///
    /// # Errors
    /// Like [`PostgresStore::migrate_for`].
    pub async fn migrate(&self) -> Result<Vec<String>, StoreError> {
        self.apart(|url| migrate(url, None)).await
    }

    /// Brings the schema up to date, returns the names of the migrations that were missing, and
    /// records the keys of this holder.
    ///
    /// Any number of instances may call this at once: one migrates and the others wait.
    ///
    /// # Errors
    /// [`StoreError::Unavailable`] if there is no connection, [`StoreError::Foreign`] if the server is not
    /// PostgreSQL or the database has other migrations than this version's or belongs to other keys, else
    /// [`StoreError::Failed`].
    pub async fn migrate_for(&self, holder: Arc<dyn KeyHolder>) -> Result<Vec<String>, StoreError> {
        self.apart(move |url| migrate(url, Some(holder.as_ref()))).await
    }

    /// Lists the migrations that the schema lacks. Waits for a migration that is running.
    ///
    /// # Errors
    /// [`StoreError::Unavailable`] if there is no connection, else [`StoreError::Failed`].
    pub async fn pending_migrations(&self) -> Result<Vec<String>, StoreError> {
        self.apart(pending).await
    }

    /// Reads the record of the keys that the database belongs to, at any schema version.
    ///
    /// # Errors
    /// Like [`PostgresStore::pending_migrations`].
    pub async fn look_for_keys(&self) -> Result<StoredKeys, StoreError> {
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

/// Brings the schema up to date and returns the names of the migrations that were missing. Asks
/// `holder` first, if there is one, and records its keys at the end.
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
        // Creates diesel's own table if it does not exist.
        conn.applied_migrations().map_err(StoreError::Failed)?;
        conn.run_migrations(&pending).map_err(StoreError::Failed)?;
    }
    conn.transaction(|conn| key_checks::note(conn, new)).map_err(Failure::from)?;
    Ok(lacked)
}

/// Lists the missing migrations, oldest first.
fn pending(url: &str) -> Result<Vec<String>, StoreError> {
    Ok(names(&lacking(&mut alone(url)?)?))
}

/// Reads the record of the keys that the database belongs to.
fn look_for_keys(url: &str) -> Result<StoredKeys, StoreError> {
    let mut conn = alone(url)?;
    let lacking = names(&lacking(&mut conn)?);
    Ok(key_checks::look(&mut conn, &lacking)?)
}

/// Lists the migrations that the schema lacks, oldest first.
///
/// Reading the table of migrations needs no right to write. If the table does not exist, it is created in a
/// transaction that is rolled back: this fails if the role may not create tables, and so every command
/// reports this, not only the one that migrates.
fn lacking(conn: &mut PgConnection) -> Result<Vec<Box<dyn Migration<Pg>>>, StoreError> {
    let any = diesel::select(sql::<Bool>(ANY)).get_result(conn).map_err(Failure::from)?;
    let mut applied = Vec::new();
    if any {
        let versions = __diesel_schema_migrations::table
            .select(__diesel_schema_migrations::version)
            .load::<String>(conn);
        applied = versions.map_err(Failure::from)?;
    } else {
        let rolled_back = conn.transaction::<(), Failure, _>(|conn| {
            conn.applied_migrations().map_err(StoreError::Failed)?;
            Err(QueryError::RollbackTransaction.into())
        });
        match rolled_back {
            Ok(()) | Err(Failure::Query(QueryError::RollbackTransaction)) => {}
            Err(cause) => return Err(cause.into()),
        }
    }
    let applied = applied.into_iter().map(MigrationVersion::from).collect();
    pending_migrations(MIGRATIONS.migrations(), Ok(applied), NewerSchema::Accepted)
}

/// Opens a connection that holds the migration lock until it is dropped.
///
/// The lock belongs to the session, because a migration may opt out of transactions. There are no
/// time-outs: a migration may take any time, and other instances wait for it.
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
