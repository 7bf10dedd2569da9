use crate::{AuditedChange, Control, ManageError};
use dwar_kernel::{EntryId, ProjectId, StoreError, TRACE, Timestamp};
use dwar_operator::{Action, AuditDetails, Command, Requester};
use dwar_wallet::{
    Closable, Closing, ClosingStore, ExportError, FileDigest, LedgerExports, Month, Paise,
    WalletStore,
};
use std::sync::Arc;
use std::time::Duration;
use tracing::instrument;

/// Positions of a ledger that one read of an export covers.
const BATCH: u64 = 1_000;

/// Closes months of ledgers: exports their holds, captures and releases, and replaces these by one entry per
/// project and month.
#[derive(Clone)]
pub struct CloseMonths {
    pub control: Control,
    pub closings: Arc<dyn ClosingStore>,
    pub wallets: Arc<dyn WalletStore>,
    /// How long requests are kept: until then their money may still move, and is shown with them.
    pub requests_kept: Duration,
}

/// A month of a project that can be closed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MonthToClose {
    pub project: ProjectId,
    pub month: Month,
    pub entries: Closable,
    /// A closing that an earlier run began and did not complete.
    pub begun: Option<Closing>,
}

/// Why months were not closed. Months that were closed before stay closed.
#[derive(Debug, thiserror::Error)]
pub enum CloseError {
    #[error(transparent)]
    Manage(#[from] ManageError),
    #[error(transparent)]
    Export(#[from] ExportError),
    #[error(
        "the months before {before} can be closed from {from} on: until then requests of the last one are on record, \
         and may be refunded"
    )]
    NotOver { before: Month, from: Timestamp },
    #[error(
        "wallets are off by {0}, and a ledger that does not match its wallet is not closed; see `dwar wallet verify`"
    )]
    Unsound(Paise),
    #[error(
        "project {project} has an open hold of {month} or before, which the service ends within minutes; start it, \
         and close the month then"
    )]
    OpenHold { project: ProjectId, month: Month },
    #[error(
        "the export of {month} of project {project} is missing; it is the file with the \
         SHA-256 {digest}, and without it no more entries are removed"
    )]
    ExportMissing { project: ProjectId, month: Month, digest: FileDigest },
    #[error(
        "another run has closed entries of {month} of project {project} meanwhile; run the command again when it is \
         done"
    )]
    Overtaken { project: ProjectId, month: Month },
}

impl From<StoreError> for CloseError {
    fn from(cause: StoreError) -> Self {
        Self::Manage(cause.into())
    }
}

impl CloseMonths {
    /// The months before `before` that can be closed, of one project or of all, in the order of closing;
    /// unfinished closings of an earlier run come first. Changes nothing.
    ///
    /// # Errors
    /// [`CloseError::NotOver`] if requests of these months may still be on record; [`CloseError::Unsound`] if
    /// a wallet does not match its ledger.
    #[instrument(name = "close_months.plan", target = TRACE, level = "error", skip_all)]
    pub async fn plan(
        &self,
        by: &Requester,
        project: Option<ProjectId>,
        before: Month,
    ) -> Result<Vec<MonthToClose>, CloseError> {
        let projects = match project {
            Some(project) => {
                vec![self.control.project(by, Command::CloseMonths, project).await?.id]
            }
            None => {
                self.control.admit(by, Command::CloseMonths, None)?;
                let projects = self.control.projects.list().await?;
                projects.into_iter().map(|project| project.id).collect()
            }
        };
        let from = before.since() + self.requests_kept;
        if self.control.tools.now() < from {
            return Err(CloseError::NotOver { before, from });
        }
        let off = self.wallets.audit().await?.difference;
        if off != Paise::ZERO {
            return Err(CloseError::Unsound(off));
        }
        let mut plan = Vec::new();
        for project in projects {
            self.plan_of(project, before, &mut plan).await?;
        }
        Ok(plan)
    }

