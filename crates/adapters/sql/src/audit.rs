//! Rows of the audit log.

use crate::schema::audit_entries;
use crate::{At, Id, Row};
use diesel::prelude::*;
use dwar_kernel::StoreError;
use dwar_operator::{Action, Actor, AuditEntry};

const COMMAND_LINE: &str = "command_line";
const OPERATOR: &str = "operator";
const TOKEN: &str = "token";

/// Row of `audit_entries`: one recorded action and its actor.
#[derive(Queryable, Selectable, Insertable)]
#[diesel(table_name = audit_entries)]
pub struct AuditEntryRow {
    pub id: Id,
    pub happened_at: At,
    pub actor_kind: String,
    pub actor_id: Option<Id>,
    pub actor_name: Option<String>,
    pub from_address: Option<String>,
    pub project_id: Option<Id>,
    pub action: String,
    pub subject: String,
    pub facts_before: Option<String>,
    pub facts_after: Option<String>,
}

impl From<AuditEntry> for AuditEntryRow {
    fn from(entry: AuditEntry) -> Self {
        let (kind, id, name) = match entry.actor {
            Actor::CommandLine => (COMMAND_LINE, None, None),
            Actor::Operator { id, name } => (OPERATOR, Some(id.into()), Some(name)),
            Actor::Token { id, name } => (TOKEN, Some(id.into()), Some(name)),
        };
        Self {
            id: entry.id.into(),
            happened_at: entry.at.into(),
            actor_kind: kind.to_owned(),
            actor_id: id,
            actor_name: name,
            from_address: entry.from.map(|address| address.to_string()),
            project_id: entry.project.map(Id::from),
            action: entry.action.as_str().to_owned(),
            subject: entry.subject,
            facts_before: entry.before,
            facts_after: entry.after,
        }
    }
}

impl TryFrom<AuditEntryRow> for AuditEntry {
    type Error = StoreError;

    fn try_from(row: AuditEntryRow) -> Result<Self, StoreError> {
        let read = Row::new("audit_entries", row.id);
        let actor = match (row.actor_kind.as_str(), row.actor_id, row.actor_name) {
            (COMMAND_LINE, None, None) => Actor::CommandLine,
            (OPERATOR, Some(id), Some(name)) => {
                Actor::Operator { id: read.id("actor_id", id)?, name }
            }
            (TOKEN, Some(id), Some(name)) => Actor::Token { id: read.id("actor_id", id)?, name },
            _ => read.known("actor_kind", None)?,
        };
        let project = row.project_id.map(|id| read.id("project_id", id)).transpose()?;
        Ok(Self {
            id: read.id("id", row.id)?,
            at: read.at("happened_at", row.happened_at)?,
            actor,
            from: read.maybe_parse("from_address", row.from_address.as_deref())?,
            project,
            action: read.known("action", Action::from_word(&row.action))?,
            subject: row.subject,
            before: row.facts_before,
            after: row.facts_after,
        })
    }
}
