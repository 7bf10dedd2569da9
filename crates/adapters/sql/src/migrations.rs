use diesel::backend::Backend;
use diesel::migration::{Migration, MigrationVersion, Result};
use dwar_kernel::StoreError;

type Migrations<DB> = Vec<Box<dyn Migration<DB>>>;

/// What a store does with a schema to which a newer version has added migrations.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum NewerSchema {
    /// It uses the schema, as during a rolling upgrade.
    Accepted,
    /// It refuses the schema: migrations may have changed what this version reads and writes.
    Refused,
}

/// The migrations of this version that the schema lacks, oldest first.
///
/// The schema must have the first ones of this version. If it has all of them, it may have newer
/// ones as well where `newer` accepts them.
///
/// # Errors
/// [`StoreError::Foreign`] if it has other migrations, because no migration leads from there to
/// this version, or newer ones that are refused. [`StoreError::Failed`] if either list cannot be
/// read.
pub fn pending_migrations<DB: Backend>(
    known: Result<Migrations<DB>>,
    applied: Result<Vec<MigrationVersion<'static>>>,
    newer: NewerSchema,
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
    let newest = applied.get(known.len()..).and_then(<[_]>::last);
    if let (NewerSchema::Refused, Some(newest)) = (newer, newest) {
        return Err(StoreError::Foreign(format!(
            "a newer version has brought the database to migration {newest}: run that version, or \
             restore a backup from before the upgrade"
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
