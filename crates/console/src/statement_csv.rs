//! A statement as CSV (RFC 4180), for pages and admin API alike.

use crate::{ManageError, ManageLedger};
use dwar_kernel::{ProjectId, StoreError};
use dwar_operator::By;
use dwar_wallet::{LedgerEntry, Paise, StatementCursor, StatementFilter, StatementLine};
use futures_util::stream::{Stream, try_unfold};

/// Lines of a download that are held at once.
const BATCH: u32 = 500;

/// Where a download goes on.
enum Rest {
    Head(Vec<StatementLine>),
    After(StatementCursor),
}

impl ManageLedger {
    /// The lines of a project's ledger that `filter` names as a file, newest first, however many.
    ///
    /// Batch by batch, each read once the one before was taken: nothing more is read for a client that
    /// has gone away. The first is read before this returns, so that a refusal does not become a file.
    pub async fn csv(
        self,
        by: By,
        project: ProjectId,
        filter: StatementFilter,
    ) -> Result<impl Stream<Item = Result<String, StoreError>>, ManageError> {
        let first = self.lines(&by, project, filter.clone(), None, BATCH).await?;
        let start = Some((Rest::Head(first), self, by, filter));
        Ok(try_unfold(start, move |from| async move {
            let Some((rest, ledger, by, filter)) = from else { return Ok(None) };
            let (head, lines) = match rest {
                Rest::Head(first) => (HEAD, Ok(first)),
                Rest::After(last) => {
                    ("", ledger.lines(&by, project, filter.clone(), Some(last), BATCH).await)
                }
            };
            let lines = lines.map_err(ManageError::into_store_error)?;
            let last = lines.last().filter(|_| lines.len() == BATCH as usize);
            let next = last.map(|last| (Rest::After(last.cursor()), ledger, by, filter));
            let text: String = lines.iter().map(csv_line).collect();
            Ok(Some((format!("{head}{text}"), next)))
        }))
    }
}

/// The columns. They are documented, and programs read them by name: none changes its meaning.
const HEAD: &str = "position,entry_id,at,kind,reference,amount_paise,held_paise,balance_after_paise,\
     held_after_paise,amount_rupees,held_rupees,balance_after_rupees,held_after_rupees,relayed,closed\r\n";

/// One line (RFC 4180).
fn csv_line(line: &StatementLine) -> String {
    let StatementLine { position, entry, closing } = line;
    let LedgerEntry { id, kind, amount, held, after, reference, relayed, at } = entry;
    let at = at.format("%Y-%m-%dT%H:%M:%S%.3fZ");
    let text = format!("{position},{id},{at},{},{}", kind.as_str(), cell(reference.as_str()));
    let amounts = [*amount, *held, after.balance, after.held];
    let paise = amounts.map(|Paise(amount)| format!(",{amount}")).concat();
    let rupees = amounts.map(|amount| format!(",{}", decimal(amount))).concat();
    let closed = closing.as_ref().map(|it| it.closed.entries.to_string()).unwrap_or_default();
    format!("{text}{paise}{rupees},{relayed},{closed}\r\n")
}

/// Rupees with two digits, such as `-0.20`.
fn decimal(Paise(amount): Paise) -> String {
    let (sign, size) = (if amount < 0 { "-" } else { "" }, amount.unsigned_abs());
    format!("{sign}{}.{:02}", size / 100, size % 100)
}

/// A text in quotes that no spreadsheet takes for a formula: one that begins like a formula gets an
/// apostrophe in front (OWASP, CSV Injection).
fn cell(text: &str) -> String {
    let formula = text.starts_with(['=', '+', '-', '@', '\t', '\r', '\n', '＝', '＋', '－', '＠']);
    let guard = if formula { "'" } else { "" };
    format!("\"{guard}{}\"", text.replace('"', "\"\""))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_text_is_run_by_a_spreadsheet_and_none_leaves_its_cell() {
        for (text, wanted) in [
            ("invoice 7", "\"invoice 7\""),
            ("=HYPERLINK(\"http://evil\")", "\"'=HYPERLINK(\"\"http://evil\"\")\""),
            ("+1", "\"'+1\""),
            ("-1", "\"'-1\""),
            ("@SUM(A1)", "\"'@SUM(A1)\""),
            ("\t=1", "\"'\t=1\""),
            ("a,b\r\nc", "\"a,b\r\nc\""),
            ("नमस्ते", "\"नमस्ते\""),
        ] {
            assert_eq!(cell(text), wanted, "{text:?}");
        }
    }

    #[test]
    fn amounts_have_two_digits_and_their_sign() {
        for (paise, text) in [(0, "0.00"), (5, "0.05"), (-20, "-0.20"), (-12_345, "-123.45")] {
            assert_eq!(decimal(Paise(paise)), text);
        }
        assert_eq!(decimal(Paise(i64::MIN)), "-92233720368547758.08");
    }
}
