use diesel::backend::Backend;
use diesel::migration::{Migration, MigrationVersion, Result};
use dwar_kernel::StoreError;

type Migrations<DB> = Vec<Box<dyn Migration<DB>>>;

/// The migrations of this version that the schema lacks, oldest first.
///
/// The schema must have the first ones of this version, or all of them and newer ones, as during a
/// rolling upgrade.
///
/// # Errors
/// [`StoreError::Foreign`] if it has other migrations, because no migration leads from there to
/// this version. [`StoreError::Failed`] if either list cannot be read.
pub fn pending_migrations<DB: Backend>(
    known: Result<Migrations<DB>>,
    applied: Result<Vec<MigrationVersion<'static>>>,
) -> std::result::Result<Migrations<DB>, StoreError> {
    let mut known = known.map_err(StoreError::Failed)?;
    let mut applied = applied.map_err(StoreError::Failed)?;
    known.sort_unstable_by(|a, b| a.name().version().cmp(&b.name().version()));
    applied.sort_unstable();
    let mut both = known.iter().map(|known| known.name().version()).zip(&applied);
    if let Some((known, applied)) = both.find(|(known, applied)| known != *applied) {
        return Err(StoreError::Foreign(format!(
            "the database has migration {applied} where this version begins with {known}: start \
             with an empty database, or stay with the version that made this one"
        )));
    }
    Ok(known.into_iter().skip(applied.len()).collect())
}

/// The table in which diesel lists the applied migrations.
pub const MIGRATIONS_TABLE: &str = "__diesel_schema_migrations";

/// The names of these migrations, in their order.
pub fn names<DB: Backend>(migrations: &[Box<dyn Migration<DB>>]) -> Vec<String> {
    migrations.iter().map(|migration| migration.name().to_string()).collect()
}

/// Tells whether a schema that lacks these migrations is still empty.
pub fn lacks_all(pending: &[String]) -> bool {
    pending.first().is_some_and(|first| first.ends_with("_foundation"))
}
