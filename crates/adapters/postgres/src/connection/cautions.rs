use crate::PostgresStore;
use diesel::prelude::*;
use dwar_kernel::StoreError;
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

impl PostgresStore {
    /// Tells which settings of a session are not what was asked for when it was connected; none if
    /// all are, or if the URL sets them otherwise.
    ///
    /// A pooler passes none of them on by itself. Time-outs are in milliseconds.
    ///
    /// # Errors
    /// [`StoreError::Unavailable`] if the database does not answer.
    pub async fn cautions(&self) -> Result<Vec<String>, StoreError> {
        let expected = Arc::clone(&self.expected);
        self.pool
            .run(move |conn| {
                let found: Vec<(String, String)> = pg_settings::table
                    .filter(pg_settings::name.eq_any(expected.iter().map(|(name, _)| *name)))
                    .load(conn)?;
                Ok(differences(&expected, &found.into_iter().collect()))
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
