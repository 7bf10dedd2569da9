//! CSV files (RFC 4180) of any length, for pages, admin API and command line.

use crate::ManageError;
use dwar_kernel::{Paise, StoreError, Timestamp};
use futures_util::stream::{Stream, try_unfold};

/// Some lines of a file, and where the next batch begins; `None` at the end.
pub(crate) struct CsvBatch<C> {
    pub(crate) lines: String,
    pub(crate) next: Option<C>,
}

/// Streams a file: its head, the first batch, and the batches that `read` returns from where the previous one
/// ended.
///
/// Each batch is read after the previous one was taken, so nothing more is read for a client that has
/// disconnected. The first batch is an argument, so that a refusal is returned before the file begins.
pub(crate) fn file<C, R, F>(
    head: &str,
    first: CsvBatch<C>,
    read: R,
) -> impl Stream<Item = Result<String, StoreError>> + use<C, R, F>
where
    R: Fn(C) -> F,
    F: Future<Output = Result<CsvBatch<C>, ManageError>>,
{
    let first = CsvBatch { lines: format!("{head}\r\n{}", first.lines), ..first };
    try_unfold((Some(first), None, read), |(ready, next, read)| async move {
        let CsvBatch { lines, next } = match (ready, next) {
            (Some(ready), _) => ready,
            (None, Some(next)) => read(next).await.map_err(ManageError::into_store_error)?,
            (None, None) => return Ok(None),
        };
        Ok(Some((lines, (None, next, read))))
    })
}

/// An instant to the millisecond: `2027-01-15T08:00:00.000Z`.
pub(crate) fn instant(at: Timestamp) -> impl std::fmt::Display {
    at.format("%Y-%m-%dT%H:%M:%S%.3fZ")
}

/// Rupees with two decimals, such as `-0.20`.
pub(crate) fn decimal(Paise(amount): Paise) -> String {
    let (sign, size) = (if amount < 0 { "-" } else { "" }, amount.unsigned_abs());
    format!("{sign}{}.{:02}", size / 100, size % 100)
}

/// A quoted text that no spreadsheet interprets as a formula: a text that begins like a formula gets an
/// apostrophe in front (OWASP, CSV Injection).
pub(crate) fn cell(text: &str) -> String {
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
