//! Rows of the troubles that instances reported, and of open alerts.

use crate::schema::{alerts, instance_troubles};
use crate::{At, Id, Row};
use diesel::prelude::*;
use dwar_activity::installation::{InstanceTrouble, OpenAlert, ReportedTrouble};
use dwar_kernel::{AlertKind, InstanceId, StoreError};

/// Row of `instance_troubles`: a problem that one instance reported.
#[derive(Queryable, Selectable, Insertable)]
#[diesel(table_name = instance_troubles)]
pub struct TroubleRow {
    pub instance_id: Id,
    pub kind: String,
    pub about: String,
    pub detail: String,
    pub since: Option<At>,
}

impl TroubleRow {
    /// The row for a trouble that this instance reports.
    pub fn new(instance: InstanceId, trouble: InstanceTrouble) -> Self {
        Self {
            instance_id: instance.into(),
            kind: trouble.kind.as_str().to_owned(),
            about: trouble.about,
            detail: trouble.detail,
            since: trouble.since.map(At::from),
        }
    }

    /// Converts the row to a trouble of the instance on `host`.
    ///
    /// # Errors
    /// [`StoreError::Inconsistent`] if it cannot be read.
    pub fn of(self, host: String) -> Result<ReportedTrouble, StoreError> {
        let read = Row::new("instance_troubles", self.instance_id);
        let trouble = InstanceTrouble {
            kind: read.known("kind", AlertKind::from_word(&self.kind))?,
            about: self.about,
            detail: self.detail,
            since: read.maybe_at("since", self.since)?,
        };
        Ok(ReportedTrouble { host, trouble })
    }
}

/// Row of `alerts`: an alert that is still open.
#[derive(Clone, Queryable, Selectable, Insertable)]
#[diesel(table_name = alerts)]
pub struct AlertRow {
    pub kind: String,
    pub about: String,
    pub project_id: Option<Id>,
    pub since: At,
}

impl From<&OpenAlert> for AlertRow {
    fn from(alert: &OpenAlert) -> Self {
        Self {
            kind: alert.kind.as_str().to_owned(),
            about: alert.about.clone(),
            project_id: alert.project.map(Id::from),
            since: alert.since.into(),
        }
    }
}

impl TryFrom<AlertRow> for OpenAlert {
    type Error = StoreError;

    fn try_from(row: AlertRow) -> Result<Self, StoreError> {
        let read = Row::new("alerts", &row.kind);
        Ok(Self {
            kind: read.known("kind", AlertKind::from_word(&row.kind))?,
            about: row.about,
            project: row.project_id.map(|id| read.id("project_id", id)).transpose()?,
            since: read.at("since", row.since)?,
        })
    }
}
