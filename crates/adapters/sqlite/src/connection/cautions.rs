use crate::SqliteStore;
use diesel::prelude::*;
use dwar_kernel::StoreError;
use dwar_sql::MIGRATIONS_TABLE;

diesel::define_sql_function! {
    /// The version of the library that runs (sqlite.org/lang_corefunc.html#sqlite_version).
    fn sqlite_version() -> diesel::sql_types::Text;
}

diesel::table! {
    /// Tables, indices and triggers of the file (sqlite.org/schematab.html).
    sqlite_schema (name) {
        name -> Text,
        #[sql_name = "type"]
        kind -> Text,
    }
}

impl SqliteStore {
    /// Lists the tables of the file by name, without the table of migrations.
    ///
    /// # Errors
    /// The errors of a read.
    pub async fn tables(&self) -> Result<Vec<String>, StoreError> {
        self.read("cautions.tables", |conn| {
            let tables = sqlite_schema::table.filter(sqlite_schema::kind.eq("table"));
            let others = tables.filter(sqlite_schema::name.ne(MIGRATIONS_TABLE));
            let others = others.filter(sqlite_schema::name.not_like("sqlite\\_%").escape('\\'));
            let names = others.select(sqlite_schema::name).order(sqlite_schema::name);
            Ok(names.load(conn)?)
        })
        .await
    }

    /// Lists known problems of the linked SQLite version.
    ///
    /// # Errors
    /// The errors of a read.
    pub async fn cautions(&self) -> Result<Vec<String>, StoreError> {
        let version: String =
            self.read("cautions.cautions", |conn| {
                Ok(diesel::select(sqlite_version()).get_result(conn)?)
            })
            .await?;
        let caution = || {
            format!(
                "SQLite {version} can lose a write when two processes write at the same instant; \
                 3.51.3, 3.50.7 and 3.44.6 have that mended"
            )
        };
        Ok((!keeps_every_write(&version)).then(caution).into_iter().collect())
    }
}

/// Tells whether this version has the fix for the bug by which the log can be reset under a writer
/// (sqlite.org/wal.html#walresetbug).
fn keeps_every_write(version: &str) -> bool {
    let mut parts = version.split('.').map(|part| part.parse::<u32>().unwrap_or_default());
    let mut part = || parts.next().unwrap_or_default();
    match (part(), part(), part()) {
        (3, 44, patch) => patch >= 6,
        (3, 50, patch) => patch >= 7,
        version => version >= (3, 51, 3),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_versions_that_have_it_mended_keep_every_write() {
        for mended in ["3.51.3", "3.52.0", "3.50.7", "3.44.6", "4.0.0"] {
            assert!(keeps_every_write(mended), "{mended}");
        }
        for old in ["3.51.2", "3.50.6", "3.49.9", "3.44.5", "3.40.1", "nonsense"] {
            assert!(!keeps_every_write(old), "{old}");
        }
    }
}
