use crate::{Closed, Closing, EntryKind, LedgerEntry, Reference};
use dwar_kernel::Timestamp;
use std::collections::HashMap;

/// A ledger entry with its position, as statements list it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StatementLine {
    /// Position in the project's ledger, counted from 1.
    pub position: u64,
    pub entry: LedgerEntry,
    /// The closing, if this is the entry of a closed month.
    pub closing: Option<Closing>,
}

/// Filter of the entries of a project; unset fields match everything.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StatementFilter {
    pub kind: Option<EntryKind>,
    pub since: Option<Timestamp>,
    /// Exclusive.
    pub until: Option<Timestamp>,
    /// The id of an OTP request, or the reference given with a credit.
    pub reference: Option<Reference>,
}

/// One line of a statement for people: all movements of one send, or any other entry.
///
/// A send is shown by its capture; if it was not charged, by the end of its hold; until then by its hold.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GroupedLine {
    pub line: StatementLine,
    /// Hold, capture and release of the send, in this order, as far as they are on record.
    pub steps: Vec<LedgerEntry>,
}

/// Position after the last line of a page; the next page begins there.
///
/// A ledger is in the order in which the wallet moved. Times are taken before the wallet is reached, so those
/// of two concurrent movements may be reversed; the position only orders equal times.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StatementCursor {
    /// Time of the last entry of the page.
    pub at: Timestamp,
    pub position: u64,
}

impl StatementLine {
    /// The statement line of a closed month; `None` while the closing represents no entry.
    pub fn of_closing(closing: &Closing) -> Option<Self> {
        let Closed { entries, position, sums, after, at } = closing.closed;
        let entry = LedgerEntry {
            id: closing.id,
            kind: EntryKind::Closed,
            amount: sums.balance,
            held: sums.held,
            after,
            reference: Reference::stored(closing.month.to_string()),
            relayed: false,
            at,
        };
        (entries > 0).then_some(Self { position, entry, closing: Some(*closing) })
    }

    /// The cursor of a page that ends with this line.
    pub const fn cursor(&self) -> StatementCursor {
        StatementCursor { at: self.entry.at, position: self.position }
    }

    /// Whether this line comes after `cursor`: newest first, equal times by position.
    pub fn follows(&self, cursor: StatementCursor) -> bool {
        (self.entry.at, self.position) < (cursor.at, cursor.position)
    }
}

impl GroupedLine {
    /// Keeps, in order, one line per send and every other line; `steps` are the entries of these sends.
    pub fn group(lines: Vec<StatementLine>, steps: Vec<LedgerEntry>) -> Vec<Self> {
        let mut of_sends: HashMap<Reference, Vec<LedgerEntry>> = HashMap::new();
        for entry in steps.into_iter().filter(|entry| entry.kind.follows_a_send()) {
            of_sends.entry(entry.reference.clone()).or_default().push(entry);
        }
        let grouped = lines.into_iter().filter_map(|line| {
            let of_send = of_sends.get(&line.entry.reference);
            let Some(steps) = of_send.filter(|_| line.entry.kind.follows_a_send()) else {
                return Some(Self { line, steps: Vec::new() });
            };
            let mut steps = steps.clone();
            steps.sort_by_key(|entry| entry.kind);
            let charge = steps.iter().find(|entry| entry.kind == EntryKind::Capture);
            let shown = charge.or(steps.last())?;
            (shown.id == line.entry.id).then_some(Self { line, steps })
        });
        grouped.collect()
    }
}

impl StatementFilter {
    /// Whether the entry matches every field of the filter.
    pub fn wants(&self, entry: &LedgerEntry) -> bool {
        self.kind.is_none_or(|kind| entry.kind == kind)
            && self.since.is_none_or(|since| entry.at >= since)
            && self.until.is_none_or(|until| entry.at < until)
            && self.reference.as_ref().is_none_or(|reference| entry.reference == *reference)
    }

    /// The kinds of entries that can match the filter.
    pub fn kinds(&self) -> &[EntryKind] {
        self.kind.as_ref().map_or(EntryKind::ALL.as_slice(), std::slice::from_ref)
    }

    /// Merges the results of several kinds into one page: newest first, at most `limit` lines.
    pub fn merge(mut found: Vec<StatementLine>, limit: u32) -> Vec<StatementLine> {
        found.sort_by_key(|line| std::cmp::Reverse((line.entry.at, line.position)));
        found.truncate(limit as usize);
        found
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Balance, Paise};

    const ONE: &str = "00000000-0000-7000-8000-000000000001";
    const TWO: &str = "00000000-0000-7000-8000-000000000002";

    fn line(position: u64, kind: EntryKind, reference: &str) -> StatementLine {
        let id = format!("00000000-0000-7000-8000-0000000001{position:02}").parse().unwrap();
        let entry = LedgerEntry {
            id,
            kind,
            amount: Paise::ZERO,
            held: Paise::ZERO,
            after: Balance::default(),
            reference: reference.parse().unwrap(),
            relayed: false,
            at: Timestamp::from_timestamp(1_800_000_000, 0).unwrap(),
        };
        StatementLine { position, entry, closing: None }
    }

    /// The positions of the shown lines, each with the kinds of its steps.
    fn shown(lines: &[StatementLine], of_sends: &[StatementLine]) -> Vec<(u64, Vec<&'static str>)> {
        let steps = of_sends.iter().map(|line| line.entry.clone()).collect();
        let grouped = GroupedLine::group(lines.to_vec(), steps).into_iter();
        let kinds = |it: &GroupedLine| it.steps.iter().map(|step| step.kind.as_str()).collect();
        grouped.map(|it| (it.line.position, kinds(&it))).collect()
    }

    #[test]
    fn a_send_has_one_line_wherever_a_page_begins() {
        let lines = [
            line(9, EntryKind::Refund, ONE),
            line(8, EntryKind::Release, TWO),
            line(7, EntryKind::Release, ONE),
            line(6, EntryKind::Capture, ONE),
            line(5, EntryKind::Hold, TWO),
            line(4, EntryKind::Hold, ONE),
            line(3, EntryKind::Credit, ONE),
        ];
        let charged = vec!["hold", "capture", "release"];
        let not_charged = vec!["hold", "release"];
        let wanted = [(9, vec![]), (8, not_charged), (6, charged.clone()), (3, vec![])];
        assert_eq!(shown(&lines, &lines), wanted);
        assert_eq!(shown(&lines[3..4], &lines), [(6, charged)]);
        assert_eq!(shown(&lines[4..6], &lines), [], "their ends are on the page before");
        assert_eq!(shown(&lines[4..5], &lines[4..5]), [(5, vec!["hold"])], "not over yet");
        assert_eq!(shown(&lines[2..3], &[]), [(7, vec![])], "of one kind alone");
    }
}
