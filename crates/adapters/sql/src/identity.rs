//! Rows of identities, each a verified phone.

use crate::schema::identities;
use crate::{At, Id, Row};
use diesel::prelude::*;
use dwar_identity::Identity;
use dwar_kernel::{BlindIndex, Sealed, StoreError};

/// Row of `identities`: a verified phone, sealed and indexed.
#[derive(Queryable, Selectable, Insertable)]
#[diesel(table_name = identities)]
pub struct IdentityRow {
    pub id: Id,
    pub project_id: Id,
    pub mode: String,
    pub phone_index: Vec<u8>,
    pub phone_sealed: Vec<u8>,
    pub created_at: At,
    pub last_verified_at: At,
}

impl IdentityRow {
    /// Makes the row of an identity, with the blind index of its phone.
    pub fn new(identity: &Identity, phone: BlindIndex) -> Self {
        Self {
            id: identity.id.into(),
            project_id: identity.project_mode.project.into(),
            mode: identity.project_mode.mode.as_str().to_owned(),
            phone_index: phone.0.to_vec(),
            phone_sealed: identity.phone.0.clone(),
            created_at: identity.created_at.into(),
            last_verified_at: identity.last_verified_at.into(),
        }
    }
}

impl TryFrom<IdentityRow> for Identity {
    type Error = StoreError;

    fn try_from(row: IdentityRow) -> Result<Self, StoreError> {
        let read = Row::new("identities", row.id);
        Ok(Self {
            id: read.id("id", row.id)?,
            project_mode: read.project_mode(row.project_id, &row.mode)?,
            phone: Sealed(row.phone_sealed),
            created_at: read.at("created_at", row.created_at)?,
            last_verified_at: read.at("last_verified_at", row.last_verified_at)?,
        })
    }
}
