//! A statement as a CSV file.

use crate::csv::{CsvBatch, cell, decimal, file, instant};
use crate::{ManageError, ManageLedger};
use dwar_kernel::{ProjectId, StoreError};
use dwar_operator::Requester;
use dwar_wallet::{LedgerEntry, Paise, StatementCursor, StatementFilter, StatementLine};
use futures_util::stream::Stream;

/// Lines of a download that are held in memory at once.
const BATCH: u32 = 500;

impl ManageLedger {
    /// The lines of a project's ledger that match `filter` as a CSV file, newest first, without a limit.
    pub async fn csv(
        self,
        by: Requester,
        project: ProjectId,
        filter: StatementFilter,
    ) -> Result<impl Stream<Item = Result<String, StoreError>>, ManageError> {
        let first = self.batch(&by, project, &filter, None).await?;
        Ok(file(HEAD, first, move |last| {
            let (ledger, by, filter) = (self.clone(), by.clone(), filter.clone());
            async move { ledger.batch(&by, project, &filter, Some(last)).await }
        }))
    }

    async fn batch(
        &self,
        by: &Requester,
        project: ProjectId,
        filter: &StatementFilter,
        after: Option<StatementCursor>,
    ) -> Result<CsvBatch<StatementCursor>, ManageError> {
        let lines = self.lines(by, project, filter.clone(), after, BATCH).await?;
        let last = lines.last().filter(|_| lines.len() == BATCH as usize);
        let next = last.map(StatementLine::cursor);
        Ok(CsvBatch { lines: lines.iter().map(csv_line).collect(), next })
    }
}

/// The columns. They are documented, and programs read them by name: their meaning must not change.
const HEAD: &str = "position,entry_id,at,kind,reference,amount_paise,held_paise,balance_after_paise,\
     held_after_paise,amount_rupees,held_rupees,balance_after_rupees,held_after_rupees,relayed,closed";

fn csv_line(line: &StatementLine) -> String {
    let StatementLine { position, entry, closing } = line;
    let LedgerEntry { id, kind, amount, held, after, reference, relayed, at } = entry;
    let at = instant(*at);
    let text = format!("{position},{id},{at},{},{}", kind.as_str(), cell(reference.as_str()));
    let amounts = [*amount, *held, after.balance, after.held];
    let paise = amounts.map(|Paise(amount)| format!(",{amount}")).concat();
    let rupees = amounts.map(|amount| format!(",{}", decimal(amount))).concat();
    let closed = closing.as_ref().map(|it| it.closed.entries.to_string()).unwrap_or_default();
    format!("{text}{paise}{rupees},{relayed},{closed}\r\n")
}
