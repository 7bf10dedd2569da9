//! Rows of admin API tokens.

use crate::schema::admin_tokens;
use crate::{At, Id, Row};
use diesel::prelude::*;
use dwar_kernel::StoreError;
use dwar_operator::AdminToken;

/// Row of `admin_tokens`. It holds the digest of a token, never the token itself.
#[derive(Queryable, Selectable, Insertable, AsChangeset, Identifiable)]
#[diesel(table_name = admin_tokens, treat_none_as_null = true)]
pub struct AdminTokenRow {
    pub id: Id,
    pub digest: Vec<u8>,
    pub name: String,
    pub access: String,
    pub may_delegate: bool,
    pub made_by: String,
    pub made_at: At,
    pub expires_at: At,
    pub used_at: Option<At>,
    pub used_from: Option<String>,
}

impl From<AdminToken> for AdminTokenRow {
    fn from(token: AdminToken) -> Self {
        Self {
            id: token.id.into(),
            digest: token.digest.0.to_vec(),
            name: token.name,
            access: token.access.to_string(),
            may_delegate: token.may_delegate,
            made_by: token.made_by,
            made_at: token.made_at.into(),
            expires_at: token.expires_at.into(),
            used_at: token.used_at.map(At::from),
            used_from: token.used_from.map(|address| address.to_string()),
        }
    }
}

impl TryFrom<AdminTokenRow> for AdminToken {
    type Error = StoreError;

    fn try_from(row: AdminTokenRow) -> Result<Self, StoreError> {
        let read = Row::new("admin_tokens", row.id);
        Ok(Self {
            id: read.id("id", row.id)?,
            digest: read.digest("digest", row.digest)?,
            name: row.name,
            access: read.parse("access", &row.access)?,
            may_delegate: row.may_delegate,
            made_by: row.made_by,
            made_at: read.at("made_at", row.made_at)?,
            expires_at: read.at("expires_at", row.expires_at)?,
            used_at: read.maybe_at("used_at", row.used_at)?,
            used_from: read.maybe_parse("used_from", row.used_from.as_deref())?,
        })
    }
}
