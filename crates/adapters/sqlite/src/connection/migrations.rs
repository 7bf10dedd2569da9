use crate::connection::error::Failure;
use crate::connection::pool::SqliteStore;
use diesel::SqliteConnection;
use diesel::migration::{Migration, MigrationSource};
use diesel::sqlite::Sqlite;
use diesel_migrations::{EmbeddedMigrations, MigrationHarness, embed_migrations};
use dwar_kernel::StoreError;
use dwar_sql::{names, pending_migrations};

const MIGRATIONS: EmbeddedMigrations = embed_migrations!("../../../migrations/sqlite");

impl SqliteStore {
    /// Brings the schema up to date, all or nothing, and names the migrations it ran.
    ///
    /// Of several processes at once one does it and the others find it done.
    ///
    /// # Errors
    /// [`StoreError`] if the file is out of reach, a migration fails, or the file has others than
    /// this version's; the schema is as before.
    pub async fn migrate(&self) -> Result<Vec<String>, StoreError> {
        self.apart(|connection| Ok(connection.immediate_transaction(run)?)).await
    }

    /// Names the migrations that [`SqliteStore::migrate`] would run, oldest first.
    ///
    /// # Errors
    /// [`StoreError`] if the file is out of reach, or has other migrations than this version's.
    pub async fn pending_migrations(&self) -> Result<Vec<String>, StoreError> {
        // Looking makes the table of migrations, if there is none yet.
        self.apart(|connection| Ok(connection.immediate_transaction(pending)?)).await
    }
}

fn run(connection: &mut SqliteConnection) -> Result<Vec<String>, Failure> {
    let pending = lacking(connection)?;
    connection.run_migrations(&pending).map_err(StoreError::Failed)?;
    Ok(names(&pending))
}

fn pending(connection: &mut SqliteConnection) -> Result<Vec<String>, Failure> {
    Ok(names(&lacking(connection)?))
}

fn lacking(connection: &mut SqliteConnection) -> Result<Vec<Box<dyn Migration<Sqlite>>>, Failure> {
    Ok(pending_migrations(MIGRATIONS.migrations(), connection.applied_migrations())?)
}
