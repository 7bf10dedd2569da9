//! Rows of hooks, at which another system asks for delivery of its own codes.

use crate::schema::hooks;
use crate::{At, Id, Row, SecretColumns, stored_count};
use diesel::prelude::*;
use dwar_kernel::StoreError;
use dwar_project::{Hook, HookChange, HookKind};
use std::time::Duration;

/// Row of `hooks`: an address, its secrets and its settings.
#[derive(Queryable, Selectable, Insertable, AsChangeset, Identifiable)]
#[diesel(table_name = hooks, treat_none_as_null = true)]
pub struct HookRow {
    pub id: Id,
    pub project_id: Id,
    pub mode: String,
    pub kind: String,
    pub lifetime_seconds: i32,
    pub mfa_lifetime_seconds: Option<i32>,
    pub secret: Vec<u8>,
    pub previous_secret: Option<Vec<u8>>,
    pub previous_until: Option<At>,
    pub created_at: At,
}

impl From<&Hook> for HookRow {
    fn from(hook: &Hook) -> Self {
        let SecretColumns { secret, previous_secret, previous_until } = (&hook.secret).into();
        Self {
            id: hook.id.into(),
            project_id: hook.project_mode.project.into(),
            mode: hook.project_mode.mode.as_str().to_owned(),
            kind: hook.kind.as_str().to_owned(),
            lifetime_seconds: seconds(hook.lifetime),
            mfa_lifetime_seconds: hook.mfa_lifetime.map(seconds),
            secret,
            previous_secret,
            previous_until,
            created_at: hook.created_at.into(),
        }
    }
}

fn seconds(lifetime: Duration) -> i32 {
    stored_count(u32::try_from(lifetime.as_secs()).unwrap_or(u32::MAX))
}

/// The columns of a hook to change; `None` leaves a column unchanged.
#[derive(AsChangeset)]
#[diesel(table_name = hooks)]
pub struct ChangedHook {
    lifetime_seconds: Option<i32>,
    mfa_lifetime_seconds: Option<i32>,
}

impl ChangedHook {
    /// The changed columns; `None` if there are none, because an update without columns is not
    /// valid.
    pub fn of(change: HookChange) -> Option<Self> {
        let lifetime_seconds = change.lifetime.map(seconds);
        let mfa_lifetime_seconds = change.mfa_lifetime.map(seconds);
        let names_any = lifetime_seconds.is_some() || mfa_lifetime_seconds.is_some();
        names_any.then_some(Self { lifetime_seconds, mfa_lifetime_seconds })
    }
}

impl TryFrom<HookRow> for Hook {
    type Error = StoreError;

    fn try_from(row: HookRow) -> Result<Self, StoreError> {
        let read = Row::new("hooks", row.id);
        let count = |column, stored| read.count(column, stored);
        let lifetime = count("lifetime_seconds", row.lifetime_seconds)?;
        let mfa_lifetime = row.mfa_lifetime_seconds;
        let mfa_lifetime = mfa_lifetime.map(|stored| count("mfa_lifetime_seconds", stored));
        let whole = |seconds: u32| Duration::from_secs(seconds.into());
        Ok(Self {
            id: read.id("id", row.id)?,
            project_mode: read.project_mode(row.project_id, &row.mode)?,
            kind: read.known("kind", HookKind::from_word(&row.kind))?,
            lifetime: whole(lifetime),
            mfa_lifetime: mfa_lifetime.transpose()?.map(whole),
            secret: read.secret(SecretColumns {
                secret: row.secret,
                previous_secret: row.previous_secret,
                previous_until: row.previous_until,
            })?,
            created_at: read.at("created_at", row.created_at)?,
        })
    }
}
