//! `dwar wallet close`: moves closed months of ledgers from the database to files.

use super::answer::{Answer, lines};
use super::confirm::{Confirm, Person};
use super::failure::Failure;
use super::ledger_export::ExportFolder;
use super::open::ProjectRef;
use crate::counted::counted;
use dwar_admin::views::{ClosedMonth, MonthToClose as PlannedMonth};
use dwar_console::{CloseError, Management, MonthToClose};
use dwar_kernel::ProjectId;
use dwar_operator::Requester;
use dwar_wallet::{Closing, Month};
use serde_json::json;
use std::path::PathBuf;

#[derive(clap::Args)]
pub struct Args {
    /// First month that stays open, such as 2026-11
    #[arg(long, value_name = "MONTH")]
    before: Month,
    /// Name or ID of the project whose months are closed; without it, all projects
    #[arg(long)]
    project: Option<ProjectRef>,
    /// The folder for the exports, one file for each project and month; nothing is overwritten
    #[arg(long, value_name = "FOLDER", default_value = ".")]
    to: PathBuf,
    /// Only show what would be closed
    #[arg(long)]
    dry_run: bool,
    #[command(flatten)]
    confirm: Confirm,
}

/// Closes every month that can be closed, each after its export is on disk.
pub async fn close(manage: &Management, asked: Args, person: Person) -> Result<Answer, Failure> {
    let (by, months) = (Requester::command_line(), &manage.months);
    let project = match &asked.project {
        Some(project) => Some(project.id(&manage.projects).await?),
        None => None,
    };
    let plan = months.plan(&by, project, asked.before).await;
    let plan = plan.map_err(|cause| refused(cause, project))?;
    if asked.dry_run {
        return Ok(planned(&plan));
    }
    let folder = ExportFolder(std::path::absolute(&asked.to)?);
    if !plan.is_empty() {
        let closings = counted(plan.len() as u64, "month", "months");
        let question = format!(
            "Export {closings} of projects to {}, and remove the entries from the database?",
            folder.0.display()
        );
        asked.confirm.ask(person, &question)?;
    }
    let mut closed = Vec::new();
    for month in plan {
        let closing = months.close(&by, &folder, month).await;
        closed.push(closing.map_err(|cause| refused(cause, Some(month.project)))?);
    }
    Ok(done(&closed, &folder))
}

fn refused(cause: CloseError, project: Option<ProjectId>) -> Failure {
    match (cause, project) {
        (CloseError::Manage(cause), Some(project)) => super::failure::of(project)(cause),
        (CloseError::Manage(cause), None) => cause.into(),
        (cause, _) => Failure::Refused(cause.to_string()),
    }
}

fn planned(plan: &[MonthToClose]) -> Answer {
    let views: Vec<_> = plan.iter().map(PlannedMonth::from).collect();
    let line = |it: &MonthToClose| {
        let entries = counted(it.entries.entries, "entry", "entries");
        let begun = if it.begun.is_some() { ", of which an earlier run closed some" } else { "" };
        format!("{}  {}  {entries}{begun}", it.month, it.project)
    };
    Answer::of(&json!({ "months": views }), lines(plan, line, "There is nothing to close."))
}

fn done(closed: &[Closing], folder: &ExportFolder) -> Answer {
    let file = |it: &Closing| folder.file(it.project, it.month);
    let views: Vec<_> = closed.iter().map(|it| ClosedMonth::new(it, file(it))).collect();
    let line = |it: &Closing| {
        let entries = counted(it.closed.entries, "entry", "entries");
        format!(
            "Closed {} of {}: {entries}, exported to {}",
            it.month,
            it.project,
            file(it).display()
        )
    };
    let text = lines(closed, line, "There was nothing to close.");
    let keep = "\n\nKeep the files: they are the only copy of these entries.";
    let text = if closed.is_empty() { text } else { format!("{text}{keep}") };
    Answer::of(&json!({ "closed": views }), text)
}
