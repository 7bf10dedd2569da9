use super::page::Page;
use super::text::{id, instant};
use actix_web::web::Bytes;
use dwar_console::{AuditLog, ManageError};
use dwar_kernel::StoreError;
use dwar_operator::{AuditCursor, AuditEntry, AuditFilter, Requester};
use futures_util::Stream;
use futures_util::stream::try_unfold;
use serde::Serialize;
use serde_json::Value;
use utoipa::ToSchema;

/// Entries that an export reads at a time.
const AT_A_TIME: u32 = 500;

enum NextAudit {
    Page(Vec<AuditEntry>),
    After(AuditCursor),
}

/// One action, recorded before it was carried out.
#[derive(Serialize, ToSchema)]
pub struct AuditLine {
    #[schema(format = "uuid")]
    id: String,
    #[schema(format = "date-time")]
    at: String,
    actor: Actor,
    /// Client address, if known.
    from: Option<String>,
    /// Project that it concerns; null for the installation.
    #[schema(format = "uuid")]
    project_id: Option<String>,
    action: String,
    subject: String,
    /// Changed members, before the change.
    #[schema(value_type = Option<Object>)]
    before: Value,
    /// Changed members, after the change.
    #[schema(value_type = Option<Object>)]
    after: Value,
}

/// Who carried out the action.
#[derive(Serialize, ToSchema)]
struct Actor {
    /// `command_line`, `operator` or `token`.
    kind: String,
    #[schema(format = "uuid")]
    id: Option<String>,
    name: String,
}

impl From<&AuditEntry> for AuditLine {
    fn from(entry: &AuditEntry) -> Self {
        let facts = |facts: &Option<String>| -> Value {
            facts.as_deref().and_then(|facts| serde_json::from_str(facts).ok()).unwrap_or_default()
        };
        Self {
            id: id(entry.id),
            at: instant(entry.at),
            actor: (&entry.actor).into(),
            from: entry.from.map(id),
            project_id: entry.project.map(id),
            action: id(entry.action),
            subject: entry.subject.clone(),
            before: facts(&entry.before),
            after: facts(&entry.after),
        }
    }
}

impl AuditLine {
    /// Makes a page of the first `limit` entries. The caller reads one more, which shows whether
    /// there are more.
    pub(crate) fn page(entries: &[AuditEntry], limit: u32) -> Page<Self> {
        let cursor = |entry: &AuditEntry| format!("{}_{}", instant(entry.at), entry.id);
        Page::cut(entries, limit, cursor, |entry| entry.into())
    }

    /// Exports the log, one JSON object per line, without a limit. Reads the first entries before
    /// it returns, so that a refusal is not saved as a file.
    ///
    /// # Errors
    /// As [`AuditLog::page`].
    pub async fn export(
        log: AuditLog,
        by: Requester,
        filter: AuditFilter,
        after: Option<AuditCursor>,
    ) -> Result<impl Stream<Item = Result<Bytes, StoreError>> + 'static, ManageError> {
        let first = log.page(&by, filter, after, AT_A_TIME).await?;
        Ok(try_unfold(Some((log, by, NextAudit::Page(first))), move |from| async move {
            let Some((log, by, rest)) = from else { return Ok(None) };
            let entries = match rest {
                NextAudit::Page(first) => Ok(first),
                NextAudit::After(last) => log.page(&by, filter, Some(last), AT_A_TIME).await,
            };
            let entries = entries.map_err(ManageError::into_store_error)?;
            let last = entries.last().map(AuditEntry::cursor);
            let more = last.filter(|_| entries.len() == AT_A_TIME as usize);
            let lines: String = entries.iter().map(|entry| Self::from(entry).to_line()).collect();
            let next = more.map(|last| (log, by, NextAudit::After(last)));
            Ok(Some((Bytes::from(lines), next)))
        }))
    }

    /// Serializes the entry as one line of JSON.
    pub fn to_line(&self) -> String {
        serde_json::to_string(self).unwrap_or_default() + "\n"
    }
}

impl From<&dwar_operator::Actor> for Actor {
    fn from(actor: &dwar_operator::Actor) -> Self {
        use dwar_operator::Actor::{CommandLine, Operator, Token};
        let (kind, by) = match actor {
            CommandLine => ("command_line", None),
            Operator { id: operator, .. } => ("operator", Some(id(operator))),
            Token { id: token, .. } => ("token", Some(id(token))),
        };
        Self { kind: kind.to_owned(), id: by, name: id(actor) }
    }
}
