use crate::connection::error::Failure;
use crate::connection::pool::SqliteStore;
use crate::ports::key_checks;
use diesel::SqliteConnection;
use diesel::dsl::sql;
use diesel::migration::{Migration, MigrationSource, MigrationVersion};
use diesel::prelude::*;
use diesel::sql_types::BigInt;
use diesel::sqlite::Sqlite;
use diesel_migrations::{EmbeddedMigrations, MigrationHarness, embed_migrations};
use dwar_activity::installation::{KeyHolder, NewKeys, StoredKeys};
use dwar_kernel::StoreError;
use dwar_sql::schema::__diesel_schema_migrations;
use dwar_sql::{NewerSchema, names, pending_migrations};
use std::sync::Arc;

const MIGRATIONS: EmbeddedMigrations = embed_migrations!("../../../migrations/sqlite");
/// Whether the table of migrations exists.
const ANY: &str = "(SELECT count(*) FROM sqlite_schema WHERE name = '__diesel_schema_migrations')";

type Migrations = Vec<Box<dyn Migration<Sqlite>>>;

impl SqliteStore {
    /// Brings the schema up to date, all or nothing, and returns the names of the migrations it
    /// ran. Does not record a key holder.
    ///
    /// # Errors
    /// Like [`SqliteStore::migrate_for`].
    pub async fn migrate(&self) -> Result<Vec<String>, StoreError> {
        self.apart(|connection| {
            Ok(connection.immediate_transaction(|connection| run(connection, None))?)
        })
        .await
    }

    /// Brings the schema up to date, all or nothing, and returns the names of the migrations it
    /// ran. Records the keys of this holder in the same step.
    ///
    /// If several processes call this at once, one migrates and the others find nothing to do.
    ///
    /// # Errors
    /// [`StoreError`] if the file cannot be used, a migration fails, the file has migrations that
    /// this version does not know, or it belongs to other keys. The schema is then unchanged.
    pub async fn migrate_for(&self, holder: Arc<dyn KeyHolder>) -> Result<Vec<String>, StoreError> {
        self.apart(move |connection| {
            let holder = Some(holder.as_ref());
            Ok(connection.immediate_transaction(|connection| run(connection, holder))?)
        })
        .await
    }

    /// Lists the migrations that [`SqliteStore::migrate`] would run, oldest first; changes nothing.
    ///
    /// # Errors
    /// [`StoreError`] if the file cannot be used, or has migrations that this version does not
    /// know.
    pub async fn pending_migrations(&self) -> Result<Vec<String>, StoreError> {
        self.apart(|connection| {
            Ok(connection
                .transaction(|connection| Ok::<_, Failure>(names(&lacking(connection)?)))?)
        })
        .await
    }

    /// Reads the record of the keys that the file belongs to, at any schema version; changes
    /// nothing.
    ///
    /// # Errors
    /// [`StoreError`] if the file cannot be used, or has migrations that this version does not
    /// know.
    pub async fn look_for_keys(&self) -> Result<StoredKeys, StoreError> {
        self.apart(|connection| {
            Ok(connection.transaction(|connection| {
                let lacking = names(&lacking(connection)?);
                key_checks::look(connection, &lacking)
            })?)
        })
        .await
    }
}

fn run(
    connection: &mut SqliteConnection,
    holder: Option<&dyn KeyHolder>,
) -> Result<Vec<String>, Failure> {
    let pending = lacking(connection)?;
    let lacked = names(&pending);
    let new = match holder {
        Some(holder) => holder.claim(&key_checks::look(connection, &lacked)?)?,
        None => NewKeys::default(),
    };
    if !pending.is_empty() {
        // Creates diesel's own table if it does not exist.
        connection.applied_migrations().map_err(StoreError::Failed)?;
        connection.run_migrations(&pending).map_err(StoreError::Failed)?;
    }
    key_checks::note(connection, new)?;
    Ok(lacked)
}

fn lacking(connection: &mut SqliteConnection) -> Result<Migrations, Failure> {
    let ran: i64 = diesel::select(sql::<BigInt>(ANY)).get_result(connection)?;
    let applied: Vec<String> = match ran {
        0 => Vec::new(),
        _ => __diesel_schema_migrations::table
            .select(__diesel_schema_migrations::version)
            .load(connection)?,
    };
    Ok(pending(applied)?)
}

/// The migrations that a file with these versions lacks, oldest first.
///
/// # Errors
/// [`StoreError::Foreign`] if it has migrations that this version does not know.
pub(crate) fn pending(applied: Vec<String>) -> Result<Migrations, StoreError> {
    let applied = applied.into_iter().map(MigrationVersion::from).collect();
    pending_migrations(MIGRATIONS.migrations(), Ok(applied), NewerSchema::Refused)
}
