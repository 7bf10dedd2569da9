//! Rows of operators, their sign-in links and sessions, and their failure counts.

use crate::schema::{operator_links, operator_sessions, operator_standings, operators};
use crate::{At, Id, Row, stored_count};
use diesel::prelude::*;
use dwar_kernel::{Sealed, StoreError};
use dwar_operator::{
    FailureCounter, FailureKey, LinkKind, OneTimeLink, Operator, OperatorName, OperatorSession,
    PasswordHash, Totp,
};

/// Row of `operators`: a member of staff with access to the console.
#[derive(Queryable, Selectable, Insertable, AsChangeset, Identifiable)]
#[diesel(table_name = operators, treat_none_as_null = true)]
pub struct OperatorRow {
    pub id: Id,
    pub name: String,
    pub name_key: String,
    pub access: String,
    pub password: Option<String>,
    pub totp_sealed: Option<Vec<u8>>,
    pub totp_last_step: Option<i64>,
    pub created_at: At,
    pub signed_in_at: Option<At>,
}

/// Row of `operator_links`: a link with which an operator signs in.
#[derive(Queryable, Selectable, Insertable)]
#[diesel(table_name = operator_links)]
pub struct LinkRow {
    pub digest: Vec<u8>,
    pub operator_id: Id,
    pub kind: String,
    pub made_at: At,
    pub expires_at: At,
}

/// Row of `operator_sessions`: a signed-in browser of an operator.
#[derive(Queryable, Selectable, Insertable)]
#[diesel(table_name = operator_sessions)]
pub struct OperatorSessionRow {
    pub digest: Vec<u8>,
    pub operator_id: Id,
    pub from_address: Option<String>,
    pub created_at: At,
    pub seen_at: At,
    pub expires_at: At,
    pub device: Option<String>,
}

/// Row of `operator_standings`: one count of failed sign-ins.
#[derive(Queryable, Selectable, Insertable, AsChangeset, Identifiable)]
#[diesel(table_name = operator_standings, primary_key(operator_id, subject), treat_none_as_null = true)]
pub struct FailureCounterRow {
    pub operator_id: Id,
    pub subject: Vec<u8>,
    pub failures: i32,
    pub last_at: At,
    pub locked_until: Option<At>,
}

impl From<&Operator> for OperatorRow {
    fn from(operator: &Operator) -> Self {
        let totp = operator.totp.as_ref();
        let step = |totp: &Totp| i64::try_from(totp.last_step).unwrap_or(i64::MAX);
        Self {
            id: operator.id.into(),
            name: operator.name.to_string(),
            name_key: operator.name.key(),
            access: operator.access.to_string(),
            password: operator.password.as_ref().map(|hash| hash.as_str().to_owned()),
            totp_sealed: totp.map(|totp| totp.secret.0.clone()),
            totp_last_step: totp.map(step),
            created_at: operator.created_at.into(),
            signed_in_at: operator.signed_in_at.map(At::from),
        }
    }
}

impl TryFrom<OperatorRow> for Operator {
    type Error = StoreError;

    fn try_from(row: OperatorRow) -> Result<Self, StoreError> {
        let read = Row::new("operators", row.id);
        let totp = match (row.totp_sealed, row.totp_last_step) {
            (None, None) => None,
            (sealed, step) => Some(Totp {
                secret: Sealed(read.known("totp_sealed", sealed)?),
                last_step: read
                    .known("totp_last_step", step.and_then(|step| step.try_into().ok()))?,
            }),
        };
        Ok(Self {
            id: read.id("id", row.id)?,
            name: OperatorName::stored(row.name),
            access: read.parse("access", &row.access)?,
            password: row.password.map(PasswordHash::new),
            totp,
            created_at: read.at("created_at", row.created_at)?,
            signed_in_at: read.maybe_at("signed_in_at", row.signed_in_at)?,
        })
    }
}

impl From<&OneTimeLink> for LinkRow {
    fn from(link: &OneTimeLink) -> Self {
        Self {
            digest: link.digest.0.to_vec(),
            operator_id: link.operator.into(),
            kind: link.kind.as_str().to_owned(),
            made_at: link.made_at.into(),
            expires_at: link.expires_at.into(),
        }
    }
}

impl TryFrom<LinkRow> for OneTimeLink {
    type Error = StoreError;

    fn try_from(row: LinkRow) -> Result<Self, StoreError> {
        let read = Row::new("operator_links", format!("of operator {}", row.operator_id));
        Ok(Self {
            digest: read.digest("digest", row.digest)?,
            operator: read.id("operator_id", row.operator_id)?,
            kind: read.known("kind", LinkKind::from_word(&row.kind))?,
            made_at: read.at("made_at", row.made_at)?,
            expires_at: read.at("expires_at", row.expires_at)?,
        })
    }
}

impl From<&OperatorSession> for OperatorSessionRow {
    fn from(session: &OperatorSession) -> Self {
        Self {
            digest: session.digest.0.to_vec(),
            operator_id: session.operator.into(),
            from_address: session.from.map(|address| address.to_string()),
            created_at: session.created_at.into(),
            seen_at: session.seen_at.into(),
            expires_at: session.expires_at.into(),
            device: session.device.as_ref().map(ToString::to_string),
        }
    }
}

impl TryFrom<OperatorSessionRow> for OperatorSession {
    type Error = StoreError;

    fn try_from(row: OperatorSessionRow) -> Result<Self, StoreError> {
        let read = Row::new("operator_sessions", format!("of operator {}", row.operator_id));
        Ok(Self {
            digest: read.digest("digest", row.digest)?,
            operator: read.id("operator_id", row.operator_id)?,
            from: read.maybe_parse("from_address", row.from_address.as_deref())?,
            device: read.maybe_parse("device", row.device.as_deref())?,
            created_at: read.at("created_at", row.created_at)?,
            seen_at: read.at("seen_at", row.seen_at)?,
            expires_at: read.at("expires_at", row.expires_at)?,
        })
    }
}

impl FailureCounterRow {
    /// Makes the row of one count of failed sign-ins.
    pub fn new(count: FailureKey, counter: FailureCounter) -> Self {
        Self {
            operator_id: count.operator.into(),
            subject: count.subject.0.to_vec(),
            failures: stored_count(counter.failures),
            last_at: counter.last_at.into(),
            locked_until: counter.locked_until.map(At::from),
        }
    }
}

impl TryFrom<FailureCounterRow> for (FailureKey, FailureCounter) {
    type Error = StoreError;

    fn try_from(row: FailureCounterRow) -> Result<Self, StoreError> {
        let read = Row::new("operator_standings", row.operator_id);
        let operator = read.id("operator_id", row.operator_id)?;
        let count = FailureKey::stored(operator, read.digest("subject", row.subject.clone())?);
        Ok((count, row.try_into()?))
    }
}

impl TryFrom<FailureCounterRow> for FailureCounter {
    type Error = StoreError;

    fn try_from(row: FailureCounterRow) -> Result<Self, StoreError> {
        let read = Row::new("operator_standings", row.operator_id);
        Ok(Self {
            failures: read.count("failures", row.failures)?,
            last_at: read.at("last_at", row.last_at)?,
            locked_until: read.maybe_at("locked_until", row.locked_until)?,
        })
    }
}
