use crate::PostgresStore;
use async_trait::async_trait;
use diesel::prelude::*;
use diesel::sql_types::{Array, Nullable, Text};
use dwar_kernel::StoreError;
use dwar_project::{KeyUse, KeyUseStore};
use dwar_sql::{At, Id};

/// Locks the keys in the order of their ids, as every other process does.
const NOTE: &str = "WITH given AS ( \
        SELECT * FROM unnest($1, $2, $3, $4) AS g (id, at, due, used_from) \
    ), due AS ( \
        SELECT k.id, g.at, g.used_from FROM api_keys k JOIN given g ON g.id = k.id \
        WHERE k.used_at IS NULL OR k.used_at <= g.due ORDER BY k.id FOR NO KEY UPDATE OF k \
    ) UPDATE api_keys k SET used_at = due.at, used_from = due.used_from FROM due \
    WHERE k.id = due.id";

#[async_trait]
impl KeyUseStore for PostgresStore {
    async fn note(&self, uses: Vec<KeyUse>) -> Result<(), StoreError> {
        let address = |it: &KeyUse| it.used.from.map(|address| address.to_string());
        let keys: Vec<Id> = uses.iter().map(|it| it.key.into()).collect();
        let times: Vec<At> = uses.iter().map(|it| it.used.at.into()).collect();
        let due = |it: &KeyUse| At::from(it.used.at - KeyUse::NOTED_EVERY);
        let due: Vec<At> = uses.iter().map(due).collect();
        let from: Vec<Option<String>> = uses.iter().map(address).collect();
        self.write_one("project.note", move |conn| {
            diesel::sql_query(NOTE)
                .bind::<Array<Id>, _>(&keys)
                .bind::<Array<At>, _>(&times)
                .bind::<Array<At>, _>(&due)
                .bind::<Array<Nullable<Text>>, _>(&from)
                .execute(conn)?;
            Ok(())
        })
        .await
    }
}
