//! Rows of the levels of the guard, and what codes say about them.

use crate::schema::{guard_levels, otps};
use crate::{At, Id, Row};
use diesel::prelude::*;
use dwar_kernel::{Digest, StoreError};
use dwar_ratelimit::guard::{
    GuardLevel, GuardMark, GuardSubject, GuardSubjectKind, StoredLevel, TakenToken,
};

/// The columns of `otps` for the guard; all of them blank for a send that was not guarded.
#[derive(Clone, Debug, Default, Queryable, Selectable, Insertable)]
#[diesel(table_name = otps)]
pub struct GuardMarkRow {
    pub visitor: Option<Vec<u8>>,
    pub taken_at: Option<At>,
    pub is_new: bool,
    pub earns: bool,
}

impl From<&GuardMark> for GuardMarkRow {
    fn from(mark: &GuardMark) -> Self {
        Self {
            visitor: mark.visitor.map(|digest| digest.0.to_vec()),
            taken_at: mark.taken_at.map(At::from),
            is_new: mark.is_new,
            earns: mark.earns,
        }
    }
}

impl GuardMarkRow {
    /// The mark of the code `otp`; `None` if it means nothing for any level.
    ///
    /// # Errors
    /// [`StoreError::Inconsistent`] if it cannot be decoded.
    pub fn into_mark(self, otp: Id) -> Result<Option<GuardMark>, StoreError> {
        let read = Row::new("otps", otp);
        if self.taken_at.is_none() && !self.earns {
            return Ok(None);
        }
        Ok(Some(GuardMark {
            visitor: self.visitor.map(|bytes| read.digest("visitor", bytes)).transpose()?,
            taken_at: read.maybe_at("taken_at", self.taken_at)?,
            is_new: self.is_new,
            earns: self.earns,
        }))
    }

    /// The take that the code `otp` stands for.
    ///
    /// # Errors
    /// As above.
    pub fn taken(self, otp: Id) -> Result<Option<TakenToken>, StoreError> {
        let mark = self.into_mark(otp)?;
        let take =
            |mark: GuardMark| mark.taken_at.map(|at| TakenToken { at, visitor: mark.visitor });
        Ok(mark.and_then(take))
    }
}

/// Row of `guard_levels`.
#[derive(Queryable, Selectable, Insertable, AsChangeset)]
#[diesel(table_name = guard_levels, primary_key(project_id, kind, digest))]
pub struct GuardLevelRow {
    pub project_id: Id,
    pub kind: String,
    pub digest: Vec<u8>,
    pub level: i64,
    pub changed_at: At,
    pub capacity: i64,
}

impl From<&StoredLevel> for GuardLevelRow {
    fn from(stored: &StoredLevel) -> Self {
        Self {
            project_id: stored.project.into(),
            kind: stored.subject.kind.as_str().to_owned(),
            digest: stored.subject.digest.0.to_vec(),
            level: stored.level.level,
            changed_at: stored.level.at.into(),
            capacity: stored.level.capacity,
        }
    }
}

impl TryFrom<GuardLevelRow> for StoredLevel {
    type Error = StoreError;

    fn try_from(row: GuardLevelRow) -> Result<Self, StoreError> {
        let read = Row::new("guard_levels", row.project_id);
        let kind = read.known("kind", GuardSubjectKind::from_word(&row.kind))?;
        let digest: Digest = read.digest("digest", row.digest)?;
        Ok(Self {
            project: read.id("project_id", row.project_id)?,
            subject: GuardSubject { kind, digest },
            level: GuardLevel {
                level: row.level,
                at: read.at("changed_at", row.changed_at)?,
                capacity: row.capacity,
            },
        })
    }
}
