use crate::endpoint::{
    AdminRequest, AdminResult, ApiRefusal, JsonLines, Operation, ProjectRequest, Query, Scope, get,
    instant_of, limit, one_of, place,
};
use crate::views::{AuditLine, Page};
use dwar_kernel::ProjectId;
use dwar_operator::{Action, AuditCursor, AuditFilter, Command, InvalidActor};
use serde::Deserialize;
use utoipa::IntoParams;
use utoipa::openapi::Object;

pub(crate) fn operations() -> Vec<Operation> {
    vec![
        get("/audit", Command::ListAudit, page::<AdminRequest>)
            .summary("List the audit log of the installation, newest first"),
        get("/audit/export", Command::ExportAudit, export::<AdminRequest>)
            .summary("Export the audit log of the installation, one JSON object per line"),
        get("/projects/{project}/audit", Command::ListProjectAudit, page::<ProjectRequest>)
            .summary("List the audit log of a project, newest first"),
        get(
            "/projects/{project}/audit/export",
            Command::ExportProjectAudit,
            export::<ProjectRequest>,
        )
        .summary("Export the audit log of a project, one JSON object per line"),
    ]
}

/// Filter of the audit log.
#[derive(Default, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
struct AuditQuery {
    /// Who did it: `command_line`, or the id of an operator or a token.
    #[param(min_length = 1, max_length = 200)]
    actor: Option<String>,
    /// Action, such as `key.regenerated`.
    #[param(schema_with = actions)]
    action: Option<String>,
    /// Start of the range, inclusive.
    #[param(format = "date-time")]
    since: Option<String>,
    /// End of the range, exclusive.
    #[param(format = "date-time")]
    until: Option<String>,
    /// Entries per page, 1 to 500. Default: 50. An export has no limit.
    #[param(minimum = 1, maximum = 500)]
    limit: Option<u32>,
    /// `next_cursor` of the previous page.
    #[param(min_length = 1, max_length = 200)]
    cursor: Option<String>,
}

fn actions() -> Object {
    one_of(Action::ALL.map(Action::as_str))
}

async fn page<S: Scope>(at: S, Query(query): Query<AuditQuery>) -> AdminResult<Page<AuditLine>> {
    let (filter, after) = (query.filter(at.project())?, query.after()?);
    let (limit, call) = (limit(query.limit)?, at.call());
    // One entry more than the limit shows whether there are more.
    let entries = call.api.manage.audit_log.page(&call.by, filter, after, limit + 1).await?;
    Ok(AuditLine::page(&entries, limit))
}

async fn export<S: Scope>(
    at: S,
    Query(query): Query<AuditQuery>,
) -> AdminResult<JsonLines<AuditLine>> {
    // An export has no limit; an invalid limit is refused all the same.
    let (filter, after, _) = (query.filter(at.project())?, query.after()?, limit(query.limit)?);
    let (log, by) = (at.call().api.manage.audit_log.clone(), at.call().by.clone());
    Ok(JsonLines::new(AuditLine::export(log, by, filter, after).await?))
}

impl AuditQuery {
    fn filter(&self, project: Option<ProjectId>) -> AdminResult<AuditFilter> {
        let action = self.action.as_deref().map(|word| {
            Action::from_word(word).ok_or_else(|| ApiRefusal::field("action", "no such action"))
        });
        let actor = self.actor.as_deref().map(str::parse).transpose();
        Ok(AuditFilter {
            project,
            actor: actor.map_err(|cause: InvalidActor| ApiRefusal::field("actor", cause))?,
            action: action.transpose()?,
            since: instant_of("since", self.since.as_deref())?,
            until: instant_of("until", self.until.as_deref())?,
        })
    }

    fn after(&self) -> AdminResult<Option<AuditCursor>> {
        let place = place(self.cursor.as_deref())?;
        Ok(place.map(|(at, id)| AuditCursor { at, id }))
    }
}
