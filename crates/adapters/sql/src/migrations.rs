use diesel::backend::Backend;
use diesel::migration::{Migration, MigrationSource};
use diesel_migrations::MigrationHarness;
use dwar_kernel::StoreError;

/// The migrations that a schema lacks, oldest first.
///
/// It has the first of those this version knows, or all of them and newer ones, as while instances are
/// replaced one by one.
///
/// # Errors
/// [`StoreError::Foreign`] if it has others: no migration leads from there to here.
/// [`StoreError::Failed`] if it cannot be read.
pub fn pending_migrations<DB: Backend>(
    connection: &mut impl MigrationHarness<DB>,
    source: impl MigrationSource<DB>,
) -> Result<Vec<Box<dyn Migration<DB>>>, StoreError> {
    let mut known = source.migrations().map_err(StoreError::Failed)?;
    known.sort_unstable_by(|a, b| a.name().version().cmp(&b.name().version()));
    let mut applied = connection.applied_migrations().map_err(StoreError::Failed)?;
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

/// What they are called.
pub fn names<DB: Backend>(migrations: &[Box<dyn Migration<DB>>]) -> Vec<String> {
    migrations.iter().map(|migration| migration.name().to_string()).collect()
}
