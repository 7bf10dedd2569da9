use crate::endpoint::{
    AdminRequest, Answered, ApiRefusal, Lines, Operation, ProjectRequest, Query, Scope, get,
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
            .summary("The whole audit log, newest first"),
        get("/audit/export", Command::ExportAudit, export::<AdminRequest>)
            .summary("The whole audit log, an object a line"),
        get("/projects/{project}/audit", Command::ListProjectAudit, page::<ProjectRequest>)
            .summary("What was changed in a project"),
        get(
            "/projects/{project}/audit/export",
            Command::ExportProjectAudit,
            export::<ProjectRequest>,
        )
        .summary("What was changed in a project, an object a line"),
    ]
}

/// Which lines of the log.
#[derive(Default, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
struct AuditQuery {
    /// `command_line`, or the id of an operator or a token.
    #[param(min_length = 1, max_length = 200)]
    actor: Option<String>,
    /// Such as `key.regenerated`.
    #[param(schema_with = actions)]
    action: Option<String>,
    /// From this instant on.
    #[param(format = "date-time")]
    since: Option<String>,
    /// Before this instant.
    #[param(format = "date-time")]
    until: Option<String>,
    /// Entries at most, 1 to 500; 50 without. An export has no limit.
    #[param(minimum = 1, maximum = 500)]
    limit: Option<u32>,
    /// The `next_cursor` of the answer before.
    #[param(min_length = 1, max_length = 200)]
    cursor: Option<String>,
}

fn actions() -> Object {
    one_of(Action::ALL.map(Action::as_str))
}

async fn page<S: Scope>(at: S, Query(query): Query<AuditQuery>) -> Answered<Page<AuditLine>> {
    let (filter, after) = (query.filter(at.project())?, query.after()?);
    let (limit, call) = (limit(query.limit)?, at.call());
    // One entry more than the limit shows whether there are more.
    let entries = call.api.manage.audit_log.page(&call.by, filter, after, limit + 1).await?;
    Ok(AuditLine::page(&entries, limit))
}

async fn export<S: Scope>(at: S, Query(query): Query<AuditQuery>) -> Answered<Lines<AuditLine>> {
    // An export has no limit; an invalid limit is refused all the same.
    let (filter, after, _) = (query.filter(at.project())?, query.after()?, limit(query.limit)?);
    let (log, by) = (at.call().api.manage.audit_log.clone(), at.call().by.clone());
    Ok(Lines::new(AuditLine::export(log, by, filter, after).await?))
}

impl AuditQuery {
    fn filter(&self, project: Option<ProjectId>) -> Answered<AuditFilter> {
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

    fn after(&self) -> Answered<Option<AuditCursor>> {
        let place = place(self.cursor.as_deref())?;
        Ok(place.map(|(at, id)| AuditCursor { at, id }))
    }
}
