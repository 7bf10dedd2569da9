use crate::connection::pool::SqliteStore;
use async_trait::async_trait;
use diesel::prelude::*;
use dwar_kernel::StoreError;
use dwar_project::{KeyUse, KeyUseStore};
use dwar_sql::schema::api_keys::{self, used_at, used_from};
use dwar_sql::{At, Id};

#[async_trait]
impl KeyUseStore for SqliteStore {
    async fn note(&self, uses: Vec<KeyUse>) -> Result<(), StoreError> {
        self.write_ahead_of_disk("project.note", move |connection| {
            for KeyUse { key, used } in uses {
                let due = At::from(used.at - KeyUse::NOTED_EVERY);
                let known = api_keys::table.find(Id::from(key));
                let from = used.from.map(|address| address.to_string());
                diesel::update(known.filter(used_at.is_null().or(used_at.le(due))))
                    .set((used_at.eq(At::from(used.at)), used_from.eq(from)))
                    .execute(connection)?;
            }
            Ok(())
        })
        .await
    }
}
