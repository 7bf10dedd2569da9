use crate::pool::SqliteStore;
use diesel::SqliteConnection;
use diesel::connection::SimpleConnection;
use diesel::migration::{Migration, Result as MigrationResult};
use diesel::sql_types::{Nullable, Text};
use diesel::sqlite::Sqlite;
use diesel_migrations::{EmbeddedMigrations, MigrationHarness, embed_migrations};
use dwar_kernel::StoreError;
use std::error::Error;
use uuid::Uuid;

const MIGRATIONS: EmbeddedMigrations = embed_migrations!("../../../migrations/sqlite");

impl SqliteStore {
    /// Brings the schema up to date, all or nothing, and names the migrations it ran.
    ///
    /// Of several processes at once one does it and the others find it done.
    ///
    /// # Errors
    /// [`StoreError`] if the file is out of reach or a migration fails; the schema is as before.
    pub async fn migrate(&self) -> Result<Vec<String>, StoreError> {
        self.apart(|connection| run(connection).map_err(StoreError::Failed)).await
    }

    /// Names the migrations that [`SqliteStore::migrate`] would run, oldest first.
    ///
    /// # Errors
    /// [`StoreError`] if the file is out of reach.
    pub async fn pending_migrations(&self) -> Result<Vec<String>, StoreError> {
        let pending = |connection: &mut SqliteConnection| {
            // Looking makes the table of migrations, if there is none yet.
            let pending = connection.immediate_transaction(|connection| {
                Ok(names(&connection.pending_migrations(MIGRATIONS)?))
            });
            pending.map_err(|cause: Box<dyn Error + Send + Sync>| StoreError::Failed(cause))
        };
        self.apart(pending).await
    }
}

diesel::define_sql_function! {
    /// The bytes that hexadecimal digits stand for; libraries before SQLite 3.41 lack it.
    fn unhex(digits: Nullable<Text>) -> Nullable<Binary>;
}

/// What migrations need of ids: those without hyphens.
fn id_bytes(digits: Option<String>) -> Option<Vec<u8>> {
    Some(Uuid::try_parse(&digits?).ok()?.into_bytes().to_vec())
}

fn run(connection: &mut SqliteConnection) -> MigrationResult<Vec<String>> {
    unhex_utils::register_impl(connection, id_bytes)?;
    // What a large table takes to be made anew, and to be taken back, need not fit into memory.
    connection.batch_execute("PRAGMA temp_store = FILE")?;
    connection.immediate_transaction(|connection| {
        let pending = connection.pending_migrations(MIGRATIONS)?;
        connection.run_migrations(&pending)?;
        Ok(names(&pending))
    })
}

fn names(migrations: &[Box<dyn Migration<Sqlite>>]) -> Vec<String> {
    migrations.iter().map(|migration| migration.name().to_string()).collect()
}
