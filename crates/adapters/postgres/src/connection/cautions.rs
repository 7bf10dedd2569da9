use crate::PostgresStore;
use diesel::prelude::*;
use dwar_kernel::StoreError;
use dwar_sql::MIGRATIONS_TABLE;
use std::collections::BTreeMap;
use std::sync::Arc;

diesel::table! {
    /// The settings that are in force for this session, in their base units
    /// (postgresql.org/docs/15/view-pg-settings.html).
    pg_settings (name) {
        name -> Text,
        setting -> Text,
    }
}

diesel::table! {
    /// What tables there are (postgresql.org/docs/15/view-pg-tables.html).
    pg_tables (schemaname, tablename) {
        schemaname -> Text,
        tablename -> Text,
    }
}

#[diesel::declare_sql_function]
extern "SQL" {
    /// The schema in which a table without a schema name is created; NULL if no schema of
    /// `search_path` exists.
    fn current_schema() -> Nullable<Text>;
}

impl PostgresStore {
    /// Lists the tables of the schema by name, without the table of migrations.
    ///
    /// # Errors
    /// [`StoreError::Unreachable`] if the database does not answer.
    pub async fn tables(&self) -> Result<Vec<String>, StoreError> {
        self.read("cautions.tables", |conn| {
            let here = pg_tables::schemaname.nullable().eq(current_schema());
            let other = pg_tables::tablename.ne(MIGRATIONS_TABLE);
            let names = pg_tables::table.filter(here).filter(other).select(pg_tables::tablename);
            Ok(names.order(pg_tables::tablename).load(conn)?)
        })
        .await
    }

    /// Lists the session settings that differ from those requested at connection time; empty if all
    /// are in force, or if the URL sets them otherwise.
    ///
    /// A pooler passes none of them on by itself. Time-outs are in milliseconds.
    ///
    /// # Errors
    /// [`StoreError::Unavailable`] if the database does not answer.
    pub async fn cautions(&self) -> Result<Vec<String>, StoreError> {
        let shared = Arc::clone(&self.shared);
        self.read("cautions.cautions", move |conn| {
            let found: Vec<(String, String)> = pg_settings::table
                .filter(pg_settings::name.eq_any(shared.expected.iter().map(|(name, _)| *name)))
                .load(conn)?;
            Ok(differences(&shared.expected, &found.into_iter().collect()))
        })
        .await
    }
}

fn differences(
    expected: &[(&'static str, String)],
    found: &BTreeMap<String, String>,
) -> Vec<String> {
    let differs = |(name, wanted): &(&'static str, String)| {
        let found = found.get(*name).map_or("unknown", String::as_str);
        (found != wanted).then(|| format!("{name} is {found}, but should be {wanted}"))
    };
    expected.iter().filter_map(differs).collect()
}
