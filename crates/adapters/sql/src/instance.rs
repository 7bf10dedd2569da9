//! Rows of the processes that run the service.

use crate::schema::instances;
use crate::{At, Id, Row};
use diesel::prelude::*;
use dwar_activity::installation::Instance;
use dwar_kernel::StoreError;

/// Row of `instances`: a process that runs the service, with its last heartbeat.
#[derive(Clone, Queryable, Selectable, Insertable, AsChangeset)]
#[diesel(table_name = instances, treat_none_as_null = true)]
pub struct InstanceRow {
    pub id: Id,
    pub started_at: At,
    pub seen_at: At,
    pub version: String,
    pub host: String,
    pub pid: i64,
    pub api: String,
    pub dashboard: Option<String>,
}

impl From<Instance> for InstanceRow {
    fn from(instance: Instance) -> Self {
        Self {
            id: instance.id.into(),
            started_at: instance.started_at.into(),
            seen_at: instance.seen_at.into(),
            version: instance.version,
            host: instance.host,
            pid: instance.pid.into(),
            api: instance.api,
            dashboard: instance.dashboard,
        }
    }
}

impl TryFrom<InstanceRow> for Instance {
    type Error = StoreError;

    fn try_from(row: InstanceRow) -> Result<Self, StoreError> {
        let read = Row::new("instances", row.id);
        Ok(Self {
            id: read.id("id", row.id)?,
            started_at: read.at("started_at", row.started_at)?,
            seen_at: read.at("seen_at", row.seen_at)?,
            version: row.version,
            host: row.host,
            pid: read.known("pid", u32::try_from(row.pid).ok())?,
            api: row.api,
            dashboard: row.dashboard,
        })
    }
}
