use super::page::Page;
use super::text::{id, instant};
use dwar_operator::AuditEntry;
use serde::Serialize;
use serde_json::Value;
use utoipa::ToSchema;

/// One change, written down before it was made.
#[derive(Serialize, ToSchema)]
pub struct AuditLine {
    #[schema(format = "uuid")]
    id: String,
    #[schema(format = "date-time")]
    at: String,
    actor: Actor,
    /// The address it came from, as far as it is known.
    from: Option<String>,
    /// None where it is about the installation.
    #[schema(format = "uuid")]
    project_id: Option<String>,
    action: String,
    subject: String,
    /// What differs: as it was.
    #[schema(value_type = Option<Object>)]
    before: Value,
    /// What differs: as it is to be.
    #[schema(value_type = Option<Object>)]
    after: Value,
}

/// Who did it.
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
    /// The first `limit` of what was read, which is one more where there are more.
    pub(crate) fn page(entries: &[AuditEntry], limit: u32) -> Page<Self> {
        let cursor = |entry: &AuditEntry| format!("{}_{}", instant(entry.at), entry.id);
        Page::cut(entries, limit, cursor, |entry| entry.into())
    }

    /// As a line of its own.
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
