//! Counts of refused sends.

use crate::schema::refused_sends;
use crate::{At, Id, Row, stored_count};
use diesel::dsl::sum;
use diesel::helper_types;
use diesel::prelude::*;
use dwar_activity::RefusalFigure;
use dwar_kernel::{RecorderId, StoreError};
use dwar_otp::{Refusal, RefusedSends};

/// Row of `refused_sends`: what one process refused within a minute. Empty bytes stand for an
/// unknown phone.
#[derive(Queryable, Selectable, Insertable)]
#[diesel(table_name = refused_sends)]
pub struct RefusedRow {
    pub project_id: Id,
    pub mode: String,
    pub phone_index: Vec<u8>,
    pub minute: At,
    pub reason: String,
    pub tally: Id,
    pub count: i32,
}

impl RefusedRow {
    /// The rows of the counts of one `recorder`, in the order in which they are written and locked.
    pub fn all(recorder: RecorderId, counts: Vec<RefusedSends>) -> Vec<Self> {
        let mut rows: Vec<Self> = counts
            .into_iter()
            .map(|it| Self {
                project_id: it.project_mode.project.into(),
                mode: it.project_mode.mode.as_str().to_owned(),
                phone_index: it.phone.map(|phone| phone.0.to_vec()).unwrap_or_default(),
                minute: it.minute.into(),
                reason: it.reason.as_str().to_owned(),
                tally: recorder.into(),
                count: stored_count(it.count),
            })
            .collect();
        rows.sort_by(|a, b| a.key().cmp(&b.key()));
        rows
    }

    fn key(&self) -> (&str, &[u8], i64, &str) {
        let minute = self.minute.0.map_or(0, |at| at.timestamp_millis());
        (&self.mode, &self.phone_index, minute, &self.reason)
    }
}

impl TryFrom<RefusedRow> for RefusedSends {
    type Error = StoreError;

    fn try_from(row: RefusedRow) -> Result<Self, StoreError> {
        let read = Row::new("refused_sends", row.tally);
        let phone = (!row.phone_index.is_empty()).then_some(row.phone_index);
        Ok(Self {
            project_mode: read.project_mode(row.project_id, &row.mode)?,
            phone: phone.map(|raw| read.index("phone_index", raw)).transpose()?,
            reason: read.known("reason", Refusal::from_word(&row.reason))?,
            minute: read.at("minute", row.minute)?,
            count: read.count("count", row.count)?,
        })
    }
}

/// How many sends of a project were refused for one reason within a minute.
#[derive(Queryable, Selectable)]
#[diesel(table_name = refused_sends)]
pub struct RefusedSumRow {
    project_id: Id,
    mode: String,
    minute: At,
    reason: String,
    #[diesel(select_expression = sum(refused_sends::count))]
    #[diesel(select_expression_type = helper_types::sum<refused_sends::count>)]
    count: Option<i64>,
}

impl TryFrom<RefusedSumRow> for RefusalFigure {
    type Error = StoreError;

    fn try_from(row: RefusedSumRow) -> Result<Self, StoreError> {
        let read = Row::new("refused_sends", row.project_id);
        Ok(Self {
            project_mode: read.project_mode(row.project_id, &row.mode)?,
            minute: read.at("minute", row.minute)?,
            reason: read.known("reason", Refusal::from_word(&row.reason))?,
            count: read.known("count", u64::try_from(row.count.unwrap_or_default()).ok())?,
        })
    }
}

impl TryFrom<RefusedSumRow> for RefusedSends {
    type Error = StoreError;

    fn try_from(row: RefusedSumRow) -> Result<Self, StoreError> {
        let RefusalFigure { project_mode, minute, reason, count } = row.try_into()?;
        let count = u32::try_from(count).unwrap_or(u32::MAX);
        Ok(Self { project_mode, phone: None, reason, minute, count })
    }
}
