use crate::PostgresStore;
use crate::convert::Row;
use crate::error::Failure;
use crate::lock::Lock;
use crate::schema::signing_keys;
use async_trait::async_trait;
use diesel::prelude::*;
use dwar_kernel::{Sealed, StoreError, Timestamp};
use dwar_session::{KeyState, SigningKey, SigningKeyStore};

#[derive(Queryable, Selectable, Insertable)]
#[diesel(table_name = signing_keys)]
struct KeyRow {
    kid: String,
    algorithm: String,
    private_sealed: Vec<u8>,
    created_at: Timestamp,
    signs_from: Timestamp,
    signs_until: Option<Timestamp>,
    published_until: Option<Timestamp>,
}

impl From<&SigningKey> for KeyRow {
    fn from(key: &SigningKey) -> Self {
        Self {
            kid: key.kid.clone(),
            algorithm: key.algorithm.as_str().to_owned(),
            private_sealed: key.private.0.clone(),
            created_at: key.created_at,
            signs_from: key.signs_from,
            signs_until: key.signs_until,
            published_until: key.published_until,
        }
    }
}

impl TryFrom<KeyRow> for SigningKey {
    type Error = StoreError;

    fn try_from(row: KeyRow) -> Result<Self, StoreError> {
        Ok(Self {
            algorithm: Row::new("signing_keys", &row.kid).parse("algorithm", &row.algorithm)?,
            kid: row.kid,
            private: Sealed(row.private_sealed),
            created_at: row.created_at,
            signs_from: row.signs_from,
            signs_until: row.signs_until,
            published_until: row.published_until,
        })
    }
}

#[async_trait]
impl SigningKeyStore for PostgresStore {
    async fn keys(&self, now: Timestamp) -> Result<Vec<SigningKey>, StoreError> {
        self.pool
            .run(move |conn| {
                let mut keys = load(conn)?;
                keys.retain(|key| key.state(now) != KeyState::Gone);
                Ok(keys)
            })
            .await
    }

    async fn add_first(&self, key: SigningKey, now: Timestamp) -> Result<bool, StoreError> {
        self.pool
            .transaction(move |conn| {
                Lock::SigningKeys.take(conn)?;
                if load(conn)?.iter().any(|other| other.serves(key.algorithm, now)) {
                    return Ok(false);
                }
                insert(conn, &key)?;
                Ok(true)
            })
            .await
    }

    async fn rotate(&self, key: SigningKey, retire_until: Timestamp) -> Result<(), StoreError> {
        self.pool
            .transaction(move |conn| {
                Lock::SigningKeys.take(conn)?;
                for mut other in load(conn)? {
                    other.retire(key.signs_from, retire_until);
                    let ends = (
                        signing_keys::signs_until.eq(other.signs_until),
                        signing_keys::published_until.eq(other.published_until),
                    );
                    diesel::update(signing_keys::table.find(other.kid)).set(ends).execute(conn)?;
                }
                insert(conn, &key)?;
                Ok(())
            })
            .await
    }
}

fn load(conn: &mut PgConnection) -> Result<Vec<SigningKey>, Failure> {
    let rows: Vec<KeyRow> = signing_keys::table
        .order((signing_keys::created_at, signing_keys::kid))
        .select(KeyRow::as_select())
        .load(conn)?;
    Ok(rows.into_iter().map(SigningKey::try_from).collect::<Result<_, _>>()?)
}

fn insert(conn: &mut PgConnection, key: &SigningKey) -> QueryResult<usize> {
    diesel::insert_into(signing_keys::table).values(KeyRow::from(key)).execute(conn)
}
