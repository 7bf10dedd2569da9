//! Rows of passkeys of operators.

use crate::schema::operator_passkeys;
use crate::{At, Id, Row};
use diesel::prelude::*;
use dwar_kernel::StoreError;
use dwar_operator::{Passkey, PasskeyAlgorithm, PasskeyKey};

/// Row of `operator_passkeys`: a credential with which an operator signs in.
#[derive(Queryable, Selectable, Insertable)]
#[diesel(table_name = operator_passkeys)]
pub struct PasskeyRow {
    pub digest: Vec<u8>,
    pub operator_id: Id,
    pub name: String,
    pub credential: Vec<u8>,
    pub algorithm: String,
    pub spki: Vec<u8>,
    pub counter: i64,
    pub made_at: At,
    pub used_at: Option<At>,
}

impl From<&Passkey> for PasskeyRow {
    fn from(passkey: &Passkey) -> Self {
        Self {
            digest: passkey.digest.0.to_vec(),
            operator_id: passkey.operator.into(),
            name: passkey.name.clone(),
            credential: passkey.credential.clone(),
            algorithm: passkey.key.algorithm.as_str().to_owned(),
            spki: passkey.key.spki.clone(),
            counter: passkey.counter.into(),
            made_at: passkey.made_at.into(),
            used_at: passkey.used_at.map(At::from),
        }
    }
}

impl TryFrom<PasskeyRow> for Passkey {
    type Error = StoreError;

    fn try_from(row: PasskeyRow) -> Result<Self, StoreError> {
        let read = Row::new("operator_passkeys", row.operator_id);
        let algorithm = PasskeyAlgorithm::from_word(&row.algorithm);
        Ok(Self {
            digest: read.digest("digest", row.digest)?,
            operator: read.id("operator_id", row.operator_id)?,
            name: row.name,
            credential: row.credential,
            key: PasskeyKey { algorithm: read.known("algorithm", algorithm)?, spki: row.spki },
            counter: read.known("counter", row.counter.try_into().ok())?,
            made_at: read.at("made_at", row.made_at)?,
            used_at: read.maybe_at("used_at", row.used_at)?,
        })
    }
}
