use crate::convert::{Row, millis};
use crate::error::Failure;
use crate::pool::SqliteStore;
use crate::schema::signing_keys;
use async_trait::async_trait;
use diesel::prelude::*;
use dwar_kernel::{Sealed, StoreError, Timestamp};
use dwar_session::{KeyState, SigningKey, SigningKeyStore};

#[derive(Queryable, Selectable, Insertable, AsChangeset, Identifiable)]
#[diesel(table_name = signing_keys, primary_key(kid), treat_none_as_null = true)]
struct SigningKeyRow {
    kid: String,
    algorithm: String,
    private_sealed: Vec<u8>,
    created_at: i64,
    signs_from: i64,
    signs_until: Option<i64>,
    published_until: Option<i64>,
}

impl From<SigningKey> for SigningKeyRow {
    fn from(key: SigningKey) -> Self {
        Self {
            kid: key.kid,
            algorithm: key.algorithm.to_string(),
            private_sealed: key.private.0,
            created_at: key.created_at.timestamp_millis(),
            signs_from: key.signs_from.timestamp_millis(),
            signs_until: millis(key.signs_until),
            published_until: millis(key.published_until),
        }
    }
}

impl TryFrom<SigningKeyRow> for SigningKey {
    type Error = StoreError;

    fn try_from(stored: SigningKeyRow) -> Result<Self, StoreError> {
        let row = Row::new("signing_keys", &stored.kid);
        Ok(Self {
            algorithm: row.parse("algorithm", &stored.algorithm)?,
            created_at: row.instant("created_at", stored.created_at)?,
            signs_from: row.instant("signs_from", stored.signs_from)?,
            signs_until: row.maybe_instant("signs_until", stored.signs_until)?,
            published_until: row.maybe_instant("published_until", stored.published_until)?,
            private: Sealed(stored.private_sealed),
            kid: stored.kid,
        })
    }
}

#[async_trait]
impl SigningKeyStore for SqliteStore {
    async fn keys(&self, now: Timestamp) -> Result<Vec<SigningKey>, StoreError> {
        self.read(move |connection| {
            let mut keys = all(connection)?;
            keys.retain(|key| key.state(now) != KeyState::Gone);
            Ok(keys)
        })
        .await
    }

    async fn add_first(&self, key: SigningKey, now: Timestamp) -> Result<bool, StoreError> {
        self.write(move |connection| {
            if all(connection)?.iter().any(|other| other.serves(key.algorithm, now)) {
                return Ok(false);
            }
            insert(connection, key)?;
            Ok(true)
        })
        .await
    }

    async fn rotate(&self, key: SigningKey, retire_until: Timestamp) -> Result<(), StoreError> {
        self.write(move |connection| {
            for mut other in all(connection)? {
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
fn all(connection: &mut SqliteConnection) -> Result<Vec<SigningKey>, Failure> {
    let rows = signing_keys::table
        .order((signing_keys::created_at, signing_keys::kid))
        .select(SigningKeyRow::as_select())
        .load(connection)?;
    Ok(rows.into_iter().map(SigningKey::try_from).collect::<Result<_, _>>()?)
}
