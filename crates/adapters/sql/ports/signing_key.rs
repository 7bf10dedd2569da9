use crate::dialect::{Conn, Failure, Store, take};
use async_trait::async_trait;
use diesel::prelude::*;
use dwar_kernel::{StoreError, Timestamp};
use dwar_session::{KeyState, SigningKey, SigningKeyStore};
use dwar_sql::schema::signing_keys;
use dwar_sql::{At, Lock, SigningKeyRow, read_all};

#[async_trait]
impl SigningKeyStore for Store {
    async fn keys(&self, now: Timestamp) -> Result<Vec<SigningKey>, StoreError> {
        self.read("session.keys", move |conn| {
            let mut keys = load(conn)?;
            keys.retain(|key| key.state(now) != KeyState::Gone);
            Ok(keys)
        })
        .await
    }

    async fn add_first(&self, key: SigningKey, now: Timestamp) -> Result<bool, StoreError> {
        self.write("session.add_first", move |conn| {
            take(conn, Lock::SigningKeys)?;
            if load(conn)?.iter().any(|other| other.serves(key.algorithm, now)) {
                return Ok(false);
            }
            insert(conn, &key)?;
            Ok(true)
        })
        .await
    }

    async fn rotate(&self, key: SigningKey, retire_until: Timestamp) -> Result<(), StoreError> {
        self.write("session.rotate", move |conn| {
            take(conn, Lock::SigningKeys)?;
            for mut other in load(conn)? {
                other.retire(key.signs_from, retire_until);
                let ends = (
                    signing_keys::signs_until.eq(other.signs_until.map(At::from)),
                    signing_keys::published_until.eq(other.published_until.map(At::from)),
                );
                diesel::update(signing_keys::table.find(other.kid)).set(ends).execute(conn)?;
            }
            insert(conn, &key)?;
            Ok(())
        })
        .await
    }
}

fn load(conn: &mut Conn) -> Result<Vec<SigningKey>, Failure> {
    let query = signing_keys::table.order((signing_keys::created_at, signing_keys::kid));
    Ok(read_all!(SigningKeyRow of query, conn))
}

fn insert(conn: &mut Conn, key: &SigningKey) -> QueryResult<usize> {
    diesel::insert_into(signing_keys::table).values(SigningKeyRow::from(key.clone())).execute(conn)
}
