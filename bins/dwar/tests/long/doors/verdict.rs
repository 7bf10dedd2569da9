//! The result of a command, and its form at each door.

use crate::common::Answer;
use crate::doors::asking::Case;
use crate::doors::rows::{Elsewhere, Entry, Row, Wrong};
use crate::doors::stage::{NOBODY, Stage};
use dwar_kernel::ProjectId;
use dwar_operator::{
    Access, AccessDecision as Right, Action, Command, Permission, Requester, RequiredAccess, Role,
};
use serde_json::Value;
use std::process::Output;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    Done,
    Forbidden,
    NotFound,
    /// INVALID_FIELD, or INVALID_REQUEST if the request could not be parsed.
    Invalid,
    Conflict,
}

fn id(text: &str) -> ProjectId {
    text.parse().unwrap()
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Expected {
    pub verdict: Verdict,
    pub entry: Option<Action>,
}

impl Expected {
    /// From the domain's table of rights and, for callers with the right, from the row.
    pub fn of(by: &Requester, command: Command, row: &Row, case: Case, stage: &Stage) -> Self {
        let project = match (case, row.wrong) {
            (Case::Elsewhere, _) => id(&stage.theirs.id),
            (Case::Wrong, Wrong::Project) => id(NOBODY),
            _ => id(&stage.ours.id),
        };
        let of_project = matches!(command.needs(), RequiredAccess::Project(_)).then_some(project);
        let refused = |verdict| Self { verdict, entry: None };
        let masked = !by.access.may(project, Permission::Unmask);
        let entry = match row.entry {
            Entry::Always(action) => Some(action),
            Entry::IfMasked(action) => Some(action).filter(|_| masked),
            Entry::None => None,
        };
        let done = Self { verdict: Verdict::Done, entry };
        let theirs = Access::one(project, Role::Viewer);
        match (by.judge(command, of_project), case, row.wrong, row.elsewhere) {
            (Right::Unknown, ..) => refused(Verdict::NotFound),
            (Right::Forbidden | Right::Undelegated, ..) => refused(Verdict::Forbidden),
            (_, Case::Right, ..) | (_, Case::Elsewhere, _, Elsewhere::Says(Verdict::Done)) => done,
            (_, Case::Wrong, Wrong::Project, _) => refused(Verdict::NotFound),
            (_, Case::Wrong, Wrong::Says(verdict), _) => refused(verdict),
            (_, Case::Beyond, ..) => refused(Verdict::Invalid),
            (.., Elsewhere::Says(verdict)) => refused(verdict),
            (.., Elsewhere::StoreSays(verdict)) => Self { verdict, entry },
            (.., Elsewhere::UnlessTheirTeam(_)) if by.access.grants(&theirs) => done,
            (.., Elsewhere::UnlessTheirTeam(verdict)) => refused(verdict),
        }
    }

    /// Tells whether the command must leave no trace.
    pub fn is_without_trace(&self) -> bool {
        self.verdict != Verdict::Done && self.entry.is_none()
    }
}

/// The verdict in an answer of the admin API; status and code have to agree.
pub fn of_api(answer: &Answer) -> Result<Verdict, String> {
    Ok(match (answer.status.as_u16(), answer.code()) {
        (200 | 201, "") => Verdict::Done,
        (403, "FORBIDDEN") => Verdict::Forbidden,
        (404, "NOT_FOUND") => Verdict::NotFound,
        (400, "INVALID_REQUEST") | (422, "INVALID_FIELD") => Verdict::Invalid,
        (409, "CONFLICT") => Verdict::Conflict,
        other => return Err(format!("{other:?}: {}", answer.text)),
    })
}

/// The verdict of a page: its status, and the page of that refusal.
pub fn of_page(answer: &Answer) -> Result<Verdict, String> {
    let says = |words: &str| answer.text.contains(words);
    // A problem of a wallet or a provider is shown as a notice too.
    let bad = says("class=\"notice bad\" role=\"alert\"");
    Ok(match answer.status.as_u16() {
        200 if !bad => Verdict::Done,
        303 if answer.header("location") != "/sign-in" => Verdict::Done,
        403 if says("Access denied") => Verdict::Forbidden,
        404 => Verdict::NotFound,
        400 => Verdict::Invalid,
        422 if bad => Verdict::Invalid,
        409 if bad => Verdict::Conflict,
        other => return Err(format!("{other}: {}", answer.text)),
    })
}

/// The verdict of the command line: the exit status, and the code that `--json` prints.
pub fn of_cli(output: &Output) -> Result<Verdict, String> {
    let error = String::from_utf8_lossy(&output.stderr);
    let said: Value = serde_json::from_slice(&output.stdout).unwrap_or_default();
    Ok(match (output.status.code(), said["code"].as_str()) {
        (Some(0), None) => Verdict::Done,
        (Some(2), None) => Verdict::Invalid,
        (Some(1), Some("FORBIDDEN")) => Verdict::Forbidden,
        (Some(1), Some("NOT_FOUND")) => Verdict::NotFound,
        (Some(1), Some("INVALID_FIELD")) => Verdict::Invalid,
        (Some(1), Some("CONFLICT")) => Verdict::Conflict,
        other => return Err(format!("{other:?}: {error}{said}")),
    })
}