    async fn plan_of(
        &self,
        project: ProjectId,
        before: Month,
        plan: &mut Vec<MonthToClose>,
    ) -> Result<(), StoreError> {
        let closings = self.closings.closings(project).await?;
        for closing in closings.iter().filter(|closing| !closing.is_complete()) {
            let (month, entries) = (closing.month, closing.exported);
            plan.push(MonthToClose { project, month, entries, begun: Some(*closing) });
        }
        let mut since = Timestamp::UNIX_EPOCH;
        while let Some(oldest) = self.closings.oldest_closable(project, since).await? {
            let Some(month) = Month::of(oldest).filter(|month| *month < before) else { break };
            since = month.until();
            // Entries that a wrong clock booked late into a closed month stay as they are: a month is closed
            // once.
            if closings.iter().any(|closing| closing.month == month) {
                continue;
            }
            if let Some(entries) = self.closings.closable(project, month).await? {
                plan.push(MonthToClose { project, month, entries, begun: None });
            }
        }
        Ok(())
    }

    /// Closes a month of a [plan](Self::plan) after its export is complete, and returns its entry.
    ///
    /// It may be interrupted at any point: the sum of the ledger never changes, and a later run continues.
    #[instrument(name = "close_months.close", target = TRACE, level = "error", skip_all)]
    pub async fn close(
        &self,
        by: &Requester,
        exports: &dyn LedgerExports,
        planned: MonthToClose,
    ) -> Result<Closing, CloseError> {
        let MonthToClose { project, month, begun, .. } = planned;
        self.control.project(by, Command::CloseMonths, project).await?;
        let begun = match begun {
            Some(closing) => {
                let found = exports.digest(project, month).await?;
                if found != Some(closing.digest) {
                    let digest = closing.digest;
                    return Err(CloseError::ExportMissing { project, month, digest });
                }
                self.record(by, &closing).await?;
                closing
            }
            None => self.begin(by, exports, planned).await?,
        };
        match self.closings.close(project, month).await? {
            Some(closing) => Ok(closing),
            None => Err(CloseError::Overtaken { project: begun.project, month }),
        }
    }

    async fn begin(
        &self,
        by: &Requester,
        exports: &dyn LedgerExports,
        planned: MonthToClose,
    ) -> Result<Closing, CloseError> {
        let MonthToClose { project, month, entries, .. } = planned;
        if self.closings.has_holds_since(project, month.until()).await? {
            return Err(CloseError::OpenHold { project, month });
        }
        let earlier = self.closings.closings(project).await?;
        let previous = earlier.iter().rfind(|closing| closing.month < month);
        let mut export =
            exports.begin(project, month, previous.map(|closing| closing.digest)).await?;
        let (mut after, mut exported) = (entries.first.saturating_sub(1), 0);
        while after < entries.last {
            let through = after.saturating_add(BATCH).min(entries.last);
            let lines = self.closings.closable_lines(project, month, after, through).await?;
            exported += u64::try_from(lines.len()).unwrap_or(u64::MAX);
            export.add(&lines).await?;
            after = through;
        }
        // Compared before and after: entries that another run removes meanwhile are missing in the file.
        let unchanged = self.closings.closings(project).await? == earlier;
        if exported != entries.entries || !unchanged {
            return Err(CloseError::Overtaken { project, month });
        }
        let digest = export.finish().await?;
        let tools = &self.control.tools;
        let id = EntryId::new(tools.now(), tools.entropy.as_ref());
        let closing = Closing::begin(id, (project, month), entries, digest);
        self.record(by, &closing).await?;
        if self.closings.begin_closing(closing).await? {
            return Ok(closing);
        }
        // Another run exported the same content to another place, which is as good.
        let present = self.closings.closings(project).await?;
        let same = present.into_iter().find(|other| other.month == month && other.digest == digest);
        same.ok_or(CloseError::Overtaken { project, month })
    }

    async fn record(&self, by: &Requester, closing: &Closing) -> Result<(), StoreError> {
        let number = |count: u64| i64::try_from(count).unwrap_or(i64::MAX);
        let facts = AuditDetails::new()
            .number("entries", number(closing.exported.entries))
            .number("first_position", number(closing.exported.first))
            .number("last_position", number(closing.exported.last))
            .word("sha256", closing.digest);
        let change = AuditedChange::new(Action::LedgerClosed, closing.month);
        self.control.record(by, change.within(closing.project).after(facts)).await
    }
}
