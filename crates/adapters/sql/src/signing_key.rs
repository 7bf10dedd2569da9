//! Rows of the keys that sign access tokens.

use crate::schema::signing_keys;
use crate::{At, Row};
use diesel::prelude::*;
use dwar_kernel::{Sealed, StoreError};
use dwar_session::SigningKey;

/// Row of `signing_keys`: a sealed key that signs access tokens.
#[derive(Queryable, Selectable, Insertable, AsChangeset, Identifiable)]
#[diesel(table_name = signing_keys, primary_key(kid), treat_none_as_null = true)]
pub struct SigningKeyRow {
    pub kid: String,
    pub algorithm: String,
    pub private_sealed: Vec<u8>,
    pub created_at: At,
    pub signs_from: At,
    pub signs_until: Option<At>,
    pub published_until: Option<At>,
}

impl From<SigningKey> for SigningKeyRow {
    fn from(key: SigningKey) -> Self {
        Self {
            kid: key.kid,
            algorithm: key.algorithm.as_str().to_owned(),
            private_sealed: key.private.0,
            created_at: key.created_at.into(),
            signs_from: key.signs_from.into(),
            signs_until: key.signs_until.map(At::from),
            published_until: key.published_until.map(At::from),
        }
    }
}

impl TryFrom<SigningKeyRow> for SigningKey {
    type Error = StoreError;

    fn try_from(row: SigningKeyRow) -> Result<Self, StoreError> {
        let read = Row::new("signing_keys", &row.kid);
        Ok(Self {
            algorithm: read.parse("algorithm", &row.algorithm)?,
            private: Sealed(row.private_sealed),
            created_at: read.at("created_at", row.created_at)?,
            signs_from: read.at("signs_from", row.signs_from)?,
            signs_until: read.maybe_at("signs_until", row.signs_until)?,
            published_until: read.maybe_at("published_until", row.published_until)?,
            kid: row.kid,
        })
    }
}
