use crate::connection::error::Failure;
use crate::connection::pool::SqliteStore;
use async_trait::async_trait;
use diesel::prelude::*;
use dwar_kernel::{StoreError, Timestamp};
use dwar_session::{KeyState, SigningKey, SigningKeyStore};
use dwar_sql::schema::signing_keys;
use dwar_sql::{SigningKeyRow, read_all};

#[async_trait]
impl SigningKeyStore for SqliteStore {
    async fn keys(&self, now: Timestamp) -> Result<Vec<SigningKey>, StoreError> {
        self.read(move |connection| {
            let mut keys = load(connection)?;
            keys.retain(|key| key.state(now) != KeyState::Gone);
            Ok(keys)
        })
        .await
    }

    async fn add_first(&self, key: SigningKey, now: Timestamp) -> Result<bool, StoreError> {
        self.write(move |connection| {
            if load(connection)?.iter().any(|other| other.serves(key.algorithm, now)) {
                return Ok(false);
            }
            insert(connection, key)?;
            Ok(true)
        })
        .await
    }

    async fn rotate(&self, key: SigningKey, retire_until: Timestamp) -> Result<(), StoreError> {
        self.write(move |connection| {
            for mut other in load(connection)? {
                other.retire(key.signs_from, retire_until);
                let row = SigningKeyRow::from(other);
                diesel::update(&row).set(&row).execute(connection)?;
            }
            Ok(insert(connection, key)?)
        })
        .await
    }
}

fn insert(connection: &mut SqliteConnection, key: SigningKey) -> QueryResult<()> {
    let row = SigningKeyRow::from(key);
    diesel::insert_into(signing_keys::table).values(row).execute(connection).map(|_| ())
}

/// Every key there ever was: a handful.
fn load(connection: &mut SqliteConnection) -> Result<Vec<SigningKey>, Failure> {
    let query = signing_keys::table.order((signing_keys::created_at, signing_keys::kid));
    Ok(read_all!(SigningKeyRow of query, connection))
}
