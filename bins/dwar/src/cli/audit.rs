use super::failure::Failure;
use super::open::{ProjectRef, Usage, open};
use crate::config::Config;
use dwar_admin::views::{AuditLine, instant};
use dwar_console::Management;
use dwar_kernel::{Timestamp, read_instant};
use dwar_operator::{Action, ActorFilter, AuditEntry, AuditFilter, Requester};
use std::io::{self, Write};
use std::process::ExitCode;

/// Entries that are read at once.
const PAGE: u32 = 500;

#[derive(clap::Args)]
pub struct Args {
    /// Only entries about this project: its name, its ID, or the first characters of its ID, at least 4
    #[arg(long)]
    project: Option<ProjectRef>,
    /// Only actions of this operator or token (an id), or of `command_line`
    #[arg(long, value_name = "WHO")]
    actor: Option<ActorFilter>,
    /// Only entries of this kind: key.regenerated
    #[arg(long, value_name = "ACTION", value_parser = action)]
    action: Option<Action>,
    /// Only entries since this day (UTC) or instant: 2026-11-24 or 2026-11-24T10:00:00Z
    #[arg(long, value_name = "WHEN", value_parser = when)]
    since: Option<Timestamp>,
    /// Only entries before this day (UTC) or instant
    #[arg(long, value_name = "WHEN", value_parser = when)]
    until: Option<Timestamp>,
}

/// Prints the log, newest first, one entry per line; with `--json` each is a JSON object.
pub async fn run(config: Config, asked: Args, json: bool) -> Result<ExitCode, Failure> {
    let Management { projects, audit_log: audit, .. } =
        open(config, Usage::Reads).await?.management()?;
    let Args { project, actor, action, since, until } = asked;
    let project = match project {
        Some(named) => Some(named.id(&projects).await?),
        None => None,
    };
    let filter = AuditFilter { project, actor, action, since, until };
    let (by, mut after) = (Requester::command_line(), None);
    let mut out = io::BufWriter::new(io::stdout().lock());
    loop {
        let page = audit.page(&by, filter, after, PAGE).await?;
        for entry in &page {
            let line = if json { AuditLine::from(entry).to_line() } else { text_of(entry) };
            out.write_all(line.as_bytes())?;
        }
        match page.last() {
            Some(last) => after = Some(last.cursor()),
            None => break,
        }
    }
    out.flush()?;
    Ok(ExitCode::SUCCESS)
}

fn text_of(entry: &AuditEntry) -> String {
    let from = entry.from.map(|address| format!(" from {address}")).unwrap_or_default();
    let before = entry.before.as_deref().unwrap_or("-");
    let after = entry.after.as_deref().unwrap_or("-");
    format!(
        "{} {} {} by {}{from}: {before} -> {after}\n",
        instant(entry.at),
        entry.action.as_str(),
        entry.subject,
        entry.actor
    )
}

fn action(word: &str) -> Result<Action, String> {
    Action::from_word(word).ok_or_else(|| "no such action".to_owned())
}

pub(super) fn when(text: &str) -> Result<Timestamp, String> {
    let day = || read_instant(&format!("{text}T00:00:00Z"));
    let at = read_instant(text).or_else(day);
    at.ok_or_else(|| "a day (2026-11-24) or an instant (RFC 3339)".to_owned())
}
